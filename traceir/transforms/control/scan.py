"""Rules of `scan`: forward and batched.

Serves: derive.scan, batch.scan
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray, stacked
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.tracing.trace import Value
from traceir.transforms.autodiff.cached_transforms import jvp_program
from traceir.transforms.batching.batch_trace import batch_program
from traceir.transforms.control import regions
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    BatchAxis,
    Batched,
    Dim,
    Dims,
    JvpResult,
    Mask,
    Tangents,
    Values,
)
from traceir.transforms.rules.rewrites import arranged


@dataclass(frozen=True, slots=True)
class ScanEqn:
    """A `scan` equation: its body, and the counts of constants, carry and rows."""

    body: ClosedJaxpr
    length: int
    reverse: bool
    consts: int
    carry: int
    unroll: int

    @staticmethod
    def of(params: Params) -> ScanEqn:
        """The equation with these params."""
        found = regions.given(params)
        return ScanEqn(
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
        return list(regions.parts(items, self.consts, self.carry))

    def run(
        self, body: ClosedJaxpr, *operands: Values, backwards: bool = False
    ) -> list[Value]:
        """A loop like this one with another body, other constants, carry and rows."""
        consts, carry, rows = operands
        return regions.region(
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


def jvp_scan(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """One loop that carries tangents, too."""
    scan = ScanEqn.of(params)
    first, carried, over = scan.split(regions.moving(tangents))
    carried = regions.fixpoint(
        carried, lambda m: jvp_program(scan.body, [*first, *m, *over])[1][: scan.carry]
    )
    body, mask = jvp_program(scan.body, [*first, *carried, *over])
    moves = [*carried, *mask[scan.carry :]]
    avals = scan.body.out_avals
    count = len(avals)
    body = regions.with_tangents(body, count, avals, mask, moves)
    body = arranged(
        body,
        interleaved((scan.consts, scan.carry, scan.rows), (first, carried, over)),
        interleaved((scan.carry, count - scan.carry), (carried, moves[scan.carry :])),
    )
    values, dots = scan.split(primals), scan.split(tangents)
    dots[1] = [
        regions.instantiated(t) if moved else t for t, moved in zip(dots[1], carried)
    ]
    operands = [[*v, *regions.nonzero(t)] for v, t in zip(values, dots, strict=True)]
    found = list(
        regions.parts(
            scan.run(body, *operands), scan.carry, sum(carried), count - scan.carry
        )
    )
    last, last_dots, ys, ys_dots = found
    out_avals = scan.out_avals
    return [*last, *ys], regions.symbolic([*last_dots, *ys_dots], moves, out_avals)


def interleaved(counts: Sequence[int], masks: Sequence[Mask]) -> list[int]:
    """The positions of groups of values, followed by their tangents, among all values
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


# -- batches --------------------------------------------------------------------------


def batch_scan(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
    """One loop for all examples, whose rows have one row of each."""
    scan = ScanEqn.of(params)
    first, carried, over = scan.split([d is not None for d in dims])

    def grow(carry: Mask) -> list[bool]:
        found = batch_program(scan.body, axis, _at_front([*first, *carry, *over]))[1]
        return [d is not None for d in found[: scan.carry]]

    carried = regions.fixpoint(carried, grow)
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


def _at_front(batched: Mask) -> list[Dim]:
    return [0 if b else None for b in batched]


JVP["scan"] = jvp_scan
BATCH["scan"] = batch_scan
