"""Reads typeset formulas back, by the usual precedence of mathematics."""

from __future__ import annotations

import re
from collections.abc import Callable

from _ext.mathematics.markup import COMMANDS

from traceir.rules.formulas.language import VOCABULARY
from traceir.rules.judgements import CALLS
from traceir.rules.primitives import STEP_CALLS

TOKEN = re.compile(
    r"\\(?:mathit|operatorname|mathtt|text|mathbin|begin|end)\{[^{}]*\}"
    r"|\\[a-zA-Z]+|\\\\|\d[\d.]*|[a-zA-Z]|\S"
)
RELATIONS = {
    r"\ne": "!=",
    r"\le": "<=",
    r"\ge": ">=",
    r"\in": "in",
    r"\notin": "not in",
    "=": "==",
    "<": "<",
    ">": ">",
    r"\text{ is }": "is",
    r"\text{ is not }": "is not",
}
FOLDS = {r"\sum": "sum", r"\prod": "prod", r"\max": "max", r"\min": "min"}
QUANTIFIERS = {r"\forall": "all", r"\exists": "any"}
BINARY = (
    {COMMANDS["|"]: "|"},
    {COMMANDS["&"]: "&"},
    {"+": "+", "-": "-"},
    {r"\cdot": "*", r"\text{ mod }": "%"},
)
IF, OTHERWISE, ROW = r"\text{if }", r"\text{otherwise}", r"\\"


def read(text: str) -> str:
    r"""The Python of a formula's LaTeX, in parentheses throughout.

    >>> read(r"\lfloor \frac{a}{b} \rfloor + 1 \le c")
    '(((a // b) + 1) <= c)'
    """
    reader = Reader(TOKEN.findall(text))
    found = reader.choice()
    assert reader.tokens == [], reader.tokens
    return found


