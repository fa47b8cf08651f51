"""Chi-square, t and F distributions.

Serves: random.floating, random.shape
"""

from __future__ import annotations

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, like
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.arithmetic import divide
from traceir.random.gammas import gamma, loggamma
from traceir.random.keys import Key, split
from traceir.random.real import normal
from traceir.random.requests import Shape, ShapeLike, drawn, real


@takes_out_sharding
def chisquare(
    key: Key,
    df: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The sum of the squares of `df` normal numbers.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.chisquare(traceir.random.key(0), 2.0, (3,))
    Array([1.2369726 , 1.4525698 , 0.70201963], dtype=float32)
    """
    return drawn("chisquare", _chisquare, key, shape, dtype, df)


@composite(static_argnames=["shape", "dtype"])
def _chisquare(key: Key, df: Operand, shape: Shape, dtype: np.dtype) -> Array:
    (free,) = real("chisquare", dtype, df)
    two = like(2.0, free)
    logs = loggamma(key, lax.div(free, two), shape, dtype)
    return lax.mul(lax.exp(logs), like(2.0, logs))


@takes_out_sharding
def t(
    key: Key,
    df: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Student's distribution with `df` degrees of freedom.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.t(traceir.random.key(0), 2.0, (3,))
    Array([ 0.6536968, -7.0178027, -2.4590926], dtype=float32)
    """
    return drawn("t", _t, key, shape, dtype, df)


@composite(static_argnames=["shape", "dtype"])
def _t(key: Key, df: Operand, shape: Shape, dtype: np.dtype) -> Array:
    (free,) = real("t", dtype, df)
    first, second = split(key)
    n = normal(first, shape, dtype)
    half = lax.div(free, like(2.0, free))
    g = gamma(second, half, shape, dtype)
    return lax.mul(n, lax.sqrt(half / g))


@takes_out_sharding
def f(
    key: Key,
    dfnum: Operand,
    dfden: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The quotient of two mean squares of `dfnum` and of `dfden` normal numbers.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.f(traceir.random.key(0), 2.0, 3.0, (2,))
    Array([3.2702725 , 0.06339812], dtype=float32)
    """
    return drawn("f", _f, key, shape, dtype, dfnum, dfden)


@composite(static_argnames=["shape", "dtype"])
def _f(
    key: Key, dfnum: Operand, dfden: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    below, above = real("f", dtype, dfden, dfnum)
    first, second = split(key)
    over = chisquare(second, above, shape, dtype)
    under = chisquare(first, below, shape, dtype)
    return lax.div(divide(over, above), divide(under, below))
