"""Binomial and multinomial counts. Serves: random.floating, random.shape"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    like,
    promoted_inexact,
    shape_of,
)
from traceir.numpy.elementwise.composites import clip, where
from traceir.numpy.elementwise.logic import isinf
from traceir.numpy.indexing.take_put import take
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.random.keys import Key, one_key, split
from traceir.random.real import uniform
from traceir.random.requests import ShapeLike, fitting, floating, shaped, spread
from traceir.tracing.trace import typeof

# From this mean on, numbers are drawn and rejected; below, gaps are added up.
MANY = 10.0


def _remainders() -> tuple[float, ...]:
    """The excess of the logarithm of k! over Stirling's formula, for k to 9."""
    half = log(2 * pi) / 2
    return tuple(
        lgamma(k + 1) - ((k + 0.5) * log(k + 1) - (k + 1) + half) for k in range(10)
    )


REMAINDERS = _remainders()


def binomial(
    key: Key,
    n: Operand,
    p: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
) -> Array:
    """The number of successes of `n` trials of probability `p`; whole, but floating.

    With a mean of at most 10, gaps between successes are added up; from there on
    numbers are drawn by transformed rejection (Hörmann, "The generation of binomial
    random variates", 1993). NaN where `n` or `p` is not possible. Raises ValueError
    (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.binomial(traceir.random.key(0), 10, 0.5)
    Array(6., dtype=float32)
    """
    key = one_key("binomial", key)
    found = floating("binomial", dtype)
    params = promoted_inexact("binomial", n, p)
    asked = shaped("binomial", shape, *params)
    wide = typeof(params[0]).dtype
    number, chance = (spread(convert(v, wide), asked) for v in params)
    return lax.convert_element_type(_binomial(key, number, chance), found)


def _binomial(key: Key, n: Array, p: Array) -> Array:
    """Counts of arrays of one shape and dtype."""

    def number(x: float) -> Operand:
        return like(x, n)

    rare = lax.lt(p, number(0.5))
    q = lax.select_n(rare, lax.sub(number(1.0), p), p)
    no_number = lax.bitwise_or(lax.ne(n, n), lax.lt(n, number(0.0)))
    endless, no_chance = isinf(n), lax.ne(q, q)
    strange = lax.bitwise_or(no_chance, lax.lt(q, number(0.0)))
    q = lax.select_n(strange, q, lax.full_like(q, 0.01))
    few = lax.bitwise_or(no_number, lax.le(lax.mul(n, q), number(MANY)))
    whole = lax.floor(n)
    added = _by_gaps(key, lax.select_n(few, lax.full_like(n, 0.0), whole), q)
    trials = lax.select_n(few, whole, lax.full_like(n, 1e4))
    drawn = _by_rejection(key, trials, lax.select_n(few, q, lax.full_like(q, 0.5)))
    counts = lax.select_n(few, drawn, added)
    wrong = lax.bitwise_or(strange, no_number)
    counts = lax.select_n(wrong, counts, lax.full_like(n, np.nan))
    endless_right = lax.bitwise_and(endless, lax.bitwise_not(wrong))
    counts = lax.select_n(endless_right, counts, lax.full_like(n, np.inf))
    kept = lax.bitwise_or(lax.bitwise_or(rare, no_number), no_chance)
    kept = lax.bitwise_or(kept, endless)
    return lax.select_n(kept, lax.sub(whole, counts), counts)


def _by_gaps(key: Key, n: Array, q: Array) -> Array:
    """The number of geometric gaps that `n` trials have room for."""
    axes = range(n.ndim)
    failed = lax.log1p(lax.neg(q))

    def goes_on(carry: Any) -> Array:
        return lax.reduce_or(lax.le(carry[1], n), axes)

    def step(carry: Any) -> Any:
        count, total, key = carry
        own, key = split(key)
        fits = lax.le(total, n)
        count = lax.select_n(fits, count, lax.add(count, like(1.0, count)))
        u = uniform(own, n.shape, n.dtype)
        gap = lax.ceil(lax.div(lax.log(u), failed))
        return count, lax.add(total, gap), key

    none = lax.full_like(n, 0.0)
    count, _, _ = lax.while_loop(goes_on, step, (none, none, key))
    return lax.sub(count, like(1.0, count))


def _by_rejection(key: Key, n: Array, q: Array) -> Array:
    """Counts whose means are above 10, drawn until they are accepted."""
    tried = _Trial(n, q)
    axes = range(n.ndim)

    def goes_on(carry: Any) -> Array:
        return lax.reduce_or(lax.bitwise_not(carry[1]), axes)

    def step(carry: Any) -> Any:
        found, accepted, key = carry
        key, first, second = split(key, 3)
        u, v = (uniform(own, n.shape, n.dtype) for own in (first, second))
        k, taken = tried(u, v)
        found = lax.select_n(taken, found, k)
        return found, lax.bitwise_or(accepted, taken), key

    start = (lax.full_like(n, -1.0), lax.full(n.shape, np.False_), key)
    found, _, _ = lax.while_loop(goes_on, step, start)
    return as_array(found)


