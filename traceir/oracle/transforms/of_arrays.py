"""Functions of arrays that cases apply, as applications of primitives.

Operands meet in a dtype by the lattice. Serves: promote.*, control.start, control.rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.promotion import promote
from traceir.oracle.transforms.builder import Beyond
from traceir.oracle.transforms.recordings import Recordings
from traceir.oracle.transforms.terms import Term

Fun = Callable[..., Any]


def _arithmetic(primitive: str) -> Fun:
    return lambda functions, *values: functions.arithmetic(primitive, *values)


def _smooth(primitive: str) -> Fun:
    def call(functions: Recordings, x: Any) -> Any:
        if kind_of(functions.aval(x).dtype) not in "fc":
            raise Beyond("what is not floating")
        return functions.bind(primitive, x, accuracy=None)

    return call


def total(functions: Recordings, x: Any, axis: Any = None) -> Any:
    """The sum of all elements, or along an axis."""
    x = functions.as_term(x)
    axes = tuple(range(x.aval.ndim)) if axis is None else (axis,)
    if kind_of(x.aval.dtype) == "b":
        raise Beyond("a sum of truth values")
    return functions.bind("reduce_sum", x, axes=axes, out_sharding=None)


def where(functions: Recordings, chosen: Any, x: Any, y: Any) -> Any:
    """The elements of one or the other."""
    avals = [functions.aval(v) for v in (chosen, x, y)]
    if len({a.shape for a in avals}) > 1 or avals[1].dtype != avals[2].dtype:
        raise Beyond("a choice among several shapes or dtypes")
    return functions.bind("select_n", chosen, y, x)


def converted(functions: Recordings, x: Any, new_dtype: Any) -> Any:
    """An array of another dtype."""
    dtype = np.dtype(new_dtype)
    return functions.bind("convert_element_type", x, new_dtype=dtype, weak_type=False)


def arange(functions: Recordings, stop: float) -> Any:
    """The numbers below one, in its dtype."""
    dtype = functions.aval(stop).dtype
    params = {"shape": (int(stop),), "dtype": dtype, "dimension": 0}
    return functions.bind("iota", **params, sharding=None)


def ones(functions: Recordings, size: int) -> Any:
    """A line of ones."""
    return functions.term_of(np.ones(size, np.float32))


def _alike(functions: Recordings, *values: Any) -> list[Any]:
    """Values of the dtype in which they meet, weak if all are."""
    avals = [functions.aval(v) for v in values]
    dtype, weak = promote(*avals, rules=functions.rules)
    params = {"new_dtype": dtype, "weak_type": weak}
    return [
        v
        if (a.dtype, a.weak_type) == (dtype, weak)
        else functions.bind("convert_element_type", v, **params)
        for v, a in zip(values, avals, strict=True)
    ]


def log_sum(functions: Recordings, x: Any, y: Any, base: float = 0.0) -> Any:
    """The logarithm of the sum of two powers, of `e` or of another base."""
    rate = float(np.log(base)) if base else 1.0
    x, y = _alike(functions, x, y)
    bind, meet = functions.bind, functions.arithmetic
    most = bind("stop_gradient", meet("max", x, y))
    far = (meet("mul", meet("sub", value, most), rate) for value in (x, y))
    rest = bind("log", meet("add", *(bind("exp", d) for d in far)))
    return meet("add", most, meet("div", rest, rate))


def pad(functions: Recordings, x: Any, pad_width: Any) -> Any:
    """An array with zeros around it."""
    config = tuple((before, after, 0) for before, after in pad_width)
    zero = np.zeros((), x.aval.dtype).item()
    return functions.bind("pad", x, zero, padding_config=config)


# Folds and scans by a function of two operands ---------------------------------------


def _start(functions: Recordings, x: Term, start: Any, fun: Fun) -> Any:
    """The first operand of a fold, in the dtype of the others."""
    if not callable(fun):
        raise functions.rules.error("control.callable")
    aval = functions.aval(start)
    if aval.dtype != x.aval.dtype or aval.shape:
        raise functions.rules.error("control.start")
    return functions.converted(start, x.aval.dtype)


def reduce(
    functions: Recordings, x: Term, start: Any, fun: Fun, dimensions: Sequence[int]
) -> Any:
    """The fold of elements along some dimensions."""
    start = _start(functions, x, start, fun)
    if len(dimensions) != 1:
        raise Beyond("a fold along several dimensions")
    (axis,) = dimensions
    total = start
    for k in range(x.aval.shape[axis]):
        total = fun(total, part(functions, x, {axis: k}))
    return total


def part(functions: Recordings, x: Term, places: Mapping[int, int]) -> Any:
    """The part of an array at one place of some of its dimensions."""
    shape = x.aval.shape
    starts = tuple(places.get(d, 0) for d in range(len(shape)))
    ends = tuple(places[d] + 1 if d in places else n for d, n in enumerate(shape))
    params = {"start_indices": starts, "limit_indices": ends, "strides": None}
    found = functions.bind("slice", x, **params)
    return functions.bind("squeeze", found, dimensions=tuple(sorted(places)))


def reduce_window(
    functions: Recordings,
    x: Term,
    start: Any,
    fun: Fun,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] = (1,),
    padding: str = "VALID",
) -> Any:
    """The fold of each window of a line."""
    start = _start(functions, x, start, fun)
    if len(x.aval.shape) != 1:
        raise Beyond("windows of several dimensions")
    (length,), (size,), (stride,) = x.aval.shape, window_dimensions, window_strides
    before, after = _padding(functions, length, size, stride, padding)
    results = []
    for first in range(-before, length + after - size + 1, stride):
        total = start
        for k in range(first, first + size):
            if 0 <= k < length:
                total = fun(total, part(functions, x, {0: k}))
        results.append(total)
    return functions.bind("stack", *results, axis=0)


def _padding(
    functions: Recordings, length: int, size: int, stride: int, padding: str
) -> tuple[int, int]:
    """The border of a line; `SAME` is as much as gives a window for each stride."""
    if padding == "VALID":
        return 0, 0
    if padding != "SAME":
        raise functions.rules.error("face.padding")
    total = max((-(-length // stride) - 1) * stride + size - length, 0)
    return total // 2, total - total // 2


def padtype_to_pads(
    functions: Recordings,
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """The border of each dimension."""
    lines = zip(in_shape, window_shape, window_strides, strict=True)
    return [_padding(functions, *line, padding) for line in lines]


def associative_scan(
    functions: Recordings, fun: Fun, x: Term, reverse: bool = False
) -> Any:
    """The folds of the first rows, or of the last."""
    rows = [part(functions, x, {0: k}) for k in range(x.aval.shape[0])]
    found: list[Any] = []
    for row in rows[:: -1 if reverse else 1]:
        found.append(fun(found[-1], row) if found else row)
    return functions.bind("stack", *found[:: -1 if reverse else 1], axis=0)


ARITHMETIC = {"add": "add", "multiply": "mul", "subtract": "sub", "mul": "mul"}
FUNCTIONS: Mapping[str, Fun] = {
    **{
        f"{face}.{name}": _arithmetic(primitive)
        for face in ("numpy", "lax")
        for name, primitive in ARITHMETIC.items()
    },
    "lax.reduce": reduce,
    "lax.reduce_window": reduce_window,
    "lax.padtype_to_pads": padtype_to_pads,
    "lax.associative_scan": associative_scan,
    "numpy.sum": total,
    "numpy.where": where,
    "numpy.log": _smooth("log"),
    "numpy.arange": arange,
    "numpy.pad": pad,
    "numpy.ones": ones,
    "numpy.logaddexp": log_sum,
    "numpy.logaddexp2": partial(log_sum, base=2.0),
    "lax.convert_element_type": converted,
}
