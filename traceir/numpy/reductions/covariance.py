"""Weighted means, covariance, and variance without NaN. Serves: order.weights

`axis` and `keepdims` are those of `traceir.numpy.reductions.reductions`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import is_inexact, kind_of, part_dtype
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    inexact,
    joined,
    no_out,
    operand,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import divide, maximum, multiply, subtract
from traceir.numpy.elementwise.composites import clip
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import isnan, less_equal, logical_not, logical_or
from traceir.numpy.manipulation.shapes import concatenate, matrix_transpose
from traceir.numpy.manipulation.stacking import atleast_2d
from traceir.numpy.reductions.mean_var import centre, mean
from traceir.numpy.reductions.nan_reductions import nanmean
from traceir.numpy.reductions.reductions import Axis, argmax, argmin
from traceir.numpy.reductions.reductions import all as _all
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.tracing.trace import typeof


@composite(static_argnames=["axis", "keepdims"])
def _nanargmax(a: Operand, axis: int | None, keepdims: bool) -> Array:
    return _nanarg(a, axis, keepdims, argmax, -np.inf)


@composite(static_argnames=["axis", "keepdims"])
def _nanargmin(a: Operand, axis: int | None, keepdims: bool) -> Array:
    return _nanarg(a, axis, keepdims, argmin, np.inf)


def _nanarg(
    a: Operand, axis: int | None, keepdims: bool, search: Any, last: float
) -> Array:
    """The index of the extremum among numbers; -1 if there are none."""
    if kind_of(typeof(a).dtype) != "f":
        found: Array = search(a, axis, keepdims=keepdims)
        return found
    strange = isnan(a)
    place = search(_where(strange, last, a), axis, keepdims=keepdims)
    return _where(_all(strange, axis, keepdims=keepdims), -1, place)


def nanargmax(
    a: Operand,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,
) -> Array:
    """The place of the first greatest element that is not NaN; -1 where all are.

    Raises ValueError (face.reduce-empty, face.axis).

    >>> import traceir.numpy as jnp
    >>> nanargmax(jnp.array([1.0, jnp.nan, 2.0]))
    Array(2, dtype=int32)
    """
    no_out("nanargmax", out)
    return _nanargmax(operand("nanargmax", a), axis, bool(keepdims))


def nanargmin(
    a: Operand,
    axis: int | None = None,
    out: None = None,
    keepdims: bool | None = None,
) -> Array:
    """The place of the first least element that is not NaN; -1 where all are.

    >>> import traceir.numpy as jnp
    >>> nanargmin(jnp.array([1.0, jnp.nan, 2.0]))
    Array(0, dtype=int32)
    """
    no_out("nanargmin", out)
    return _nanargmin(operand("nanargmin", a), axis, bool(keepdims))


@composite(static_argnames=["axis", "dtype", "keepdims"])
def nanvar(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    ddof: int | float = 0,
    keepdims: bool = False,
    where: Operand = None,
    mean: Operand = None,
) -> Array:
    """Variance over axes, without NaN; NaN where `ddof` leaves nothing.

    A `mean`, and `where`, are taken as by `var`.

    >>> import traceir.numpy as jnp
    >>> nanvar(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    no_out("nanvar", out)
    value = operand("nanvar", a)
    asked = None if dtype is None else dtype_of(dtype, "nanvar")
    wanted = inexact(typeof(value).dtype if asked is None else asked)
    computed = wanted if wanted.itemsize > 2 else np.dtype("float32")
    value = convert(value, computed)
    if mean is None:
        about = nanmean(value, axis=axis, keepdims=True, where=where)
    else:
        about = centre("nanvar", value, mean)
    strange = isnan(value)
    if where is not None:
        which = broadcast_to(where, shape_of(value))
        strange = logical_or(strange, logical_not(which))
    apart = _where(strange, 0, subtract(value, about))
    if computed.kind == "c":
        apart = lax.real(lax.mul(apart, lax.conj(apart)))
        wanted = computed = part_dtype(computed)
    else:
        apart = lax.square(apart)
    some = convert(logical_not(strange), computed)
    left = subtract(_sum(some, axis, keepdims=keepdims), ddof)
    none = less_equal(left, 0)
    total = _where(none, np.nan, _sum(apart, axis, keepdims=keepdims))
    found = divide(total, _where(none, 1, left))
    wanted = wanted if asked is None else asked
    return convert(found, wanted)


@composite(static_argnames=["axis", "dtype", "keepdims"])
def nanstd(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    ddof: int | float = 0,
    keepdims: bool = False,
    where: Operand = None,
    mean: Operand = None,
) -> Array:
    """Square root of `nanvar`.

    >>> import traceir.numpy as jnp
    >>> nanstd(jnp.array([1.0, jnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    no_out("nanstd", out)
    options: Any = {"ddof": ddof, "keepdims": keepdims, "where": where, "mean": mean}
    return lax.sqrt(nanvar(a, axis=axis, dtype=dtype, **options))


def average(
    a: Operand,
    axis: Axis = None,
    weights: Operand = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Mean over axes, in which elements count as much as their weights.

    `weights` has the shape of `a`, or the extents of the axes. With `returned` a pair:
    the means, and the sums of the weights. Raises ValueError (order.weights,
    face.axis).

    >>> import traceir.numpy as jnp
    >>> average(jnp.array([1.0, 5.0]), weights=jnp.array([3.0, 1.0]))
    Array(2., dtype=float32)
    """
    if weights is None:
        value = operand("average", a)
        found = mean(value, axis, keepdims=keepdims)
        axes = axes_in(axis, len(shape_of(value)))
        count: Array = as_array(
            typed(prod(shape_of(value)[d] for d in axes), found.dtype, False)
        )
    else:
        value, shares = promoted_inexact("average", a, weights)
        axes = axes_in(axis, len(shape_of(value)))
        shares = _lined(shares, shape_of(value), axes, axis)
        count = _sum(broadcast_to(shares, shape_of(value)), axis, keepdims=keepdims)
        total = _sum(multiply(value, shares), axis, keepdims=keepdims)
        found = divide(total, count)
    return (found, broadcast_to(count, found.shape)) if returned else found


def _lined(
    weights: Operand, shape: tuple[int, ...], axes: tuple[int, ...], axis: Axis
) -> Operand:
    """Weights with a dimension for each of the operand's."""
    given = shape_of(weights)
    if given == shape:
        return weights
    if axis is None or given != tuple(shape[d] for d in axes):
        raise rules.error("order.weights", got=f"{given} for axis {axis} of {shape}")
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    turned = lax.transpose(weights, order)
    return lax.reshape(turned, [n if d in axes else 1 for d, n in enumerate(shape)])


@composite(static_argnames=["rowvar", "bias", "ddof", "dtype"])
def cov(
    m: Operand,
    y: Operand = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Operand = None,
    aweights: Operand = None,
    dtype: DTypeLike = None,
) -> Array:
    """Covariances of variables: the rows of `m` and of `y`, columns without `rowvar`.

    Sums are divided by the number of observations less `ddof`: by default 0 if `bias`,
    else 1. `fweights` tells how often an observation was made, `aweights` how much it
    counts. Raises ValueError (order.variables, order.weights).

    >>> import traceir.numpy as jnp
    >>> cov(jnp.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]))
    Array([[1., 2.],
           [2., 4.]], dtype=float32)
    """
    shares = [operand("cov", w) for w in (fweights, aweights) if w is not None]
    x, wanted = _variables(m, y, shares, rowvar, dtype)
    if not x.shape[0]:
        return lax.full((0, 0), 0, default_dtype(float))  # of no variable, no dtype
    count = x.shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    counted = _observations(fweights, aweights, count, wanted)
    if counted is None:
        total: Any = typed(count, wanted, False)
        left: Any = typed(max(count - less, 0), wanted, False)
        centre = lax.div(_sum(x, 1, keepdims=True), lax.full((x.shape[0], 1), total))
    else:
        total = _sum(counted)
        squares = total
        if aweights is not None:
            squares = _sum(multiply(counted, convert(aweights, wanted)))
        left = maximum(subtract(total, multiply(less, divide(squares, total))), 0)
        centre = divide(_sum(multiply(x, counted), 1, keepdims=True), total)
    apart = subtract(x, centre)
    other = apart if counted is None else multiply(apart, counted)
    if wanted.kind == "c":
        other = lax.conj(other)
    found = divide(lax.dot(apart, matrix_transpose(other)), left)
    return lax.reshape(found, ()) if found.shape == (1, 1) else found


def _variables(
    m: Operand, y: Operand, shares: list[Operand], rowvar: bool, dtype: DTypeLike
) -> tuple[Array, np.dtype]:
    """All variables as rows of a matrix, in a floating dtype."""
    given = promoted_inexact("cov", *([m] if y is None else [m, y]))
    wanted = inexact(joined((*given, *shares))[0])
    wanted = wanted if dtype is None else dtype_of(dtype, "cov")
    if not is_inexact(wanted):
        got, hint = f"cov in dtype {wanted}", "ask for a floating or complex dtype"
        raise rules.error("face.choice", got=got, hint=hint)
    parts = []
    for value in given:
        rank = len(shape_of(value))
        if rank > 2:
            raise rules.error("order.variables", got=f"shape {shape_of(value)}")
        rows = atleast_2d(as_array(convert(value, wanted)))
        parts.append(matrix_transpose(rows) if rank == 2 and not rowvar else rows)
    if len({p.shape[1] for p in parts}) > 1:
        shapes = " and ".join(str(p.shape) for p in parts)
        raise rules.error("order.variables", got=f"shapes {shapes}")
    return (concatenate(parts) if len(parts) > 1 else parts[0]), wanted


def _observations(
    fweights: Operand, aweights: Operand, count: int, dtype: np.dtype
) -> Operand:
    """The weight of each observation, None if all count as one."""
    found = None
    for weights in (fweights, aweights):
        if weights is None:
            continue
        if shape_of(operand("cov", weights)) != (count,):
            got = f"{shape_of(weights)} for {count} observations"
            raise rules.error("order.weights", got=got)
        part = lax.abs(convert(operand("cov", weights), dtype))
        found = part if found is None else multiply(found, part)
    return found


@composite(static_argnames=["rowvar", "dtype"])
def corrcoef(
    x: Operand, y: Operand = None, rowvar: bool = True, dtype: DTypeLike = None
) -> Array:
    """Correlation coefficients of variables; as `cov`.

    >>> import traceir.numpy as jnp
    >>> corrcoef(jnp.array([1.0, 2.0, 3.0]), jnp.array([3.0, 2.0, 1.0]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    found = cov(x, y, rowvar=rowvar, dtype=dtype)
    if not found.ndim:
        return divide(found, found)
    own = lax.eq(
        lax.broadcasted_iota(default_dtype(int), found.shape, 0),
        lax.broadcasted_iota(default_dtype(int), found.shape, 1),
    )
    part = lax.real(found) if found.dtype.kind == "c" else found
    wide = lax.sqrt(_sum(_where(own, part, 0), 1))
    found = divide(divide(found, wide[:, None]), wide[None, :])
    if found.dtype.kind == "c":
        parts = (clip(p, -1, 1) for p in (lax.real(found), lax.imag(found)))
        return lax.complex(*parts)
    return clip(found, -1, 1)
