"""Evenly spaced numbers. Serves: face.step, level.concretize.number"""

from __future__ import annotations

from math import ceil
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.arrays.devices import check_device
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.int_ranges import held
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    broadcast_shapes,
    convert,
    default_dtype,
    dtype_of,
    inexact,
    is_tracer,
    joined,
    operand,
    operands,
    refuse_complex,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axis_in
from traceir.lax.structural.index_dtypes import offset
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.arrays.dtypes import promote_types
from traceir.numpy.elementwise.arithmetic import add, divide, multiply, subtract
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import bind_one


@takes_out_sharding
def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: DTypeLike = None,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """`start`, `start + step` … below `stop`; without a `stop` the start is it.

    Integer if all are, floating if one is, strong. Raises ConcretizationTypeError
    (level.concretize.number) for a traced argument, ValueError (face.step) for a step
    of 0, TypeError (face.argument, face.dtype).

    >>> arange(3), arange(1.0, 2.0, 0.5)
    (Array([0, 1, 2], dtype=int32), Array([1. , 1.5], dtype=float32))
    """
    check_device(device)
    if stop is None:
        start, stop = None, start
    bounds = {"start": start, "stop": stop, "step": step}
    known = {k: _known(k, v) for k, v in bounds.items() if v is not None}
    if dtype is None:
        found = joined(0 if type(v) is int else v for v in known.values())[0]
    else:
        found = dtype_of(dtype, "arange")
    first, last, by = known.get("start", 0), known.get("stop", 0), known.get("step", 1)
    if not by:
        raise rules.error("face.step", got=f"step {by}")
    size = max(0, ceil((last - first) / by))
    for end in (first, first + by * (size - 1)) if size else ():
        held(end, found)
    result: Array = lax.iota(found, size)
    if step is not None:
        result = lax.mul(typed(by, found, False), result)
    if start is not None and (step is not None or first != 0):
        result = lax.add(typed(first, found, False), result)
    return result


def _known(name: str, value: Any) -> Any:
    """An argument of `arange` as a number."""
    if is_tracer(value):
        what = f"the jnp.arange argument '{name}'"
        raise refusal(value, "level.concretize.number", what)
    if isinstance(value, (Array, np.ndarray)):
        value = np.asarray(value)[()]
    if type(value) is int:
        return value  # that it fits a dtype is asked of the elements
    refuse_complex("arange", value)
    return operand("arange", value)


def linspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` numbers from start to stop, evenly spaced along a new axis.

    Without `endpoint` the stop is left out; `retstep` returns the spacing too. Floating
    unless a dtype is given. Raises ConcretizationTypeError (level.concretize.number)
    for a traced `num`, ValueError (face.count), TypeError (face.argument).

    >>> linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    check_device(device)
    if is_tracer(num):
        what = "the 'num' argument of jnp.linspace"
        traced: Any = num
        raise refusal(traced, "level.concretize.number", what)
    count = index(num)
    if count < 0:
        raise rules.error("face.count", got=f"num={count}")
    first, last = operands("linspace", (start, stop))
    dtypes = spacing_dtypes("linspace", first, last, dtype)
    return _linspace(
        first,
        last,
        num=count,
        endpoint=bool(endpoint),
        retstep=bool(retstep),
        dtypes=dtypes,
        axis=index(axis),
    )


def spacing_dtypes(
    name: str, first: Operand, last: Operand, dtype: DTypeLike
) -> tuple[np.dtype, np.dtype]:
    """The dtype in which numbers between two ends are computed, and that of the result.

    A wider dtype that is asked for is computed in; a narrower one is rounded to.
    """
    own = inexact(joined((first, last))[0])
    if dtype is None:
        return own, own
    wanted = dtype_of(dtype, name)
    return promote_types(own, inexact(wanted)), wanted


@composite(static_argnames=["num", "endpoint", "retstep", "dtypes", "axis"])
def _linspace(
    start: Operand,
    stop: Operand,
    *,
    num: int,
    endpoint: bool,
    retstep: bool,
    dtypes: tuple[np.dtype, np.dtype],
    axis: int,
) -> Any:
    dtype, wanted = dtypes
    ends = convert(start, dtype), convert(stop, dtype)
    shape = broadcast_shapes("linspace", list(map(shape_of, ends)))
    first, last = (
        end if shape_of(end) == shape else broadcast_to(end, shape) for end in ends
    )
    gaps = num - 1 if endpoint else num
    step: Operand = float("nan")
    at = axis_in(axis, len(shape) + 1)
    if num > 1:
        step = divide(subtract(ends[1], ends[0]), gaps)
        result = _spaced(first, last, at, gaps)
        if endpoint:
            result = lax.concatenate([result, lax.expand_dims(last, (at,))], at)
    elif num == 1:
        step = step if endpoint else subtract(ends[1], ends[0])
        result = _across(first, at)
    else:
        result = lax.full((*shape[:at], 0, *shape[at:]), 0, dtype)
    if kind_of(wanted) in "iu" and kind_of(dtype) == "f":
        result = lax.floor(result)
    found = convert(result, wanted)
    return (found, as_array(convert(step, inexact(wanted)))) if retstep else found


def _across(x: Operand, axis: int) -> Array:
    """The operand with a new axis, by `reshape`."""
    shape = shape_of(x)
    return lax.reshape(x, (*shape[:axis], 1, *shape[axis:]))


def _spaced(first: Array, last: Array, axis: int, gaps: int) -> Array:
    """`gaps` numbers from `first` on, weighing both ends, so that `last` is exact."""
    rank = max(first.ndim, last.ndim) + 1
    places = [gaps if d == axis else 1 for d in range(rank)]
    count = typed(gaps, first.dtype, False)
    weights = divide(lax.reshape(lax.iota(first.dtype, gaps), places), count)
    near = multiply(_across(first, axis), subtract(1, weights))
    return add(near, multiply(_across(last, axis), weights))


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = np.float32
) -> Array:
    """Ones at and below the `k`-th diagonal of an `N` by `M` matrix, zeros above.

    They are float32 whichever types are on, unless `dtype` says otherwise.

    >>> tri(2)
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    wanted = dtype_of(dtype, "tri")
    below = _below((index(N), index(N if M is None else M)), index(k))
    return as_array(convert(below, wanted))


def _below(shape: tuple[int, int], k: int) -> Array:
    """True where a place of a matrix is at or below its `k`-th diagonal."""
    integers = default_dtype(int)
    rows = lax.broadcasted_iota(integers, shape, 0)
    rows = lax.add(rows, typed(offset(k, shape), integers, False))
    return bind_one("ge", rows, lax.broadcasted_iota(integers, shape, 1))
