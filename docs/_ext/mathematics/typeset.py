"""Formulas as mathematics.

Python's computation and the specification's formulas come from one tree. Serves: every
formula
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from _ext.mathematics.markup import (
    COMMA,
    Below,
    Cases,
    Fraction,
    Leaf,
    Line,
    Math,
    Power,
    Root,
    broken,
    latex,
    mathml,
)
from traceir.rules.formulas.language import Formula

# How tightly a form binds; an operand that binds less than its place asks for is put in
# parentheses. A choice is open on the right, a quantifier reaches as far as it can, a
# fold ends at the next sum.
CHOICE, QUANTIFIER, OR, AND, NOT, COMPARISON, BIT_OR, BIT_AND = range(8)
SUM, FOLD, PRODUCT, MINUS, POWER, POSTFIX, ATOM = range(8, 15)

BINARY: Final[dict[type[ast.operator], tuple[int, Leaf]]] = {
    ast.Add: (SUM, Leaf("operator", "+")),
    ast.Sub: (SUM, Leaf("operator", "−")),
    ast.Mult: (PRODUCT, Leaf("operator", "·")),
    ast.Mod: (PRODUCT, Leaf("word", "mod")),
    ast.BitAnd: (BIT_AND, Leaf("operator", "&")),
    ast.BitOr: (BIT_OR, Leaf("operator", "|")),
}
COMPARE: Final[dict[type[ast.cmpop], Leaf]] = {
    ast.Eq: Leaf("operator", "="),
    ast.NotEq: Leaf("operator", "≠"),
    ast.Lt: Leaf("operator", "<"),
    ast.LtE: Leaf("operator", "≤"),
    ast.Gt: Leaf("operator", ">"),
    ast.GtE: Leaf("operator", "≥"),
    ast.In: Leaf("operator", "∈"),
    ast.NotIn: Leaf("operator", "∉"),
    ast.Is: Leaf("word", "is"),
    ast.IsNot: Leaf("word", "is not"),
}
QUANTIFIERS: Final = {"all": "∀", "any": "∃"}
FOLDS: Final = {
    "sum": Leaf("operator", "∑"),
    "prod": Leaf("operator", "∏"),
    "max": Leaf("function", "max"),
    "min": Leaf("function", "min"),
}
COLON, IF = Leaf("operator", ":"), Leaf("word", "if")


def typeset(formula: Formula | ast.expr) -> Math:
    r"""The mathematics of a formula.

    >>> from traceir.rules import parse
    >>> print(latex(typeset(parse("(a + b) * c // 2"))))
    \lfloor \frac{( a + b ) \cdot c}{2} \rfloor
    >>> print(latex(typeset(parse("all(0 <= d < n for d in axes)"))))
    \forall d \in \mathit{axes} \colon 0 \le d < n
    """
    return _form(formula.node if isinstance(formula, Formula) else formula)[0]


def elements(math: Math, block: bool = False) -> str:
    """The `math` elements of HTML that show a tree; a line may be broken between them.

    Their LaTeX is within, for whoever copies it. With `block`, fractions and ranges are
    as large as on a line of their own.

    >>> elements(Leaf("number", "1"))[:47]
    '<math><semantics><mn>1</mn><annotation encoding'
    """
    style = ' displaystyle="true"' if block else ""
    return "<wbr/>".join(_element(part, style) for part in broken(math))


def _element(math: Math, style: str) -> str:
    tag, source = "annotation", escape(latex(math))
    note = f'<{tag} encoding="application/x-tex">{source}</{tag}>'
    return f"<math{style}><semantics>{mathml(math)}{note}</semantics></math>"


def _form(node: ast.expr) -> tuple[Math, int]:
    """A formula's mathematics, and how tightly it binds."""
    match node:
        case ast.Constant(str() as text):
            return Leaf("text", f"'{text}'"), ATOM
        case ast.Constant(bool() | None as value):
            return Leaf("text", str(value)), ATOM
        case ast.Constant(number):
            return Leaf("number", str(number)), ATOM
        case ast.Name(name):
            return Leaf("name", name), ATOM
        case ast.Attribute(value, attribute):
            dot = Leaf("operator", "."), Leaf("text", attribute)
            return Line((_whole(value), *dot)), POSTFIX
        case ast.Tuple(items):
            return Line(_listed(items, single=True)), ATOM
        case ast.Subscript(value, index):
            inside = _brackets("[", _index(index), "]")
            return Line((_whole(value), *inside)), POSTFIX
        case ast.BinOp(left, op, right):
            return _binary(left, op, right)
        case ast.UnaryOp(ast.Not(), operand):
            return Line((Leaf("operator", "¬"), _within(operand, POSTFIX))), NOT
        case ast.UnaryOp(_, operand):
            return Line((Leaf("operator", "−"), _after_sign(operand, MINUS))), MINUS
        case ast.BoolOp(op, values):
            sign, level = ("∧", AND) if isinstance(op, ast.And) else ("∨", OR)
            parts = [_within(value, level + 1) for value in values]
            return Line(tuple(_joined(parts, Leaf("operator", sign)))), level
        case ast.Compare(left, ops, rights):
            compared: list[Math] = [_within(left, BIT_OR)]
            for relation, right in zip(ops, rights):
                compared += COMPARE[type(relation)], _within(right, BIT_OR)
            return Line(tuple(compared)), COMPARISON
        case ast.IfExp():
            return Cases(tuple(_choices(node))), CHOICE
        case ast.Call(ast.Name(name), [ast.GeneratorExp(item, [loop])]):
            return _fold(name, item, loop)
        case ast.Call(ast.Name(name), arguments):
            return _call(name, arguments)
    raise AssertionError(f"unchecked node {ast.dump(node)}")


