"""Counts of numbers and of bins. Serves: order.size, order.bins

A bin has its lower edge, not its upper one; the last bin has both. NaN, and what lies
outside, is in none. Counts are floating, or of the dtype of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    BOOL,
    Operand,
    as_array,
    convert,
    default_dtype,
    inexact,
    is_tracer,
    operand,
    operands,
    promoted_inexact,
    refuse_complex,
    shape_of,
    typed,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.arithmetic import add, divide, multiply, subtract
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import (
    equal,
    greater_equal,
    less_equal,
    logical_and,
)
from traceir.numpy.indexing.gather_inside import added
from traceir.numpy.manipulation.shapes import ravel, stack
from traceir.numpy.ranges.linspace import linspace
from traceir.numpy.reductions.reductions import max as _max
from traceir.numpy.reductions.reductions import min as _min
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.numpy.sets.searching import searchsorted
from traceir.tracing.concretization import demanded, origin
from traceir.tracing.trace import typeof

Bins = Any
Range = Any


@takes_out_sharding
def bincount(
    x: Operand,
    weights: Operand = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: OutSharding = None,
) -> Array:
    """The count of each number from 0 on in a vector of integers, or its weights' sum.

    There are at least `minlength` counts, just `length` if it is given; then what is
    beyond is not counted. Negative numbers count as 0. Raises TypeError
    (face.argument, order.integers), ValueError (face.vector), ConcretizationTypeError
    (order.size).

    >>> import traceir.numpy as jnp
    >>> bincount(jnp.array([0, 2, 2]))
    Array([1, 0, 2], dtype=int32)
    """
    value = as_array(operand("bincount", x))
    if value.ndim != 1:
        raise rules.error("face.vector", got=f"bincount of shape {value.shape}")
    if value.dtype == BOOL:
        value = convert(value, np.dtype("int32"))
    if kind_of(value.dtype) not in "iu":
        raise rules.error("order.integers", got=f"an array of {value.dtype}")
    size = _length(value, index(minlength)) if length is None else index(length)
    shares = None
    if weights is not None:
        shares = as_array(operand("bincount", weights, 1))
        if shares.shape != value.shape:
            got = f"{shares.shape} for {value.shape}"
            raise rules.error("order.weights", got=got)
        if shares.dtype == BOOL:
            shares = convert(shares, default_dtype(int))
    places = lax.max(value, lax.full(value.shape, typed(0, value.dtype, False)))
    if shares is None:
        shares = lax.full(value.shape, typed(1, default_dtype(int), False))
    return added(size, places, shares)


def _length(value: Any, least: int) -> int:
    if is_tracer(value):
        got = f"bincount of a traced array, {origin(value)}"
        raise demanded(rules.error("order.size", got=got), value)
    return max(least, int(np.asarray(value, object).max(initial=-1)) + 1)


def histogram_bin_edges(
    a: Operand, bins: Bins = 10, range: Range = None, weights: Operand = None
) -> Array:
    """The edges of bins: so many of equal width over a range, or those that are given.

    The range is by default that of the elements; one of width 0 becomes 1 wide. Raises
    ValueError (order.bins).

    >>> import traceir.numpy as jnp
    >>> histogram_bin_edges(jnp.array([0, 4]), bins=2)
    Array([0., 2., 4.], dtype=float32)
    """
    value = operand("histogram_bin_edges", a)
    dtype = inexact(typeof(value).dtype)
    given = bins if isinstance(bins, int | np.integer) else asarray(bins)
    if not isinstance(given, Array):
        return _even_edges(ravel(convert(value, dtype)), index(given), range, dtype)
    if given.ndim == 0:
        count = index(given)
        return _even_edges(ravel(convert(value, dtype)), count, range, dtype)
    if given.ndim != 1 or given.shape[0] < 2:
        raise rules.error("order.bins", got=f"edges of shape {given.shape}")
    if dtype.kind != "c":
        refuse_complex("histogram_bin_edges", given)
    return convert(given, dtype)


def _even_edges(value: Array, count: int, range: Range, dtype: np.dtype) -> Array:
    if count < 1:
        raise rules.error("order.bins", got=f"{count} bins")
    if range is not None:
        low, high = (convert(v, dtype) for v in operands("histogram", tuple(range)))
    elif value.size:
        low, high = _min(value), _max(value)
    else:
        low, high = (typed(v, dtype, False) for v in (0, 1))
    flat = equal(low, high)
    low, high = (
        _where(flat, subtract(low, 0.5), low),
        _where(flat, add(high, 0.5), high),
    )
    edges: Array = linspace(low, high, count + 1, dtype=dtype)
    return edges


def histogram(
    a: Operand,
    bins: Bins = 10,
    range: Range = None,
    weights: Operand = None,
    density: bool | None = None,
) -> tuple[Array, Array]:
    """The number of elements in each bin, and the edges of the bins.

    `bins` and `range` are those of `histogram_bin_edges`. Elements count as much as
    their `weights`, which have the shape of `a`. With `density` the bins' areas add up
    to 1. Raises ValueError (order.bins, order.weights).

    >>> import traceir.numpy as jnp
    >>> histogram(jnp.array([0.0, 1.0, 2.0]), bins=2)
    (Array([1., 2.], dtype=float32), Array([0., 1., 2.], dtype=float32))
    """
    value = operand("histogram", a)
    if weights is not None:
        value, weights = promoted_inexact("histogram", value, weights)
    value = as_array(value)
    counts, edges = histogramdd(
        lax.reshape(value, (value.size, 1)),
        [bins],
        None if range is None else [range],
        _shares("histogram", value, weights),
        density,
    )
    return counts, edges[0]


def _shares(name: str, value: Array, weights: Operand) -> Operand:
    if weights is None:
        dtype = inexact(value.dtype)
        return lax.full((value.size,), typed(1, dtype, False))
    shares = operand(name, weights)
    if shape_of(shares) != value.shape:
        got = f"{shape_of(shares)} for {value.shape}"
        raise rules.error("order.weights", got=got)
    return ravel(promoted_inexact(name, value, shares)[1])


def histogram2d(
    x: Operand,
    y: Operand,
    bins: Bins = 10,
    range: Sequence[Range] | None = None,
    weights: Operand = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """The number of points, with coordinates in two vectors, in each cell; two edges.

    Otherwise as `histogramdd`.

    >>> import traceir.numpy as jnp
    >>> histogram2d(jnp.array([0.0, 1.0]), jnp.array([0.0, 1.0]), bins=2)[0]
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    pair = promoted_inexact("histogram2d", x, y)
    shapes = tuple(map(shape_of, pair))
    if len(shapes[0]) != 1 or shapes[0] != shapes[1]:
        raise rules.error("face.vector", got=f"shapes {shapes[0]} and {shapes[1]}")
    edges = bins
    if not isinstance(bins, int | np.integer | list | tuple):
        edges = asarray(bins)
        edges = [edges, edges] if edges.ndim == 1 and edges.shape[0] != 2 else edges
    elif isinstance(bins, list | tuple) and len(bins) not in (1, 2):
        edges = [asarray(bins)] * 2
    counts, found = histogramdd(stack(pair, 1), edges, range, weights, density)
    return counts, found[0], found[1]


