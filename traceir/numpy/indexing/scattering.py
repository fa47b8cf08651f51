"""Copies of arrays with values scattered at an index. Serves: index.*, update.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.lax.checks.operands import Operand, convert, joined, shape_of
from traceir.lax.structural.gather_scatter import (
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.indexing.index_plan import (
    IndexPlan,
    entries,
    indices_of,
    plan_of,
    unmasked,
)

Scatter = Callable[..., Array]


@dataclass(frozen=True, slots=True)
class ScatterOptions:
    """The options of an update."""

    indices_are_sorted: bool
    unique_indices: bool
    mode: Any
    wrap: bool


def scattered(
    scatter: Scatter, x: Array, index: Any, values: Operand, options: ScatterOptions
) -> Array:
    """A copy with values written at an index by some scatter.

    It is computed in the dtype in which the two meet.
    """
    mode = GatherScatterMode.from_any(options.mode, GatherScatterMode.FILL_OR_DROP)
    plain, parts = unmasked(x, entries(index, x.ndim))
    plan = plan_of(plain.shape, parts, options.wrap)
    if 0 in plan.shape:
        return x
    indices = indices_of(plan)
    wide, weak = joined((x, values))
    given = _fitted(convert(values, wide, weak), plan)
    if any(plain.shape[d] == 0 for d in plan.collapsed):
        return x
    numbers = ScatterDimensionNumbers(
        plan.windows, plan.collapsed, tuple(c.dim for c in plan.columns)
    )
    changed = scatter(
        convert(plain, wide, weak),
        indices,
        given,
        numbers,
        indices_are_sorted=options.indices_are_sorted or plan.apart,
        unique_indices=options.unique_indices or plan.apart,
        mode=mode,
    )
    if plain is not x:
        changed = lax.reshape(changed, x.shape)
    return convert(changed, x.dtype, x.weak_type)


def _fitted(values: Operand, plan: IndexPlan) -> Operand:
    """Values in the shape that the plan takes; ValueError (face.broadcast-to)."""
    shape = list(plan.shape)
    for d in plan.new:
        shape.insert(d, 1)
    given = values
    if shape_of(values) != tuple(shape):
        given = broadcast_to(values, tuple(shape))
    given = lax.squeeze(given, plan.new)
    return lax.rev(given, plan.turned) if plan.turned else given
