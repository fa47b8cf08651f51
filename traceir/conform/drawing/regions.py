"""Random equations with control flow over drawn programs.

The programs of one equation must fit each other, so they are made of one that is drawn:
its negation for a branch, some of its inputs and results for a carry.
Serves: cond.*, while.*, scan.*
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray, stacked
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params

INDEX = ShapedArray((), "int32")
REGIONS = ("cond", "scan", "while")
MOST_STEPS = 3


def region(draw: DrawFn, kind: str, inner: ClosedJaxpr) -> tuple[list[Any], Eqn]:
    """An equation of one of `REGIONS` about a program.

    Its operands are those of the equation that have a type alone: the caller puts
    variables in their place.

    >>> from hypothesis import find, strategies as st
    >>> from traceir.text import parse
    >>> inner = parse("{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }")
    >>> drawn = st.composite(lambda draw: region(draw, "cond", inner))()
    >>> find(drawn, lambda found: True)[1].primitive
    'cond'
    """
    match kind:
        case "cond":
            return _cond(draw, inner)
        case "scan":
            return _scan(draw, inner)
    return _while(draw, inner)


def _cond(draw: DrawFn, inner: ClosedJaxpr) -> tuple[list[Any], Eqn]:
    branches = (inner, _negated(inner))
    if draw(st.booleans()):
        branches = branches[::-1]
    params = sort_params({"branches": branches})
    outputs = tuple(map(Var, inner.out_avals))
    index = Literal(draw(st.integers(-1, 2)), INDEX) if draw(st.booleans()) else INDEX
    return [index, *inner.in_avals], Eqn("cond", (), outputs, params)


def _scan(draw: DrawFn, inner: ClosedJaxpr) -> tuple[list[Any], Eqn]:
    body, consts, carry = _looping(inner)
    count = draw(st.integers(0, len(consts)))  # the other ones are rows
    order = [*range(count), *range(len(consts), len(consts) + len(carry))]
    order += [k for k in range(len(body.in_avals)) if k not in order]
    length = draw(st.integers(0, MOST_STEPS))
    body = _reordered(body, order)
    avals = body.in_avals
    fixed = count + len(carry)
    rows = stacked(avals[fixed:], length)
    params: dict[str, Any] = {
        "jaxpr": body,
        "length": length,
        "num_carry": len(carry),
        "num_consts": count,
        "independent": False,
        "status": 0,
        "reverse": draw(st.booleans()),
        "unroll": 1,
    }
    below = stacked(body.out_avals[len(carry) :], length)
    outputs = tuple(map(Var, (*carry, *below)))
    return [*avals[:fixed], *rows], Eqn("scan", (), outputs, sort_params(params))


def _while(draw: DrawFn, inner: ClosedJaxpr) -> tuple[list[Any], Eqn]:
    body, consts, carry = _looping(inner)
    count, stop = Var(INDEX), Literal(draw(st.integers(0, MOST_STEPS)), INDEX)
    others = tuple(map(Var, carry))
    holds = Var(ShapedArray((), "bool"))
    test = Jaxpr(
        (), (count, *others), (Eqn("lt", (count, stop), (holds,)),), (holds,), "test"
    )
    step = Var(INDEX)
    one = Eqn("add", (count, Literal(1, INDEX)), (step,))
    jaxpr = body.jaxpr
    used = jaxpr.invars[: len(consts)]
    turn = Jaxpr(
        jaxpr.constvars,
        (*used, count, *jaxpr.invars[len(consts) :]),
        (one, *jaxpr.eqns),
        (step, *jaxpr.outvars[: len(carry)]),
        "body",
    )
    params: dict[str, Any] = {
        "cond_jaxpr": ClosedJaxpr(test, ()),
        "cond_nconsts": 0,
        "body_jaxpr": ClosedJaxpr(turn, body.consts),
        "body_nconsts": len(consts),
        "independent": False,
        "status": 0,
    }
    outputs = tuple(map(Var, (INDEX, *carry)))
    start = Literal(0, INDEX)
    return [*consts, start, *carry], Eqn("while", (), outputs, sort_params(params))


def _negated(inner: ClosedJaxpr) -> ClosedJaxpr:
    """The program with its numeric results negated."""
    eqns, results = list(inner.eqns), list(inner.jaxpr.outvars)
    for k, atom in enumerate(results):
        if kind_of(atom.aval.dtype) in "fi":
            results[k] = negated = Var(atom.aval)
            eqns.append(Eqn("neg", (atom,), (negated,)))
    jaxpr = inner.jaxpr
    found = Jaxpr(jaxpr.constvars, jaxpr.invars, tuple(eqns), tuple(results))
    return ClosedJaxpr(found, inner.consts)


def _looping(
    inner: ClosedJaxpr,
) -> tuple[ClosedJaxpr, Sequence[ShapedArray], Sequence[ShapedArray]]:
    """The program as a body: its inputs are constants, then carries; so its results.

    An input is carried if a result has its type.
    """
    jaxpr = inner.jaxpr
    left: list[Atom] = list(jaxpr.outvars)
    carried: dict[Var, Atom] = {}
    for var in jaxpr.invars:
        found = next((a for a in left if a.aval is var.aval), None)
        if found is not None:
            left.remove(found)
            carried[var] = found
    consts = tuple(v for v in jaxpr.invars if v not in carried)
    body = Jaxpr(
        jaxpr.constvars,
        (*consts, *carried),
        jaxpr.eqns,
        (*carried.values(), *left),
        "body",
    )
    avals = tuple(v.aval for v in consts), tuple(v.aval for v in carried)
    return ClosedJaxpr(body, inner.consts), *avals


def _reordered(body: ClosedJaxpr, order: Sequence[int]) -> ClosedJaxpr:
    jaxpr = body.jaxpr
    invars = tuple(jaxpr.invars[k] for k in order)
    found = Jaxpr(jaxpr.constvars, invars, jaxpr.eqns, jaxpr.outvars, "body")
    return ClosedJaxpr(found, body.consts)
