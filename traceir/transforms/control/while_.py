"""Rules of `while`: forward and batched; it has no reverse.

Serves: derive.while, batch.while, control.reverse-mode
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Params, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.tracing.trace import Value, call_form
from traceir.transforms.autodiff.cached_transforms import jvp_program
from traceir.transforms.batching.batch_trace import batch_program
from traceir.transforms.control import regions
from traceir.transforms.control.scan import interleaved
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    LINEARIZE,
    TRANSPOSE,
    BatchAxis,
    Batched,
    Cotangents,
    Dim,
    Dims,
    JvpResult,
    LinearizeResult,
    Mask,
    Tangents,
    Values,
    Zero,
)
from traceir.transforms.rules.rewrites import arranged, changed


@dataclass(frozen=True, slots=True)
class WhileEqn:
    """A `while` equation: its programs, and how many constants each has."""

    test: ClosedJaxpr
    test_nconsts: int
    body: ClosedJaxpr
    body_nconsts: int

    @staticmethod
    def of(params: Params) -> WhileEqn:
        """The equation with these params."""
        found = regions.given(params)
        return WhileEqn(
            found["cond_jaxpr"],
            found["cond_nconsts"],
            found["body_jaxpr"],
            found["body_nconsts"],
        )

    @property
    def avals(self) -> tuple[ShapedArray, ...]:
        """The types of the carry, as the body returns it."""
        return self.body.out_avals

    def split(self, items: Sequence[Any]) -> list[list[Any]]:
        """Something about the operands: of both kinds of constants, and the carry."""
        return list(regions.parts(items, self.test_nconsts, self.body_nconsts))

    def run(
        self, values: Values, test: ClosedJaxpr, body: ClosedJaxpr, used: int
    ) -> list[Value]:
        """A loop like this one with other programs."""
        return regions.region(
            "while",
            values,
            cond_jaxpr=test,
            cond_nconsts=self.test_nconsts,
            body_jaxpr=body,
            body_nconsts=used,
        )


# -- derivatives ----------------------------------------------------------------------


def jvp_while(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """One loop that carries tangents, too; its end is that of the loop without them."""
    loop = WhileEqn.of(params)
    _, first, carried = loop.split(regions.moving(tangents))
    count = len(loop.avals)
    carried = regions.fixpoint(
        carried, lambda m: jvp_program(loop.body, [*first, *m])[1]
    )
    body, mask = jvp_program(loop.body, [*first, *carried])
    body = regions.with_tangents(body, count, loop.avals, mask, carried)
    total = len(body.out_avals)
    body = arranged(
        body, interleaved((loop.body_nconsts, count), (first, carried)), range(total)
    )
    values, dots = loop.split(primals), loop.split(tangents)
    moved = [
        regions.instantiated(t) for t, m in zip(dots[2], carried, strict=True) if m
    ]
    used = [*values[1], *regions.nonzero(dots[1])]
    extra = tuple(a for a, m in zip(loop.avals, carried, strict=True) if m)
    found = loop.run(
        [*values[0], *used, *values[2], *moved],
        wider(loop.test, extra),
        body,
        len(used),
    )
    return found[:count], regions.symbolic(found[count:], carried, loop.avals)


def wider(closed: ClosedJaxpr, avals: tuple[ShapedArray, ...]) -> ClosedJaxpr:
    """The program with more inputs, of which it reads none.

    >>> from traceir import parse
    >>> program = parse("{ lambda ; a:f32[]. let  in (a,) }")
    >>> wider(program, program.in_avals)
    { lambda ; a:f32[] b:f32[]. let  in (a,) }
    """

    def make() -> ClosedJaxpr:
        return changed(closed, invars=(*closed.jaxpr.invars, *map(Var, avals)))

    return closed.memo(("wider", avals), make)


def linearize_while(primals: Values, moved: Mask, params: Params) -> LinearizeResult:
    """The loop runs twice: alone, and with tangents, for which it keeps nothing."""
    loop = WhileEqn.of(params)
    _, first, carried = loop.split(moved)
    moves = regions.fixpoint(carried, lambda m: jvp_program(loop.body, [*first, *m])[1])
    outs = regions.region("while", primals, **regions.given(params))

    def push(residuals: Values, tangents: Values) -> Tangents:
        """Run the loop again with tangents."""
        if not any(moves):
            return []
        arriving = iter(tangents)
        avals = [*loop.test.in_avals[: loop.test_nconsts], *loop.body.in_avals]
        dots = [
            next(arriving) if m else Zero(aval)
            for m, aval in zip(moved, avals, strict=True)
        ]
        return regions.nonzero(jvp_while(residuals, dots, params)[1])

    return outs, moves, list(primals), push


def transpose_while(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """Raise ValueError (control.reverse-mode): the values of each turn are gone."""
    at = f", at {where}" if (where := config.local.source) else ""
    raise rules.error("control.reverse-mode", got=f"a loop whose end is not known{at}")


# -- batches --------------------------------------------------------------------------


def batch_while(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
    """One loop for all examples; where each has a predicate, it runs until all are
    done, and those that are do not change any more."""
    loop = WhileEqn.of(params)
    tested, first, carried = loop.split([d is not None for d in dims])

    def grow(carry: Mask) -> list[bool]:
        found = batch_program(loop.body, axis, _dims([*first, *carry], 0))[1]
        return [d is not None for d in found]

    carried = regions.fixpoint(carried, grow)
    lanes = len(loop.test.out_avals[0].shape)
    asked = batch_program(loop.test, axis, _dims([*tested, *carried], 0))[1]
    each = asked[0] is not None
    if each:
        carried = [True] * len(carried)
    place = 0 if each else lanes
    inner = [*_dims(first, 0), *_dims(carried, place)]
    body, _ = batch_program(loop.body, axis, inner, _dims(carried, place))
    inner = [*_dims(tested, 0), *_dims(carried, place)]
    test, _ = batch_program(loop.test, axis, inner, [0 if each else None])
    targets = [*_dims([*tested, *first], 0), *_dims(carried, place)]
    operands = [
        v if target is None else place_at(v, d, axis.size, target)
        for v, d, target in zip(values, dims, targets, strict=True)
    ]
    return loop.run(operands, test, body, loop.body_nconsts), _dims(carried, place)


def _dims(batched: Mask, place: int) -> list[Dim]:
    return [place if b else None for b in batched]


def with_one_predicate(loop: WhileEqn) -> WhileEqn:
    """The same loop with one predicate, for backends that run only such loops.

    If there is one for each lane, the new loop runs while any holds, and its body,
    which takes the constants of both programs, leaves the other lanes as they are.
    """
    if not loop.test.out_avals[0].shape:
        return loop
    split = loop.test_nconsts
    one = loop.test.memo("any lane", lambda: _of_any_lane(loop.test))
    each = loop.body.memo(("each lane", loop.test, split), lambda: _in_each_lane(loop))
    return WhileEqn(one, split, each, split + loop.body_nconsts)


# Both programs are written, not traced: equations of a program that is being lowered
# have params that no row has.
def _of_any_lane(test: ClosedJaxpr) -> ClosedJaxpr:
    """A test that holds if that of any lane does."""
    (which,), eqns = test.jaxpr.outvars, [*test.eqns]
    lanes = tuple(range(len(which.aval.shape)))
    holds = _append(eqns, "reduce_or", which, axes=lanes)
    jaxpr = replace(test.jaxpr, eqns=tuple(eqns), outvars=(holds,))
    return ClosedJaxpr(jaxpr, test.consts, test.backend)


def _in_each_lane(loop: WhileEqn) -> ClosedJaxpr:
    """A body that leaves the lanes as they are whose test does not hold."""
    body, test = loop.body.jaxpr, loop.test.jaxpr
    used, carry = body.invars[: loop.body_nconsts], body.invars[loop.body_nconsts :]
    tested = tuple(Var(v.aval) for v in test.invars[: loop.test_nconsts])
    constvars = tuple(Var(v.aval) for v in test.constvars)
    known: dict[Atom, Atom] = dict(zip(test.constvars, constvars, strict=True))
    known.update(zip(test.invars, (*tested, *carry), strict=True))
    eqns = []
    for eqn in test.eqns:
        inputs = tuple(known.get(a, a) for a in eqn.inputs)
        outputs = tuple(Var(v.aval) for v in eqn.outputs)
        known.update(zip(eqn.outputs, outputs, strict=True))
        eqns.append(replace(eqn, inputs=inputs, outputs=outputs))
    which = known.get(test.outvars[0], test.outvars[0])
    eqns += body.eqns
    outvars = []
    for new, old in zip(body.outvars, carry, strict=True):
        shape, lanes = old.aval.shape, tuple(range(len(which.aval.shape)))
        chosen = which
        if len(lanes) < len(shape):
            given = {"shape": shape, "broadcast_dimensions": lanes}
            chosen = _append(eqns, "broadcast_in_dim", which, **given)
        outvars.append(_append(eqns, "select_n", chosen, old, new))
    made = Jaxpr(
        (*constvars, *body.constvars),
        (*tested, *used, *carry),
        tuple(eqns),
        tuple(outvars),
        body.debug_name,
    )
    consts = (*loop.test.consts, *loop.body.consts)
    return ClosedJaxpr(made, consts, loop.body.backend)


def _append(eqns: list[Eqn], primitive: str, *inputs: Atom, **given: Any) -> Var:
    """Add an equation with one result, which is given."""
    params = sort_params({**call_form(primitive)[0], **given})
    (aval,) = infer(primitive, tuple(a.aval for a in inputs), params)
    out = Var(aval)
    eqns.append(Eqn(primitive, inputs, (out,), params))
    return out


JVP["while"] = jvp_while
LINEARIZE["while"] = linearize_while
TRANSPOSE["while"] = transpose_while
BATCH["while"] = batch_while
