"""Operands as NumPy takes them: lists, numbers, weak scalars. Serves: face.box"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.loop_steps import TracedList
from traceir.face.arrays.stacked import column_of
from traceir.lax.checks.operands import convert, operand
from traceir.numpy.arrays.sequences import leaves_of
from traceir.tracing.trace import Tracer, typeof

# What this machine makes of a float that no int64 is; where it is the nearest one,
# conversions do the same by themselves.
with np.errstate(invalid="ignore"):
    _NO_INTEGER = int(np.array([1e300]).astype(np.int64)[0])
_LEAST = -(2**63)


def cast(value: Any, dtype: np.dtype) -> Any:
    """An operand in a dtype, as NumPy casts it: a float that a small or an unsigned
    integer does not hold wraps around."""
    traced_float = isinstance(value, Tracer) and value.dtype.kind == "f"
    if not traced_float or dtype.kind not in "iu":
        return convert(value, dtype)
    wide = convert(value, np.dtype(np.int64))
    if _NO_INTEGER == _LEAST:
        held = jnp.less(jnp.abs(value), 2.0**63)
        wide = jnp.where(held, wide, np.int64(_LEAST))
    if dtype == np.uint64:
        low = jnp.less(value, 2.0**63)
        return jnp.where(low, convert(wide, dtype), convert(value, dtype))
    return convert(wide, dtype)


def operand_of(name: str, value: Any, position: int = 0) -> Any:
    """An operand of a function: lists become arrays, known arrays themselves."""
    if isinstance(value, (list, tuple)):
        return array_of(value)
    return operand(name, value, position)


def array_of(value: Any) -> Any:
    """An array of a nested sequence in which there are traced numbers, or of a number.

    The elements meet as NumPy's do.
    """
    column = column_of(value)
    if column is not None:
        return traced(convert(column.now(), column.dtype), number=False)
    leaves = list(leaves_of(value))
    dtype = np.result_type(*map(dtype_in, leaves)) if leaves else np.dtype(float)
    return traced(jnp.asarray(_converted(value, dtype), dtype), number=False)


def _converted(value: Any, dtype: np.dtype) -> Any:
    if isinstance(value, (list, tuple)):
        return [_converted(part, dtype) for part in value]
    return convert(operand("array", value), dtype)


_WEAK = {"f": 0.0, "c": 0j}


def dtype_in(value: Any) -> Any:
    """The dtype as which NumPy takes an operand, or a Python number for a weak one."""
    aval = typeof(value)
    if not aval.weak_type or aval.shape:
        return aval.dtype
    return _WEAK.get(aval.dtype.kind, 0)


# Functions of sequences of arrays.
_OF_SEQUENCES = frozenset(
    (
        *("block", "broadcast_arrays", "column_stack", "concat", "concatenate"),
        *("dstack", "hstack", "meshgrid", "multi_dot", "select", "stack", "unstack"),
        *("vstack", "array_split", "split", "hsplit", "vsplit", "dsplit"),
    )
)


def taking_lists(function: Any) -> Any:
    """A function of NumPy's that takes lists of traced numbers for arrays."""
    if type(function) is not type(np.mean) or function.__name__ in _OF_SEQUENCES:
        return function

    @functools.wraps(function)
    def called(first: Any = np._NoValue, *rest: Any, **kwargs: Any) -> Any:
        if first is np._NoValue:
            return function(**kwargs)
        return function(*map(_of_list, (first, *rest)), **kwargs)

    return called


def _of_list(value: Any) -> Any:
    """The array that a list of traced numbers makes; another value as it is."""
    if isinstance(value, TracedList):
        return value.array()
    return array_of(value) if _is_traced_list(value) else value


def _is_traced_list(value: Any) -> bool:
    """True for a list, or lists of lists, that makes an array, and in which a number or
    an array is traced. Lists of what has several shapes are no arrays."""
    return type(value) is list and _is_traced(value) and _list_shape(value) is not None


def _is_traced(value: Any) -> bool:
    if type(value) is list:
        return any(map(_is_traced, value))
    return isinstance(value, NumpyTracer)


def _list_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of the array that nested lists make; None if they make none."""
    if type(value) is not list:
        whole: tuple[int, ...] = np.shape(value)
        return whole
    shapes = {_list_shape(part) for part in value} or {()}
    (shape,) = shapes if len(shapes) == 1 else (None,)
    return None if shape is None else (len(value), *shape)
