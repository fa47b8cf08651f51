"""Numerical recipes over views, as their authors type them; arrays are made by name."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.lib import stride_tricks

RNG = np.random.default_rng(3)
Array = Any


def life(z: Array, steps: int) -> Array:
    """Conway's game of life with a border that stays empty."""
    for _ in range(steps):
        n = (
            z[:-2, :-2] + z[:-2, 1:-1] + z[:-2, 2:] + z[1:-1, :-2]
            + z[1:-1, 2:] + z[2:, :-2] + z[2:, 1:-1] + z[2:, 2:]
        )  # fmt: skip
        birth = (n == 3) & (z[1:-1, 1:-1] == 0)
        survive = ((n == 2) | (n == 3)) & (z[1:-1, 1:-1] == 1)
        z[...] = 0
        z[1:-1, 1:-1][birth | survive] = 1
    return z


def life_in_place(z: Array) -> Array:
    """Neighbours counted by adding to slices of an array of counts."""
    n = np.zeros(z.shape, int)
    n[1:, :] += z[:-1]
    n[:-1, :] += z[1:]
    n[:, 1:] += z[:, :-1]
    n[:, :-1] += z[:, 1:]
    n[1:, 1:] += z[:-1, :-1]
    n[1:, :-1] += z[:-1, 1:]
    n[:-1, 1:] += z[1:, :-1]
    n[:-1, :-1] += z[1:, 1:]
    z[...] = np.where(z == 1, (n == 2) | (n == 3), n == 3)
    return n


def lu(a: Array) -> tuple[Array, Array]:
    """LU in place, with swaps of rows where they are known."""
    n = len(a)
    order = np.arange(n)
    for k, other in ((0, 2), (1, 3)):
        a[[k, other]] = a[[other, k]]
        order[[k, other]] = order[[other, k]]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.tril(a, -1) + np.eye(n), np.triu(a)


def gauss(a: Array, b: Array) -> Array:
    """Elimination with a pivot that is found, then back substitution."""
    m = np.hstack([a, b[:, None]])
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(m[k:, k]))
        row = m[p].copy()
        m[p] = m[k]
        m[k] = row
        below = m[k + 1 :]
        below -= (below[:, k] / m[k, k])[:, None] * m[k]
    x = np.zeros(n)
    for k in reversed(range(n)):
        x[k] = (m[k, -1] - m[k, k + 1 : n] @ x[k + 1 :]) / m[k, k]
    return x


def gram_schmidt(a: Array) -> Array:
    """Columns made orthonormal, each one a view."""
    for k in range(a.shape[1]):
        v = a[:, k]
        v /= np.sqrt(v @ v)
        rest = a[:, k + 1 :]
        rest -= np.outer(v, v @ rest)
    return a


def fft_butterflies(x: Array) -> Array:
    """The transform of 2**k numbers by butterflies over views."""
    n = len(x)
    bits = n.bit_length() - 1
    order = [int(format(k, f"0{bits}b")[::-1], 2) for k in range(n)]
    y = x[order].astype(complex)
    half = 1
    while half < n:
        blocks = y.reshape(-1, 2 * half)
        even, odd = blocks[:, :half], blocks[:, half:]
        odd *= np.exp(-1j * np.pi * np.arange(half) / half)
        total = even + odd
        np.subtract(even, odd, out=odd)
        even[...] = total
        half *= 2
    return y


def haar(x: Array) -> Array:
    """The Haar transform in place, level by level."""
    n = len(x)
    while n > 1:
        pairs = x[:n].reshape(-1, 2)
        mean, diff = pairs.sum(1) / 2, (pairs[:, 0] - pairs[:, 1]) / 2
        n //= 2
        x[:n], x[n : 2 * n] = mean, diff
    return x


def red_black(u: Array, f: Array, sweeps: int) -> Array:
    """Gauss-Seidel on the colours of a chess board, by slices with steps."""
    for _ in range(sweeps):
        for first in (0, 1):
            for row in (1, 2):
                s = 1 + (first + row) % 2
                u[row:-1:2, s:-1:2] = 0.25 * (
                    u[row - 1 : -2 : 2, s:-1:2]
                    + u[row + 1 :: 2, s:-1:2]
                    + u[row:-1:2, s - 1 : -2 : 2]
                    + u[row:-1:2, s + 1 :: 2]
                    - f[row:-1:2, s:-1:2]
                )
    return u


