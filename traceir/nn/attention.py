"""Attention: means of values, weighted by scores of keys. Serves: linalg.shapes"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo, is_half
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    operand,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.numpy.elementwise.arithmetic import add, multiply
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import logical_and
from traceir.numpy.manipulation.shapes import expand_dims, reshape
from traceir.scipy.special.logsums import logsumexp, shares
from traceir.tracing.trace import typeof

# Far below every score, but finite: a row in which nothing counts has no NaN.
_LOWEST = 0.7


def dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    bias: Operand = None,
    mask: Operand = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Operand = None,
    key_value_seq_lengths: Operand = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Values weighted by the softmax of `scale` times queries by keys.

    `query` is (..., T, N, H), `key` and `value` are (..., S, K, H), of at most one
    leading dimension B; each of K heads serves N / K heads of queries. `bias` is added
    to the scores and `mask` tells which count; both broadcast to (B, N, T, S). A query
    sees keys up to its own place if `is_causal`, and those of a window to the left and
    right of it. Rows beyond `query_seq_lengths` are 0. The result is (..., T, N, H).
    Scores of half precision are computed in single. There is one `implementation`,
    "xla" means it, too. With `return_residual` a pair: the result, and the logarithms
    of the sums of the scores' exponentials, (..., T, N).

    Raises ValueError (linalg.shapes, face.choice).

    >>> import traceir.numpy as jnp
    >>> x = jnp.arange(4.0).reshape(2, 1, 2)
    >>> dot_product_attention(x, x, x, is_causal=True)[0]
    Array([[0., 1.]], dtype=float32)
    """
    if implementation not in (None, "xla"):
        raise rules.error("face.choice", got=f"{implementation=}", hint='None or "xla"')
    q, k, v = promoted_inexact("dot_product_attention", query, key, value)
    single = len(shape_of(q)) == 3
    if single:
        q, k, v = (expand_dims(part, 0) for part in (q, k, v))
    _check(q, k, v)
    scores = _scores(q, k, scale)
    if bias is not None:
        scores = scores + _grouped(bias, scores)
    windows = _windows(scores, is_causal, local_window_size)
    lengths = _lengths(scores, query_seq_lengths, key_value_seq_lengths)
    masks = [] if mask is None else [_grouped(mask, scores)]
    scores = _masked(scores, masks + windows + lengths)
    weights = convert(shares(scores, (4,)), typeof(v).dtype)
    found = _weighted(weights, v, shape_of(q))
    if query_seq_lengths is not None:
        found = _rows(found, query_seq_lengths)
    results = [found]
    if return_residual:
        sums = lax.transpose(logsumexp(scores, 4), (0, 3, 1, 2))
        results.append(convert(reshape(sums, found.shape[:3]), typeof(found).dtype))
    if single:
        results = [lax.squeeze(x, (0,)) for x in results]
    return tuple(results) if return_residual else results[0]


def _check(q: Array, k: Array, v: Array) -> None:
    """Raise ValueError (linalg.shapes) unless the three fit one another."""
    shapes = [shape_of(x) for x in (q, k, v)]
    fits = all(len(s) == 4 for s in shapes)
    if fits:
        (b, _, n, h), keys, values = shapes
        served = keys[2] > 0 and n % keys[2] == 0
        fits = keys == values and (keys[0], keys[3]) == (b, h) and served
    if not fits:
        listed = ", ".join(map(str, shapes))
        hint = "query is (B, T, N, H), key and value are (B, S, K, H), K divides N"
        got = f"dot_product_attention of {listed}"
        raise rules.error("linalg.shapes", got=got, hint=hint)


def _scores(q: Array, k: Array, scale: float | None) -> Array:
    """Products of queries and keys: (B, K, N / K, T, S)."""
    batch, rows, heads, size = q.shape
    shared = k.shape[2]
    grouped = reshape(q, (batch, rows, shared, heads // shared, size))
    dtype = typeof(q).dtype
    wide = np.dtype(np.float32) if is_half(dtype) else dtype
    dims = (((4,), (3,)), ((0, 2), (0, 2)))
    products = lax.dot_general(grouped, k, dims, preferred_element_type=wide)
    factor = 1 / math.sqrt(size) if scale is None else scale
    scaled = multiply(products, typed(factor, wide, False))
    return lax.transpose(scaled, (0, 1, 3, 2, 4))


def _grouped(x: Operand, scores: Array) -> Array:
    """A bias or mask of (B, N, T, S), with its heads in the groups of the scores."""
    value = as_array(operand("dot_product_attention", x))
    batch, heads, rows, columns = (1,) * (4 - value.ndim) + value.shape
    shared, group = scores.shape[1:3]
    if heads not in (1, shared * group):
        got = f"a mask or bias of {shape_of(value)} for {shared * group} heads"
        raise rules.error("linalg.shapes", got=got)
    parts = (1, 1) if heads == 1 else (shared, group)
    return reshape(value, (batch, *parts, rows, columns))


def _windows(
    scores: Array, is_causal: bool, window: int | tuple[int, int] | None
) -> list[Array]:
    """The keys that are near enough to each query."""
    extents = scores.shape[3:]
    row, column = (lax.broadcasted_iota(np.int32, extents, d) for d in (0, 1))
    found = [row >= column] if is_causal else []
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        near = row <= add(column, left)
        found.append(near & (add(row, right) >= column))
    return [lax.broadcast(mask, (1, 1, 1)) for mask in found]


def _lengths(scores: Array, rows: Operand, columns: Operand) -> list[Array]:
    """The queries and keys that each sequence of the batch has."""
    found = []
    for axis, lengths in ((3, rows), (4, columns)):
        if lengths is not None:
            extents = [n if d == axis else 1 for d, n in enumerate(shape_of(scores))]
            place = lax.broadcasted_iota(np.int32, extents, axis)
            found.append(place < expand_dims(lengths, (1, 2, 3, 4)))
    return found


def _masked(scores: Array, masks: list[Any]) -> Array:
    if not masks:
        return scores
    counted = masks[0]
    for mask in masks[1:]:
        counted = logical_and(counted, mask)
    dtype = typeof(scores).dtype
    lowest = typed(-_LOWEST * float(finfo(dtype).max), dtype, False)
    return where(counted, scores, lowest)


def _weighted(weights: Array, v: Array, shape: tuple[int, ...]) -> Array:
    """Sums of values by their weights, as (B, T, N, H)."""
    dims = (((4,), (1,)), ((0, 1), (0, 2)))
    sums = lax.dot_general(weights, v, dims)
    return reshape(lax.transpose(sums, (0, 3, 1, 2, 4)), shape)


def _rows(found: Array, lengths: Operand) -> Array:
    """Zeros in the rows that a sequence does not have."""
    place = lax.broadcasted_iota(np.int32, (1, found.shape[1], 1, 1), 1)
    there = place < expand_dims(lengths, (1, 2, 3))
    return multiply(found, convert(there, found.dtype))
