"""Programs as terms of the abstract syntax, of which rules speak.

A term is a tuple of its production's name and its parts. Serves: syntax.*

>>> from traceir.text import parse
>>> program = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
>>> kind, constants, values, inputs, body = as_term(program)
>>> kind, body[0], body[1][:2]
('program', 'let', ('equation', 'sin'))
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Params,
    Var,
    programs_in,
)

Term = tuple[Any, ...]


def as_term(program: ClosedJaxpr) -> Term:
    """The term of a program, which is kept with it.

    The programs within are terms when somebody asks for them.
    """
    return program.memo("term", lambda: _as_term(program))


def _as_term(program: ClosedJaxpr) -> Term:
    jaxpr = program.jaxpr
    body: Term = ("results", tuple(map(operand, jaxpr.outvars)))
    for eqn in reversed(jaxpr.eqns):
        reads, writes = map(operand, eqn.inputs), map(operand, eqn.outputs)
        named = tuple(sorted(eqn.effects))
        equation = (
            *("equation", eqn.primitive, eqn.params),
            *(tuple(reads), tuple(writes), named),
        )
        body = ("let", equation, body)
    constants, inputs = map(operand, jaxpr.constvars), map(operand, jaxpr.invars)
    return ("program", tuple(constants), program.consts, tuple(inputs), body)


def operand(atom: Atom) -> Term:
    """The term of a variable or a literal."""
    if isinstance(atom, Literal):
        return ("literal", atom.array, atom.aval)
    return ("variable", atom, atom.aval)


def programs(params: Params) -> tuple[Term, ...]:
    """The programs among the params of an equation, in their order."""
    return tuple(map(as_term, programs_in(params)))


@dataclass(frozen=True, slots=True)
class TypesOfProgram:
    """A program of which the types alone are known, as clauses see it."""

    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]


def signed(params: Params, inputs: Sequence[Any], outputs: Sequence[Any]) -> Params:
    """The params with the types of its programs in the place of each."""
    found = map(TypesOfProgram, inputs, outputs)
    return tuple((name, _signed(value, found)) for name, value in params)


def _signed(value: Any, found: Iterator[TypesOfProgram]) -> Any:
    if isinstance(value, ClosedJaxpr):
        return next(found)
    if isinstance(value, tuple) and any(isinstance(v, ClosedJaxpr) for v in value):
        return tuple(_signed(one, found) for one in value)
    return value


class Environment(Mapping[Var, Any]):
    """The type or the value of each variable; extending it leaves it as it was.

    Those that were extended one from another share one dict, in which each sees as
    many of the first variables as it has.

    >>> one = environment("a", (1,))
    >>> two, other = extended(one, "b", (2,)), extended(one, "c", (3,))
    >>> sorted(two.items()), sorted(other.items()), "b" in one
    ([('a', 1), ('b', 2)], [('a', 1), ('c', 3)], False)
    """

    __slots__ = ("_found", "_count")

    def __init__(self, found: dict[Any, tuple[int, Any]], count: int) -> None:
        self._found = found
        self._count = count

    def __getitem__(self, name: Hashable) -> Any:
        place, value = self._found[name]
        if place >= self._count:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[Any]:
        return iter([n for n, (k, _) in self._found.items() if k < self._count])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def extended(self, names: Sequence[Any], values: Sequence[Any]) -> Environment:
        """The same with some variables more, each of which has one of the values."""
        found = self._found
        if len(found) != self._count or any(name in found for name in names):
            found = {name: (k, self[name]) for k, name in enumerate(self)}
        for name, value in zip(names, values, strict=True):
            found[name] = (len(found), value)
        return Environment(found, len(found))


def environment(names: Sequence[Any], values: Sequence[Any]) -> Environment:
    """The environment of some variables."""
    return Environment({}, 0).extended(names, values)


def extended(
    around: Environment, names: Sequence[Any], values: Sequence[Any]
) -> Environment:
    """An environment with some variables more."""
    return around.extended(names, values)


def joined(lists: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The elements of several tuples, one after the other."""
    return tuple(item for one in lists for item in one)


# Traces -------------------------------------------------------------------------------


def fresh(types: Sequence[ShapedArray]) -> tuple[Term, ...]:
    """Variables of these types that are no others."""
    return tuple(("variable", Var(aval), aval) for aval in types)


def chained(equations: Sequence[Term], operands: Sequence[Term]) -> Term:
    """The body of some equations, one after the other, and results."""
    body: Term = ("results", tuple(operands))
    for equation in reversed(equations):
        body = ("let", equation, body)
    return body


def as_program(term: Term) -> ClosedJaxpr:
    """The program of a term.

    >>> from traceir.text import parse
    >>> program = parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    >>> as_program(as_term(program)) == program
    True
    """
    _, constants, values, inputs, body = term
    equations = []
    while body[0] == "let":
        _, (_, name, params, reads, writes, effects), body = body
        found = tuple(map(_variable, writes))
        reads = tuple(map(atom, reads))
        equations.append(Eqn(name, reads, found, params, frozenset(effects)))
    heads = tuple(map(_variable, constants)), tuple(map(_variable, inputs))
    jaxpr = Jaxpr(*heads, tuple(equations), tuple(map(atom, body[1])))
    return ClosedJaxpr(jaxpr, tuple(values))


def atom(term: Term) -> Atom:
    """The variable or the literal of a term."""
    kind, content, aval = term
    if kind == "variable":
        return _variable(term)
    return Literal(content, aval)


def _variable(term: Term) -> Var:
    found: Var = term[1]
    return found


def as_host_function(program: ClosedJaxpr) -> Term:
    """The function of the host that does what a program does, as a term.

    Constants are what it captures, literals are numbers of the host's.
    """
    jaxpr = program.jaxpr
    body: Term = ("give", tuple(map(_expression, jaxpr.outvars)))
    for eqn in reversed(jaxpr.eqns):
        reads = tuple(map(_expression, eqn.inputs))
        body = ("do", eqn.primitive, eqn.params, reads, eqn.outputs, body)
    pairs = zip(jaxpr.constvars, program.consts)
    captured = tuple(("captured", var, value, var.aval) for var, value in pairs)
    return ("function", captured, jaxpr.invars, body)


def _expression(atom: Atom) -> Term:
    if isinstance(atom, Literal):
        return ("number", atom.value, atom.aval)
    return ("name", atom)
