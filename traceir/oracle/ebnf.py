"""Grammars in EBNF, read as data. Serves: text.syntax"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# What an expression of a grammar is: its kind, and its parts or its text.
Node = tuple[str, tuple["Node", ...] | str]

_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|\?[^?]*\?|[\w-]*\w|[=;|,(){}\[\]-]|\S")
_GROUPS: Final = {"(": (")", "all"), "[": ("]", "maybe"), "{": ("}", "many")}


def read_rules(text: str) -> tuple[dict[str, Node], frozenset[str]]:
    """The rules of an EBNF text, and which of them are words.

    Words are the rules after a comment that begins so, up to the next such comment.

    >>> rules, words = read_rules('ab = { "a" } b ; (* Words. *) b = "b" ;')
    >>> rules["ab"], words
    (('all', (('many', (('text', 'a'),)), ('rule', 'b'))), frozenset({'b'}))
    """
    rules: dict[str, Node] = {}
    words: set[str] = set()
    for part in re.split(r"(?=\(\* [A-Z])", text):
        plain = re.sub(r"(?s)\(\*.*?\*\)", " ", part)
        found = _EbnfReader(_TOKEN.findall(plain)).rules()
        rules |= found
        if part.startswith("(* Words"):
            words |= found.keys()
    return rules, frozenset(words)


class _EbnfReader:
    """Reads rules from the tokens of a grammar."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = list(tokens)[::-1]

    def rules(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        while self.tokens:
            name = self.tokens.pop()
            self.expect("=")
            found[name] = self.choice()
            self.expect(";")
        return found

    def expect(self, token: str) -> None:
        got = self.tokens.pop() if self.tokens else "the end"
        if got != token:
            raise ValueError(f"a grammar has {got}, expected {token}")

    def choice(self) -> Node:
        parts = [self.sequence()]
        while self.tokens[-1:] == ["|"]:
            self.tokens.pop()
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else ("any", tuple(parts))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.tokens and self.tokens[-1] not in ("|", ";", ")", "]", "}"):
            part = self.item()
            if self.tokens[-1:] == ["-"]:
                self.tokens.pop()
                part = ("but", (part, self.item()))
            parts.append(part)
        return parts[0] if len(parts) == 1 else ("all", tuple(parts))

    def item(self) -> Node:
        token = self.tokens.pop()
        if token in _GROUPS:
            close, kind = _GROUPS[token]
            inner = self.choice()
            self.expect(close)
            return (kind, (inner,))
        if token[0] in "\"'":
            return ("text", token[1:-1])
        if token[0] == "?":
            return ("special", token[1:-1].strip())
        return ("rule", token)