def jacobi_swap(u: Array, steps: int) -> Array:
    """Two arrays that change places."""
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) / 4
        u, v = v, u
    return u


def leapfrog(state: Array, dt: float) -> Array:
    """Positions and velocities as halves of one array."""
    x, v = state[: len(state) // 2], state[len(state) // 2 :]
    v -= 0.5 * dt * x
    for _ in range(5):
        x += dt * v
        v -= dt * x
    v += 0.5 * dt * x
    return state


def bodies(r: Array, v: Array, m: Array) -> Array:
    """Gravity between pairs, added to rows."""
    for i in range(len(r)):
        for j in range(i + 1, len(r)):
            d = r[j] - r[i]
            f = d / (d @ d + 0.1) ** 1.5
            v[i] += m[j] * f
            v[j] -= m[i] * f
    r += v
    return r


def floyd_warshall(d: Array) -> Array:
    """Shortest ways, in place."""
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[None, k], out=d)
    return d


def wavefront(h: Array) -> Array:
    """Distances of edits, along anti-diagonals of flipped views."""
    n = len(h)
    turned = np.fliplr(h)
    for k in range(-n + 2, n - 1):
        line = turned.diagonal(k)
        h[0, 0] += line.sum()
    return h


def windows(x: Array, n: int) -> tuple[Array, ...]:
    """Running means, maxima and medians of windows."""
    w = stride_tricks.sliding_window_view(x, n)
    return w.mean(-1), w.max(axis=-1), np.median(w, axis=-1), w[::2].copy()


def median_filter(image: Array) -> Array:
    """A median of 3 by 3 neighbours, with a border that is repeated."""
    wide = np.pad(image, 1, mode="edge")
    w = np.lib.stride_tricks.sliding_window_view(wide, (3, 3))
    image[...] = np.median(w.reshape(*image.shape, 9), axis=-1)
    return image


def sobel(image: Array) -> Array:
    """Edges by differences of slices."""
    p = np.pad(image, 1)
    gx, gy = np.zeros_like(image), np.zeros_like(image)
    for weight, s in ((1, slice(None, -2)), (2, slice(1, -1)), (1, slice(2, None))):
        gx += weight * (p[s, 2:] - p[s, :-2])
        gy += weight * (p[2:, s] - p[:-2, s])
    return np.hypot(gx, gy)


