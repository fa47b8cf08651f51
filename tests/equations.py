"""Hypothesis strategies: typed equations and programs, over every primitive's row.

`equations(prim)` draws operands and params that the row's clauses accept; `programs`
chains such equations. Values are edge cases, or small dyadic numbers ("grid") on which
sums and products are exact in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands import DTYPES, Draw, build

from traceir.avals import ShapedArray
from traceir.errors import TraceirError
from traceir.ir import ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir.rules import default
from traceir.typing import infer

TRIVIAL: dict[str, Any] = {
    "none": None,
    "flag": False,
    "int": 0,
    "axes": (0,),
    "shape": (1,),
    "indices": (0,),
    "maybe_indices": None,
    "maybe_dtype": None,
    "dimension_numbers": (((0,), (0,)), ((), ())),
}


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
    """An equation that the primitive's row accepts."""
    dtype = draw(st.sampled_from(dtypes_of(prim)))
    avals, params = build(draw, prim, dtype)
    params = {**default().prims[prim].defaults, **params}
    infer(prim, avals, params)
    return Equation(prim, params, [draw(arrays(a, values)) for a in avals])


@st.composite
def programs(
    draw: Draw, prims: Sequence[str], values: str = "edge", most: int = 5
) -> tuple[ClosedJaxpr, list[np.ndarray]]:
    """A program of some of the primitives, and arguments for it.

    An operand is a result of an earlier equation where the types agree, most often.
    """
    inputs: dict[Var, np.ndarray] = {}
    known: list[Var] = []
    eqns = []
    for prim in draw(st.lists(st.sampled_from(prims), min_size=1, max_size=most)):
        equation = draw(equations(prim, values))
        operands = []
        for aval, array in zip(equation.avals, equation.arrays):
            fitting = [v for v in known if v.aval is aval]
            if fitting and draw(st.integers(0, 3)):
                operands.append(draw(st.sampled_from(fitting)))
            else:
                operands.append(Var(aval))
                inputs[operands[-1]] = array
        outs = infer(prim, [v.aval for v in operands], equation.params)
        results = tuple(map(Var, outs))
        eqns.append(Eqn(prim, tuple(operands), results, sort_params(equation.params)))
        known += [*operands, *results]
    results = tuple(v for e in eqns for v in e.outputs)
    jaxpr = Jaxpr((), tuple(inputs), tuple(eqns), results)
    return ClosedJaxpr(jaxpr, ()), list(inputs.values())


def arrays(aval: ShapedArray, values: str) -> st.SearchStrategy[np.ndarray]:
    """Arrays of a type."""
    element = elements(aval.dtype, values)
    several = st.lists(element, min_size=aval.size, max_size=aval.size)
    return several.map(lambda v: np.array(v, aval.dtype).reshape(aval.shape))


def elements(dtype: np.dtype, values: str) -> st.SearchStrategy[Any]:
    """Elements: "grid" are small dyadic numbers, "edge" everything."""
    if dtype.kind == "b":
        return st.booleans()
    if values == "grid":
        low = 0 if dtype.kind == "u" else -32
        small = st.integers(low, 32)
        return small.map(lambda k: k / 8) if dtype.kind == "f" else small
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        ends = [int(info.min), int(info.max), int(info.max) - 1, 0, 1]
        few = st.integers(max(int(info.min), -9), 9)
        return few | st.sampled_from(ends) | st.integers(info.min, info.max)
    info = np.finfo(dtype)
    sizes = [0.0, 1.0, 0.5, 2.5, 1e10, info.max, info.tiny, info.smallest_subnormal]
    ends = [float(s) for size in [*sizes, np.inf] for s in (size, -size)]
    width = 8 * dtype.itemsize
    plain = st.floats(-30, 30, width=width)
    few = st.integers(-32, 32).map(lambda k: k / 8)
    return few | plain | st.sampled_from([*ends, np.nan]) | st.floats(width=width)


@cache
def dtypes_of(prim: str) -> tuple[np.dtype, ...]:
    """The dtypes that the primitive's clauses let through."""
    return tuple(d for d in DTYPES if _accepts(prim, d))


def _accepts(prim: str, dtype: np.dtype) -> bool:
    row = default().prims[prim]
    if row.steps is not None:
        return True
    count = row.arity + row.variadic
    avals = [ShapedArray((1,), dtype)] * count
    if prim == "select_n":
        avals[0] = ShapedArray((1,), "bool")
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
    return params
