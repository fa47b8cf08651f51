"""Distributions between two bounds. Serves: random.floating, random.shape"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, like, typed
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.arithmetic import divide
from traceir.numpy.elementwise.composites import clip
from traceir.random.keys import Key
from traceir.random.real import uniform
from traceir.random.requests import Shape, ShapeLike, drawn, real, spread


@takes_out_sharding
def truncated_normal(
    key: Key,
    lower: Operand,
    upper: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Normal numbers between `lower` and `upper`, which are not drawn themselves.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.truncated_normal(traceir.random.key(0), -1.0, 2.0, (3,))
    Array([ 1.5094675 ,  1.7473933 , -0.17467564], dtype=float32)
    """
    return drawn("truncated_normal", _truncated_normal, key, shape, dtype, lower, upper)


@composite(static_argnames=["shape", "dtype"])
def _truncated_normal(
    key: Key, lower: Operand, upper: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    low, high = real("truncated_normal", dtype, lower, upper)
    root = typed(sqrt(2.0), dtype, False)
    below, above = (lax.erf(divide(end, root)) for end in (low, high))
    u = uniform(key, shape, dtype, below, above)
    x = lax.mul(root, lax.erf_inv(u))
    # Rounding may reach a bound, which would be outside of the open interval.
    least = lax.nextafter(lax.stop_gradient(low), like(inf, low))
    most = lax.nextafter(lax.stop_gradient(high), like(-inf, high))
    return clip(x, least, most)


@takes_out_sharding
def triangular(
    key: Key,
    left: Operand,
    mode: Operand,
    right: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Numbers from `left` to `right`, the more probable the nearer to `mode`.

    The density is two lines that meet at `mode`. Raises ValueError (random.floating,
    random.shape).

    >>> import traceir
    >>> traceir.random.triangular(traceir.random.key(0), 0.0, 1.0, 2.0, (3,))
    Array([1.6764787, 1.7930212, 0.8152196], dtype=float32)
    """
    return drawn("triangular", _triangular, key, shape, dtype, left, mode, right)


def _triangular(
    key: Key,
    left: Operand,
    mode: Operand,
    right: Operand,
    shape: Shape,
    dtype: np.dtype,
) -> Array:
    low, high, top = (
        spread(p, shape) for p in real("triangular", dtype, left, right, mode)
    )
    rising = lax.div(lax.sub(top, low), lax.sub(high, low))
    u = uniform(key, shape, dtype)
    before = lax.mul(lax.mul(u, lax.sub(high, low)), lax.sub(top, low))
    below = lax.add(low, lax.sqrt(before))
    rest = lax.mul(lax.sub(like(1.0, u), u), lax.sub(high, low))
    behind = lax.mul(rest, lax.sub(high, top))
    above = lax.sub(high, lax.sqrt(behind))
    return lax.select_n(lax.lt(u, rising), above, below)
