"""Medians, quantiles and percentiles, with NaN and without.

Serves: face.axis, face.choice

A line is sorted, and read at two places beside the one where the quantile belongs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import is_narrow, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    inexact,
    joined,
    like,
    no_out,
    operand,
    operands,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in
from traceir.lax.structural.index_dtypes import index_dtype
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.arithmetic import add, divide, multiply, subtract
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import isnan, logical_not
from traceir.numpy.indexing.gather_inside import along_axis, at_places
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.numpy.reductions.reductions import Axis
from traceir.numpy.reductions.reductions import any as _any
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.tracing.trace import typeof

# How far the place of a quantile is from q times the number of elements: Hyndman and
# Fan, "Sample quantiles in statistical packages" (1996), their alpha and beta.
PLACES: dict[str, tuple[float, float]] = {
    "linear": (1, 1),
    "lower": (1, 1),
    "higher": (1, 1),
    "midpoint": (1, 1),
    "nearest": (1, 1),
    "inverted_cdf": (0, 1),
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


@composite(static_argnames=["axis", "overwrite_input", "method", "keepdims"])
def quantile(
    a: Operand,
    q: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Operand | None = None,
) -> Array:
    """The value that a part `q` of the elements over axes lies below; NaN if one is.

    `q`, floating and from 0 to 1, may have dimensions: they come first in the result.
    `method` tells what is between two elements: "linear", "lower", "higher",
    "midpoint", "nearest", "inverted_cdf", "interpolated_inverted_cdf", "hazen",
    "weibull", "median_unbiased" or "normal_unbiased". Of nothing it is NaN. `weights`,
    for "inverted_cdf" alone, tell how much each element counts; they have the shape of
    `a`, or of its extents at the axes. Raises ValueError (face.axis, face.choice,
    face.shape), TypeError (face.argument, face.floating), NotImplementedError
    (face.no-out, face.choice).

    >>> import traceir.numpy as jnp
    >>> quantile(jnp.array([1, 5, 2, 4]), 0.5)
    Array(3., dtype=float32)
    """
    _only_reads("quantile", out, overwrite_input)
    return _quantile("quantile", a, q, axis, method, keepdims, _of_all, weights)


@composite(static_argnames=["axis", "overwrite_input", "method", "keepdims"])
def nanquantile(
    a: Operand,
    q: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Operand | None = None,
) -> Array:
    """As `quantile`, without NaN; NaN where nothing is left.

    >>> import traceir.numpy as jnp
    >>> nanquantile(jnp.array([1.0, jnp.nan, 4.0]), 0.5)
    Array(2.5, dtype=float32)
    """
    _only_reads("nanquantile", out, overwrite_input)
    return _quantile("nanquantile", a, q, axis, method, keepdims, _of_numbers, weights)


@takes_out_sharding
@composite(static_argnames=["axis", "overwrite_input", "method", "keepdims"])
def percentile(
    a: Operand,
    q: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Operand | None = None,
    out_sharding: OutSharding = None,
) -> Array:
    """As `quantile`, with `q` from 0 to 100.

    >>> import traceir.numpy as jnp
    >>> percentile(jnp.array([1, 5, 2, 4]), 50)
    Array(3., dtype=float32)
    """
    _only_reads("percentile", out, overwrite_input)
    return quantile(
        a, _part(q), axis=axis, method=method, keepdims=keepdims, weights=weights
    )


@composite(static_argnames=["axis", "overwrite_input", "method", "keepdims"])
def nanpercentile(
    a: Operand,
    q: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Operand | None = None,
) -> Array:
    """As `percentile`, without NaN.

    >>> import traceir.numpy as jnp
    >>> nanpercentile(jnp.array([1.0, jnp.nan, 4.0]), 50)
    Array(2.5, dtype=float32)
    """
    _only_reads("nanpercentile", out, overwrite_input)
    return nanquantile(
        a, _part(q), axis=axis, method=method, keepdims=keepdims, weights=weights
    )


@composite(static_argnames=["axis", "overwrite_input", "keepdims"])
def median(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The middle element over axes, or the mean of the middle two; NaN if one is.

    >>> import traceir.numpy as jnp
    >>> median(jnp.array([1, 5, 2]))
    Array(2., dtype=float32)
    """
    _only_reads("median", out, overwrite_input)
    return quantile(a, 0.5, axis=axis, method="midpoint", keepdims=keepdims)


