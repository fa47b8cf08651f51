"""Sums, products, extrema and truth over axes.

Serves: face.axis, face.axis-repeated, face.reduce-empty

`axis` is None for all, an int or a tuple of ints, negative from the end; `keepdims`
leaves reduced dimensions with extent 1. A traced axis is a
TracerIntegerConversionError, a bad one a ValueError.
"""

from __future__ import annotations

from math import prod as _product
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import iinfo, is_half, is_inexact, kind_of
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    no_out,
    operand,
    refuse_key,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_or_names_in, axis_in
from traceir.numpy.elementwise.composites import where as _where
from traceir.tracing.trace import bind, typeof

Axis = Any
# The reductions over examples, too, by those over dimensions.
COLLECTIVES = {"reduce_sum": lax.psum, "reduce_max": lax.pmax, "reduce_min": lax.pmin}


def truths(where: Operand) -> Operand:
    """The elements that count, as booleans; ValueError (face.where) for others.

    >>> truths(True)
    True
    """
    which = operand("where", where)
    if typeof(which).dtype != BOOL:
        raise rules.error("face.where", got=f"where of {typeof(which).str_short()}")
    return which


def reduced(
    primitive: str, x: Operand, axis: Axis, keepdims: bool, **options: Any
) -> Array:
    """`x`, checked and of the right dtype, reduced.

    `where` leaves out elements, by putting the primitive's `identity` in their place;
    `initial` takes part as one more element, by `combine`. Among the axes may be names
    of those that are mapped over, where there is a collective that does the same.
    """
    axes = axes_or_names_in(axis, len(shape_of(x)))
    if options.get("where") is not None:
        dtype, which = typeof(x).dtype, truths(options["where"])
        x = _where(which, x, typed(options["identity"], dtype, False))
    named = [a for a in axes if isinstance(a, str)]
    if named and primitive not in COLLECTIVES:
        got = f"{named[0]!r}, the name of a mapped axis, for {primitive}"
        raise rules.error("face.axis-type", got=got)
    result: Array = (
        COLLECTIVES[primitive](x, axes) if named else bind(primitive, x, axes=axes)
    )
    if keepdims:
        result = lax.expand_dims(result, [a for a in axes if a not in named])
    if options.get("initial") is not None:
        initial = convert(operand(primitive, options["initial"]), result.dtype)
        result = bind(options["combine"], initial, result)
    return result


