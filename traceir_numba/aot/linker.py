"""Shared libraries of object files, by whichever linker this machine has.

Serves: artefact.linker
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from traceir import rules
from traceir_numba.aot.symbols import MATHEMATICS, symbols_of

# Compilers and linkers by name, the first that is there is taken.
COMPILERS, LINKERS = ("cc", "gcc", "clang"), ("ld.lld", "ld")
# A Python package that ships both.
PACKAGE = "ziglang"


def commands() -> Iterator[list[str]]:
    """The beginnings of commands that link, the best first."""
    own = os.environ.get("CC")
    if own:
        yield shlex.split(own)
    for name in COMPILERS:
        if shutil.which(name):
            yield [name]
    if importlib.util.find_spec(PACKAGE):
        yield [sys.executable, "-m", PACKAGE, "cc"]
    for name in LINKERS:
        if shutil.which(name):
            yield [name]


def shared_library(code: bytes) -> bytes:
    """The shared library of an object file.

    Raises RuntimeError (artefact.linker) where nothing links it.
    """
    command = next(commands(), None)
    if command is None:
        got = f"none of {', '.join((*COMPILERS, *LINKERS))} and no {PACKAGE}"
        raise rules.error("artefact.linker", got=got, where="")
    with TemporaryDirectory(prefix="traceir-link-") as folder:
        source, target = Path(folder, "code.o"), Path(folder, "code.so")
        source.write_bytes(code)
        given = [*command, "-shared", "-o", str(target), str(source)]
        # A bare linker knows no place where it is; Python has it loaded.
        if symbols_of(code)[1] & MATHEMATICS and Path(command[0]).name not in LINKERS:
            given.append("-lm")
        try:
            done = subprocess.run(given, capture_output=True, text=True, check=False)
            said, failed = done.stderr.strip(), done.returncode != 0
        except OSError as error:
            said, failed = str(error), True
        if failed or not target.is_file():
            got = f"`{shlex.join(command)} -shared`: {said[:300]}"
            raise rules.error("artefact.linker", got=got, where="")
        return target.read_bytes()
