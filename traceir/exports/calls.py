"""Calls of functions with derivative rules, in the order of the text.

Serves: export.derivatives
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from traceir.exports.derivatives import FUNCTIONS, JvpProgram, Rule
from traceir.ir.jaxpr import (
    ClosedJaxpr,
    Eqn,
    HostFunction,
    Params,
    sort_params,
    subjaxprs,
)


def count_calls(closed: ClosedJaxpr) -> int:
    """The number of calls in a program and in those of its equations."""
    return closed.memo("count_calls", lambda: sum(map(_count, closed.eqns)))


def _count(eqn: Eqn) -> int:
    own = eqn.primitive in FUNCTIONS
    return own + sum(map(count_calls, subjaxprs(eqn)))


def calls_of(closed: ClosedJaxpr) -> Iterator[Eqn]:
    """The calls of a program in the order of its text."""
    if count_calls(closed):
        for eqn in closed.eqns:
            if eqn.primitive in FUNCTIONS:
                yield eqn
            for inner in subjaxprs(eqn):
                yield from calls_of(inner)


def with_rules(closed: ClosedJaxpr, found: Sequence[Rule | None]) -> ClosedJaxpr:
    """The program with these rules in its calls, in the order of its text.

    Equal programs with the same rules stay one object.
    """
    made: dict[tuple[int, tuple[int, ...]], ClosedJaxpr] = {}

    def program(inner: ClosedJaxpr, own: Sequence[Rule | None]) -> ClosedJaxpr:
        if not any(own):
            return inner
        key = id(inner), tuple(map(id, own))
        if key not in made:
            rest = iter(own)
            eqns = tuple(equation(eqn, rest) for eqn in inner.eqns)
            made[key] = ClosedJaxpr(replace(inner.jaxpr, eqns=eqns), inner.consts)
        return made[key]

    def equation(eqn: Eqn, rest: Iterator[Rule | None]) -> Eqn:
        if not _count(eqn):
            return eqn
        rule = next(rest) if eqn.primitive in FUNCTIONS else None
        params = tuple((name, param(value, rest)) for name, value in eqn.params)
        if rule is not None:
            params = _with_functions(eqn, params, rule)
        return replace(eqn, params=params)

    def param(value: Any, rest: Iterator[Rule | None]) -> Any:
        if type(value) is tuple:
            return tuple(one(part, rest) for part in value)
        return one(value, rest)

    def one(value: Any, rest: Iterator[Rule | None]) -> Any:
        if isinstance(value, ClosedJaxpr):
            return program(value, [next(rest) for _ in range(count_calls(value))])
        return value

    return program(closed, found)


def _with_functions(eqn: Eqn, params: Params, rule: Rule) -> Params:
    given: dict[str, Any] = dict(params)
    parts: Sequence[Any] = (rule,) if isinstance(rule, JvpProgram) else rule
    for name, part in zip(FUNCTIONS[eqn.primitive], parts, strict=True):
        given[name] = HostFunction(given[name].name, part)
    return sort_params(given)
