"""The rule language: a total subset of Python expressions. Serves: table.formula

A formula is parsed by `ast` and checked against a closed list of productions. It can be
walked, which defines what it means, or compiled, which is fast; both agree by test.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Final

from traceir.base.caches import cached_property
from traceir.base.fast_dataclass import dataclass
from traceir.base.flags import FLAGS
from traceir.base.python_parser import parse_expression
from traceir.dtypes import bits_of, kind_of
from traceir.rules.formulas.helpers import HELPERS
from traceir.rules.formulas.scope import Scope, lookup
from traceir.rules.formulas.table_errors import problem

BUILTINS: Final[dict[str, Callable[..., Any]]] = {
    f.__name__: f for f in (all, any, sum, len, max, min, range, tuple, abs)
}
# Only these take a generator, so no formula can hold one unfinished.
FOLDS: Final = frozenset({"all", "any", "sum", "prod", "max", "min", "tuple"})
# The attributes of abstract values, dtypes, programs, calls of a jitted function.
ATTRIBUTES: Final = frozenset(
    {"shape", "dtype", "weak_type", "kind", "bits", "itemsize"}
    | {"in_avals", "out_avals", "num_leaves", "vma"}
    | {"function", "face", "strict", "tree", "axes"}
    | FLAGS.keys()
)
# Those of dtypes of which NumPy has others, or none.
COMPUTED: Final[dict[str, Callable[[Any], Any]]] = {"kind": kind_of, "bits": bits_of}
BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    # For None alone: NumPy takes `dtype == None` for "is float64".
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
VOCABULARY: Final[dict[str, Callable[..., Any]]] = BUILTINS | HELPERS
Env = Mapping[str, Any]


@dataclass(frozen=True)
class Formula:
    """A checked expression: its text, its tree, and the names that it needs."""

    text: str
    # Threads that parse one text at once get a tree each.
    node: ast.expr = field(compare=False)

    @cached_property
    def names(self) -> frozenset[str]:
        """The free variables; names that are called are not among them."""
        return frozenset(_free(self.node))

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions that are called."""
        found = (n for n in ast.walk(self.node) if isinstance(n, ast.Call))
        return frozenset(c.func.id for c in found if isinstance(c.func, ast.Name))

    @cached_property
    def _reading(self) -> Callable[[Env], Any]:
        """The evaluation: first a walk, then, if it is asked for again, its code."""
        return self._walked

    def _walked(self, env: Env) -> Any:
        vars(self)["_reading"] = self._compiled
        return walk(self.node, env)

    def _compiled(self, env: Env) -> Any:
        vars(self)["_reading"] = compiled = compile_reading(self)
        return compiled(env)

    def __call__(self, env: Env) -> Any:
        """The value, as `walk` defines it."""
        return self._reading(env)

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=4096)
def parse(text: str) -> Formula:
    """The formula of a text; RuleTableError (table.formula) if it is not one.

    >>> sorted(parse("x.shape == y.shape or len(axes) > 0").names)
    ['axes', 'x', 'y']
    """
    line = " ".join(text.split())
    try:
        node = parse_expression(line)
    except (SyntaxError, ValueError) as error:
        raise problem("table.formula", line, str(error)) from None
    _check(node, line)
    return Formula(line, node)


def names(formula: Formula) -> frozenset[str]:
    """The free variables of a formula."""
    return formula.names


# --- what is a formula ----------------------------------------------------------------


def _check(node: ast.expr, text: str) -> None:
    """Raise table.formula at the first part that no production makes."""
    match node:
        case ast.Constant(bool() | int() | float() | str() | None):
            parts: Sequence[ast.expr | None] = ()
        case ast.Name():
            parts = ()
        case ast.Attribute(value, attr) if attr in ATTRIBUTES:
            parts = (value,)
        case ast.Tuple(items) if not any(isinstance(i, ast.Starred) for i in items):
            parts = items
        case ast.Subscript(value, ast.Slice(low, high, None)):
            parts = (value, low, high)
        case ast.Subscript(value, index):
            parts = (value, index)
        case ast.BinOp(left, op, right) if type(op) in BINARY:
            parts = (left, right)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            parts = (operand,)
        case ast.BoolOp(_, values):
            parts = values
        case ast.Compare(left, ops, rights) if all(map(_is_comparison, ops, rights)):
            parts = (left, *rights)
        case ast.IfExp(test, then, other):
            parts = (test, then, other)
        case ast.Call(ast.Name(fold), [ast.GeneratorExp(item, [loop])], []) if (
            fold in FOLDS and _is_loop(loop)
        ):
            parts = (item, loop.iter, *loop.ifs)
        case ast.Call(ast.Name(), arguments, []):
            parts = arguments
        case _:
            bad = ast.get_source_segment(text, node) or type(node).__name__
            got = f"{bad}, a Python {type(node).__name__}"
            raise problem("table.formula", text, got)
    for part in parts:
        if part is not None:
            _check(part, text)