@composite(static_argnames=["axis", "overwrite_input", "keepdims"])
def nanmedian(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """As `median`, without NaN.

    >>> import traceir.numpy as jnp
    >>> nanmedian(jnp.array([1.0, jnp.nan, 4.0]))
    Array(2.5, dtype=float32)
    """
    _only_reads("nanmedian", out, overwrite_input)
    return nanquantile(a, 0.5, axis=axis, method="midpoint", keepdims=keepdims)


def _only_reads(name: str, out: None, overwrite_input: bool) -> None:
    """Raise NotImplementedError (face.no-out) for options that change an array."""
    no_out(name, out)
    if overwrite_input:
        raise rules.error("face.no-out", got=f"overwrite_input=True of {name}")


def _part(q: Operand) -> Operand:
    return divide(operand("percentile", q, 1), 100.0)


Read = tuple[Array, Array, Array, Array]
Reader = Callable[[Array, Operand, int, bool, str], Read]


def _quantile(
    name: str,
    a: Operand,
    q: Operand,
    axis: Axis,
    method: str,
    keepdims: bool,
    read: Reader,
    weights: Operand | None,
) -> Array:
    if method not in PLACES:
        listed = ", ".join(PLACES)
        raise rules.error("face.choice", got=f"method={method!r}; one of {listed}")
    if weights is not None:
        if method != "inverted_cdf":
            got = f"weights of {name} with method={method!r}"
            raise rules.error("face.choice", got=got, hint="method='inverted_cdf'")
        a, weights = operands(name, (a, weights))
        a = convert(a, joined((a, weights))[0])
    value, part, wanted = _numbers(name, a, q)
    axes = axes_in(axis, value.ndim)
    if weights is not None:
        counts = _weights(name, weights, value, axes)
        read = _weighted(_in_line(counts, axes)[0], read is _of_numbers)
    kept = drop(value.shape, axes)
    line, d = _in_line(value, axes)
    lead = shape_of(part)
    if len(lead) > 1:
        part = lax.reshape(part, (prod(lead),))
    if keepdims:
        kept = tuple(1 if k in axes else n for k, n in enumerate(value.shape))
    if not line.shape[d]:
        return lax.full((*lead, *kept), typed(np.nan, wanted, False))
    found = convert(_between(*read(line, part, d, keepdims, method), method), wanted)
    return lax.reshape(found, (*lead, *kept))


def _weights(name: str, weights: Operand, value: Array, axes: tuple[int, ...]) -> Array:
    """The weights of all elements, in their dtype."""
    counts = as_array(convert(weights, value.dtype))
    if counts.shape != value.shape:
        extents = tuple(value.shape[k] for k in axes)
        if counts.shape != extents:
            got = f"weights of shape {counts.shape} for {value.shape} in {name}"
            raise rules.error("face.shape", got=got)
        counts = lax.broadcast_in_dim(counts, value.shape, axes)
    return counts


def drop(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The extents that are not at axes."""
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def _numbers(name: str, a: Operand, q: Operand) -> tuple[Array, Operand, np.dtype]:
    """The operand and its parts in a dtype to compute in, and the result's dtype."""
    value, part = operands(name, (a, q))
    wanted = inexact(typeof(value).dtype)
    for given in (value, part):
        if kind_of(typeof(given).dtype) == "c":
            raise rules.error("face.complex", got=f"{name} of {typeof(given)}")
    if kind_of(typeof(part).dtype) != "f":
        got = f"{typeof(part).str_short()} as the quantile of {name}"
        raise rules.error("face.floating", got=got)
    if is_narrow(typeof(value).dtype):
        value = convert(value, np.dtype("float32"))
    computed = inexact(joined((value, part))[0])
    computed = computed if computed.itemsize > 2 else np.dtype("float32")
    weak = typeof(part).weak_type
    return as_array(convert(value, computed)), convert(part, computed, weak), wanted


def _in_line(x: Array, axes: tuple[int, ...]) -> tuple[Array, int]:
    """The elements over axes along one: the axis itself, or a new last one."""
    if len(axes) == 1:
        return x, axes[0]
    kept = drop(x.shape, axes)
    moved = moveaxis(x, axes, tuple(range(len(kept), x.ndim)))
    return lax.reshape(moved, (*kept, prod(x.shape[d] for d in axes))), len(kept)


def _place(part: Operand, count: Operand, method: str) -> Array:
    """The position of a part of so many elements, counted from 0."""
    alpha, beta = PLACES[method]
    one = typed(1, typeof(count).dtype, False)
    if method == "inverted_cdf":
        return subtract(lax.ceil(multiply(part, count)), one)
    if alpha == beta == 1:
        return lax.mul(part, lax.sub(count, one))
    return add(multiply(part, add(count, 1 - alpha - beta)), alpha - 1)


def _sides(at: Array) -> tuple[Array, Array, Array, Array]:
    """The whole numbers around a place, and the shares of the elements there."""
    low, high = lax.floor(at), lax.ceil(at)
    share = lax.sub(at, low)
    return low, high, lax.sub(typed(1, share.dtype, False), share), share


def _of_all(line: Array, part: Operand, d: int, keepdims: bool, method: str) -> Read:
    """The elements around each place, and the shares that they have."""
    strange = _any(isnan(line), d, keepdims=True)
    found = lax.sort(_where(strange, float("nan"), line), d)
    count, zero, one = (typed(n, line.dtype, False) for n in (line.shape[d], 0, 1))
    low, high, rest, share = _sides(_place(part, count, method))
    ends = [lax.clamp(zero, side, lax.sub(count, one)) for side in (low, high)]
    whole = [convert(end, index_dtype((line.shape[d],))) for end in ends]
    lower, upper = (at_places(found, places, d, keepdims) for places in whole)
    if share.ndim:
        rest, share = (
            lax.broadcast_in_dim(s, lower.shape, (0,)) for s in (rest, share)
        )
    return lower, upper, rest, share


def _of_numbers(
    line: Array, part: Operand, d: int, keepdims: bool, method: str
) -> Read:
    """As `_of_all`, where each line has a number of elements of its own."""
    found = moveaxis(lax.sort(_where(isnan(line), float("nan"), line), d), d, -1)
    some = convert(logical_not(isnan(found)), default_dtype(int))
    count = _sum(convert(some, line.dtype), -1, keepdims=True)
    parts = lax.reshape(part, (*(1,) * (line.ndim - 1), prod(shape_of(part))))
    low, high, rest, share = _sides(_place(parts, count, method))
    last = broadcast_to(subtract(count, 1), low.shape)
    none = lax.broadcast(typed(0, line.dtype, False), low.shape)
    ends = [lax.max(none, lax.min(side, last)) for side in (low, high)]
    whole = [convert(end, index_dtype(found.shape[-1:])) for end in ends]
    lower, upper = (along_axis(found, places, found.ndim - 1) for places in whole)
    if shape_of(part):
        sides = (lower, upper, rest, share)
        # There are two sides.
        return tuple(moveaxis(s, -1, 0) for s in sides)  # type: ignore[return-value]
    return lower, upper, rest, share


def _weighted(weights: Array, numbers: bool) -> Reader:
    """The reader of elements that count by weights, those that are `numbers` alone."""

    def read(line: Array, part: Operand, d: int, keepdims: bool, method: str) -> Read:
        """The first element up to which there is a part of all weights, twice."""
        strange = isnan(line)
        counts = _where(strange, 0, weights) if numbers else weights
        pair = lax.sort((_where(strange, float("nan"), line), counts), d, num_keys=1)
        found, counts = (moveaxis(x, d, -1) for x in pair)
        sums = lax.cumsum(counts, axis=counts.ndim - 1)
        shares = divide(sums, sums[..., -1:])
        # What has no weight is never the first.
        shares = _where(lax.eq(shares, like(0, shares)), -1, shares)
        parts = lax.reshape(part, (*(1,) * (line.ndim - 1), 1, prod(shape_of(part))))
        wide = (*shares.shape, prod(shape_of(part)))
        sides = lax.expand_dims(shares, (line.ndim,)), parts
        below = lax.lt(*(broadcast_to(side, wide) for side in sides))
        last = typed(found.shape[-1] - 1, np.dtype("int32"), False)
        places = lax.min(_sum(convert(below, last.dtype), -2), last)
        taken = along_axis(found, places, found.ndim - 1)
        if not numbers:
            taken = _where(
                _any(moveaxis(strange, d, -1), -1, keepdims=True), float("nan"), taken
            )
        taken = moveaxis(taken, -1, 0)
        if not shape_of(part):
            taken = taken[0]
        return taken, taken, taken, taken

    return read


def _between(
    lower: Array, upper: Array, rest: Array, share: Array, method: str
) -> Array:
    """The quantile of a method, from two elements and the shares that they have."""
    match method:
        case "lower" | "inverted_cdf":
            return lower
        case "higher":
            return upper
        case "nearest":
            return lax.select_n(lax.le(share, like(0.5, share)), upper, lower)
        case "midpoint":
            return lax.mul(lax.add(lower, upper), like(0.5, lower))
    return lax.add(lax.mul(lower, rest), lax.mul(upper, share))
