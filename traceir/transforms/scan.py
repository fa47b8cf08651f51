"""The rules of `scan`: one loop again, backwards where it is transposed.

Serves: derive.scan, batch.scan
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from traceir.avals import ShapedArray
from traceir.ir import ClosedJaxpr, Params
from traceir.recording import StagedTracer, apply
from traceir.rules.helpers import stacked
from traceir.trace import Value
from traceir.transforms.axes import place_at
from traceir.transforms.batching import batch_program
from traceir.transforms.programs import (
    jvp_program,
    linearize_program,
    record,
    staged,
)
from traceir.transforms.regions import (
    Mask,
    fixpoint,
    given,
    instantiated,
    moving,
    nonzero,
    parts,
    region,
    symbolic,
    with_tangents,
)
from traceir.transforms.rewrites import (
    arranged,
    flipped,
    forwarded,
    hoisted,
    keep_outputs,
    kept,
    remembered,
)
from traceir.transforms.rules import (
    BATCH,
    JVP,
    LINEARIZE,
    TRANSPOSE,
    Axis,
    Cotangent,
    Dim,
    Linear,
    LinearPart,
    Tangent,
)
from traceir.transforms.templates import zeros
from traceir.transforms.transpose import pull


@dataclass(frozen=True, slots=True)
class Scan:
    """A `scan` equation: its body, and how many of its operands are what."""

    body: ClosedJaxpr
    length: int
    reverse: bool
    consts: int
    carry: int
    unroll: int

    @staticmethod
    def of(params: Params) -> Scan:
        """The equation with these params."""
        found = given(params)
        return Scan(
            found["jaxpr"],
            found["length"],
            found["reverse"],
            found["num_consts"],
            found["num_carry"],
            found["unroll"],
        )

    @property
    def rows(self) -> int:
        """The number of arrays that are scanned over."""
        return len(self.body.in_avals) - self.consts - self.carry

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the results."""
        avals = self.body.out_avals
        return *avals[: self.carry], *stacked(avals[self.carry :], self.length)

    def split(self, items: Sequence[Any]) -> list[list[Any]]:
        """Something about the operands: of constants, carry and rows."""
        return list(parts(items, self.consts, self.carry))

    def run(
        self,
        body: ClosedJaxpr,
        *operands: Sequence[Value],
        backwards: bool = False,
    ) -> list[Value]:
        """A loop like this one with another body, other constants, carry and rows."""
        consts, carry, rows = operands
        return region(
            "scan",
            [*consts, *carry, *rows],
            jaxpr=body,
            length=self.length,
            reverse=self.reverse != backwards,
            num_consts=len(consts),
            num_carry=len(carry),
            unroll=self.unroll,
        )


# -- derivatives ----------------------------------------------------------------------


def jvp_scan(
    primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
) -> tuple[Sequence[Value], Sequence[Tangent]]:
    """One loop that carries tangents, too."""
    scan = Scan.of(params)
    first, carried, over = scan.split(moving(tangents))
    carried = fixpoint(
        carried,
        lambda m: jvp_program(scan.body, [*first, *m, *over])[1][: scan.carry],
    )
    body, mask = jvp_program(scan.body, [*first, *carried, *over])
    moves = [*carried, *mask[scan.carry :]]
    avals = scan.body.out_avals
    count = len(avals)
    body = with_tangents(body, count, avals, mask, moves)
    body = arranged(
        body,
        interleaved((scan.consts, scan.carry, scan.rows), (first, carried, over)),
        interleaved((scan.carry, count - scan.carry), (carried, moves[scan.carry :])),
    )
    values, dots = scan.split(primals), scan.split(tangents)
    dots[1] = [instantiated(t) if moved else t for t, moved in zip(dots[1], carried)]
    operands = [[*v, *nonzero(t)] for v, t in zip(values, dots, strict=True)]
    found = list(
        parts(
            scan.run(body, *operands),
            *(scan.carry, sum(carried), count - scan.carry),
        )
    )
    last, last_dots, ys, ys_dots = found
    out_avals = scan.out_avals
    return [*last, *ys], symbolic([*last_dots, *ys_dots], moves, out_avals)