def _is_comparison(op: ast.cmpop, right: ast.expr) -> bool:
    # Identity of anything but None would depend on how values are made.
    if isinstance(op, (ast.Is, ast.IsNot)):
        return isinstance(right, ast.Constant) and right.value is None
    return type(op) in COMPARE


def _is_loop(loop: ast.comprehension) -> bool:
    return len(loop.ifs) <= 1 and not loop.is_async and bool(_targets(loop.target))


def _targets(target: ast.expr) -> tuple[str, ...]:
    """The names that a loop binds, or () if its target is of another form."""
    match target:
        case ast.Name(name):
            return (name,)
        case ast.Tuple(items):
            found = tuple(i.id for i in items if isinstance(i, ast.Name))
            return found if len(found) == len(items) else ()
    return ()


def _free(node: ast.expr) -> Iterator[str]:
    """The names that an expression reads and does not bind itself."""
    match node:
        case ast.Name(name):
            yield name
        case ast.Call(_, [ast.GeneratorExp(item, [loop])]):
            yield from _free(loop.iter)
            for part in (item, *loop.ifs):
                yield from set(_free(part)) - set(_targets(loop.target))
        case ast.Call(_, arguments):
            for argument in arguments:
                yield from _free(argument)
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _free(child)


# --- what a formula means -------------------------------------------------------------


def walk(formula: Formula | ast.expr, env: Env) -> Any:
    """The value of a formula; `env` binds its names, the vocabulary is always known.

    >>> walk(parse("take(s, (0, 2)) if len(s) > 2 else ()"), {"s": (5, 6, 7)})
    (5, 7)
    """
    match formula:
        case Formula():
            return walk(formula.node, env)
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return env[name] if name in env else VOCABULARY[name]
        case ast.Attribute(value, attr):
            return COMPUTED.get(attr, attrgetter(attr))(walk(value, env))
        case ast.Tuple(items):
            return tuple(walk(i, env) for i in items)
        case ast.Subscript(value, ast.Slice(low, high)):
            whole = walk(value, env)
            first = None if low is None else walk(low, env)
            return whole[first : None if high is None else walk(high, env)]
        case ast.Subscript(value, index):
            return walk(value, env)[walk(index, env)]
        case ast.BinOp(left, op, right):
            return BINARY[type(op)](walk(left, env), walk(right, env))
        case ast.UnaryOp(ast.Not(), operand):
            return not walk(operand, env)
        case ast.UnaryOp(_, operand):
            return -walk(operand, env)
        case ast.BoolOp(op, values):
            return _walk_bool(isinstance(op, ast.And), values, env)
        case ast.Compare(left, ops, rights):
            return _walk_compare(walk(left, env), ops, rights, env)
        case ast.IfExp(test, then, other):
            return walk(then if walk(test, env) else other, env)
        case ast.Call(func, [ast.GeneratorExp(item, [loop])]):
            return walk(func, env)(_walk_loop(item, loop, walk(loop.iter, env), env))
        case ast.Call(func, arguments):
            return walk(func, env)(*(walk(a, env) for a in arguments))
    raise AssertionError(f"unchecked node {formula!r}")


def _walk_bool(is_and: bool, values: Sequence[ast.expr], env: Env) -> Any:
    value: Any = is_and
    for node in values:
        value = walk(node, env)
        if bool(value) is not is_and:
            break
    return value


def _walk_compare(
    left: Any, ops: Sequence[ast.cmpop], rights: Sequence[ast.expr], env: Env
) -> Any:
    """A chain of comparisons, evaluated up to the first that fails."""
    held: Any = True
    for op, node in zip(ops, rights):
        right = walk(node, env)
        held = COMPARE[type(op)](left, right)
        if not held:
            break
        left = right
    return held


