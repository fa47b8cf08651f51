"""Reductions that ignore NaN, counts and ranges. Serves: face.axis, face.argument

`axis`, `keepdims`, `initial` and `where`, and their errors, are those of
`traceir.numpy.reductions.reductions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    like,
    no_out,
    operand,
    typed,
)
from traceir.numpy.elementwise.arithmetic import subtract
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import isnan, logical_not
from traceir.numpy.reductions.mean_var import mean
from traceir.numpy.reductions.reductions import Axis, all, max, min, prod, sum
from traceir.tracing.trace import typeof

Fold = Callable[..., Array]


def _without(name: str, a: Operand, stands_for_nan: float) -> tuple[Operand, bool]:
    """The operand with a number in the place of NaN, and whether it may have any."""
    value = operand(name, a)
    dtype = typeof(value).dtype
    if kind_of(dtype) not in "fc":
        return value, False
    return _where(isnan(value), typed(stands_for_nan, dtype, False), value), True


@composite(static_argnames=["axis", "dtype", "keepdims"])
def nansum(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
) -> Array:
    """Sum over axes, with 0 in the place of NaN; otherwise as `sum`.

    >>> import traceir.numpy as jnp
    >>> nansum(jnp.array([1.0, jnp.nan, 2.0]))
    Array(3., dtype=float32)
    """
    no_out("nansum", out)
    value, _ = _without("nansum", a, 0)
    return sum(value, axis, dtype, None, keepdims, initial, where)


@composite(static_argnames=["axis", "dtype", "keepdims"])
def nanprod(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
) -> Array:
    """Product over axes, with 1 in the place of NaN; otherwise as `prod`.

    >>> import traceir.numpy as jnp
    >>> nanprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array(6., dtype=float32)
    """
    no_out("nanprod", out)
    value, _ = _without("nanprod", a, 1)
    return prod(value, axis, dtype, None, keepdims, initial, where)


def _extreme(
    name: str, fold: Fold, least: float, a: Operand, axis: Axis, options: Any
) -> Array:
    """An extremum without NaN; NaN where nothing is left."""
    value, some = _without(name, a, least)
    found = fold(value, axis, **options)
    if not some or options["initial"] is not None:
        return found
    keepdims = options["keepdims"]
    none = all(isnan(a), axis, keepdims=keepdims)
    return _where(none, typed(np.nan, found.dtype, False), found)


@composite(static_argnames=["axis", "keepdims"])
def nanmax(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
) -> Array:
    """Greatest element over axes that is not NaN; NaN where all are.

    >>> import traceir.numpy as jnp
    >>> nanmax(jnp.array([1.0, jnp.nan, 2.0]))
    Array(2., dtype=float32)
    """
    options = {"keepdims": keepdims, "initial": initial, "where": where}
    no_out("nanmax", out)
    return _extreme("nanmax", max, -np.inf, a, axis, options)


@composite(static_argnames=["axis", "keepdims"])
def nanmin(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Operand = None,
    where: Operand = None,
) -> Array:
    """Least element over axes that is not NaN; NaN where all are.

    >>> import traceir.numpy as jnp
    >>> nanmin(jnp.array([1.0, jnp.nan, 2.0]))
    Array(1., dtype=float32)
    """
    options = {"keepdims": keepdims, "initial": initial, "where": where}
    no_out("nanmin", out)
    return _extreme("nanmin", min, np.inf, a, axis, options)


@composite(static_argnames=["axis", "dtype", "keepdims"])
def nanmean(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    where: Operand = None,
) -> Array:
    """Mean over axes, without NaN; floating, NaN where nothing is left.

    `where` tells which elements count.

    >>> import traceir.numpy as jnp
    >>> nanmean(jnp.array([1.0, jnp.nan, 2.0]))
    Array(1.5, dtype=float32)
    """
    no_out("nanmean", out)
    value = operand("nanmean", a)
    given = typeof(value).dtype
    if kind_of(given) not in "fc":
        return mean(value, axis, dtype, keepdims=keepdims, where=where)
    wanted = given if dtype is None else dtype_of(dtype, "nanmean")
    some = convert(logical_not(isnan(value)), default_dtype(int))
    options: Any = {"keepdims": keepdims, "where": where}
    count = sum(some, axis, wanted, **options)
    total = nansum(value, axis=axis, dtype=wanted, **options)
    return lax.div(total, count)


@composite(static_argnames=["axis", "keepdims"])
def _ptp(a: Operand, axis: Axis, keepdims: bool) -> Array:
    most = max(a, axis, keepdims=keepdims)
    return subtract(most, min(a, axis, keepdims=keepdims))


def ptp(
    a: Operand, axis: Axis = None, out: None = None, keepdims: bool = False
) -> Array:
    """Greatest less least element over axes.

    >>> import traceir.numpy as jnp
    >>> ptp(jnp.array([3, 7, 4]))
    Array(4, dtype=int32)
    """
    no_out("ptp", out)
    return _ptp(operand("ptp", a), axis, keepdims)


@composite(static_argnames=["axis", "keepdims"])
def count_nonzero(a: Operand, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of elements over axes that are true, or other than 0.

    >>> import traceir.numpy as jnp
    >>> count_nonzero(jnp.array([3, 0, 4]))
    Array(2, dtype=int32)
    """
    value = operand("count_nonzero", a)
    value = lax.ne(value, like(0, value))
    return sum(value, axis, default_dtype(int), keepdims=keepdims)
