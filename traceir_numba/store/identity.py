"""The digest of all that decides machine code besides the program."""

from __future__ import annotations

from functools import cache

from traceir.store.entry import digest
from traceir.store.sources import texts_of
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
        "numpy/indexing/integer_ranges.py",
        "numpy/indexing/intervals.py",
        "numpy/indexing/loop_ranges.py",
        "numpy/indexing/turn_places.py",
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
    "llvm/vectors/tables.py",
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
    parts: list[bytes | str] = [compiler()]
    for package, patterns in SOURCES.items():
        parts += texts_of(package, patterns)
    for package, file in VERSIONS.items():
        parts += texts_of(package, (file,))
    return digest(*parts)


@cache
def compiler() -> str:
    """The digest of all that makes the same code of the same LLVM text."""
    parts: list[bytes | str] = [processor.instructions()]
    parts += texts_of("traceir_numba", COMPILER)
    parts += texts_of("llvmlite", (VERSIONS["llvmlite"],))
    return digest(*parts)