class _Trial:
    """One draw of each element, and whether it is accepted."""

    def __init__(self, n: Array, q: Array) -> None:
        self.n = n
        one = self.number(1.0)
        self.deviation = lax.sqrt(lax.mul(lax.mul(n, q), lax.sub(one, q)))
        self.b = self._line(1.15, 2.53, self.deviation)
        slope = lax.mul(self.number(0.01), q)
        self.a = lax.add(self._line(-0.0873, 0.0248, self.b), slope)
        self.c = lax.add(lax.mul(n, q), self.number(0.5))
        self.sure = lax.sub(self.number(0.92), lax.div(self.number(4.2), self.b))
        self.odds = lax.div(q, lax.sub(one, q))
        rise = lax.add(self.number(2.83), lax.div(self.number(5.1), self.b))
        self.alpha = lax.mul(rise, self.deviation)
        self.mode = lax.floor(lax.mul(lax.add(n, one), q))

    def number(self, x: float) -> Operand:
        return like(x, self.n)

    def _line(self, at: float, slope: float, x: Array) -> Array:
        return lax.add(self.number(at), lax.mul(self.number(slope), x))

    def __call__(self, u: Array, v: Array) -> tuple[Array, Array]:
        """The counts that two uniform numbers stand for, and whether to take them."""
        u = lax.sub(u, self.number(0.5))
        us = lax.sub(self.number(0.5), lax.abs(u))
        sure = lax.bitwise_and(lax.ge(us, self.number(0.07)), lax.le(v, self.sure))
        slope = lax.div(lax.mul(self.number(2.0), self.a), us)
        slope = lax.add(slope, self.b)
        k = lax.floor(lax.add(lax.mul(slope, u), self.c))
        outside = lax.bitwise_or(lax.lt(k, self.number(0.0)), lax.gt(k, self.n))
        area = lax.add(lax.div(self.a, lax.mul(us, us)), self.b)
        height = lax.log(lax.div(lax.mul(v, self.alpha), area))
        below = lax.le(height, self.density(k))
        taken = lax.bitwise_and(lax.bitwise_not(outside), below)
        return k, lax.bitwise_or(sure, taken)

    def density(self, k: Array) -> Array:
        """The logarithm of a count's probability, by that of the most probable one."""
        half, one = self.number(0.5), self.number(1.0)
        n, m = self.n, self.mode
        rest, left = lax.sub(n, m), lax.sub(n, k)
        rest_1, left_1 = lax.add(rest, one), lax.add(left, one)
        ratio = lax.div(lax.add(m, one), lax.mul(self.odds, rest_1))
        total = lax.mul(lax.add(m, half), lax.log(ratio))
        ratio = lax.log(lax.div(rest_1, left_1))
        total = lax.add(total, lax.mul(lax.add(n, one), ratio))
        ratio = lax.log(lax.div(lax.mul(self.odds, left_1), lax.add(k, one)))
        total = lax.add(total, lax.mul(lax.add(k, half), ratio))
        total = lax.add(lax.add(total, _remainder(m)), _remainder(rest))
        return lax.sub(lax.sub(total, _remainder(k)), _remainder(left))


def _remainder(k: Array) -> Array:
    """The excess of the logarithm of k! over Stirling's formula."""

    def number(x: float) -> Operand:
        return like(x, k)

    least = lax.clamp(number(0.0), k, number(9.0))
    next_ = lax.add(least, number(1.0))
    square = lax.mul(next_, next_)
    series = lax.sub(number(1 / 360), lax.div(number(1 / 1260), square))
    series = lax.sub(number(1 / 12), lax.div(series, square))
    place = lax.convert_element_type(lax.floor(least), np.dtype("int32"))
    listed = take(np.asarray(REMAINDERS, k.dtype), place, axis=0, mode="clip")
    return lax.select_n(lax.le(k, number(9.0)), lax.div(series, next_), listed)


def multinomial(
    key: Key,
    n: Operand,
    p: Operand,
    *,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    unroll: int | bool = 1,
) -> Array:
    """The count of each outcome in `n` trials, of probabilities along the last axis.

    By default floating, as `p`. `shape` is that of the result, by default that of `p`.
    Each outcome is drawn by `binomial` from those that are left, in a `scan`. Raises
    ValueError (random.shape).

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.random.multinomial(traceir.random.key(0), 10, jnp.array([0.2, 0.8]))
    Array([1., 9.], dtype=float32)
    """
    key = one_key("multinomial", key)
    trials, chances = promoted_inexact("multinomial", n, p)
    asked = shaped("multinomial", shape, chances)
    fitting("multinomial", asked[:-1], shape_of(trials))
    wide = typeof(chances).dtype
    found = default_dtype(float) if dtype is None else dtype_of(dtype, "multinomial")
    start = spread(convert(trials, wide), asked[:-1])
    each = moveaxis(spread(convert(chances, wide), asked), -1, 0)
    left = lax.cumsum(each, 0, reverse=True)
    ratios = each / where(lax.eq(left, like(0.0, left)), 1, left)

    def step(rest: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        count = binomial(row[1], rest, clip(row[0], 0, 1), dtype=wide)
        return lax.sub(rest, count), count

    keys = split(key, each.shape[0])
    _, counts = lax.scan(step, start, (ratios, keys), unroll=unroll)
    return lax.convert_element_type(moveaxis(counts, 0, -1), found)
