"""Searches for extremes along rows, as two reductions.

The extreme is found first, and then its first place, both in vectors; a search carries
two numbers that depend on each other. The first NaN is found before all numbers, as by
the search itself.
"""

from __future__ import annotations

from math import prod

import numpy as np

from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir_numba import cost_model
from traceir_numba.emitters.decompositions import DecompositionBuilder, constant

# The reductions that give the extreme that a search is for.
EXTREMES = {"argmax": "reduce_max", "argmin": "reduce_min"}


def by_extremes(eqn: Eqn) -> ClosedJaxpr | None:
    """A search along many long rows as two reductions; None for others."""
    (operand,), (axis,) = eqn.inputs, eqn.param("axes")
    aval = operand.aval
    row = aval.shape[axis]
    if (
        axis != aval.ndim - 1
        or not cost_model.SEARCHED_ROW < row < prod(aval.shape)
        or prod(aval.shape) < cost_model.FIXED_ROW_ELEMENTS
        or aval.dtype.kind == "b"
    ):
        return None
    build = DecompositionBuilder(eqn)
    (x,) = build.operands
    kept, kind, truth = aval.shape[:-1], np.dtype("int32"), np.dtype("bool")
    best = build.bind(
        EXTREMES[eqn.primitive], x, shape=kept, dtype=aval.dtype, axes=(axis,)
    )
    every = build.bind(
        "broadcast_in_dim",
        best,
        shape=aval.shape,
        dtype=aval.dtype,
        broadcast_dimensions=tuple(range(axis)),
    )
    found = build.bind("eq", x, every, shape=aval.shape, dtype=truth)
    if aval.dtype.kind not in "iu":
        own, all_nan = (
            build.bind("ne", a, a, shape=aval.shape, dtype=truth) for a in (x, every)
        )
        both = build.bind("and", own, all_nan, shape=aval.shape, dtype=truth)
        found = build.bind("or", found, both, shape=aval.shape, dtype=truth)
    place = build.bind("iota", shape=aval.shape, dtype=kind, dimension=axis)
    none = build.bind(
        "broadcast_in_dim",
        constant(row, kind),
        shape=aval.shape,
        dtype=kind,
        broadcast_dimensions=(),
    )
    places = build.bind("select_n", found, none, place, shape=aval.shape, dtype=kind)
    first = build.bind("reduce_min", places, shape=kept, dtype=kind, axes=(axis,))
    return build.finish(build.converted(first))