def interleaved(counts: Sequence[int], masks: Sequence[Sequence[bool]]) -> list[int]:
    """Where groups of values, followed by their tangents, stand among all values
    followed by all tangents.

    >>> interleaved([1, 2], [[True], [False, True]])
    [0, 3, 1, 2, 4]
    """
    found: list[int] = []
    value, tangent = 0, sum(counts)
    for count, mask in zip(counts, masks, strict=True):
        moved = sum(mask)
        found += [*range(value, value + count), *range(tangent, tangent + moved)]
        value, tangent = value + count, tangent + moved
    return found


def linearize_scan(
    primals: Sequence[Value], moved: Sequence[bool], params: Params
) -> tuple[Sequence[Value], Sequence[bool], Sequence[Value], LinearPart]:
    """A loop that stacks residuals, and one over them that is linear.

    A residual that is a constant, or follows from constants alone, is not stacked, and
    neither is a row, which is there already.
    """
    scan = Scan.of(params)
    first, carried, over = scan.split(moved)
    grown = fixpoint(
        carried,
        lambda m: linearize_program(scan.body, [*first, *m, *over]).nonzero[
            : scan.carry
        ],
    )
    both = linearize_program(scan.body, [*first, *grown, *over])
    count = len(scan.body.out_avals)
    moves = [*grown, *both.nonzero[scan.carry :]]
    linear = with_tangents(both.linear, 0, scan.body.out_avals, both.nonzero, moves)
    # The residuals that are operands, by number; None for those to be computed.
    sources = [
        k if k is not None and not 0 <= k - scan.consts < scan.carry else None
        for k in forwarded(both.forward)[count:]
    ]
    forward = keep_outputs(
        both.forward, [*[True] * count, *(k is None for k in sources)]
    )
    halves = hoisted(forward, scan.consts, count)
    early = apply(halves.outer, primals[: scan.consts])
    consts, settled = list(parts(early, len(early) - sum(halves.moved)))
    _, init, rows = scan.split(primals)
    found = scan.run(halves.inner, consts, init, rows)
    outs, rest = list(parts(found, count))
    computed = merged(halves.moved, settled, rest)
    computed_stacked = iter(flipped(halves.moved))
    each = iter(computed)
    residuals = [next(each) if k is None else primals[k] for k in sources]
    stacks = [
        next(computed_stacked) if k is None else k >= scan.consts for k in sources
    ]
    linear = arranged(
        linear,
        _stacks_last(stacks, len(linear.in_avals)),
        range(len(linear.out_avals)),
    )

    def push(values: Sequence[Value], tangents: Sequence[Value]) -> Sequence[Tangent]:
        arriving = iter(tangents)
        avals = scan.body.in_avals[scan.consts :]
        dots = scan.split([next(arriving) if m else None for m in moved])
        carry = [
            zeros(aval) if t is None else t
            for t, aval, m in zip(dots[1], avals, grown)
            if m
        ]
        fixed = [*kept(values, flipped(stacks)), *_given(dots[0])]
        return scan.run(linear, fixed, carry, [*_given(dots[2]), *kept(values, stacks)])

    return outs, moves, residuals, push


def _given(tangents: Sequence[Value | None]) -> list[Value]:
    return [t for t in tangents if t is not None]


def merged(
    which: Sequence[bool], chosen: Sequence[Value], others: Sequence[Value]
) -> list[Value]:
    """One list of two: a value of the first where the mask is True.

    >>> merged([False, True, False], "b", "ac")
    ['a', 'b', 'c']
    """
    a, b = iter(chosen), iter(others)
    return [next(a) if w else next(b) for w in which]


def _stacks_last(stacks: Sequence[bool], total: int) -> list[int]:
    """The inputs of a linear body with the residuals that are stacked at the end."""
    numbers = range(len(stacks))
    last = [k for k in numbers if stacks[k]]
    return [k for k in range(total) if k not in last] + last


# -- backwards ------------------------------------------------------------------------


