"""The digest of all that decides machine code besides the program."""

from __future__ import annotations

from functools import cache

from traceir.store.sources import digest_of, files_of
from traceir_numba.runtime import processor

# Whatever makes a program of a trace: the whole backend, and what it uses of `traceir`.
# tests/store/test_identity.py compares these with what is imported.
SOURCES = {
    "traceir_numba": ("**/*.py",),
    "traceir": (
        "dtypes.py",
        "exact/numerics.py",
        "exact/threefry.py",
        "ir/*.py",
        "numpy/indexing/divisions.py",
        "numpy/indexing/integer_ranges.py",
        "numpy/indexing/intervals.py",
        "numpy/indexing/loop_ranges.py",
        "numpy/indexing/turn_places.py",
        "ranks/groups.py",
        "ranks/topology.py",
        "reference/**/*.py",
        "rules/formulas/helpers.py",
        "text/words.py",
        "transforms/control/while_.py",
    ),
}
# Where libraries that compute, or compile, say which one they are.
VERSIONS = {
    "llvmlite": "_version.py",
    "numpy": "version.py",
    "scipy": "version.py",
}


# What makes code of LLVM text.
COMPILER = (
    "llvm/native.py",
    "llvm/optimize.py",
    "llvm/vectors/functions.py",
    "llvm/vectors/ir_text.py",
    "llvm/vectors/lanes.py",
    "llvm/vectors/reads.py",
    "llvm/vectors/shared.py",
    "llvm/vectors/tables.py",
    "llvm/vectors/vector_loop.py",
    "llvm/vectors/widen.py",
    "runtime/code_loader.py",
    "runtime/elf.py",
    "runtime/external_symbols.py",
    "runtime/mcjit.py",
    "runtime/processor.py",
    "store/units.py",
)


@cache
def identity() -> str:
    """The digest of all that two processes must share to share compiled programs."""
    files = [one for package in SOURCES for one in files_of(package, SOURCES[package])]
    for package, file in VERSIONS.items():
        files += files_of(package, (file,))
    return digest_of(files, compiler())


@cache
def compiler() -> str:
    """The digest of all that makes the same code of the same LLVM text."""
    llvm = files_of("llvmlite", (VERSIONS["llvmlite"],))
    files = [*files_of("traceir_numba", COMPILER), *llvm]
    return digest_of(files, processor.instructions())
