"""The symbols that an object file defines, and those that it needs.

Serves: artefact.name
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import llvmlite.binding as llvm

from traceir import rules
from traceir_numba.runtime.external_symbols import address_of

# What is in the C library of mathematics, where that is one of its own: remainders, and
# what processors without the instructions call in their place.
MATHEMATICS = frozenset(
    f"{name}{kind}"
    for name in ("ceil", "floor", "fma", "fmod", "rint", "trunc")
    for kind in ("", "f")
)
# A symbol in ELF's table, 64 bits: name, kind, visibility, section, value, size.
_SYMBOL = struct.Struct("<IBBHQQ")
_LOCAL = 0


def check_symbols(names: Iterable[str]) -> None:
    """Raise ValueError (artefact.name) for functions of the C library, or the like.

    A program that has two of a name calls the wrong one.
    """
    for name in names:
        if address_of(name):
            got = f"{name!r}, of which name the system has a function"
            raise rules.error("artefact.name", got=got, where="")


def symbols_of(code: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The names that an object file defines, and those that it needs, if it is of ELF.

    Compilers call functions that no program named: here they are seen.
    """
    if not code.startswith(b"\x7fELF\x02\x01"):
        return frozenset(), frozenset()
    found = list(_symbols(code))
    defined = frozenset(name for name, section in found if section)
    return defined, frozenset(name for name, section in found if not section)


def _symbols(code: bytes) -> Iterator[tuple[str, int]]:
    """The names of symbols that are not local, and the numbers of their sections."""
    parts = llvm.ObjectFileRef.from_data(code).sections()
    data = {part.name(): part.data() for part in parts}
    names = data[b".strtab"]
    for at, kind, _, section, _, _ in _SYMBOL.iter_unpack(data[b".symtab"]):
        if kind >> 4 != _LOCAL and at:
            yield names[at : names.index(b"\0", at)].decode(), section
