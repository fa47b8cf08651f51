"""Program text as tokens, each with its position. Serves: text.syntax"""

from __future__ import annotations

import re
from collections.abc import Iterator

from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError
from traceir.rules import Rules, default

HEXADECIMAL = r"0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?"
NUMBER = rf"{HEXADECIMAL}|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
# A part may be any number; the imaginary one ends in a j, with or without parentheses.
_PART = rf"(?:{NUMBER}|inf|nan)"
COMPLEX = rf"\(-?{_PART}[+-]{_PART}j\)|-?{_PART}j\b"
NUMBER_WORDS = frozenset({"nan", "inf", "True", "False", "true", "false"})
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<text>(?<=[\[\s]fmt=)(?:.|\n)*?(?=\s+has_placeholders=))
    |(?P<tree>\bPyTreeDef\([^\n]*?\)(?=\s+\w+=|\s*(?:[\]\n]|\Z)))
    |(?P<type>\bShapedArray\([^()\n]*\))
    |(?P<number>(?:{COMPLEX}|-?(?:{NUMBER})|-(?:inf|nan)\b)(?!(?<=\w)\w))
    |(?P<name>key<\w+>|[^\W\d]\w*(?:[.-][^\W\d]\w*)*)
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<angle><(?:[^<>\n]|<[^<>\n]*>)*>)
    |(?P<punct>[{{}}()\[\];:,.=~!-])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: its kind, the text and the offset at which it stands."""

    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """The part of a text that is read; positions are those of the whole text."""

    text: str
    start: int = 0
    stop: int = -1
    rules: Rules | None = None

    def position(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        begin = self.text.rfind("\n", 0, at) + 1
        return self.text.count("\n", 0, at) + 1, at - begin + 1

    def excerpt(self, at: int) -> str:
        """The line that holds an offset, and a caret below it, cut to fit a screen."""
        line, column = self.position(at)
        text = (self.text + "\n").split("\n")[line - 1].replace("\t", " ")
        cut = max(0, column - 50)
        return f"{text[cut : cut + 76]}\n    {' ' * (column - 1 - cut)}^"

    def error(self, rule: str, got: str, at: int) -> TraceirError:
        """The error of clause `rule` at an offset, with `line` and `column`."""
        line, column = self.position(at)
        where = f"line {line}, column {column}:\n    {self.excerpt(at)}"
        error = (self.rules or default()).error(rule, got=got, where=where)
        error.line, error.column = line, column  # type: ignore[attr-defined]
        return error


def tokens(source: SourceText) -> list[Token]:
    """All tokens and a last one of kind `end`; raises JaxprSyntaxError.

    >>> [t.text for t in tokens(SourceText("b:f32[] = sin a"))]
    ['b', ':', 'f32', '[', ']', '=', 'sin', 'a', '']
    """
    return list(_scan(source))


def _scan(source: SourceText) -> Iterator[Token]:
    """The tokens of a source, and one at its end."""
    at = source.start
    stop = len(source.text) if source.stop < 0 else source.stop
    while at < stop:
        found = _TOKEN.match(source.text, at, stop)
        if found is None:
            raise source.error("text.syntax", f"the character {source.text[at]!r}", at)
        if found.lastgroup != "space":
            yield Token(found.lastgroup or "", found.group(), at)
        at = found.end()
    yield Token("end", "", stop)