def transpose_scan(
    cotangents: Sequence[Cotangent], operands: Sequence[Any], params: Params
) -> Sequence[Cotangent]:
    """The loop the other way round: the carry is the cotangent of the carry, and what
    the constants have been given so far."""
    scan = Scan.of(params)
    first, init, rows = scan.split([type(v) is Linear for v in operands])
    given_last, given_rows = list(parts(cotangents, scan.carry))
    consts, _, over = scan.split(operands)
    body = backward_body(scan, first, rows, moving(given_rows))
    fixed = kept(consts, flipped(first))
    totals = [zeros(v.aval) for v in kept(consts, first)]
    arriving = [instantiated(ct) for ct in given_last]
    found = scan.run(
        body,
        fixed,
        [*totals, *arriving],
        [*nonzero(given_rows), *kept(over, flipped(rows))],
        backwards=True,
    )
    pulled = iter(found)
    sums = [next(pulled) if moved else None for moved in first]
    # A carry that starts at a constant, as zeros do, is asked for nothing.
    start = [next(pulled) for _ in init]
    begun = [ct if moved else None for ct, moved in zip(start, init, strict=True)]
    return [*sums, *begun, *(next(pulled) if moved else None for moved in rows)]


def backward_body(scan: Scan, first: Mask, rows: Mask, arriving: Mask) -> ClosedJaxpr:
    """One step backwards.

    It takes the constants that are no tangents; the cotangents of those that are, and
    of the carry; those of the rows that the step gave, and the rows that are no
    tangents. It gives the same cotangents anew, and those of the rows it was given.
    """
    body = scan.body
    linear = [*first, *[True] * scan.carry, *rows]
    consts, carry, over = scan.split(body.in_avals)
    out_rows = body.out_avals[scan.carry :]
    avals = [
        *kept(consts, flipped(first)),
        *kept(consts, first),
        *carry,
        *kept(out_rows, arriving),
        *kept(over, flipped(rows)),
    ]

    def call(inputs: list[StagedTracer]) -> Sequence[Value]:
        fixed, totals, last, cts, residuals = parts(
            inputs,
            *(len(first) - sum(first), sum(first), scan.carry, sum(arriving)),
        )
        known = iter([*fixed, *residuals])
        values = [
            Linear(aval) if moved else next(known)
            for aval, moved in zip(body.in_avals, linear, strict=True)
        ]
        tape = record(lambda xs: apply(body, xs), values, linear, "scan", "transpose")
        sums = iter(totals)
        start = [next(sums) if moved else None for moved in first]
        start += [None] * (scan.carry + len(rows))
        found = pull(tape, [*last, *symbolic(cts, arriving, out_rows)], start)
        return [instantiated(ct) for ct in kept(found, linear)]

    key = "backward", tuple(first), tuple(rows), tuple(arriving), scan.carry
    return remembered(body, key, lambda: staged(body, call, avals))


# -- batches --------------------------------------------------------------------------


def batch_scan(
    axis: Axis, values: Sequence[Value], dims: Sequence[Dim], params: Params
) -> tuple[Sequence[Value], Sequence[Dim]]:
    """One loop for all examples, whose rows have one row of each."""
    scan = Scan.of(params)
    first, carried, over = scan.split([d is not None for d in dims])

    def grow(carry: Mask) -> list[bool]:
        found = batch_program(scan.body, axis, _at_front([*first, *carry, *over]))[1]
        return [d is not None for d in found[: scan.carry]]

    carried = fixpoint(carried, grow)
    inner = _at_front([*first, *carried, *over])
    found = batch_program(scan.body, axis, inner)[1]
    moves = [*carried, *(d is not None for d in found[scan.carry :])]
    body, _ = batch_program(scan.body, axis, inner, _at_front(moves))
    targets = [
        *_at_front([*first, *carried]),
        *(1 if batched else None for batched in over),
    ]
    operands = scan.split(
        [
            v if target is None else place_at(v, d, axis.size, target)
            for v, d, target in zip(values, dims, targets, strict=True)
        ]
    )
    last, rows = moves[: scan.carry], moves[scan.carry :]
    dims_out = [*_at_front(last), *(1 if batched else None for batched in rows)]
    return scan.run(body, *operands), dims_out


def _at_front(batched: Sequence[bool]) -> list[Dim]:
    return [0 if b else None for b in batched]


JVP["scan"] = jvp_scan
LINEARIZE["scan"] = linearize_scan
TRANSPOSE["scan"] = transpose_scan
BATCH["scan"] = batch_scan
