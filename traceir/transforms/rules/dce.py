"""Dead-code elimination, within programs of equations too.

Serves: derive.linearize, derive.jit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Params, Var, sort_params
from traceir.ir.params import EqnParams

Mask = tuple[bool, ...]
E = TypeVar("E", bound=Any)  # an Eqn or what else has its fields
# Params of an equation, which of its results are needed -> the params of one that gives
# these alone, and which operands that takes. For primitives with programs in their
# params; another primitive is left out whole or not at all.
DEAD: dict[str, Callable[[Params, Mask], tuple[Params, Mask]]] = {}


def live_program(
    closed: ClosedJaxpr, needed: Sequence[bool], kept: Sequence[bool] = ()
) -> tuple[ClosedJaxpr, Mask]:
    """The program that gives the results that are needed, and which inputs it takes.

    Inputs that are to be `kept` are taken in any case; equations with effects stay.
    """
    masks = tuple(needed), tuple(kept) or (False,) * len(closed.in_avals)
    return closed.memo(("live", *masks), lambda: _live(closed, *masks))


def _live(closed: ClosedJaxpr, needed: Mask, stay: Mask) -> tuple[ClosedJaxpr, Mask]:
    """The program without equations that no result needs, and the inputs kept."""
    jaxpr = closed.jaxpr
    outvars = tuple(v for v, n in zip(jaxpr.outvars, needed, strict=True) if n)
    read = {v for v in outvars if isinstance(v, Var)}
    kept: list[Eqn] = []
    for eqn in reversed(jaxpr.eqns):
        mask = tuple(v in read for v in eqn.outputs)
        if any(mask) or eqn.effects:
            eqn = live_eqn(eqn, mask)
            kept.append(eqn)
            read.update(v for v in eqn.inputs if isinstance(v, Var))
    taken = tuple(v in read or s for v, s in zip(jaxpr.invars, stay, strict=True))
    if all(needed) and all(taken) and _same(kept[::-1], jaxpr.eqns):
        return closed, taken
    consts = [pair for pair in zip(jaxpr.constvars, closed.consts) if pair[0] in read]
    leaner = Jaxpr(
        tuple(v for v, _ in consts),
        tuple(v for v, t in zip(jaxpr.invars, taken) if t),
        tuple(kept[::-1]),
        outvars,
        jaxpr.debug_name,
    )
    made = ClosedJaxpr(leaner, tuple(value for _, value in consts), closed.backend)
    return made, taken


def _same(kept: Sequence[Eqn], eqns: Sequence[Eqn]) -> bool:
    return len(kept) == len(eqns) and all(map(lambda a, b: a is b, kept, eqns))


def live_eqn(eqn: E, needed: Mask) -> E:
    """The equation without results that are not needed, if its primitive allows it.

    Of a program, or a recorded operation.
    """
    rule = DEAD.get(eqn.primitive)
    if rule is None:
        return eqn
    params, taken = rule(eqn.params, needed)
    if all(needed) and params == eqn.params:
        return eqn
    inputs = tuple(a for a, t in zip(eqn.inputs, taken, strict=True) if t)
    outputs = tuple(v for v, n in zip(eqn.outputs, needed, strict=True) if n)
    own = EqnParams(params)
    return replace(eqn, inputs=inputs, outputs=outputs, params=own)


def _jit(params: Params, needed: Mask) -> tuple[Params, Mask]:
    known = dict(params)
    closed = known["jaxpr"]
    assert isinstance(closed, ClosedJaxpr)
    leaner, taken = live_program(closed, needed)
    if leaner is closed:
        return params, taken
    return sort_params({**known, "jaxpr": leaner}), taken


DEAD["jit"] = _jit
