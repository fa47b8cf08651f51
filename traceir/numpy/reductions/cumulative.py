"""Cumulative sums and products along an axis. Serves: face.axis, face.dtype, cumsum.*

Without an axis they run over all elements, the last dimension fastest.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod as _product
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    no_out,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axis_in
from traceir.lax.reductions.cumulative import by_scan
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.exponential import logaddexp
from traceir.numpy.elementwise.logic import isnan, truth
from traceir.numpy.reductions.reductions import sum_dtype
from traceir.tracing.trace import typeof
from traceir.transforms.rules.registry import JVP

# Its combination is a function of this layer.
JVP["cumlogsumexp"] = by_scan("cumlogsumexp", logaddexp)

Cumulative = Callable[[Operand, int], Array]


def _cumulative(
    name: str,
    run: Cumulative,
    a: Operand,
    axis: int | None,
    dtype: DTypeLike,
    fill: int | None = None,
) -> Array:
    """`a`, of the right shape and dtype, folded; `fill` stands in the place of NaN."""
    value = operand(name, a)
    shape = shape_of(value)
    # A Python number is one element; so is any in the face of NumPy.
    lenient = typeof(value).weak_type or config.local.context.face == "numpy"
    if axis is None or (not shape and lenient):
        value = lax.reshape(value, (_product(shape),))
    at = axis_in(0 if axis is None else axis, typeof(value).ndim)
    if fill is not None:
        value = _where(isnan(value), typed(fill, typeof(value).dtype, False), value)
    asked = None if dtype is None else dtype_of(dtype, name)
    wanted = typeof(value).dtype if asked is None else asked
    if wanted == BOOL:
        # Truths are counted; asked for as the result, they are made of the counts.
        value = convert(truth(value), default_dtype(int))
        return convert(run(value, at), asked) if asked else run(value, at)
    return run(convert(value, wanted), at)


@composite(static_argnames=["axis", "dtype"])
def cumsum(
    a: Operand,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: None = None,
) -> Array:
    """Sums of all elements up to each one, in the dtype of `a`; booleans are counted.

    Raises ValueError (face.axis), TypeError (face.argument, face.dtype).

    >>> import traceir.numpy as jnp
    >>> cumsum(jnp.array([[1, 2], [3, 4]])), cumsum(jnp.array([[1, 2], [3, 4]]), axis=0)
    (Array([ 1,  3,  6, 10], dtype=int32),
     Array([[1, 2],
           [4, 6]], dtype=int32))
    """
    no_out("cumsum", out)
    return _cumulative("cumsum", lax.cumsum, a, axis, dtype)


@composite(static_argnames=["axis", "dtype"])
def cumprod(
    a: Operand,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: None = None,
) -> Array:
    """Products of all elements up to each one; otherwise as `cumsum`.

    >>> import traceir.numpy as jnp
    >>> cumprod(jnp.arange(1, 5))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    no_out("cumprod", out)
    return _cumulative("cumprod", lax.cumprod, a, axis, dtype)


@composite(static_argnames=["axis", "dtype"])
def nancumsum(
    a: Operand,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: None = None,
) -> Array:
    """As `cumsum`, with 0 in the place of NaN.

    >>> import traceir.numpy as jnp
    >>> nancumsum(jnp.array([1.0, jnp.nan, 2.0]))
    Array([1., 1., 3.], dtype=float32)
    """
    no_out("nancumsum", out)
    return _cumulative("nancumsum", lax.cumsum, a, axis, dtype, 0)


@composite(static_argnames=["axis", "dtype"])
def nancumprod(
    a: Operand,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: None = None,
) -> Array:
    """As `cumprod`, with 1 in the place of NaN.

    >>> import traceir.numpy as jnp
    >>> nancumprod(jnp.array([2.0, jnp.nan, 3.0]))
    Array([2., 2., 6.], dtype=float32)
    """
    no_out("nancumprod", out)
    return _cumulative("nancumprod", lax.cumprod, a, axis, dtype, 1)


@composite(static_argnames=["axis", "dtype"])
def _cumsum_with_promotion(a: Operand, axis: int, dtype: DTypeLike) -> Array:
    given = typeof(operand("cumulative_sum", a)).dtype
    wanted = sum_dtype(given) if dtype is None else dtype
    return _cumulative("cumulative_sum", lax.cumsum, a, axis, wanted)


def cumulative_sum(
    x: Operand,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    include_initial: bool = False,
) -> Array:
    """Sums up to each element, integers in at least the default width.

    Of one dimension unless `axis` is given (face.axis); `include_initial` puts the sum
    of no elements before the others.

    >>> import traceir.numpy as jnp
    >>> cumulative_sum(jnp.array([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6], dtype=int32)
    """
    initial = 0 if include_initial else None
    return _along("cumulative_sum", _cumsum_with_promotion, x, axis, dtype, initial)


def cumulative_prod(
    x: Operand,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    include_initial: bool = False,
) -> Array:
    """Products up to each element; otherwise as `cumulative_sum`.

    >>> import traceir.numpy as jnp
    >>> cumulative_prod(jnp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """

    def run(a: Operand, axis: int, dtype: DTypeLike) -> Array:
        wanted = sum_dtype(typeof(a).dtype) if dtype is None else dtype
        return _cumulative("cumulative_prod", lax.cumprod, a, axis, wanted)

    initial = 1 if include_initial else None
    return _along("cumulative_prod", run, x, axis, dtype, initial)


def _along(
    name: str,
    run: Callable[[Operand, int, DTypeLike], Array],
    x: Operand,
    axis: int | None,
    dtype: DTypeLike,
    initial: int | None,
) -> Array:
    value = operand(name, x)
    rank = len(shape_of(value))
    if axis is None and rank != 1:
        got = f"{name} of rank {rank} without axis"
        raise rules.error("face.axis", got=got)
    at = axis_in(0 if axis is None else axis, rank)
    found = run(value, at, dtype)
    if initial is None:
        return found
    shape = tuple(1 if d == at else n for d, n in enumerate(found.shape))
    first: Any = typed(initial, np.dtype(found.dtype), False)
    return lax.concatenate([lax.broadcast(first, shape), found], at)
