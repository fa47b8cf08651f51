"""Source positions: captured cheaply, decoded when asked for.

Serves the errors' ``at`` line, the comments of generated source and `explain`.

>>> def user():
...     return capture()
>>> user().function
'user'
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import os.path
import sys
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np

# The folder of the packages; `pathlib` would be imported for this alone.
_PARENT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# The packages', and NumPy's, which asks a tracer for what it is not.
_ROOTS = tuple(
    folder + os.sep
    for folder in (
        *(os.path.join(_PARENT, name) for name in ("traceir", "traceir_numba")),
        os.path.dirname(os.path.abspath(np.__file__)),
    )
)
# Files in the packages that are programs of a user's kind all the same.
_PROGRAMS = (os.sep + "__main__.py", os.sep + "tour.py")
# Frames between the packages' own when they use context managers and wrappers.
_BETWEEN = frozenset(
    os.path.abspath(str(module.__file__)) for module in (contextlib, functools)
)
# Code made by exec in the packages names its file so.
_GENERATED = "<traceir"
# The file and the name of what `dataclasses` makes by exec, which calls __post_init__.
_STRING, _DATACLASS = "<string>", "__create_fn__"


# The longest source line that is shown whole.
WIDTH = 88


Position = tuple[int | None, int | None, int | None, int | None]
# By identity: the hash of a code object reads all of it.
_decoded: dict[int, tuple[CodeType, list[Position]]] = {}
_MOST_DECODED = 64
_MOST_FILES = 4096


def positions_of(code: CodeType) -> list[Position]:
    """The position of each instruction, decoded once for a function in use.

    A function with thousands of lines is asked for thousands of its instructions.
    """
    found = _decoded.get(id(code))
    if found is None or found[0] is not code:
        if len(_decoded) >= _MOST_DECODED:
            _decoded.clear()
        found = _decoded[id(code)] = code, list(code.co_positions())
    return found[1]


class Source(NamedTuple):
    """A place in a user's function: its code object and the instruction's offset.

    Holds no frame, so no value of the user's program is kept alive.
    """

    code: CodeType
    lasti: int

    @property
    def file(self) -> str:
        """The file's name, as the code object has it."""
        return self.code.co_filename

    @property
    def function(self) -> str:
        """The function's qualified name."""
        return self.code.co_qualname

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self._position()[0] or self.code.co_firstlineno

    @property
    def column(self) -> int | None:
        """The column, from 1, of the expression; None where Python does not know."""
        column = self._position()[2]
        return None if column is None else column + 1

    @property
    def text(self) -> str:
        """The source line without its indentation; empty where there is no file.

        Of a line longer than `WIDTH` what begins at the expression.
        """
        line = linecache.getline(self.file, self.line).rstrip()
        text = line.lstrip()
        if len(text) <= WIDTH:
            return text
        # Python counts columns in bytes.
        before = len(line.encode()[: (self.column or 1) - 1].decode(errors="ignore"))
        if before > len(line) - len(text):
            text = f"…{line[before:]}"
        return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"

    @property
    def expression(self) -> str:
        """The text of the expression, if it is on one line; else empty."""
        line, end, first, last = self._position()
        if line is None or line != end:
            return ""
        text = linecache.getline(self.file, line).encode()[first:last]
        return text.decode(errors="ignore").strip()

    def _position(self) -> Position:
        positions = positions_of(self.code)
        index = self.lasti // 2
        return positions[index] if index < len(positions) else (None,) * 4

    def __str__(self) -> str:
        return user_frame_summary(self)


def _is_user_file(name: str) -> bool:
    if name.startswith(_GENERATED):
        return False
    path = os.path.abspath(name)
    if path in _BETWEEN or path in EXCLUDED:
        return False
    return not path.startswith(_ROOTS) or path.endswith(_PROGRAMS)


class _UserFiles(dict[str, bool]):
    """File name -> whether its frames are the user's; decided once per name."""

    def __missing__(self, name: str) -> bool:
        if len(self) >= _MOST_FILES:  # of code that was made by exec
            self.clear()
        answer = self[name] = _is_user_file(name)
        return answer


_user_files = _UserFiles()


class _ExcludedFiles(list[str]):
    """Files whose lines are a library's, in a list that libraries change themselves."""

    def append(self, file: str) -> None:
        super().append(os.path.abspath(file))
        _user_files.pop(file, None)

    def remove(self, file: str) -> None:
        super().remove(os.path.abspath(file))
        _user_files.pop(file, None)


EXCLUDED = _ExcludedFiles()


def register_exclusion(file: str) -> None:
    """Declare that the lines of a file are a library's: errors and equations name the
    line of whoever calls it.

    >>> register_exclusion("/a/library.py")
    >>> is_users_code("/a/library.py")
    False
    """
    if os.path.abspath(file) not in EXCLUDED:
        EXCLUDED.append(file)


def is_users_code(file: str) -> bool:
    """True if code of this file is the user's, not these packages' or NumPy's."""
    return _user_files[file]


_new = tuple.__new__


def capture(skip: int = 1, end: FrameType | None = None) -> Source | None:
    """The nearest user frame at or above the caller's caller, or None if there is none.

    ``skip`` counts the frames that are known to be the packages' own, this one
    excepted: skipping is cheaper than looking. The frame ``end`` and those above it are
    not looked at.
    """
    frame = sys._getframe(skip)
    user = _user_files
    code = frame.f_code
    while not user[code.co_filename] or (
        code.co_filename == _STRING and code.co_qualname.startswith(_DATACLASS)
    ):
        above = frame.f_back
        if above is None or above is end:
            return None
        frame = above
        code = frame.f_code
    return _new(Source, (code, frame.f_lasti))


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line, however many frames of the packages are below it."""
    import warnings  # not on the way of an import

    place = capture(2)
    if place is None:
        warnings.warn(text, category, stacklevel=3)
    else:
        warnings.warn_explicit(text, category, place.file, place.line)


_SCIPY = f"{os.sep}site-packages{os.sep}scipy{os.sep}"


def is_shown(file: str) -> bool:
    """True if errors show code of this file: the user's, and not SciPy's."""
    return _user_files[file] and _SCIPY not in file


def capture_shown(skip: int = 1) -> Source | None:
    """As `capture`; in place of a line of SciPy's, that of the user who calls it."""
    found = capture(skip + 1)
    if found is None or _SCIPY not in found.file:
        return found
    frame: FrameType | None = sys._getframe(skip)
    while frame is not None:
        if is_shown(frame.f_code.co_filename):
            return Source(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return found


def user_frame_summary(source: Source | None = None) -> str:
    """``file:line in function: source line`` of a place, by default the caller's.

    Empty when no user frame is there.
    """
    if source is None:
        source = capture(2)
    if source is None:
        return ""
    where = f"{source.file}:{source.line} in {source.function}"
    return f"{where}: {source.text}" if source.text else where
