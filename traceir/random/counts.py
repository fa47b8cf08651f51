"""The Poisson distribution.

Serves: random.counted, random.shape
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, like, operands, typed
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.random.keys import Key, one_key, split
from traceir.random.real import uniform
from traceir.random.requests import Shape, ShapeLike, counted, shaped, spread

F32 = np.dtype("float32")
# From this mean on, numbers are drawn and rejected; below, times are added up.
MANY = 10.0
# A mean that stands for those that are not in question: rejected hardly ever.
SAFE = 1e5


@takes_out_sharding
def poisson(
    key: Key,
    lam: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The count of events that happen `lam` times on average; by default int32.

    Below 10, times between are added up (Knuth, "The Art of Computer Programming",
    volume 2, 3.4.1); from there on numbers are drawn by transformed rejection
    (Hörmann, "The transformed rejection method for generating Poisson random
    variables", 1993). Both compute in float32. Of a NaN or what is negative the
    result is -1. Raises ValueError (random.counted, random.shape).

    >>> import traceir
    >>> traceir.random.poisson(traceir.random.key(0), 3.0, (4,))
    Array([0, 0, 4, 4], dtype=int32)
    """
    key = one_key("poisson", key)
    found = counted("poisson", dtype)
    (mean,) = operands("poisson", (lam,))
    asked = shaped("poisson", shape, mean)
    means = lax.convert_element_type(spread(mean, asked), F32)
    return _poisson(key, means, asked, found)


@composite(static_argnames=["shape", "dtype"])
def _poisson(key: Key, lam: Array, shape: Shape, dtype: np.dtype) -> Array:
    few = lax.bitwise_or(lax.ne(lam, lam), lax.lt(lam, like(MANY, lam)))
    small = lax.select_n(few, lax.full_like(lam, 0.0), lam)
    great = lax.select_n(few, lam, lax.full_like(lam, SAFE))
    added = _poisson_knuth(key, small, shape, dtype)
    drawn = _poisson_rejection(key, great, shape, dtype)
    result = lax.select_n(few, drawn, added)
    none = lax.eq(lam, like(0.0, lam))
    return lax.select_n(none, result, lax.full_like(result, 0))


@composite(static_argnames=["shape", "dtype"])
def _poisson_knuth(key: Key, lam: Array, shape: Shape, dtype: np.dtype) -> Array:
    def goes_on(carry: Any) -> Array:
        turn, _, _, passed = carry
        waits = lax.reduce_or(lax.gt(passed, lax.neg(lam)), range(len(shape)))
        return lax.bitwise_and(waits, _before(turn, dtype))

    def step(carry: Any) -> Any:
        turn, count, key, passed = carry
        key, own = split(key)
        waits = lax.gt(passed, lax.neg(lam))
        more = lax.add(count, like(1, count))
        count = lax.select_n(waits, count, more)
        u = uniform(own, shape, F32)
        turn = lax.add(turn, like(1, turn))
        return turn, count, key, lax.add(passed, lax.log(u))

    none = lax.full(shape, typed(0, dtype, False))
    start = (0, none, key, lax.full_like(lam, 0.0))
    _, count, _, _ = lax.while_loop(goes_on, step, start)
    return lax.sub(count, like(1, count))


def _before(turn: Operand, dtype: np.dtype) -> Array:
    """True where there is a turn after this one: no more than a count can tell."""
    number = lax.convert_element_type(turn, dtype)
    return lax.lt(number, like(int(np.iinfo(dtype).max), number))


@composite(static_argnames=["shape", "dtype"])
def _poisson_rejection(key: Key, lam: Array, shape: Shape, dtype: np.dtype) -> Array:
    def number(n: float) -> Operand:
        return like(n, lam)

    log_mean = lax.log(lam)
    b = lax.add(number(0.931), lax.mul(number(2.53), lax.sqrt(lam)))
    a = lax.add(number(-0.059), lax.mul(number(0.02483), b))
    inverse = lax.div(number(1.1328), lax.sub(b, number(3.4)))
    inverse = lax.add(number(1.1239), inverse)
    sure = lax.div(number(3.6224), lax.sub(b, number(2.0)))
    sure = lax.sub(number(0.9277), sure)

    def goes_on(carry: Any) -> Array:
        turn, _, accepted, _ = carry
        some = lax.reduce_or(lax.bitwise_not(accepted), range(len(shape)))
        return lax.bitwise_and(some, _before(turn, dtype))

    def step(carry: Any) -> Any:
        turn, found, accepted, key = carry
        key, first, second = split(key, 3)
        u = lax.sub(uniform(first, shape, F32), number(0.5))
        v = uniform(second, shape, F32)
        us = lax.sub(number(0.5), lax.abs(u))
        slope = lax.add(lax.div(lax.mul(number(2.0), a), us), b)
        k = lax.add(lax.add(lax.mul(slope, u), lam), number(0.43))
        k = lax.floor(k)
        scaled = lax.mul(v, inverse)
        area = lax.add(lax.div(a, lax.mul(us, us)), b)
        left = lax.log(lax.div(scaled, area))
        right = lax.add(lax.neg(lam), lax.mul(k, log_mean))
        right = lax.sub(right, lax.lgamma(lax.add(k, number(1.0))))
        at_once = lax.bitwise_and(lax.ge(us, number(0.07)), lax.le(v, sure))
        outside = lax.lt(k, number(0.0))
        thin = lax.bitwise_and(lax.lt(us, number(0.013)), lax.gt(v, us))
        refused = lax.bitwise_or(outside, thin)
        below = lax.le(left, right)
        below = lax.bitwise_and(lax.bitwise_not(refused), below)
        taken = lax.bitwise_or(at_once, below)
        found = lax.select_n(taken, found, k)
        accepted = lax.bitwise_or(accepted, taken)
        return lax.add(turn, like(1, turn)), found, accepted, key

    start = (0, lax.full_like(lam, -1.0), lax.full(shape, np.False_), key)
    _, found, _, _ = lax.while_loop(goes_on, step, start)
    return lax.convert_element_type(found, dtype)
