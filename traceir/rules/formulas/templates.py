"""Templates: a few equations over the operands of a primitive. Serves: table.template

    template   = { statement ";" } results
    statement  = name { name } "=" application | "*" name "=" application
    results    = application | part { "," part }
    application = primitive [ "[" { param "=" value } "]" ] { part }
    part       = name | "*" name | number [ ":" dtype ] | "{" formula "}"

The value of a param is a formula, in braces where it holds a space or a bracket.
Params that have defaults may be left out. A number has the dtype of the first named
operand beside it that is not boolean, or of the row's first. A statement with a star is
applied to each of the values of its spread operands, whose number is `k` in formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from traceir.base.fast_dataclass import dataclass
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem

_TOKEN = re.compile(
    r"""\s*(?:(?P<hole>\{[^{}]*\})
    |(?P<number>-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf\b|nan\b)(?::\w+)?)
    |(?P<name>[^\W\d]\w*(?:-[^\W\d]\w*)*)
    |(?P<punct>[=\[\];,*]|$))""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class TemplateName:
    """A value: an operand, a result, a tangent, or a statement's definition."""

    name: str


@dataclass(frozen=True, slots=True)
class TemplateSpread:
    """The values of a variadic operand, one after another."""

    name: str


@dataclass(frozen=True, slots=True)
class TemplateNumber:
    """A number; without `dtype` it has that of its neighbours."""

    value: int | float
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class TemplateHole:
    """A number that a formula gives."""

    formula: Formula


Part = TemplateName | TemplateSpread | TemplateNumber | TemplateHole


@dataclass(frozen=True, slots=True)
class TemplateStatement:
    """One application, and the names of its results; `each` where it is several."""

    results: tuple[str, ...]
    primitive: str
    params: tuple[tuple[str, Formula], ...]
    operands: tuple[Part, ...]
    each: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """Statements, and which values are the result; the last of them may be "*".

    With `whole`, the results of the last statement, however many, are the result.
    """

    text: str
    statements: tuple[TemplateStatement, ...]
    results: tuple[Part, ...]
    whole: bool

    @property
    def formulas(self) -> Iterator[Formula]:
        """All formulas of the template."""
        for statement in self.statements:
            yield from (formula for _, formula in statement.params)
            yield from (
                p.formula for p in statement.operands if isinstance(p, TemplateHole)
            )


_STAR: Final = ("punct", "*")
# The name of what the last statement gives; no template can write it.
RESULT: Final = "="


def parse_template(
    text: str, values: Mapping[str, bool], names: FormulaNames, where: str
) -> Template:
    """The template of a text over `values`: names, and whether each stands for many.

    `names` are those that formulas may use. Raises RuleTableError (table.template).

    >>> values = {"x": 0, "t": 0}
    >>> template = parse_template("c = cos x; mul t c", values, FormulaNames([]), "")
    >>> [s.primitive for s in template.statements]
    ['cos', 'mul']
    """
    return _Parser(text, values, names, where).template()


class _Parser:
    def __init__(
        self, text: str, values: Mapping[str, bool], names: FormulaNames, where: str
    ) -> None:
        self.text = text
        self.values = dict(values)
        self.names = names
        self.where = where
        self.tokens = list(self.lex())
        self.at = 0

    def lex(self) -> Iterator[tuple[str, str]]:
        at = 0
        text = self.text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None or found.end() == at:
                raise self.fail(text[at : at + 20])
            at = found.end()
            yield str(found.lastgroup), found[found.lastgroup or 0]

    def fail(self, got: str) -> Exception:
        return problem("table.template", f"{self.where}: {self.text}", got or "no more")

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        k = self.at + ahead
        return self.tokens[k] if k < len(self.tokens) else ("end", "")

    def take(self, kind: str, text: str = "") -> str:
        found = self.peek()
        if found[0] != kind or (text and found[1] != text):
            raise self.fail(found[1])
        self.at += 1
        return found[1]

    def accept(self, text: str) -> bool:
        if self.peek() == ("punct", text):
            self.at += 1
            return True
        return False

    def template(self) -> Template:
        """Read statements up to the end; the last one may be the result."""
        statements: list[TemplateStatement] = []
        while (results := self.defined()) is not None:
            before = self.at - len(results) - 2
            each = before >= 0 and self.tokens[before] == _STAR
            statements.append(self.application(results, each))
            self.values |= dict.fromkeys(results, each)
            self.take("punct", ";")
        whole = self.peek()[0] == "name" and self.peek()[1] not in self.values
        if whole:
            statements.append(self.application((RESULT,)))
            last: list[Part] = [TemplateName(RESULT)]
        else:
            last = [self.part()]
            while self.accept(","):
                last.append(self.part())
        self.take("end")
        return Template(self.text, tuple(statements), tuple(last), whole)

    def defined(self) -> tuple[str, ...] | None:
        """The names before a "=", if the next thing is a statement that has them."""
        star = int(self.peek() == _STAR)
        count = 0
        while self.peek(star + count)[0] == "name":
            count += 1
        if not count or self.peek(star + count) != ("punct", "="):
            return None
        self.at += star
        found = tuple(self.take("name") for _ in range(count))
        if star and count > 1:
            raise self.fail(found[1])
        self.take("punct", "=")
        if taken := [name for name in found if name in self.values]:
            raise self.fail(f"{taken[0]}, which has a meaning already")
        return found

    def application(
        self, results: tuple[str, ...], each: bool = False
    ) -> TemplateStatement:
        """Read a primitive, its params and its operands."""
        primitive = self.take("name")
        names, self.names = self.names, self.names.plus("k") if each else self.names
        params = []
        if self.accept("["):
            while not self.accept("]"):
                name = self.take("name")
                self.take("punct", "=")
                params.append((name, self.value()))
        operands = []
        while self.peek()[0] not in ("end",) and self.peek()[1] not in (";", ","):
            operands.append(self.part())
        self.names = names
        if each and not any(isinstance(p, TemplateSpread) for p in operands):
            raise self.fail(f"*{results[0]} of no operand that is several")
        return TemplateStatement(
            results, primitive, tuple(sorted(params)), tuple(operands), each
        )

    def value(self) -> Formula:
        kind, text = self.peek()
        if kind not in ("hole", "number", "name"):
            raise self.fail(text)
        self.at += 1
        return self.formula(text[1:-1] if kind == "hole" else text)

    def formula(self, text: str) -> Formula:
        return self.names.formula(text, self.where)

    def part(self) -> Part:
        """Read one operand: a hole, a number, or a name, spread if it has a star."""
        kind, text = self.peek()
        if kind == "hole":
            self.at += 1
            return TemplateHole(self.formula(text[1:-1]))
        if kind == "number":
            self.at += 1
            number, _, dtype = text.partition(":")
            whole = number.lstrip("-").isdecimal()
            return TemplateNumber(int(number) if whole else float(number), dtype)
        many = self.accept("*")
        name = self.take("name")
        if name not in self.values or self.values[name] != many:
            raise self.fail(f"{'*' * many}{name}")
        return TemplateSpread(name) if many else TemplateName(name)