def _within(node: ast.expr, least: int) -> Math:
    """A part, in parentheses if it binds less than its place asks for."""
    math, level = _form(node)
    return math if level >= least else Line(tuple(_brackets("(", (math,), ")")))


def _whole(node: ast.expr) -> Math:
    """The operand of an attribute or an index; `3.shape` would read as a number."""
    number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return _within(node, ATOM + 1 if number else POSTFIX)


def _after_sign(node: ast.expr, least: int) -> Math:
    """A right operand: a minus after another sign is in parentheses."""
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return _within(node, ATOM if minus else least)


def _binary(left: ast.expr, op: ast.operator, right: ast.expr) -> tuple[Math, int]:
    """An operation of two operands, and the level of its binding."""
    if isinstance(op, ast.Div):
        return Fraction(_within(left, QUANTIFIER), _within(right, QUANTIFIER)), POWER
    if isinstance(op, ast.FloorDiv):
        over, under = _within(left, QUANTIFIER), _within(right, QUANTIFIER)
        return Line(tuple(_brackets("⌊", (Fraction(over, under),), "⌋"))), ATOM
    level, sign = BINARY[type(op)]
    first = _within(left, level)
    # A product and a remainder have one rank, which few readers know.
    if level == PRODUCT and isinstance(left, ast.BinOp) and type(left.op) in BINARY:
        first = first if type(left.op) is type(op) else _within(left, MINUS)
    return Line((first, sign, _after_sign(right, level + 1))), level


def _fold(name: str, item: ast.expr, loop: ast.comprehension) -> tuple[Math, int]:
    drawn = Line(tuple(_drawn(loop)))
    if name in QUANTIFIERS:
        sign = Leaf("operator", QUANTIFIERS[name])
        return Line((sign, drawn, COLON, _within(item, QUANTIFIER))), QUANTIFIER
    if name in FOLDS:
        return Line((Below(FOLDS[name], drawn), _within(item, PRODUCT))), FOLD
    # What is left is a tuple; a single item would else read as one in parentheses.
    inside = _within(item, QUANTIFIER), Leaf("word", "for"), drawn
    return Line(tuple(_brackets("(", inside, ")"))), ATOM


def _drawn(loop: ast.comprehension) -> Iterator[Math]:
    yield _within(loop.target, ATOM)
    yield Leaf("operator", "∈")
    yield _within(loop.iter, BIT_OR)
    for test in loop.ifs:
        yield IF
        yield _within(test, OR)


def _call(name: str, arguments: list[ast.expr]) -> tuple[Math, int]:
    """A function's application, by a sign of its own if it has one."""
    match name, arguments:
        case "abs", [one]:
            return Line(tuple(_brackets("∣", (_within(one, QUANTIFIER),), "‖"))), ATOM
        case "real", [ast.Constant("sqrt"), one]:
            return Root(_within(one, QUANTIFIER)), ATOM
        case "real", [ast.Constant("pow"), base, exponent]:
            return Power(_within(base, POSTFIX), _within(exponent, QUANTIFIER)), POWER
        # The floor of a fraction is how an integer division is written.
        case "real", [ast.Constant("floor"), one] if not _divides(one):
            return Line(tuple(_brackets("⌊", (_within(one, QUANTIFIER),), "⌋"))), ATOM
        case "real", [ast.Constant(str() as function), *arguments]:
            return Line((Leaf("function", function), *_listed(arguments))), POSTFIX
    return Line((Leaf("function", name), *_listed(arguments))), POSTFIX


def _divides(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _choices(node: ast.IfExp) -> Iterator[tuple[Math, Math | None]]:
    yield _within(node.body, QUANTIFIER), _within(node.test, OR)
    if isinstance(node.orelse, ast.IfExp):
        yield from _choices(node.orelse)
    else:
        yield _within(node.orelse, QUANTIFIER), None


def _index(index: ast.expr) -> tuple[Math, ...]:
    if isinstance(index, ast.Slice):
        ends = (index.lower, index.upper)
        low, high = (() if e is None else (_within(e, OR),) for e in ends)
        return (*low, COLON, *high)
    return (_within(index, QUANTIFIER),)


def _listed(items: Iterable[ast.expr], single: bool = False) -> tuple[Math, ...]:
    """Items in parentheses, with the comma that makes a tuple of one item one."""
    parts = [_within(item, QUANTIFIER) for item in items]
    inside = (*_joined(parts, COMMA), *((COMMA,) if single and len(parts) == 1 else ()))
    return tuple(_brackets("(", inside, ")"))


def _joined(parts: Iterable[Math], sign: Leaf) -> Iterator[Math]:
    for n, part in enumerate(parts):
        if n:
            yield sign
        yield part


def _brackets(left: str, inside: Iterable[Math], right: str) -> Iterator[Math]:
    yield Leaf("operator", left)
    yield from inside
    yield Leaf("operator", right)