class Reader:
    """A reader by recursive descent: a method for each rank."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self.tokens[0] if self.tokens else ""

    def take(self, *wanted: str) -> str:
        """The next token, which is one of those wanted."""
        token = self.tokens.pop(0)
        assert not wanted or token in wanted, f"{token} in place of {wanted}"
        return token

    def skip(self, token: str) -> bool:
        """True if the next token was that one; then it is behind us."""
        if self.peek() != token:
            return False
        self.take()
        return True

    def choice(self) -> str:
        """A choice, or what binds more."""
        if not self.skip(r"\begin{cases}"):
            return self.formula()
        opened = ""
        while True:
            value = self.formula()
            self.take("&")
            if self.skip(OTHERWISE):
                self.take(r"\end{cases}")
                return f"{opened}{value}{')' * opened.count('(if')}".replace("(if", "(")
            self.take(IF)
            opened += f"(if{value} if {self.formula()} else "
            self.take(ROW)

    def formula(self) -> str:
        """A quantifier, which reaches to the end, or what binds more."""
        if self.peek() not in QUANTIFIERS:
            return self.bool(r"\lor", "or", lambda: self.bool(r"\land", "and", self.no))
        name = QUANTIFIERS[self.take()]
        drawn = self.drawn()
        self.take(r"\colon")
        return f"{name}({self.formula()} {drawn})"

    def drawn(self) -> str:
        """The range of a fold or a quantifier."""
        target = self.atom()
        self.take(r"\in")
        over = self.binary(0)
        test = f" if {self.formula()}" if self.skip(r"\text{ if }") else ""
        return f"for {target} in {over}{test}"

    def bool(self, sign: str, word: str, inner: Callable[[], str]) -> str:
        """Parts between one sign."""
        parts = [inner()]
        while self.skip(sign):
            parts.append(inner())
        return f"({f' {word} '.join(parts)})" if len(parts) > 1 else parts[0]

    def no(self) -> str:
        """A negation, or a comparison."""
        if self.skip(r"\lnot"):
            return f"(not {self.no()})"
        parts = [self.binary(0)]
        while self.peek() in RELATIONS:
            parts += RELATIONS[self.take()], self.binary(0)
        return f"({' '.join(parts)})" if len(parts) > 1 else parts[0]

    def binary(self, rank: int) -> str:
        """Signs of one rank, from the left."""
        if rank == len(BINARY):
            return self.minus()
        if rank == len(BINARY) - 1 and self.peek() in FOLDS:
            name = FOLDS[self.peek()]
            self.take()
            if self.skip("_"):
                self.take("{")
                drawn = self.drawn()
                self.take("}")
                return f"{name}({self.binary(rank)} {drawn})"
            left = self.postfix(f"{name}({', '.join(self.items())})")
        else:
            left = self.binary(rank + 1)
        while self.peek() in BINARY[rank]:
            sign = BINARY[rank][self.take()]
            left = f"({left} {sign} {self.binary(rank + 1)})"
        return left

    def minus(self) -> str:
        """A minus, or a power."""
        if self.skip("-"):
            return f"(-{self.minus()})"
        if not self.skip("{"):
            return self.postfix(self.atom())
        base = self.formula()
        for token in ("}", "^", "{"):
            self.take(token)
        exponent = self.formula()
        self.take("}")
        return f"real('pow', {base}, {exponent})"

    def postfix(self, found: str) -> str:
        """Attributes and indices of what stands before them."""
        while self.peek() in (".", "["):
            if self.take() == ".":
                found = f"({found}).{word(self.take())}"
                continue
            low = "" if self.peek() == r"\colon" else self.formula()
            if self.skip(r"\colon"):
                high = "" if self.peek() == "]" else self.formula()
                low = f"{low}:{high}"
            self.take("]")
            found = f"{found}[{low}]"
        return found

    def atom(self) -> str:
        """A part that holds together by itself."""
        token = self.take()
        match token:
            case "(":
                self.tokens.insert(0, token)
                items = self.items(tuple_too=True)
                return items[0]
            case r"\lvert":
                return f"abs({self.until(chr(92) + 'rvert')})"
            case r"\sqrt":
                self.take("{")
                return f"real('sqrt', {self.until('}')})"
            case r"\frac":
                return "({} / {})".format(*self.fraction())
            case r"\lfloor" if self.peek() == r"\frac":
                self.take()
                found = "({} // {})".format(*self.fraction())
                self.take(r"\rfloor")
                return found
            case r"\lfloor":
                return f"real('floor', {self.until(chr(92) + 'rfloor')})"
        if token in FOLDS or token.startswith(r"\operatorname"):
            name = FOLDS.get(token) or word(token)
            items = self.items()
            known = {*VOCABULARY, *STEP_CALLS, *CALLS, "typed"}
            if len(items) == 1:
                known.remove("abs")  # which has bars
            if name not in known:
                name, items = "real", [repr(name), *items]
            return f"{name}({', '.join(items)})"
        return word(token)

    def until(self, close: str) -> str:
        """A formula and what closes it."""
        found = self.formula()
        self.take(close)
        return found

    def fraction(self) -> tuple[str, str]:
        """The parts over the line and under it."""
        self.take("{")
        over = self.until("}")
        self.take("{")
        return over, self.until("}")

    def items(self, tuple_too: bool = False) -> list[str]:
        """The contents of parentheses: arguments, or one thing, maybe a tuple."""
        self.take("(")
        found, commas = [], 0
        while not self.skip(")"):
            found.append(self.choice())
            if self.skip(r"\text{ for }"):
                found[-1] = f"tuple({found[-1]} {self.drawn()})"
            commas += self.skip(",")
        if not tuple_too:
            return found
        if len(found) == 1 and not commas:
            return found
        return [f"({''.join(f'{item}, ' for item in found)})"]


def word(token: str) -> str:
    """A name, a number or a text without the command around it."""
    return re.sub(r"^\\\w+\{(.*)\}$", r"\1", token).replace(r"\_", "_")