def blocks(x: Array) -> Array:
    """Means of blocks, each put back over its block by a view of four dimensions."""
    b = x.reshape(2, x.shape[0] // 2, 2, x.shape[1] // 2).swapaxes(1, 2)
    means = b.mean((-2, -1), keepdims=True)
    b -= means
    return means.squeeze()


def toeplitz(c: Array) -> Array:
    """A Toeplitz matrix by strides into one vector."""
    n = len(c)
    v = np.concatenate([c[::-1], c[1:]])
    s = v.strides[0]
    return np.lib.stride_tricks.as_strided(v[n - 1 :], (n, n), (-s, s)).copy()


def bands(a: Array) -> Array:
    """A tridiagonal matrix by the flat places of its diagonals."""
    n = len(a)
    m = np.zeros((n, n))
    m.flat[:: n + 1] = a
    m.flat[1 :: n + 1] = -1
    m.ravel()[n :: n + 1] = -2
    np.fill_diagonal(m[::-1], 5)
    return m


def thomas(low: Array, mid: Array, up: Array, d: Array) -> Array:
    """A tridiagonal system, its arrays overwritten."""
    for k in range(1, len(d)):
        w = low[k - 1] / mid[k - 1]
        mid[k] -= w * up[k - 1]
        d[k] -= w * d[k - 1]
    d[-1] /= mid[-1]
    for k in range(len(d) - 2, -1, -1):
        d[k] = (d[k] - up[k] * d[k + 1]) / mid[k]
    return d


def bubble(x: Array) -> Array:
    """Pairs put in order by slices: a network for sorting."""
    for k in range(len(x)):
        a, b = x[k % 2 : -1 : 2], x[k % 2 + 1 :: 2]
        low = np.minimum(a, b)
        np.maximum(a, b, out=b)
        a[:] = low
    return x


def sieve(n: int) -> Array:
    """The primes below a number."""
    is_prime = np.ones(n, bool)
    is_prime[:2] = False
    for k in range(2, int(n**0.5) + 1):
        if is_prime[k]:
            is_prime[k * k :: k] = False
    return np.flatnonzero(is_prime)


def pascal(n: int, x: Array) -> Array:
    """Pascal's triangle, row by row, times a number."""
    rows = np.zeros((n, n))
    rows[:, 0] = 1
    for row, above in zip(rows[1:], rows[:-1], strict=True):
        row[1:] = above[:-1] + above[1:]
    rows *= x
    return rows


def channels(image: Array) -> Array:
    """Colours in another order, a channel scaled, the image turned."""
    image[..., [0, 2]] = image[..., [2, 0]]
    red = image[:, :, 0]
    red *= 0.5
    image[::2] = image[::2, ::-1]
    turned = np.rot90(image, axes=(0, 1))
    turned[0] = 1
    return np.moveaxis(turned, -1, 0)


def accumulate(x: Array) -> Array:
    """Prefix sums by doubling, each step in place."""
    k = 1
    while k < len(x):
        x[k:] += x[:-k]
        k *= 2
    return x


def histogram(x: Array, counts: Array) -> Array:
    """Counts at places that may occur twice."""
    np.add.at(counts, x, 1)
    counts[x] += 10
    return counts


def record(z: Array) -> Array:
    """Complex numbers as pairs of real ones, scaled by views."""
    z.real -= z.real.mean()
    z.imag[::-1] /= 2
    parts = z.T.real
    parts[0] = 3
    return np.abs(z)


def interleave(a: Array, b: Array) -> Array:
    """Two arrays as the even and the odd places of one."""
    c = np.empty(a.size + b.size)
    c[0::2], c[1::2] = a, b
    even, odd = c.reshape(-1, 2).T
    even += 1
    odd *= 2
    return c


def power_rows(x: Array) -> Array:
    """Powers in rows that are made from the rows before."""
    out = np.ones((5, *x.shape), x.dtype)
    for one, other in itertools.pairwise(out):
        np.multiply(one, x, out=other)
    return out[::-1].reshape(-1)


def board() -> Array:
    """A board of zeros and ones."""
    return (RNG.random((8, 9)) < 0.4).astype(int)


def random(*shape: int) -> Array:
    """Numbers between 1 and 2."""
    return 1 + RNG.random(shape)


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (life, (board(), 3)),
    (life_in_place, (board(),)),
    (lu, (random(5, 5) + 5 * np.eye(5)[[2, 3, 0, 1, 4]],)),
    (gauss, (random(4, 4), random(4))),
    (gram_schmidt, (random(5, 3),)),
    (fft_butterflies, (random(16),)),
    (haar, (random(8),)),
    (red_black, (random(8, 9), random(8, 9), 2)),
    (jacobi_swap, (random(6, 6), 3)),
    (leapfrog, (random(8), 0.1)),
    (bodies, (random(4, 3), random(4, 3), random(4))),
    (floyd_warshall, (random(6, 6),)),
    (wavefront, (random(4, 4),)),
    (windows, (random(12), 4)),
    (median_filter, (random(6, 7),)),
    (sobel, (random(6, 7),)),
    (blocks, (random(4, 6),)),
    (toeplitz, (random(5),)),
    (bands, (random(5),)),
    (thomas, (random(5), 9 + random(6), random(5), random(6))),
    (bubble, (random(9),)),
    (sieve, (50,)),
    (pascal, (6, random())),
    (channels, (random(5, 5, 3),)),
    (accumulate, (random(10),)),
    (histogram, (RNG.integers(0, 5, 20), np.zeros(5, int))),
    (record, (random(3, 4) * (1 + 2j),)),
    (interleave, (random(4), random(4))),
    (power_rows, (random(3, 2),)),
]
