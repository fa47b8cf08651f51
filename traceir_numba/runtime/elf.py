"""Object files in the format ELF, put into memory without LLVM.

What LLVM writes for x86-64 in its large code model names other places by all bytes of
their addresses, which a page of Python can fill in. So a process that finds its
programs in the store needs nothing of LLVM.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from struct import error, iter_unpack, unpack_from
from typing import Any, NamedTuple

import numpy as np

_PAGE = 4096
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 2, 32

# The head of a file of this format: 64 bits, the low byte first; its type and machine.
_MAGIC = b"\x7fELF\x02\x01"
_RELOCATABLE, _X86_64 = 1, 62
# Types of sections; those that others may be of are left out, such as notes.
_DATA, _SYMBOLS, _REFERENCES, _ZEROS = 1, 2, 4, 8
_WRITABLE, _IN_MEMORY, _OF_A_THREAD = 1, 2, 1024
# Sections of symbols that are in none: of others, and numbers.
_NONE, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00
_REFERENCE = np.dtype([("at", "<u8"), ("kind", "<u4"), ("of", "<u4"), ("add", "<i8")])
# Kinds of references: the type of the number, and whether it counts from its place.
_KINDS = {
    1: ("<u8", False),  # R_X86_64_64
    2: ("<i4", True),  # R_X86_64_PC32
    4: ("<i4", True),  # R_X86_64_PLT32
    10: ("<u4", False),  # R_X86_64_32
    11: ("<i4", False),  # R_X86_64_32S
    24: ("<u8", True),  # R_X86_64_PC64
}


@cache
def is_loaded_here() -> bool:
    """True where object files are put into memory by this module: Linux on x86-64."""
    known = sys.platform == "linux" and os.uname().machine == "x86_64"
    return known and sys.maxsize > 1 << 32


class CodeMemory:
    """Memory of this process for code and constants, then for what code writes.

    Nothing of it is both written and run.
    """

    __slots__ = ("address", "size")

    def __init__(self, size: int) -> None:
        self.size = max(size, 1)
        how = _READ | _WRITE, _PRIVATE | _ANONYMOUS
        found = _system().mmap(None, self.size, *how, -1, 0)
        if found == ctypes.c_void_p(-1).value:
            raise MemoryError(f"no memory for {size} bytes of code")
        self.address: int = found

    def fill(self, data: np.ndarray, code: int) -> None:
        """Write what is to be there, the first `code` bytes of which are run."""
        ctypes.memmove(self.address, data.ctypes.data, len(data))
        if code and _system().mprotect(self.address, code, _READ | _EXECUTE):
            raise RuntimeError("the system runs no code that was written by a process")

    def free(self) -> None:
        """Give it back; nothing in it runs any more."""
        _system().munmap(self.address, self.size)


@cache
def _system() -> Any:
    library = ctypes.CDLL(None)
    size, place, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
    library.mmap.restype = place
    library.mmap.argtypes = [place, size, number, number, number, ctypes.c_int64]
    library.mprotect.argtypes = [place, size, number]
    library.munmap.argtypes = [place, size]
    return library


class _Section(NamedTuple):
    """A line of the table of sections."""

    name: int
    type: int
    flags: int
    address: int
    start: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int

    def of(self, code: bytes) -> bytes:
        """Its bytes."""
        return code[self.start : self.start + self.size]

    @property
    def is_kept(self) -> bool:
        """True if it is a part of the memory: what unwinds a stack is not."""
        return bool(self.flags & _IN_MEMORY) and self.type in (_DATA, _ZEROS)


def load(
    code: bytes, find: Callable[[str], int | None]
) -> tuple[CodeMemory, dict[str, int]]:
    """Memory with an object file in it, and the addresses of its symbols.

    `find` gives the address of a symbol that is not in it. Raises RuntimeError for one
    that is nowhere, and for a file that is none, or has what this module does not know.
    """
    try:
        sections = _sections(code)
    except error as wrong:
        raise RuntimeError(f"no object file: {wrong}") from None
    places, first, size = _places(sections)
    memory = CodeMemory(size)
    try:
        image = np.zeros(size, np.uint8)
        for number, place in places.items():
            if sections[number].type == _DATA:
                data = np.frombuffer(sections[number].of(code), np.uint8)
                image[place : place + len(data)] = data
        bases = {number: memory.address + place for number, place in places.items()}
        names, values = _symbols(code, sections, bases, find)
        for section in sections:
            if section.type == _REFERENCES and section.info in places:
                part = image[places[section.info] :][: sections[section.info].size]
                _refer(part, section.of(code), bases[section.info], values)
        memory.fill(image, first)
    except BaseException:
        memory.free()
        raise
    return memory, names


def _sections(code: bytes) -> list[_Section]:
    head = unpack_from("<16sHHIQQQIHHHHHH", code)
    if not code.startswith(_MAGIC) or head[1:3] != (_RELOCATABLE, _X86_64):
        raise RuntimeError("no object file of this machine")
    start, each, count = head[6], head[11], head[12]
    table = code[start : start + each * count]
    return [_Section(*line) for line in iter_unpack("<IIQQQQIIQQ", table)]


def _places(sections: Iterable[_Section]) -> tuple[dict[int, int], int, int]:
    """The place of each section, those that nothing writes first; the size of these
    and of all."""
    places: dict[int, int] = {}
    end, ends = 0, []
    for flag in (0, _WRITABLE):
        for number, section in enumerate(sections):
            if section.flags & _OF_A_THREAD:
                raise RuntimeError("an object file with memory of each thread")
            if section.is_kept and section.flags & _WRITABLE == flag:
                end = _rounded(end, section.alignment)
                places[number] = end
                end += section.size
        end = _rounded(end, _PAGE)
        ends.append(end)
    return places, ends[0], end


def _rounded(size: int, unit: int) -> int:
    return -(-size // max(unit, 1)) * max(unit, 1)


def _symbols(
    code: bytes,
    sections: list[_Section],
    bases: Mapping[int, int],
    find: Callable[[str], int | None],
) -> tuple[dict[str, int], np.ndarray]:
    """The addresses of named symbols that the file has, and those of all by number."""
    (table,) = (section for section in sections if section.type == _SYMBOLS)
    texts = sections[table.link].of(code)
    names: dict[str, int] = {}
    values: list[int] = []
    for name, _, _, section, value, _ in iter_unpack("<IBBHQQ", table.of(code)):
        text = texts[name : texts.index(0, name)].decode()
        if section in bases:
            value += bases[section]
            if text:
                names[text] = value
        elif section == _NONE and text:
            found = find(text)
            if found is None:
                raise RuntimeError(f"no code for {text}")
            value = found
        elif section >= _RESERVED and section != _ABSOLUTE:
            raise RuntimeError(f"an object file with a symbol of another kind, {text}")
        values.append(value)
    return names, np.array(values, np.uint64)


def _refer(part: np.ndarray, table: bytes, base: int, values: np.ndarray) -> None:
    """Write addresses into a section, which begins at `base`."""
    references = np.frombuffer(table, _REFERENCE)
    for kind in set(references["kind"].tolist()):
        if kind not in _KINDS:
            raise RuntimeError(f"an object file with references of kind {kind}")
        dtype, is_relative = _KINDS[kind]
        chosen = references[references["kind"] == kind]
        found = values[chosen["of"]] + chosen["add"].astype(np.uint64)
        if is_relative:
            found -= chosen["at"] + np.uint64(base)
        numbers = found.astype(np.int64).astype(dtype)
        if (numbers.astype(np.int64).astype(np.uint64) != found).any():
            raise RuntimeError("an object file that names a place too far away")
        size = numbers.itemsize
        where = chosen["at"][:, None] + np.arange(size, dtype=np.uint64)
        part[where] = numbers.view(np.uint8).reshape(-1, size)
