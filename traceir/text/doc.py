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
    stack: list[tuple[int, Doc]] = [(0, doc)]
    while stack:
        indent, part = stack.pop()
        # Quicker than patterns, for programs of many equations.
        if isinstance(part, DocConcat):
            stack += [(indent, inner) for inner in reversed(part.docs)]
        elif isinstance(part, DocText):
            out.append(part.text)
            column += len(part.text)
        elif isinstance(part, DocGroup):
            flat = _flat(part.doc, width - column)
            if flat is None:
                stack.append((indent, part.doc))
            else:
                texts, inside = flat
                out += texts
                column += sum(map(len, texts))
                if inside:
                    notes.setdefault(line, []).extend(inside)
        elif isinstance(part, DocIndent):
            stack.append((indent + part.width, part.doc))
        elif isinstance(part, DocBreak):
            out.append("\n" + " " * indent)
            column, line = indent, line + 1
        else:
            notes.setdefault(line, []).append(part.text)
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


def _flat(doc: Doc, room: int) -> tuple[list[str], list[str]] | None:
    """The texts of a group on one line, and its notes; None without room for it."""
    # What follows the group is not counted: a closing `]` may pass the margin, the
    # operands after it too. That is the layout of the texts that we read and write.
    texts: list[str] = []
    notes: list[str] = []
    stack = [doc]
    while stack and room >= 0:
        part = stack.pop()
        if isinstance(part, DocConcat):
            stack += reversed(part.docs)
        elif isinstance(part, (DocText, DocBreak)):
            texts.append(part.text)
            room -= len(part.text)
        elif isinstance(part, DocNote):
            notes.append(part.text)
        else:
            stack.append(part.doc)
    return (texts, notes) if room >= 0 else None
