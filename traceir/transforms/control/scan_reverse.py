"""Rules of `scan` in reverse: residuals, linear loop, transpose.

Serves: derive.scan
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.tracing.staging import StagedTracer, apply
from traceir.tracing.trace import Value
from traceir.transforms.autodiff.cached_transforms import (
    linearize_program,
    record,
    staged,
)
from traceir.transforms.autodiff.transpose import backward_pass
from traceir.transforms.control import regions
from traceir.transforms.control.partial_eval import partial_eval_program
from traceir.transforms.control.scan import ScanEqn
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import (
    LINEARIZE,
    SPLIT,
    TRANSPOSE,
    Cotangents,
    LinearizeResult,
    LinearOperand,
    Mask,
    Tangents,
    Values,
)
from traceir.transforms.rules.rewrites import (
    arranged,
    flipped,
    forwarded,
    hoisted,
    keep_outputs,
    kept,
    merged,
)


@dataclass(frozen=True, slots=True)
class ForwardScan:
    """The results of a loop, and residuals, of which some are stacked."""

    outs: list[Value]
    residuals: list[Value]
    stacks: Mask


def run_forward(scan: ScanEqn, count: int, values: Values) -> ForwardScan:
    """Run a loop whose body gives so many results, and then residuals.

    A residual that is a constant, or follows from constants alone, is not stacked, and
    neither is a row, which is there already.
    """
    carried = range(scan.consts, scan.consts + scan.carry)
    # The residuals that are operands, by number; None for those to be computed.
    sources = [None if k in carried else k for k in forwarded(scan.body)[count:]]
    body = keep_outputs(scan.body, [*[True] * count, *(k is None for k in sources)])
    halves = hoisted(body, scan.consts, count)
    early = apply(halves.outer, values[: scan.consts])
    consts, invariant = regions.parts(early, len(early) - sum(halves.moved))
    _, init, rows = scan.split(values)
    # A loop without results is not run.
    gives = halves.inner.jaxpr.outvars or any(e.effects for e in halves.inner.eqns)
    found = scan.run(halves.inner, consts, init, rows) if gives else []
    outs, rest = regions.parts(found, count)
    computed = iter(merged(halves.moved, invariant, rest))
    stacked = iter(flipped(halves.moved))
    return ForwardScan(
        outs,
        [next(computed) if k is None else values[k] for k in sources],
        [next(stacked) if k is None else k >= scan.consts for k in sources],
    )


def run_linear(
    scan: ScanEqn, body: ClosedJaxpr, stacks: Mask, residuals: Values, *dots: Values
) -> list[Value]:
    """Run the linear loop, by tangents of constants, carry and rows."""
    last = [k for k, stacked in enumerate(stacks) if stacked]
    order = [k for k in range(len(body.in_avals)) if k not in last] + last
    body = arranged(body, order, range(len(body.out_avals)))
    consts, carry, rows = dots
    fixed = [*kept(residuals, flipped(stacks)), *consts]
    return scan.run(body, fixed, carry, [*rows, *kept(residuals, stacks)])


def linearize_scan(primals: Values, moved: Mask, params: Params) -> LinearizeResult:
    """A loop that stacks residuals, and one over them that is linear."""
    scan = ScanEqn.of(params)
    first, carried, over = scan.split(moved)

    def grow(carry: Mask) -> Mask:
        found = linearize_program(scan.body, [*first, *carry, *over])
        return found.nonzero[: scan.carry]

    grown = regions.fixpoint(carried, grow)
    both = linearize_program(scan.body, [*first, *grown, *over])
    avals = scan.body.out_avals
    moves = [*grown, *both.nonzero[scan.carry :]]
    linear = regions.with_tangents(both.linear, 0, avals, both.nonzero, moves)
    forward = run_forward(replace(scan, body=both.forward), len(avals), primals)

    def push(values: Values, tangents: Values) -> Tangents:
        """Run the linear loop on tangents."""
        arriving = iter(tangents)
        dots = scan.split([next(arriving) if m else None for m in moved])
        types = scan.split(scan.body.in_avals)[1]
        carry = [
            zeros(aval) if t is None else t
            for t, aval, m in zip(dots[1], types, grown, strict=True)
            if m
        ]
        consts, rows = (kept(d, m) for d, m in ((dots[0], first), (dots[2], over)))
        return run_linear(scan, linear, forward.stacks, values, consts, carry, rows)

    return forward.outs, moves, forward.residuals, push


def split_scan(values: Values, moved: Mask, params: Params) -> list[Value] | None:
    """A loop for the known part, and one for the rest."""
    scan = ScanEqn.of(params)
    first, init, over = scan.split(moved)

    def grow(carry: Mask) -> Mask:
        found = partial_eval_program(scan.body, [*first, *carry, *over])
        return found.moved[: scan.carry]

    carried = regions.fixpoint(init, grow)
    inner = [*first, *carried, *over]
    rows = len(scan.body.out_avals) - scan.carry
    halves = partial_eval_program(scan.body, inner, [*carried, *[False] * rows])
    if all(halves.moved):
        return None
    known = replace(
        scan,
        body=halves.known,
        consts=len(first) - sum(first),
        carry=len(carried) - sum(carried),
    )
    given = kept(values, flipped(inner))
    count = len(halves.moved) - sum(halves.moved)
    forward = run_forward(known, count, given)
    dots = [kept(v, m) for v, m in zip(scan.split(values), scan.split(inner))]
    found = run_linear(scan, halves.linear, forward.stacks, forward.residuals, *dots)
    return merged(halves.moved, found, forward.outs)


def transpose_scan(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """The loop the other way round: the carry is the cotangent of the carry, and what
    the constants have been given so far."""
    scan = ScanEqn.of(params)
    first, init, rows = scan.split([type(v) is LinearOperand for v in operands])
    given_last, given_rows = list(regions.parts(cotangents, scan.carry))
    consts, _, over = scan.split(operands)
    body = backward_body(scan, first, rows, regions.moving(given_rows))
    fixed = kept(consts, flipped(first))
    arriving = [regions.instantiated(ct) for ct in given_last]
    totals = [zeros(v.aval) for v in kept(consts, first)]
    found = scan.run(
        body,
        fixed,
        [*totals, *arriving],
        [*regions.nonzero(given_rows), *kept(over, flipped(rows))],
        backwards=True,
    )
    pulled = iter(found)
    sums = [next(pulled) if moved else None for moved in first]
    # A carry that starts at a constant, as zeros do, is asked for nothing.
    start = [next(pulled) for _ in init]
    begun = [ct if moved else None for ct, moved in zip(start, init, strict=True)]
    return [*sums, *begun, *(next(pulled) if moved else None for moved in rows)]


def backward_body(
    scan: ScanEqn, first: Mask, rows: Mask, arriving: Mask
) -> ClosedJaxpr:
    """One step backwards.

    It takes the constants that are no tangents; the cotangents of those that are, and
    of the carry; those of the rows that the step gave, and the rows that are no
    tangents. It gives the same cotangents anew, and those of the rows it was given.
    """
    body = scan.body
    linear = [*first, *[True] * scan.carry, *rows]
    consts, _, over = scan.split(body.in_avals)
    carry, out_rows = regions.parts(body.out_avals, scan.carry)
    avals = [
        *kept(consts, flipped(first)),
        *kept(consts, first),
        *carry,
        *kept(out_rows, arriving),
        *kept(over, flipped(rows)),
    ]

    def call(inputs: list[StagedTracer]) -> Values:
        """One step backwards, by the transposed tape of the body."""
        fixed, totals, last, cts, residuals = regions.parts(
            inputs, len(first) - sum(first), sum(first), scan.carry, sum(arriving)
        )
        known = iter([*fixed, *residuals])
        values = [
            LinearOperand(aval) if moved else next(known)
            for aval, moved in zip(body.in_avals, linear, strict=True)
        ]
        tape = record(
            lambda xs: apply(body, xs), values, linear, "scan", "linear_transpose"
        )
        sums = iter(totals)
        start = [next(sums) if moved else None for moved in first]
        start += [None] * (scan.carry + len(rows))
        found = backward_pass(
            tape, [*last, *regions.symbolic(cts, arriving, out_rows)], start
        )
        return [regions.instantiated(ct) for ct in kept(found, linear)]

    key = "backward", tuple(first), tuple(rows), tuple(arriving), scan.carry
    return body.memo(key, lambda: staged(body, call, avals))


LINEARIZE["scan"] = linearize_scan
SPLIT["scan"] = split_scan
TRANSPOSE["scan"] = transpose_scan
