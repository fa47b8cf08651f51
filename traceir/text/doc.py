"""A pretty-printing algebra: text with places for line breaks.

A group is printed on one line when all of it fits, otherwise each of its own breaks
becomes a newline. Serves: text.layout
"""

from __future__ import annotations

from collections.abc import Iterable

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text without newlines."""

    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """`text` on a line that fits, a newline otherwise."""

    text: str = " "


@dataclass(frozen=True, slots=True)
class Group:
    """A part that is laid out flat when it fits by itself."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Nest:
    """A part whose newlines indent by `width` more."""

    width: int
    doc: Doc


@dataclass(frozen=True, slots=True)
class Concat:
    """Parts one after the other."""

    docs: tuple[Doc, ...]


Doc = Text | Break | Group | Nest | Concat


def concat(*docs: Doc | str) -> Doc:
    """Parts one after the other; a plain string is text."""
    return Concat(tuple(Text(d) if isinstance(d, str) else d for d in docs))


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """Parts with `separator` between them."""
    parts: list[Doc] = []
    for doc in docs:
        if parts:
            parts.append(separator)
        parts.append(doc)
    return Concat(tuple(parts))


def layout(doc: Doc, width: int) -> str:
    """The text of `doc` on lines of `width` columns where its breaks allow it.

    >>> print(layout(concat("f", Nest(2, Group(concat("(", Break(""), "x)")))), 3))
    f(
      x)
    """
    out: list[str] = []
    column = 0
    stack: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while stack:
        indent, flat, part = stack.pop()
        match part:
            case Text(text):
                out.append(text)
                column += len(text)
            case Break(text) if flat:
                out.append(text)
                column += len(text)
            case Break():
                out.append("\n" + " " * indent)
                column = indent
            case Group(inner):
                stack.append((indent, flat or _fits(inner, width - column), inner))
            case Nest(more, inner):
                stack.append((indent + more, flat, inner))
            case Concat(docs):
                stack.extend((indent, flat, d) for d in reversed(docs))
    return "".join(out)


def _fits(doc: Doc, room: int) -> bool:
    """True if a group fits into the room left on its line."""
    # What follows the group is not counted: a closing `]` may pass the margin, the
    # operands after it too. That is the layout of the texts that we read and write.
    stack = [doc]
    while stack and room >= 0:
        match stack.pop():
            case Text(text) | Break(text):
                room -= len(text)
            case Group(inner) | Nest(_, inner):
                stack.append(inner)
            case Concat(docs):
                stack.extend(reversed(docs))
    return room >= 0
