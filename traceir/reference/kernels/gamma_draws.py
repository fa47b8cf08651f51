"""The kernel that draws numbers of the gamma distribution. Serves: random_gamma

George Marsaglia, Wai Wan Tsang, "A simple method for generating gamma variables"
(2000): the cube of a normal number that is shifted and scaled, accepted or drawn again.
Each element has a key of its own, so that no other has a part in how often it is drawn.
Numbers of 16 bits are computed in float32, of digits that are as few as theirs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from traceir.dtypes import added, finfo
from traceir.reference.kernels.random import random_bits, random_split
from traceir.reference.kernels.registry import KERNELS, kernel


@kernel("random_gamma")
def random_gamma(
    x: np.ndarray,
    a: np.ndarray,
    *,
    log_space: bool,
    partitionable: bool = True,
    half: str = "",
) -> np.ndarray:
    """Numbers of these forms, or their logarithms, by keys with leading dimensions.

    With `half`, the forms and the numbers are bits of that dtype.
    """
    if half:
        forms = a.view(np.dtype(half) if half == "float16" else added(half))
        drawn = random_gamma(x, forms, log_space=log_space, partitionable=partitionable)
        return drawn.view(a.dtype)
    draws = _Draws(a.dtype, partitionable)
    keys = draws.split(x.reshape(-1), math.prod(a.shape[x.ndim :])).reshape(-1)
    with np.errstate(all="ignore"):
        drawn = draws.numbers(keys, a.reshape(-1), log_space).astype(a.dtype)
    return drawn.reshape(a.shape)


class _Draws:
    """Draws of a dtype, in a layout of counters."""

    def __init__(self, dtype: np.dtype, partitionable: bool) -> None:
        self.dtype = dtype
        self.wide = dtype if dtype.itemsize > 2 else np.dtype("float32")
        self.partitionable = partitionable

    def split(self, keys: np.ndarray, count: int) -> np.ndarray:
        """So many keys of each key."""
        part = self.partitionable
        return random_split(keys, shape=(count,), partitionable=part)

    def real(self, name: str, *x: Any) -> np.ndarray:
        """A real function, as the kernel of that name rounds it."""
        return np.asarray(KERNELS[name](*x))

    def number(self, x: float) -> Any:
        return self.wide.type(x)

    def uniform(self, keys: np.ndarray) -> np.ndarray:
        """A number from 0 to less than 1 for each key."""
        digits = int(finfo(self.dtype).nmant)
        width = 8 if digits < 8 else int(finfo(self.dtype).bits)
        part = self.partitionable
        drawn = random_bits(keys, bit_width=width, shape=(), partitionable=part)
        whole = drawn >> drawn.dtype.type(width - digits)
        return np.asarray(whole.astype(self.wide) * self.number(2.0**-digits))

    def normal(self, keys: np.ndarray) -> np.ndarray:
        """A normal number for each key."""
        least = self.number(float(finfo(self.dtype).epsneg) - 1)
        u = self.uniform(keys) * (self.number(1) - least) + least
        normal = self.real("erf_inv", np.maximum(least, u))
        return np.asarray(self.number(math.sqrt(2)) * normal)

    def numbers(self, keys: np.ndarray, a: np.ndarray, log_space: bool) -> np.ndarray:
        """A number of each form by each key."""
        a = a.astype(self.wide, copy=False)
        one, third = self.number(1), self.number(1 / 3)
        great = a >= one
        # Of a form below 1, a number of the next form is drawn, and made smaller.
        d = np.where(great, a, a + one) - third
        pairs = self.split(keys, 2)
        cubes = self.cubes(pairs[:, 0], d, third / np.sqrt(d))
        rest = one - self.uniform(pairs[:, 1])
        if not log_space:
            less = np.where(great, one, self.real("pow", rest, one / a))
            return np.asarray(d * cubes * less)
        logs = self.real("log", rest)
        less = np.where(great | (logs == 0), self.number(0), logs * (one / a))
        return np.asarray(self.real("log", d) + self.real("log", cubes) + less)

    def cubes(self, keys: np.ndarray, d: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The accepted cubes of all keys; in the end all are."""
        found = np.ones_like(d)
        rest = np.arange(len(d))
        while rest.size:
            triples = self.split(keys, 3)
            x, v = self.positive(triples[:, 1], c[rest])
            squares, cubes = x * x, v * v * v
            found[rest] = cubes
            u = self.uniform(triples[:, 2])
            again = self.refused(squares, cubes, u, d[rest])
            keys, rest = triples[again, 0], rest[again]
        return found

    def refused(
        self, squares: np.ndarray, cubes: np.ndarray, u: np.ndarray, d: np.ndarray
    ) -> np.ndarray:
        """The draws that are above the density."""
        one, half = self.number(1), self.number(0.5)
        far = u >= one - self.number(0.0331) * (squares * squares)
        height = squares * half + d * ((one - cubes) + self.real("log", cubes))
        return np.asarray(far & (self.real("log", u) >= height))

    def positive(
        self, keys: np.ndarray, c: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Normal numbers, and numbers made of them, which must not be negative."""
        one = self.number(1)
        x, v = np.zeros_like(c), np.full_like(c, -one)
        rest = np.arange(len(c))
        while rest.size:
            pairs = self.split(keys, 2)
            drawn = self.normal(pairs[:, 1])
            x[rest], v[rest] = drawn, one + drawn * c[rest]
            again = v[rest] <= 0
            keys, rest = pairs[again, 0], rest[again]
        return x, v