def bind_loop(target: ast.expr, value: Any) -> dict[str, Any]:
    """The variables that one turn of a loop binds."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    return dict(zip(_targets(target), value, strict=True))


def _walk_loop(
    item: ast.expr, loop: ast.comprehension, over: Iterable[Any], env: Env
) -> Iterator[Any]:
    for value in over:
        inner = Scope(bind_loop(loop.target, value), outer=env)
        if all(walk(test, inner) for test in loop.ifs):
            yield walk(item, inner)


def _is_warned_of(formula: ast.expr) -> bool:
    """True if Python may warn of a formula, as of `3[0]`: here it has no value."""
    operands: list[ast.expr] = []
    for node in ast.walk(formula):
        match node:
            case ast.Subscript(value):
                operands.append(value)
            case ast.Compare(left, ops, rights):
                pairs = zip([left, *rights], ops)
                operands += [v for v, op in pairs if isinstance(op, ast.Is | ast.IsNot)]
    plain = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    return not all(isinstance(operand, plain) for operand in operands)


@contextmanager
def _quiet() -> Iterator[None]:
    # What it changes is every thread's, and no formula of the tables needs it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        yield


def compile_formula(
    formula: Formula, names: Sequence[str], constants: Env | None = None
) -> Callable[..., Any]:
    """The formula as a Python function of `names`, in their order.

    >>> compile_formula(parse("a + b * a"), ("a", "b"))(2, 3)
    8
    """
    parameters = [ast.arg(name) for name in names]
    arguments = ast.arguments(
        [], parameters, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    computed = any(f".{name}" in formula.text for name in COMPUTED)
    node = _reading(formula.node, None) if computed else formula.node
    lambda_ = ast.Lambda(arguments, node)
    return _evaluated(
        lambda_, formula, {**VOCABULARY, **_COMPUTED, **(constants or {})}
    )


def compile_reading(formula: Formula) -> Callable[[Env], Any]:
    """The formula as a Python function of what binds its names.

    As in `walk`, a name has a value when it is read, which may be never.

    >>> compile_reading(parse("a and sum(a * n for n in b)"))({"a": 0})
    0
    """
    arguments = ast.arguments(
        [], [ast.arg(_ENV)], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    lambda_ = ast.Lambda(arguments, _reading(formula.node, frozenset()))
    return _evaluated(lambda_, formula, {_READ: _read, **_COMPUTED})


# What no formula can name.
_ENV, _READ = " names", " read"
_read = partial(lookup, known=VOCABULARY)
_COMPUTED = {f" {name}": function for name, function in COMPUTED.items()}


def _reading(node: Any, bound: frozenset[str] | None) -> Any:
    """An expression that reads its names, but those that a loop has bound; None where
    all of them are bound. Attributes that are computed are called."""
    match node:
        case ast.Attribute(of, attr) if attr in COMPUTED:
            computed = ast.Name(f" {attr}", ast.Load())
            return ast.Call(computed, [_reading(of, bound)], [])
        case ast.Name(name) if bound is not None and name not in bound:
            arguments: list[ast.expr] = [ast.Name(_ENV, ast.Load()), ast.Constant(name)]
            return ast.Call(ast.Name(_READ, ast.Load()), arguments, [])
        case ast.GeneratorExp(item, [loop]) if bound is not None:
            inner = bound | {*_targets(loop.target)}
            over, ifs = _reading(loop.iter, bound), _reading(loop.ifs, inner)
            own = ast.comprehension(loop.target, over, ifs, 0)
            return ast.GeneratorExp(_reading(item, inner), [own])
        case ast.expr():
            parts = {n: _reading(v, bound) for n, v in ast.iter_fields(node)}
            return type(node)(**parts)
        case [*items]:
            return [_reading(item, bound) for item in items]
    return node


def _evaluated(
    function: ast.Lambda, formula: Formula, known: Env
) -> Callable[..., Any]:
    tree = ast.fix_missing_locations(ast.Expression(function))
    with _quiet() if _is_warned_of(formula.node) else nullcontext():
        code = compile(tree, f"<traceir rule: {formula}>", "eval")
    made: Callable[..., Any] = eval(code, {"__builtins__": {}, **known})
    return made
