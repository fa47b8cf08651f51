"""Hypothesis strategies: well-typed equations, with arrays, over every primitive.

Operands and params fit one another by construction, so that each draw counts; those of
`traceir.conform.drawing.strategies` are near-misses, for the clauses to classify.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands import DTYPES, Draw, build
from operands_complex import COMPLEX
from operands_fourier import FOURIER
from operands_random import TAKEN

from traceir.conform.drawing.strategies import arrays
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.typecheck import infer
from traceir.rules import Prim, default

TRIVIAL: dict[str, Any] = {
    "none": None,
    "precision": None,
    "flag": False,
    "int": 0,
    "axes": (0,),
    "axis_names": (0,),
    "shape": (1,),
    "indices": (0,),
    "maybe_indices": None,
    "maybe_dtype": None,
    "padding": ((0, 0, 0),),
    "dimension_numbers": (((0,), (0,)), ((), ())),
    "convolution": ((0, 1), (0, 1), (0, 1)),
    "pairs": ((0, 0),),
    "name": "ge",
    "gather_numbers": ((), (0,), (0,), (), ()),
    "scatter_numbers": ((), (0,), (0,), (), ()),
    "index_mode": "GatherScatterMode.CLIP",
    "maybe_number": None,
}
# Operands that are integers whatever the others are, by their names.
PLACES = {
    "indices": ShapedArray((1, 1), "int32"),
    "starts": ShapedArray((), "int32"),
}


WINDOW: dict[str, Any] = {
    "window_dimensions": (1,),
    "window_strides": (1,),
    "base_dilation": (1,),
    "window_dilation": (1,),
}
# Params, or shapes, that a primitive takes where those above are not for it.
OWN: dict[str, dict[str, Any]] = {
    "reduce_window_sum": WINDOW,
    "reduce_window_max": WINDOW,
    "reduce_window_min": WINDOW,
    "select_and_gather_add": WINDOW,
    "select_and_scatter_add": WINDOW,
    "conv_general_dilated": {
        "batch_group_count": 1,
        "feature_group_count": 1,
        "lhs_dilation": (),
        "padding": (),
        "rhs_dilation": (),
        "window_strides": (),
    },
    "reduce_precision": {"exponent_bits": 5},
}


# Primitives that have a value without a batch around them.
ALONE = sorted(
    row.name
    for row in default().prims.values()
    if (row.across is None or row.value is not None)
    and not (row.steps and "refuse" in row.steps.calls)
)


@dataclass(frozen=True)
class Equation:
    """One application of a primitive to concrete arrays."""

    prim: str
    params: dict[str, Any]
    arrays: list[np.ndarray]

    @property
    def avals(self) -> list[ShapedArray]:
        """The operands' types."""
        return [ShapedArray(a.shape, a.dtype) for a in self.arrays]


@st.composite
def equations(draw: Draw, prim: str, values: str = "edge") -> Equation:
    """An equation that the primitive's row accepts.

    Its values are anything ("edge"), or on the dyadic grid ("grid"), which those of a
    row with relations always are: their bounds leave out underflow and overflow.
    """
    dtype = draw(st.sampled_from(dtypes_of(prim)))
    avals, params = build(draw, prim, dtype)
    params = {**default().prims[prim].defaults, **params}
    infer(prim, avals, params)
    grid = values == "grid" or bool(default().prims[prim].post)
    return Equation(prim, params, [draw(arrays(a, grid)) for a in avals])


@cache
def dtypes_of(prim: str) -> tuple[np.dtype, ...]:
    """The dtypes that the primitive's clauses let through."""
    if prim in (*FOURIER, *COMPLEX, "real", "imag"):
        return FLOATS
    return TAKEN.get(prim) or tuple(d for d in DTYPES if _accepts(prim, d))


def _accepts(prim: str, dtype: np.dtype) -> bool:
    row = default().prims[prim]
    if row.steps is not None:
        return True
    return any(_fits(row, dtype, shape) for shape in ((1,), (1, 1), (0,)))


FLOATS = (np.dtype("float32"), np.dtype("float64"))


def _fits(row: Prim, dtype: np.dtype, shape: tuple[int, ...]) -> bool:
    """True if the clauses let operands of this shape through."""
    prim, count = row.name, row.arity + row.variadic
    avals = [ShapedArray(shape, dtype)] * count
    for k, name in enumerate(row.inputs):
        avals[k] = PLACES.get(name, avals[k])
    if prim == "select_n":
        avals[0] = ShapedArray(shape, "bool")
    if prim == "pad":
        avals[1] = ShapedArray((), dtype)
    try:
        infer(prim, avals, _trivial(prim, dtype))
    except TraceirError:
        return False
    return True


def _trivial(prim: str, dtype: np.dtype) -> dict[str, Any]:
    params = {}
    for param in default().prims[prim].params:
        params[param.name] = TRIVIAL.get(param.domain, dtype)
        if param.name == "index_dtype":
            params[param.name] = np.dtype("int32")
        if param.name == "num_keys":
            params[param.name] = 1
    return {**params, **OWN.get(prim, {})}
