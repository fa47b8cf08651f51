"""A cursor over tokens: looks ahead, expects, reports.

Serves: text.syntax
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from traceir.errors import TraceirError
from traceir.text.lexer import SourceText, Token, tokens
from traceir.text.words import short_dtypes

DEPTH = 60
T = TypeVar("T")


class Cursor:
    """Passes the tokens of one source from left to right."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.tokens = tokens(source)
        self.index = 0
        self.depth = 0
        self.dtypes = short_dtypes(source.rules)

    def peek(self, ahead: int = 0) -> Token:
        """The token `ahead` of the next one; the last token repeats."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is then passed."""
        token = self.peek()
        self.index += 1
        return token

    def has(self, *texts: str) -> bool:
        """True if the next tokens have these texts."""
        return all(self.peek(k).text == text for k, text in enumerate(texts))

    def accept(self, text: str) -> bool:
        """Pass the next token if it is `text`."""
        found = self.has(text)
        self.index += found
        return found

    def expect(self, text: str, what: str = "") -> Token:
        """Pass the token `text`; raises JaxprSyntaxError when it is another."""
        if not self.has(text):
            raise self.fail(what or f"`{text}`")
        return self.take()

    def fail(self, expected: str, token: Token | None = None) -> TraceirError:
        """The error that `expected` should have stood here."""
        token = token or self.peek()
        found = f"`{token.text[:40]}`" if token.text else "the end of the text"
        return self.source.error(
            "text.syntax", f"{found}, expected {expected}", token.at
        )

    def name(self, what: str) -> Token:
        """Pass a name."""
        if self.peek().kind != "name":
            raise self.fail(what)
        return self.take()

    def variable(self, what: str) -> Token:
        """Pass a name that has no parts, as that of a variable or a param."""
        if not self.peek().text.isidentifier():
            raise self.fail(what)
        return self.name(what)

    def unquoted(self, token: Token) -> str:
        """The text of a quoted string."""
        try:
            return str(ast.literal_eval(token.text))
        except (SyntaxError, ValueError):
            raise self.fail("a quoted string", token) from None

    def nested(self, read: Callable[[], T]) -> T:
        """Read something inside brackets, refusing absurd nesting."""
        self.depth += 1
        if self.depth > DEPTH:
            raise self.fail(f"at most {DEPTH} levels of brackets")
        result = read()
        self.depth -= 1
        return result

    def separated(
        self, close: str, read: Callable[[], T], comma: bool = True
    ) -> list[T]:
        """The items between commas, up to and with the token `close`.

        One `comma` may follow the last of them.
        """
        found = []
        while not self.accept(close):
            found.append(read())
            if not self.has(close):
                self.expect(",", f"`,` or `{close}`")
                if not comma and self.has(close):
                    raise self.fail("one more item")
        return found

    def to_end(self, read: Callable[[], T]) -> tuple[T, ...]:
        """The items up to the end of the source."""
        found = []
        while self.peek().kind != "end":
            found.append(read())
        return tuple(found)

    def on_new_line(self, index: int) -> bool:
        """True if the token of that index is the first of its line."""
        before = self.tokens[index - 1]
        gap = self.source.text.find("\n", before.at, self.tokens[index].at)
        return index > 0 and gap >= 0

    def column(self, at: int) -> int:
        """The column of an offset."""
        return at - self.source.text.rfind("\n", 0, at)
