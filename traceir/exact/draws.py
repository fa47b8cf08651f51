"""Single draws of the gamma distribution, in double precision.

George Marsaglia, Wai Wan Tsang, "A simple method for generating gamma variables"
(2000). Serves: random_gamma
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import finfo
from traceir.exact.numerics import half_unit, rounded
from traceir.exact.reals import Real
from traceir.exact.threefry import WORD, threefry

Key = tuple[int, int]
NORMAL = NormalDist()


def gamma(
    key: Key,
    place: int,
    count: int,
    form: Any,
    dtype: np.dtype,
    logarithm: bool,
    partitionable: bool,
    units: int,
) -> tuple[Real, Real]:
    """Number `place` of `count` that a key gives: the least and the greatest element.

    Between them are `units` roundings of what is added and multiplied on the way. The
    uniform numbers have as many digits as the dtype. With `logarithm`, the number's
    logarithm.

    >>> least, most = gamma((0, 0), 0, 1, 2.0, np.dtype("float32"), False, True, 0)
    >>> least == most, round(float(least.value), 6)
    (True, 1.589788)
    """
    draw = _Draw(dtype, partitionable)
    with np.errstate(all="ignore"):
        own = draw.split(key, place, count)
        number, size = draw.number(own, _double(form), logarithm)
        off = size * Real.of(units * half_unit(dtype)) if number.finite else Real.of(0)
        least, most = (rounded(x, dtype) for x in (number - off, number + off))
    return _real(least), _real(most)


def _real(x: Any) -> Real:
    return Real.of(float(x))


def _double(x: Any) -> np.float64:
    """A number as a double, or as an infinity or NaN."""
    real = Real.of(x)
    if real.finite:
        # A zero has its sign, too.
        size = abs(float(real.value))
        return np.float64(-size if real.negative else size)
    return np.float64("nan" if real.nan else "-inf" if real.negative else "inf")


@dataclass(frozen=True, slots=True)
class _Draw:
    dtype: np.dtype
    partitionable: bool

    def split(self, key: Key, place: int, count: int) -> Key:
        """The key of that number of so many that a key is split into."""
        if self.partitionable:
            return threefry(*key, place // WORD, place % WORD)
        words = (2 * place, 2 * place + 1)
        first, second = (
            threefry(*key, m % count, m % count + count)[m // count] for m in words
        )
        return first, second

    def uniform(self, key: Key) -> np.float64:
        """A number from 0 to less than 1, of as many digits as the dtype."""
        info = finfo(self.dtype)
        digits = int(info.nmant)
        width = 8 if digits < 8 else int(info.bits)
        if width == 64:
            high, low = threefry(*key, 0, 0 if self.partitionable else 1)
            drawn = high * WORD + low
        else:
            high, low = threefry(*key, 0, 0)
            drawn = (high ^ low if self.partitionable else high) % (1 << width)
        return np.float64((drawn >> (width - digits)) / (1 << digits))

    def normal(self, key: Key) -> np.float64:
        """A normal number, of a uniform one between -1 and 1."""
        least = float(finfo(self.dtype).epsneg) / 2
        share = (1 - least) * float(self.uniform(key)) + least
        return np.float64(NORMAL.inv_cdf(share))

    def number(self, key: Key, a: Any, logarithm: bool) -> tuple[Real, Real]:
        """The number of a form, or its logarithm, and the size of its roundings."""
        d = a - 1 / 3 if a >= 1 else a + 2 / 3
        rest = 1 - self.uniform(self.split(key, 1, 2))
        cube, size = self.cube(self.split(key, 0, 2), d)
        less = np.float64(0) if a >= 1 or rest == 1 else np.log(rest) / a
        size += abs(less) + 4
        if logarithm:
            size += abs(np.log(d)) + abs(np.log(cube))
            return _real(np.log(d) + np.log(cube) + less), _real(size)
        # It may be beyond the doubles.
        found = _real(d) * _real(cube) * _real(np.exp(less))
        # Of numbers below the normal ones not the share but the last place is rounded.
        least = _real(finfo(self.dtype).smallest_normal)
        return found, least if found.zero else _real(size) * found + least

    def cube(self, key: Key, d: Any) -> tuple[Any, Any]:
        """The accepted value, and the factor by which roundings are greater in it."""
        c = 1 / 3 / np.sqrt(d)
        while True:
            own, bound = (self.split(key, k, 3) for k in (1, 2))
            x, v = np.float64(0), np.float64(-1)
            while v <= 0:
                x = self.normal(self.split(own, 1, 2))
                v, own = 1 + x * c, self.split(own, 0, 2)
            u, square, cube = self.uniform(bound), x * x, v * v * v
            height = square / 2 + d * (1 - cube + np.log(cube))
            if not (u >= 1 - 0.0331 * square * square and np.log(u) >= height):
                return cube, 3 * (1 + abs(x * c)) / v
            key = self.split(key, 0, 3)
