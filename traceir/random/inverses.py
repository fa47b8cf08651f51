"""Distributions by the inverse of their cumulative function.

Luc Devroye, "Non-Uniform Random Variate Generation" (1986), chapter 2: the inverse of
a distribution function, applied to a uniform number, has that distribution.
Serves: random.floating, random.shape, face.choice
"""

from __future__ import annotations

from math import pi

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import finfo
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, like, operands, typed
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.arithmetic import divide, multiply
from traceir.numpy.elementwise.composites import power as _power
from traceir.numpy.elementwise.composites import where
from traceir.random.keys import Key, one_key
from traceir.random.real import between, uniform
from traceir.random.requests import (
    Shape,
    ShapeLike,
    drawn,
    floating,
    real,
    shaped,
    spread,
)
from traceir.random.trials import check_mode


@takes_out_sharding
def exponential(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The waiting time for events that happen once in a unit of time: exp(-x), from 0
    on.

    Raises ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.exponential(traceir.random.key(0), (3,))
    Array([2.950128  , 3.8434246 , 0.40390354], dtype=float32)
    """
    return drawn("exponential", _exponential, key, shape, dtype)


@composite(static_argnames=["shape", "dtype"])
def _exponential(key: Key, shape: Shape, dtype: np.dtype) -> Array:
    return lax.neg(lax.log1p(lax.neg(uniform(key, shape, dtype))))


@takes_out_sharding
def gumbel(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    mode: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The greatest of many: its distribution function is exp(-exp(-x)).

    `mode` "high" draws twice the bits, so that the greatest results are finer.
    Raises ValueError (random.floating, face.choice), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.gumbel(traceir.random.key(0), (3,))
    Array([ 2.9233725 ,  3.8326178 , -0.09689324], dtype=float32)
    """
    key = one_key("gumbel", key)
    found = floating("gumbel", dtype)
    mode = "low" if mode is None else mode
    check_mode(mode, "gumbel")
    return _gumbel(key, shaped("gumbel", shape), found, mode)


@composite(static_argnames=["shape", "dtype"])
def _uniform(
    key: Key, maxval: Operand, minval: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    """As that of `uniform`; its equation has the bounds in the order of their names."""
    return between(key, minval, maxval, shape, dtype)


@composite(static_argnames=["shape", "dtype", "mode"])
def _gumbel(key: Key, shape: Shape, dtype: np.dtype, mode: str) -> Array:
    info = finfo(dtype)
    tiny = typed(float(info.tiny), dtype, False)
    if mode == "low":
        u = _uniform(key, 1.0, tiny, shape, dtype)
        return lax.neg(lax.log(lax.neg(lax.log(u))))
    high, low = _uniform(key, 1.0, 0.0, (2, *shape), dtype)
    great = lax.ge(high, like(0.5, high))
    fine = lax.add(high, lax.mul(typed(float(info.eps), dtype, False), low))
    fine = lax.add(fine, tiny)
    u = where(great, high, fine)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(u)))))


@takes_out_sharding
def laplace(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Two exponential distributions back to back: `exp(-|x|) / 2`.

    Raises ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.laplace(traceir.random.key(0), (3,))
    Array([-2.2569816 , -3.1502788 ,  0.40859547], dtype=float32)
    """
    return drawn("laplace", _laplace, key, shape, dtype)


@composite(static_argnames=["shape", "dtype"])
def _laplace(key: Key, shape: Shape, dtype: np.dtype) -> Array:
    least = typed(float(finfo(dtype).epsneg) - 1.0, dtype, False)
    u = uniform(key, shape, dtype, least, 1.0)
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


@takes_out_sharding
def logistic(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The logarithm of odds: its distribution function is 1 / (1 + exp(-x)).

    Raises ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.logistic(traceir.random.key(0), (3,))
    Array([ 2.896376 ,  3.8217716, -0.6978392], dtype=float32)
    """
    return drawn("logistic", _logistic, key, shape, dtype)


@composite(static_argnames=["shape", "dtype"])
def _logistic(key: Key, shape: Shape, dtype: np.dtype) -> Array:
    tiny = typed(float(finfo(dtype).tiny), dtype, False)
    u = uniform(key, shape, dtype, tiny, 1.0)
    return lax.sub(lax.log(u), lax.log1p(lax.neg(u)))


@takes_out_sharding
def cauchy(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The quotient of two normal numbers: 1 / (pi (1 + x**2)).

    Raises ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.cauchy(traceir.random.key(0), (3,))
    Array([ 6.0274944 , 14.837895  , -0.58172226], dtype=float32)
    """
    return drawn("cauchy", _cauchy, key, shape, dtype)


@composite(static_argnames=["shape", "dtype"])
def _cauchy(key: Key, shape: Shape, dtype: np.dtype) -> Array:
    eps = typed(float(finfo(dtype).eps), dtype, False)
    u = uniform(key, shape, dtype, eps, 1.0)
    return lax.tan(lax.mul(typed(pi, dtype, False), lax.sub(u, like(0.5, u))))


@takes_out_sharding
def pareto(
    key: Key,
    b: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Heavy tails: b / x**(b + 1), from 1 on.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.pareto(traceir.random.key(0), 2.0, (3,))
    Array([4.3713155, 6.8326483, 1.223789 ], dtype=float32)
    """
    return drawn("pareto", _pareto, key, shape, dtype, b)


@composite(static_argnames=["shape", "dtype"])
def _pareto(key: Key, b: Operand, shape: Shape, dtype: np.dtype) -> Array:
    (tail,) = real("pareto", dtype, b)
    return lax.exp(divide(exponential(key, shape, dtype), tail))


def weibull_min(
    key: Key,
    scale: Operand,
    concentration: Operand,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
) -> Array:
    """The least of many: its distribution function is 1 - exp(-(x / scale)**c).

    The parameters broadcast with `shape`, which they do not determine. Raises
    ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.weibull_min(traceir.random.key(0), 2.0, 3.0, (3,))
    Array([2.8684258, 3.132825 , 1.4783907], dtype=float32)
    """
    key = one_key("weibull_min", key)
    found = floating("weibull_min", dtype)
    wide, form = operands("weibull_min", (scale, concentration))
    asked = shaped("weibull_min", shape)
    return _weibull_min(key, wide, form, asked, found)


@composite(static_argnames=["shape", "dtype"])
def _weibull_min(
    key: Key, scale: Operand, concentration: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    u = uniform(key, shape, dtype, 0, 1)
    waited = lax.neg(lax.log1p(lax.neg(u)))
    return multiply(_power(waited, divide(1.0, concentration)), scale)


@takes_out_sharding
def rayleigh(
    key: Key,
    scale: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The length of a vector of two normal numbers, times `scale`.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.rayleigh(traceir.random.key(0), 2.0, (3,))
    Array([0.65575665, 0.41620055, 2.9688284 ], dtype=float32)
    """
    return drawn("rayleigh", _rayleigh, key, shape, dtype, scale)


@composite(static_argnames=["shape", "dtype"])
def _rayleigh(key: Key, scale: Operand, shape: Shape, dtype: np.dtype) -> Array:
    u = uniform(key, shape, dtype)
    (wide,) = real("rayleigh", dtype, scale)
    everywhere = spread(wide, shape)
    return lax.mul(everywhere, lax.sqrt(lax.mul(lax.log(u), like(-2.0, u))))
