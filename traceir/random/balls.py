"""Generalized normal numbers, and vectors in a ball.

Serves: random.floating, face.shape
"""

from __future__ import annotations

import operator

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, operands
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.arithmetic import divide
from traceir.numpy.elementwise.composites import power as _power
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.random.gammas import gamma
from traceir.random.inverses import exponential
from traceir.random.keys import Key, one_key, split
from traceir.random.requests import Shape, ShapeLike, floating, shaped, spread
from traceir.random.trials import rademacher


@takes_out_sharding
def generalized_normal(
    key: Key,
    p: Operand,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The density `exp(-|x|**p)`, which of p = 2 is a normal one.

    Raises ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.generalized_normal(traceir.random.key(0), 2.0, (2,))
    Array([0.9542763 , 0.09015025], dtype=float32)
    """
    key = one_key("generalized_normal", key)
    found = floating("generalized_normal", dtype)
    asked = shaped("generalized_normal", shape)
    (power,) = operands("generalized_normal", (p,))
    return _generalized_normal(key, power, asked, found)


@composite(static_argnames=["shape", "dtype"])
def _generalized_normal(key: Key, p: Operand, shape: Shape, dtype: np.dtype) -> Array:
    keys = split(key)
    size = gamma(keys[0], divide(1.0, p), shape, dtype)
    side = rademacher(keys[1], shape, dtype)
    return side * _power(size, divide(1.0, p))


@takes_out_sharding
def ball(
    key: Key,
    d: int,
    p: Operand = 2,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Vectors of `d` numbers with a `p`-norm of at most 1, all as probable.

    Franck Barthe, Olivier Guédon, Shahar Mendelson, Assaf Naor, "A probabilistic
    approach to the geometry of the l_p^n-ball" (2005). Raises ValueError
    (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.ball(traceir.random.key(0), 2, shape=(2,)).shape
    (2, 2)
    """
    key = one_key("ball", key)
    found = floating("ball", dtype)
    asked = shaped("ball", shape)
    (power,) = operands("ball", (p,))
    return _ball(key, power, operator.index(d), asked, found)


@composite(static_argnames=["d", "shape", "dtype"])
def _ball(key: Key, p: Operand, d: int, shape: Shape, dtype: np.dtype) -> Array:
    first, second = split(key)
    g = generalized_normal(first, p, (*shape, d), dtype)
    e = exponential(second, shape, dtype)
    total = lax.add(_sum(_power(lax.abs(g), p), -1), e)
    length = _power(total, divide(1.0, p))
    return lax.div(g, spread(lax.expand_dims(length, (len(shape),)), g.shape))
