"""Arrays made of Python values and of shapes. Serves: face.argument, face.shape"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.devices import check_device
from traceir.dtypes import are_keys, float0, is_float0, is_key
from traceir.ir.structs import ShapeDtypeStruct
from traceir.lax.checks.int_ranges import held
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    dtype_of,
    fitting,
    given,
    is_scalar,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import ShapeLike, shape_tuple
from traceir.lax.checks.warnings import warn_of_part
from traceir.lax.structural.index_dtypes import offset
from traceir.lax.structural.shapes import (
    broadcast_in_dim,
    broadcasted_iota,
    expand_dims,
)
from traceir.lax.structural.shapes import full as lax_full
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.foreign_values import (
    is_tangent,
    is_tangent_dtype,
    read,
    without_numbers,
)
from traceir.numpy.arrays.sequences import from_sequence
from traceir.tracing.trace import bind, typeof


@takes_out_sharding
def array(
    object: Any,
    dtype: DTypeLike = None,
    copy: bool | None = None,
    *,
    order: str | None = "K",
    ndmin: int = 0,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """An array of a number, an array, a range, or nested sequences of these.

    Memory that others may write to is always copied; an `Array` is unless `copy` is
    False.

    NumPy arrays are copied and their 64-bit dtypes narrowed while those are off. A
    Python number stays weak unless a dtype is given. The order in memory is always the
    array's own, "K". Raises TypeError (face.argument, face.dtype), ValueError
    (face.ragged, array.device), OverflowError (jit.overflow), NotImplementedError
    (array.order).

    >>> array([[1, 2], [3, 4]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    >>> array(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    check_device(device)
    _check_order(order)
    if is_tangent(object, dtype):
        return without_numbers(np.shape(object))
    keep = dtype is None or are_keys(object, dtype)
    wanted = None if keep else dtype_of(dtype, "array")
    made = _made(object, wanted)
    if made is object and copy is not False:
        made = made.copy()
    missing = ndmin - len(made.shape)
    return expand_dims(made, range(missing)) if missing > 0 else made


def _check_order(order: str | None) -> None:
    if order not in (None, "K"):
        raise rules.error("array.order", got=f"{order=}")


@takes_out_sharding
def asarray(
    a: Any,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """As `array`: an immutable array is copied where `copy` is True alone.

    Raises besides ValueError (array.copy) where `copy` is False and what is given is
    no such array, or has another dtype, and (array.device).

    >>> asarray([1.0, 2.0])
    Array([1., 2.], dtype=float32)
    """
    check_device(device)
    _check_order(order)
    if is_tangent(a, dtype):
        return without_numbers(np.shape(a))
    keep = dtype is None or are_keys(a, dtype)
    made = _made(a, None if keep else dtype_of(dtype, "asarray"))
    if copy is False and made is not a:
        got = f"{type(a).__name__} as {made.aval.str_short()}"
        raise rules.error("array.copy", got=got)
    return made.copy() if copy and made is a else made


def _made(value: Any, dtype: np.dtype | None) -> Array:
    if not isinstance(value, (Array, list, tuple, int, float)):
        value = read(value, dtype)
    if type(value) is np.ndarray and not value.ndim:
        value = value[()]
    if dtype is not None and isinstance(value, (int, np.integer)):
        return as_array(given("array", value, dtype))
    if dtype is not None and type(value) is float:
        fitting(value, dtype)
    if isinstance(value, (list, tuple)):
        found = from_sequence(value, dtype)
    elif is_scalar(value) or isinstance(value, (Array, np.ndarray)):
        found = operand("array", value)
        if dtype is not None and isinstance(found, np.ndarray):
            warn_of_part(found.dtype, dtype)
            found = typed(found, dtype, False)
    elif isinstance(value, (str, bytes)) or not hasattr(value, "__array__"):
        return as_array(operand("array", value))
    else:
        found = operand("array", np.asarray(value))
    return as_array(found if dtype is None else convert(found, dtype))


@takes_out_sharding
def full(
    shape: ShapeLike,
    fill_value: Operand,
    dtype: DTypeLike = None,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """An array of this shape, `fill_value` everywhere or broadcast to it.

    Raises TypeError (face.shape, face.dtype, face.argument).

    >>> full((2,), 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    check_device(device)
    if is_tangent_dtype(dtype):
        return without_numbers(shape_tuple(shape))
    if is_key(dtype):
        return _of_words("full", fill_value, shape_tuple(shape), dtype)
    if dtype is None:
        value = operand("full", fill_value)
    else:
        value = _cut("full", fill_value, dtype_of(dtype, "full"), 0)
    return _stretched(value, shape_tuple(shape))


def _cut(name: str, fill: Operand, dtype: np.dtype, position: int) -> Operand:
    """The fill value of an array: of ints the upper bits are cut off."""
    return convert(operand(name, held(fill, dtype, cut=True), position), dtype)


def _stretched(value: Operand, shape: tuple[int, ...]) -> Array:
    own = shape_of(value)
    lead = len(shape) - len(own)
    if lead < 0 or any(n not in (1, m) for n, m in zip(own, shape[lead:], strict=True)):
        got = f"{typeof(value).str_short()} to {shape}"
        raise rules.error("face.broadcast-to", got=got)
    return broadcast_in_dim(value, shape, range(lead, len(shape)))


@takes_out_sharding
def broadcast_to(
    array: Operand, shape: ShapeLike, *, out_sharding: OutSharding = None
) -> Array:
    """The array stretched to a shape: dimensions of extent 1, and new leading ones.

    Raises TypeError (face.shape), ValueError (face.broadcast-to).

    >>> broadcast_to(asarray([1, 2]), (2, 2))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    return _stretched(operand("broadcast_to", array), shape_tuple(shape))


@takes_out_sharding
def zeros(
    shape: ShapeLike,
    dtype: DTypeLike = float,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """An array of zeros. Raises TypeError (face.shape, face.dtype).

    >>> zeros(2)
    Array([0., 0.], dtype=float32)
    """
    return _filled("zeros", shape, 0, dtype, device)


@takes_out_sharding
def ones(
    shape: ShapeLike,
    dtype: DTypeLike = float,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """An array of ones. Raises TypeError (face.shape, face.dtype).

    >>> ones((1, 2), int)
    Array([[1, 1]], dtype=int32)
    """
    return _filled("ones", shape, 1, dtype, device)


@takes_out_sharding
def empty(
    shape: ShapeLike,
    dtype: DTypeLike = float,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """As `zeros`: no array has undefined elements.

    >>> empty(2)
    Array([0., 0.], dtype=float32)
    """
    return _filled("empty", shape, 0, dtype, device)


def _filled(
    name: str, shape: ShapeLike, fill: int, dtype: DTypeLike, device: Any
) -> Array:
    check_device(device)
    extents = shape_tuple(shape)
    if is_tangent_dtype(dtype):
        return without_numbers(extents)
    if is_key(dtype):
        return _of_words(name, fill, extents, dtype)
    wanted = dtype_of(float if dtype is None else dtype, name)
    return broadcast_in_dim(typed(fill, wanted, False), extents, ())


def _of_words(
    name: str, fill: Operand, shape: tuple[int, ...], dtype: np.dtype
) -> Array:
    """Keys of which all words are a number, or which are a key."""
    if is_key(typeof(operand(name, fill, 1)).dtype):
        return _stretched(fill, shape)
    return lax_full(shape, given(name, fill, np.dtype("uint32"), 1), dtype)


@takes_out_sharding
def full_like(
    a: Operand | ShapeDtypeStruct,
    fill_value: Operand,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """`full` with the shape, dtype and weakness of another array or of a struct, where
    not given.

    >>> full_like(zeros(2), 7)
    Array([7., 7.], dtype=float32)
    """
    check_device(device)
    if is_float0(a) or is_tangent_dtype(dtype):
        extents = np.shape(a) if shape is None else shape_tuple(shape)
        return full(extents, fill_value, float0 if dtype is None else dtype)
    if isinstance(a, ShapeDtypeStruct):
        aval = a.aval
    else:
        aval = typeof(operand("full_like", a))
    if is_key(dtype) or (dtype is None and is_key(aval.dtype)):
        extents = aval.shape if shape is None else shape_tuple(shape)
        wanted = aval.dtype if dtype is None else dtype
        return _of_words("full_like", fill_value, extents, wanted)
    if dtype is None:
        value = operand("full_like", held(fill_value, aval.dtype, cut=True), 1)
        weak = aval.weak_type and not shape_of(value)
        value = convert(value, aval.dtype, weak)
    else:
        value = _cut("full_like", fill_value, dtype_of(dtype, "full_like"), 1)
    return _stretched(value, aval.shape if shape is None else shape_tuple(shape))


@takes_out_sharding
def zeros_like(
    a: Operand | ShapeDtypeStruct,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Zeros with the shape, dtype and weakness of another array, where not given.

    >>> zeros_like(asarray([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return full_like(a, 0, dtype, shape, device=device)


@takes_out_sharding
def ones_like(
    a: Operand | ShapeDtypeStruct,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    *,
    device: Any = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Ones with the shape, dtype and weakness of another array, where not given.

    >>> ones_like(asarray([1, 2]))
    Array([1, 1], dtype=int32)
    """
    return full_like(a, 1, dtype, shape, device=device)


def empty_like(
    prototype: Operand,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    *,
    device: Any = None,
) -> Array:
    """As `zeros_like`: no array has undefined elements.

    >>> empty_like(asarray([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return zeros_like(prototype, dtype, shape, device=device)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    *,
    device: Any = None,
) -> Array:
    """An `N` by `M` matrix of ones on the `k`-th diagonal and zeros elsewhere.

    Raises TypeError (face.shape, face.dtype).

    >>> eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    check_device(device)
    wanted = dtype_of(float if dtype is None else dtype, "eye")
    shape = shape_tuple((N, N if M is None else M))
    index = dtype_of(int)
    rows, columns = (broadcasted_iota(index, shape, d) for d in (0, 1))
    moved = typed(offset(shape_tuple(k)[0], shape), index, False)
    return as_array(convert(bind("eq", bind("add", rows, moved), columns), wanted))


def identity(n: int, dtype: DTypeLike = float) -> Array:
    """The identity matrix, as `eye(n)`.

    >>> identity(1)
    Array([[1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)
