"""What decides machine code besides the program: sources, libraries, the processor."""

from __future__ import annotations

import os
from functools import cache
from glob import glob
from importlib.util import find_spec

from traceir.store.entry import digest
from traceir_numba import engine

# Whatever makes a program of a trace: the whole backend, and what it uses of `traceir`.
# tests/store/test_identity.py compares these with what is imported.
SOURCES = {
    "traceir_numba": ("**/*.py",),
    "traceir": (
        "avals.py",
        "dtypes.py",
        "effects.py",
        "evaluate.py",
        "ir.py",
        "kernels/*.py",
        "rules/helpers.py",
        "text/words.py",
        "transforms/while_.py",
    ),
}
# Where libraries that compute, or compile, say which one they are.
VERSIONS = {
    "llvmlite": "_version.py",
    "numba": "_version.py",
    "numpy": "version.py",
    "scipy": "version.py",
}


@cache
def identity() -> str:
    """The digest of all that two processes must share to share machine code."""
    parts: list[bytes | str] = [engine.triple(), *engine.processor()]
    for package, patterns in SOURCES.items():
        parts += _sources(package, patterns)
    for package, file in VERSIONS.items():
        parts += _sources(package, (file,))
    return digest(*parts)


def _sources(package: str, patterns: tuple[str, ...]) -> list[bytes | str]:
    """Names and texts of some of a package's files."""
    # To look for it does not import it.
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        return [package]
    root = folders[0]
    found: list[bytes | str] = [package]
    for pattern in patterns:
        for path in sorted(glob(pattern, root_dir=root, recursive=True)):
            with open(os.path.join(root, path), "rb") as file:
                found += [path, file.read()]
    return found