def histogramdd(
    sample: Operand,
    bins: Bins = 10,
    range: Sequence[Range] | None = None,
    weights: Operand = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """The number of points, the rows of `sample`, in each cell, and all the edges.

    `bins` is one number of bins, or for each dimension a number or the edges; `range`
    has a pair for each dimension, or None. `weights` has a number for each point. With
    `density` the cells' volumes add up to 1. Raises ValueError (order.bins,
    order.weights, face.least-rank).

    >>> import traceir.numpy as jnp
    >>> histogramdd(jnp.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    value = as_array(operand("histogramdd", sample))
    value = convert(value, inexact(value.dtype))
    if value.ndim != 2:
        raise rules.error("face.least-rank", got=f"a sample of shape {value.shape}")
    points, rank = value.shape
    columns = [lax.index_in_dim(value, d, 1, False) for d in _range(rank)]
    each = _for_each(bins, rank)
    ranges = [None] * rank if range is None else list(range)
    if len(each) != rank or len(ranges) != rank:
        raise rules.error("order.bins", got=f"{len(each)} for {rank} dimensions")
    edges = [
        histogram_bin_edges(x, b, r)
        for x, b, r in zip(columns, each, ranges, strict=True)
    ]
    shares = lax.full((points,), typed(1, default_dtype(int), False))
    if weights is not None:
        shares = as_array(operand("histogramdd", weights))
        if shares.shape != (points,):
            raise rules.error(
                "order.weights", got=f"{shares.shape} for {points} points"
            )
        shares = convert(shares, inexact(shares.dtype))
    # Half precision could not count far.
    wide = shares.dtype if shares.dtype.itemsize > 2 else np.dtype("float32")
    counts = _cells(columns, edges, convert(shares, wide))
    if density:
        return convert(_dense(counts, edges), value.dtype), edges
    return convert(counts, shares.dtype), edges


_range = range


def _for_each(bins: Bins, rank: int) -> list[Any]:
    """The bins of each dimension."""
    if isinstance(bins, int | np.integer):
        return [bins] * rank
    if isinstance(bins, list | tuple):
        return list(bins)
    return [bins[k] for k in _range(rank)] if bins.shape == (rank,) else [bins]


def _cells(columns: list[Array], edges: list[Array], shares: Array) -> Array:
    """The shares of points, added up in their cells."""
    extents = tuple(e.shape[0] - 1 for e in edges)
    cell: Any = None
    inside: Any = None
    for x, edge, count in zip(columns, edges, extents, strict=True):
        low, high = (lax.index_in_dim(edge, k, 0, False) for k in (0, count))
        place = subtract(searchsorted(edge, x, "right"), 1)
        place = _where(equal(x, high), count - 1, place)
        here = logical_and(greater_equal(x, low), less_equal(x, high))
        cell = place if cell is None else add(multiply(cell, count), place)
        inside = here if inside is None else logical_and(inside, here)
    if cell is None:
        return lax.full((), _sum(shares))
    total = prod(extents)
    places = _where(inside, cell, total)
    return lax.reshape(added(total, places, shares), extents)


def _dense(counts: Array, edges: list[Array]) -> Array:
    """Counts as parts of all of them, for each unit of a cell's volume."""
    found = divide(counts, _sum(counts))
    for d, edge in enumerate(edges):
        width = subtract(edge[1:], edge[:-1])
        shape = tuple(width.shape[0] if k == d else 1 for k in _range(counts.ndim))
        found = divide(found, lax.reshape(width, shape))
    return found
