"""A pretty-printing algebra: text with places for line breaks.

A group is printed on one line when all of it fits, otherwise each of its own breaks
becomes a newline. Serves: text.layout
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DocText:
    """Literal text without newlines."""

    text: str


@dataclass(frozen=True, slots=True)
class DocNote:
    """A comment beside the line that has this place; it takes no room there."""

    text: str


@dataclass(frozen=True, slots=True)
class DocBreak:
    """`text` on a line that fits, a newline otherwise."""

    text: str = " "


@dataclass(frozen=True, slots=True)
class DocGroup:
    """A part that is laid out flat when it fits by itself."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class DocIndent:
    """A part whose newlines indent by `width` more."""

    width: int
    doc: Doc


@dataclass(frozen=True, slots=True)
class DocConcat:
    """Parts one after the other."""

    docs: tuple[Doc, ...]


Doc = DocText | DocNote | DocBreak | DocGroup | DocIndent | DocConcat


def concat(*docs: Doc | str) -> Doc:
    """Parts one after the other; a plain string is text."""
    return DocConcat(tuple(DocText(d) if isinstance(d, str) else d for d in docs))


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """Parts with `separator` between them."""
    parts: list[Doc] = []
    for doc in docs:
        if parts:
            parts.append(separator)
        parts.append(doc)
    return DocConcat(tuple(parts))


def layout(doc: Doc, width: int) -> str:
    """The text of `doc` on lines of `width` columns where its breaks allow it.

    >>> group = DocGroup(concat("(", DocBreak(""), "x)"))
    >>> print(layout(concat("f", DocIndent(2, group)), 3))
    f(
      x)
    """
    out: list[str] = []
    notes: dict[int, list[str]] = {}
    column = line = 0
    stack: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while stack:
        indent, flat, part = stack.pop()
        match part:
            case DocText(text):
                out.append(text)
                column += len(text)
            case DocNote(text):
                notes.setdefault(line, []).append(text)
            case DocBreak(text) if flat:
                out.append(text)
                column += len(text)
            case DocBreak():
                out.append("\n" + " " * indent)
                column, line = indent, line + 1
            case DocGroup(inner):
                stack.append((indent, flat or _fits(inner, width - column), inner))
            case DocIndent(more, inner):
                stack.append((indent + more, flat, inner))
            case DocConcat(docs):
                stack.extend((indent, flat, d) for d in reversed(docs))
    return _noted("".join(out), notes) if notes else "".join(out)


def _noted(text: str, notes: Mapping[int, Sequence[str]]) -> str:
    """A text with comments beside its lines, all of which begin in one column.

    >>> print(_noted("let\\n  a = b\\nin a", {0: ["x", "y"], 1: ["z"]}))
    let     # x
            # y
      a = b # z
    in a
    """
    lines = text.split("\n")
    width = max(len(lines[k]) for k in notes)
    found = []
    for k, line in enumerate(lines):
        first, *others = notes.get(k, [""])
        found.append(f"{line:{width}} # {first}" if k in notes else line)
        found += [f"{'':{width}} # {other}" for other in others]
    return "\n".join(found)


def _fits(doc: Doc, room: int) -> bool:
    """True if a group fits into the room left on its line."""
    # What follows the group is not counted: a closing `]` may pass the margin, the
    # operands after it too. That is the layout of the texts that we read and write.
    stack = [doc]
    while stack and room >= 0:
        match stack.pop():
            case DocText(text) | DocBreak(text):
                room -= len(text)
            case DocGroup(inner) | DocIndent(_, inner):
                stack.append(inner)
            case DocConcat(docs):
                stack.extend(reversed(docs))
    return room >= 0