def extent_of(shape: tuple[int, ...], axes: tuple[Any, ...]) -> int:
    """The number of elements along axes of a shape, and along named ones."""
    sizes = (lax.axis_size(a) if isinstance(a, str) else shape[a] for a in axes)
    return _product(sizes)


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of sums: at least the default width for integers."""
    if is_inexact(dtype):
        return dtype
    least = default_dtype(int)
    if kind_of(dtype) == "u":
        least = np.dtype(f"u{least.itemsize}")
    return dtype if dtype.itemsize > least.itemsize else least


def _total(
    name: str, x: Operand, axis: Axis, dtype: Any, promote: bool, **options: Any
) -> Array:
    value = operand(name, x)
    given, some = typeof(value).dtype, name == "sum"
    if dtype is None and not promote:
        dtype = given
    wanted = sum_dtype(given) if dtype is None else dtype_of(dtype, name)
    if wanted == BOOL:  # a sum is true if an element is, a product if all are
        combine = "or" if some else "and"
        options |= {"identity": not some, "combine": combine}
        return reduced(f"reduce_{combine}", convert(value, BOOL), axis, **options)
    options |= {"identity": int(not some), "combine": "add" if some else "mul"}
    if given == BOOL:
        value = convert(value, default_dtype(int))  # truths are counted
    if dtype is None and is_half(wanted):
        # Half precision overflows early, so it is added up in single.
        value = convert(value, np.dtype(np.float32))
        return convert(reduced(f"reduce_{name}", value, axis, **options), wanted)
    return reduced(f"reduce_{name}", convert(value, wanted), axis, **options)


def sum(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
    promote_integers: bool = True,
) -> Array:
    """Sum over axes; integers and booleans in at least the default integer width.

    `initial` is added; `where` tells which elements count. Without `promote_integers`
    the dtype is that of `a`. Raises ValueError (face.axis), TypeError (face.argument,
    face.dtype), NotImplementedError (face.no-out).

    >>> import traceir.numpy as jnp
    >>> sum(jnp.ones((2, 3)), axis=1)
    Array([3., 3.], dtype=float32)
    """
    no_out("sum", out)
    options = {"keepdims": keepdims, "initial": initial, "where": where}
    return _total("sum", a, axis, dtype, promote_integers, **options)


def prod(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
    promote_integers: bool = True,
) -> Array:
    """Product over axes, in the dtype of `sum`; other arguments as there.

    >>> import traceir.numpy as jnp
    >>> prod(jnp.arange(1, 5))
    Array(24, dtype=int32)
    """
    no_out("prod", out)
    options = {"keepdims": keepdims, "initial": initial, "where": where}
    return _total("prod", a, axis, dtype, promote_integers, **options)


def _extreme(name: str, x: Operand, axis: Axis, least: bool, **options: Any) -> Array:
    value = operand(name, x)
    refuse_key(value)
    shape, dtype = shape_of(value), typeof(value).dtype
    axes = axes_or_names_in(axis, len(shape))
    masked = options["where"] is not None
    if options["initial"] is None and (masked or not extent_of(shape, axes)):
        got = f"{name} of shape {shape}" + " under a mask" * masked
        raise rules.error("face.reduce-empty", got=got)
    return reduced(
        f"reduce_{name}",
        convert(value, dtype),
        axis,
        identity=end_of(dtype, least),
        combine=name,
        **options,
    )


def end_of(dtype: np.dtype, least: bool) -> Any:
    """The least value of a dtype, or the greatest."""
    if is_inexact(dtype):
        return -np.inf if least else np.inf
    if kind_of(dtype) == "b":
        return not least
    limits = iinfo(dtype)
    return limits.min if least else limits.max


def max(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
) -> Array:
    """Greatest element over axes; NaN if one is.

    Raises ValueError (face.reduce-empty, face.axis), TypeError (face.argument).

    >>> import traceir.numpy as jnp
    >>> max(jnp.array([[1, 4], [3, 2]]), axis=0)
    Array([3, 4], dtype=int32)
    """
    options = {"keepdims": keepdims, "initial": initial, "where": where}
    no_out("max", out)
    return _extreme("max", a, axis, True, **options)


def min(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
) -> Array:
    """Least element over axes; NaN if one is. Raises as `max`.

    >>> import traceir.numpy as jnp
    >>> min(jnp.array([[1, 4], [3, 2]]), axis=0)
    Array([1, 2], dtype=int32)
    """
    options = {"keepdims": keepdims, "initial": initial, "where": where}
    no_out("min", out)
    return _extreme("min", a, axis, False, **options)


amax = max
amin = min


def all(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Operand = None,
) -> Array:
    """True where all elements over axes are true, or other than 0; `where` selects
    them.

    >>> all(True)
    Array(True, dtype=bool)
    """
    no_out("all", out)
    value = convert(operand("all", a), BOOL)
    options: Any = {"where": where, "identity": True}
    return reduced("reduce_and", value, axis, keepdims, **options)


def any(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Operand = None,
) -> Array:
    """True where any element over axes is true, or other than 0; `where` selects them.

    >>> any(False)
    Array(False, dtype=bool)
    """
    no_out("any", out)
    value = convert(operand("any", a), BOOL)
    options: Any = {"where": where, "identity": False}
    return reduced("reduce_or", value, axis, keepdims, **options)


def _arg(name: str, a: Operand, axis: int | None, keepdims: bool) -> Array:
    value = operand(name, a)
    shape = shape_of(value)
    if axis is None:
        value = lax.reshape(value, (_product(shape),))
    at = 0 if axis is None else axis_in(axis, len(shape))
    if not shape_of(value)[at]:
        raise rules.error("face.reduce-empty", got=f"{name} of shape {shape}")
    result: Array = bind(name, value, axes=(at,), index_dtype=default_dtype(int))
    if not keepdims:
        return result
    return lax.expand_dims(result, range(len(shape)) if axis is None else (at,))


def argmax(
    a: Operand,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,
) -> Array:
    """Index of the first greatest element, a NaN before all; without axis, of them all.

    Raises ValueError (face.reduce-empty, face.axis), TypeError (face.argument).

    >>> import traceir.numpy as jnp
    >>> argmax(jnp.array([1, 3, 2]))
    Array(1, dtype=int32)
    """
    no_out("argmax", out)
    return _arg("argmax", a, axis, bool(keepdims))


def argmin(
    a: Operand,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,
) -> Array:
    """Index of the first least element, a NaN before all. Raises as `argmax`.

    >>> import traceir.numpy as jnp
    >>> argmin(jnp.array([3, 1, 2]))
    Array(1, dtype=int32)
    """
    no_out("argmin", out)
    return _arg("argmin", a, axis, bool(keepdims))
