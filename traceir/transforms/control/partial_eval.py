"""Partial evaluation: the known part of a region, and the linear.

If a function is transposed whose linear arguments are operands of a region beside
others, the results that do not depend on them are needed before: they are computed by a
region of their own.

Serves: derive.transpose
"""

from __future__ import annotations

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Params, Var
from traceir.tracing.trace import Value
from traceir.transforms.control.cond import branches_of, common
from traceir.transforms.control.regions import Slot, any_of, extended, given, region
from traceir.transforms.rules.registry import SPLIT, Mask, Values
from traceir.transforms.rules.rewrites import (
    changed,
    flipped,
    keep_outputs,
    kept,
    merged,
    spread,
)


@dataclass(frozen=True, slots=True)
class PartialEval:
    """A program in two: `known` takes the inputs that are known and gives the results
    that depend on those alone, then the residuals; `linear` takes residuals and the
    other inputs and gives the other results, for which `moved` is True."""

    known: ClosedJaxpr
    linear: ClosedJaxpr
    moved: tuple[bool, ...]


def partial_eval_program(
    closed: ClosedJaxpr, moved: Mask, forced: Mask = ()
) -> PartialEval:
    """The program in two, by which of its inputs are not known.

    The results that are `forced` count as those that are not known.

    >>> from traceir import parse
    >>> eqns = "c:f32[] = sin a; d:f32[] = mul b c"
    >>> text = f"{{ lambda ; a:f32[] b:f32[]. let {eqns} in (c, d) }}"
    >>> found = partial_eval_program(parse(text), [False, True])
    >>> found.known
    { lambda ; a:f32[]. let b:f32[] = sin a in (b, b) }
    >>> found.linear, found.moved
    ({ lambda ; a:f32[] b:f32[]. let c:f32[] = mul b a in (c,) }, (False, True))
    """
    key = "split", tuple(moved), tuple(forced)
    return closed.memo(key, lambda: _split(closed, moved, forced))


def _split(closed: ClosedJaxpr, moved: Mask, forced: Mask) -> PartialEval:
    """The known equations, the linear ones, and the values between them."""
    jaxpr = closed.jaxpr
    moving = set(kept(jaxpr.invars, moved))
    early: list[Eqn] = []
    late: list[Eqn] = []
    for eqn in jaxpr.eqns:
        if moving.isdisjoint(a for a in eqn.inputs if isinstance(a, Var)):
            early.append(eqn)
        else:
            late.append(eqn)
            moving.update(eqn.outputs)
    wanted = forced or [False] * len(jaxpr.outvars)
    out = tuple(
        f or (isinstance(v, Var) and v in moving)
        for v, f in zip(jaxpr.outvars, wanted, strict=True)
    )
    read = (*(a for e in late for a in e.inputs), *kept(jaxpr.outvars, out))
    fixed = {*jaxpr.constvars, *moving}
    residuals = dict.fromkeys(a for a in read if isinstance(a, Var) and a not in fixed)
    known = changed(
        closed,
        invars=kept(jaxpr.invars, flipped(moved)),
        eqns=tuple(early),
        outvars=(*kept(jaxpr.outvars, flipped(out)), *residuals),
    )
    linear = changed(
        closed,
        invars=(*residuals, *kept(jaxpr.invars, moved)),
        eqns=tuple(late),
        outvars=kept(jaxpr.outvars, out),
    )
    return PartialEval(known, linear, out)


def split_jit(values: Values, moved: Mask, params: Params) -> list[Value] | None:
    """A call for the known part, and one for the rest."""
    others = given(params)
    halves = partial_eval_program(others.pop("jaxpr"), moved)
    if all(halves.moved):
        return None
    early = kept(values, flipped(moved))
    found = region("jit", early, **others, jaxpr=halves.known)
    count = len(halves.moved) - sum(halves.moved)
    late = [*found[count:], *kept(values, moved)]
    rest = region("jit", late, **others, jaxpr=halves.linear)
    return merged(halves.moved, rest, found[:count])


def split_remat(values: Values, moved: Mask, params: Params) -> list[Value] | None:
    """A call for the known part; the other one computes it again, and keeps nothing."""
    others = given(params)
    closed = others.pop("jaxpr")
    halves = partial_eval_program(closed, moved)
    if all(halves.moved):
        return None
    count = len(halves.moved) - sum(halves.moved)
    total = len(halves.known.out_avals)
    known = keep_outputs(halves.known, [k < count for k in range(total)])
    found = region("remat2", kept(values, flipped(moved)), **others, jaxpr=known)
    linear = keep_outputs(closed, halves.moved)
    rest = region("remat2", values, **others, jaxpr=linear)
    return merged(halves.moved, rest, found)


def split_cond(values: Values, moved: Mask, params: Params) -> list[Value] | None:
    """A choice for the known part, and one for the rest."""
    branches = branches_of(params)
    inner = moved[1:]
    out = any_of([partial_eval_program(b, inner).moved for b in branches])
    if all(out):
        return None
    halves = [partial_eval_program(b, inner, out) for b in branches]
    count = len(out) - sum(out)
    avals, places = common([h.known.out_avals[count:] for h in halves])
    known, linear = [], []
    for half, own in zip(halves, places, strict=True):
        slots: list[Slot] = [*range(count), *avals]
        for k, place in enumerate(own):
            slots[count + place] = count + k
        known.append(extended(half.known, slots))
        linear.append(spread(half.linear, own, avals))
    early = kept(values, flipped(moved))
    found = region("cond", early, branches=tuple(known))
    late = [values[0], *found[count:], *kept(values, moved)]
    rest = region("cond", late, branches=tuple(linear))
    return merged(out, rest, found[:count])


SPLIT["jit"] = split_jit
SPLIT["remat2"] = split_remat
SPLIT["cond"] = split_cond
