"""Functions of sizes and settings, as Numba's users write them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]
X = np.arange(12.0) + 1
M = X.reshape(3, 4)


class Mode(enum.Enum):
    ONE = 1
    TWO = 2


class Count(enum.IntEnum):
    ONE = 1
    TWO = 2


def mandelbrot(h: int, w: int, iters: int) -> Any:
    out = np.zeros((h, w), np.int64)
    for i in range(h):
        for j in range(w):
            c = complex(-2 + 3 * j / w, -1.5 + 3 * i / h)
            z = 0j
            for k in range(iters):
                z = z * z + c
                if abs(z) > 2:
                    out[i, j] = k
                    break
    return out


def product(a: Any, b: Any, n: int) -> Any:
    c = np.zeros((n, b.shape[1]))
    for i in range(n):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def fibonacci(n: int) -> Any:
    table = np.zeros(n + 1, dtype=np.int64)
    table[1] = 1
    for i in range(2, n + 1):
        table[i] = table[i - 1] + table[i - 2]
    return table[n]


def sieve(n: int) -> Any:
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.sum(prime)


def windows(a: Any, k: int) -> Any:
    out = np.empty(len(a) - k + 1)
    for i in range(len(a) - k + 1):
        out[i] = a[i : i + k].mean()
    return out


def joined(a: Any, k: int) -> Any:
    return np.concatenate((a[:k], a[2 * k :]))


def layer(a: Any, k: int) -> Any:
    table = {"w03": a, "w06": 2 * a}
    return table[f"w{k}".replace("w", "w0")]


def sums(a: Any, k: int) -> Any:
    c = np.cumsum(np.concatenate((np.zeros(1), a)))
    return (c[k:] - c[:-k]) / k


def steps(end: float, dt: float) -> Any:
    n = int(end / dt)
    v = np.zeros(n)
    for i in range(1, n):
        v[i] = v[i - 1] + dt
    return v


def counted(n: int) -> Any:
    k = 0
    for i in range(n):
        k += i
    return np.zeros(k)


def table_of(a: Any, shape: tuple[int, int], axis: int) -> Any:
    return a.reshape(shape).sum(axis=axis)


def layers(a: Any, n: int) -> Any:
    weights = [a, a + 1, a + 2, a + 3, a + 4, a + 5]
    s = a
    for i in range(n):
        s = s * weights[i]
    return s


def first_layers(a: Any, n: int) -> Any:
    weights = [a, a + 1, a + 2]
    i = 0
    while i < n:
        a = a * weights[i]
        i += 1
    return a


def left(a: Any, n: int) -> Any:
    for i, w in enumerate([a, a + 1, a + 2]):
        if i >= n - 1:
            break
        a = a + w
    return a


def chosen(a: Any, n: int) -> Any:
    k = 5
    if n > 10:
        k = 3
    return a[:k]


def both(a: Any, flag: bool) -> Any:
    if flag:
        return a, a.sum()
    return a


def part(a: Any, flag: bool) -> Any:
    b = a
    if flag:
        b = a[:3]
    return b.sum()


def listed(a: Any, flag: bool) -> Any:
    out = []
    if flag:
        out.append(a)
    out.append(2 * a)
    return out


def named(a: Any, how: str) -> Any:
    return a.sum() if how == "sum" else 2 * a


def by_mode(a: Any, mode: Mode) -> Any:
    return a.sum() if mode is Mode.ONE else 2 * a


def by_count(a: Any, count: Count) -> Any:
    return a.sum() if count is Count.ONE else 2 * a


def perhaps(a: Any, k: int | None) -> Any:
    return a if k is None else a[:k]


def square(v: Any) -> Any:
    return v * v


def applied(a: Any, f: Function, dtype: Any) -> Any:
    return f(a).astype(dtype)


def drawn(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=n)


def triangle(n: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % 2 == 0 or n > 5:
            total += i * n
    while n > 0:
        n -= 2
    return total, n


# What is demanded of each, and arguments of its calls.
PROGRAMS: dict[Function, tuple[set[str], list[tuple[Any, ...]]]] = {
    mandelbrot: ({"h", "w"}, [(4, 6, 20), (4, 6, 5), (5, 7, 20)]),
    product: ({"n"}, [(M, M.T, 3), (M, M.T, 2)]),
    fibonacci: ({"n"}, [(10,), (20,)]),
    sieve: ({"n"}, [(30,)]),
    windows: ({"k"}, [(X, 3), (X, 6)]),
    joined: ({"k"}, [(X, 3), (X, 6)]),
    layer: ({"k"}, [(X, 3), (X, 6)]),
    sums: ({"k"}, [(X, 3), (X, 6)]),
    steps: ({"end", "dt"}, [(1.0, 0.1), (2.0, 0.1)]),
    counted: ({"n"}, [(10,), (3,)]),
    table_of: ({"shape", "axis"}, [(X, (2, 6), 0), (X, (4, 3), 1)]),
    layers: ({"n"}, [(X, 3), (X, 6)]),
    first_layers: ({"n"}, [(X, 3), (X, 0)]),
    left: ({"n"}, [(X, 3), (X, 1)]),
    chosen: ({"n"}, [(X, 1), (X, 30)]),
    both: ({"flag"}, [(X, True), (X, False)]),
    part: ({"flag"}, [(X, True), (X, False)]),
    listed: ({"flag"}, [(X, True), (X, False)]),
    named: (set(), [(X, "sum"), (X, "twice")]),
    by_mode: (set(), [(X, Mode.ONE), (X, Mode.TWO)]),
    by_count: (set(), [(X, Count.ONE), (X, Count.TWO)]),
    perhaps: ({"k"}, [(X, None), (X, 2)]),
    applied: (set(), [(X, square, "float32"), (X, np.sin, np.float64)]),
    drawn: ({"n"}, [(3, 1), (3, 2), (4, 1)]),
    triangle: (set(), [(4,), (9,)]),
}
