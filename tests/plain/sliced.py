"""Functions with slices whose bounds are values, as their author would write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

GENERATOR = np.random.default_rng(0)
A = GENERATOR.random((9, 9)) + 9 * np.eye(9)
S = A @ A.T
V = GENERATOR.random(9)
W = GENERATOR.random(24)
WHOLE = GENERATOR.integers(-9, 9, 24)
STARTS = np.array([0, 3, 3, 7, 12, 12, 24])
PLACES = GENERATOR.integers(0, 9, 24)


def cholesky(a: Any) -> Any:
    """By rows of what is done already."""
    n = a.shape[0]
    lower = np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            lower[i, j] = (a[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
        lower[i, i] = np.sqrt(a[i, i] - np.dot(lower[i, :i], lower[i, :i]))
    return lower


def lu(a: Any) -> Any:
    """By updates of rank one."""
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def ludcmp(a: Any, b: Any) -> Any:
    """LU and both substitutions, in place."""
    n = len(b)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    x = np.zeros(n)
    for i in range(n):
        x[i] = b[i] - a[i, :i] @ x[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def eliminated(a: Any) -> Any:
    """Rows less multiples of other rows."""
    n = len(a)
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
    return a


def forward(a: Any, b: Any) -> Any:
    """Forward substitution."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def by_columns(a: Any, b: Any) -> Any:
    """Forward substitution that updates the rest of the right-hand side."""
    x = b.copy()
    for j in range(len(b)):
        x[j] /= a[j, j]
        x[j + 1 :] -= x[j] * a[j + 1 :, j]
    return x


def backward(a: Any, b: Any) -> Any:
    """Back substitution by a sum of products."""
    x = b.copy()
    for i in range(len(b) - 1, -1, -1):
        x[i] = (x[i] - np.sum(a[i, i + 1 :] * x[i + 1 :])) / a[i, i]
    return x


def sparse_product(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    """A sparse matrix, rows compressed, times a vector."""
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        row = slice(starts[i], starts[i + 1])
        y[i] = values[row] @ x[columns[row]]
    return y


def sparse_transposed(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    """The transpose of such a matrix times a vector, by loops over slices."""
    y = np.zeros(9)
    for i in range(len(starts) - 1):
        lo, hi = starts[i], starts[i + 1]
        for j, v in zip(columns[lo:hi], values[lo:hi]):
            y[j] += v * x[i]
    return y


def moving_mean(x: Any, k: Any) -> Any:
    """Means of windows that the ends cut."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[max(0, i - k) : i + k + 1].mean()
    return y


def windows(x: Any) -> Any:
    """Windows of one length are arrays of that length."""
    y = np.zeros((len(x) - 4, 2))
    for i in range(len(y)):
        part = x[i : i + 5]
        y[i, 0] = np.median(part)
        y[i, 1] = part.reshape(5, 1)[2, 0] + part.shape[0]
    return y


def running(x: Any) -> Any:
    """Extremes so far and from here on, and their places."""
    y = np.zeros((len(x), 6))
    for i in range(len(x)):
        y[i, 0] = x[: i + 1].max()
        y[i, 1] = np.min(x[i:])
        y[i, 2] = np.argmax(x[: i + 1])
        y[i, 3] = x[i:].argmin() + i + np.dot(np.ones(5), x[max(i, 5) - 5 : max(i, 5)])
        y[i, 4] = np.any(x[:i] > 0.9)
        y[i, 5] = (x[i:] < 0.9).all()
    return y


def moments(x: Any) -> Any:
    """Reductions of parts of a vector."""
    y = np.zeros((len(x) - 2, 6))
    for i in range(len(y)):
        tail = x[i:]
        y[i, 0] = tail.std()
        y[i, 1] = np.var(tail, ddof=1)
        y[i, 2] = np.prod(tail)
        y[i, 3] = np.linalg.norm(tail)
        y[i, 4] = np.count_nonzero(tail > 0.5)
        y[i, 5] = np.linalg.norm(tail, np.inf) + tail.size + len(tail) + tail.shape[0]
    return y


def levinson(r: Any) -> Any:
    """Levinson and Durbin's recursion, which reads what it writes, backwards."""
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    error = r[0]
    for i in range(1, n + 1):
        k = -(a[:i] @ r[i:0:-1]) / error
        a[1:i] += k * a[i - 1 : 0 : -1]
        a[i] = k
        error *= 1 - k * k
    return a


def gram_schmidt(a: Any) -> Any:
    """Columns made orthogonal to those before."""
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        v -= q[:, :j] @ (v @ q[:, :j])
        q[:, j] = v / np.linalg.norm(v)
    return q


def insertion_sort(a: Any) -> Any:
    """Sorting by moving the elements that are greater one place on."""
    for i in range(1, len(a)):
        value = a[i]
        j = np.sum(a[:i] <= value)
        a[j + 1 : i + 1] = a[j:i]
        a[j] = value
    return a


def merge_sort(a: Any) -> Any:
    """Sorting from below: halves are copied and merged."""
    n = len(a)
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            middle, hi = min(lo + width, n), min(lo + 2 * width, n)
            left, right = a[lo:middle].copy(), a[middle:hi].copy()
            i, j = 0, 0
            for k in range(lo, hi):
                if i < len(left) and (j >= len(right) or left[i] <= right[j]):
                    a[k] = left[i]
                    i += 1
                else:
                    a[k] = right[j]
                    j += 1
        width *= 2
    return a


def pairs(bases: Any) -> Any:
    """The most pairs of a sequence, as Nussinov counts them."""
    n = len(bases)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = table[i + 1, j - 1] + (bases[i] + bases[j] == 3)
            split = table[i, i:j] + table[i + 1 : j + 1, j]
            table[i, j] = max(best, split.max())
    return table


def sieve(n: Any) -> Any:
    """Primes, by slices with a step that is known in each turn."""
    prime = np.ones(60, dtype=np.bool_)
    prime[:2] = False
    prime[4:n:2] = False
    prime[9:n:3] = False
    prime[n:] = False
    return prime


def blocks(x: Any) -> Any:
    """Blocks of one length, of which the last is cut."""
    y = np.zeros_like(x)
    for i in range(0, len(x), 7):
        y[i : i + 7] = 2 * x[i : i + 7] + i
    return y


def mean_of(part: Any, weight: Any = 1.0) -> Any:
    """A helper that is given a slice."""
    return weight * part.sum() / max(len(part), 1)


def helped(x: Any, n: Any) -> Any:
    """Slices that are given to helper functions, and iterated."""
    total = 0.0
    for i in range(len(x)):
        total += mean_of(x[i:n], weight=2.0)
        for v in x[i : i + n]:
            total += v
        for k, v in enumerate(x[:i]):
            total -= k * v
    return total


def rows(a: Any, x: Any) -> Any:
    """Products and reductions of parts of a matrix."""
    n = len(a)
    y = np.zeros((n, 4))
    for i in range(1, n):
        part = a[:i, i:]
        y[i, 0] = part.sum()
        y[i, 1] = (a[:i, :i] @ x[:i]).sum()
        y[i, 2] = np.max(part.mean(axis=1)) if i < n else 0.0
        y[i, 3] = (x[:i] @ a[:i])[i] + a[:i].sum(axis=0)[0]
        y[i, 3] += (part.T @ x[:i]).max() + (2 * part).T[0, 0] - part.T.sum(0)[-1]
    return y


def shifted(a: Any, k: Any) -> Any:
    """Updates by the array's own elements, one place on, one back, and at another."""
    for i in range(k):
        a[i + 1 :] = a[i:-1]
        a[i:-1] = a[i + 1 :] * 2
        a[i : k + 1] = a[k + 1 : 2 * k + 2 - i]
        a[:i] *= 0.5
        a[: k + 1] += a[k::-1]
    return a


def by_row_views(a: Any) -> Any:
    """Views of rows, of which parts are written."""
    for i in range(1, len(a)):
        row = a[i]
        row[:i] = a[i - 1, :i] + row[:i]
        row[i:].fill(i)
        part = row[i:]
        part[0] = -1.0
        part[-1] += 2.0
    return a


def outside(t: Any, lo: Any, hi: Any) -> Any:
    """A table of the function's own, a weight that is a list, and numbers."""
    table = np.arange(24.0)
    part = np.ones(17)
    part += table[lo:hi]
    part -= table[hi:lo:-1]
    t[lo:hi] += np.where(t[lo:hi].real > 0.5, part, 0.0) + table[np.arange(24)[lo:hi]]
    t[lo:hi] = table[lo:hi] + 1j * t[lo:hi].real
    return t


def longest_increasing(a: Any) -> Any:
    """The longest increasing subsequence, by a search in its ends."""
    ends = np.zeros(len(a))
    count = 0
    for i in range(len(a)):
        place = np.searchsorted(ends[:count], a[i])
        ends[place] = a[i]
        if place == count:
            count += 1
    return count


def vectors(x: Any, s: Any) -> Any:
    """Functions of vectors that are no reductions."""
    y = np.zeros((len(x), 5))
    for i in range(len(x)):
        head = x[: i + 1]
        y[i, 0] = np.cumsum(head)[-1] - head.cumprod()[i // 2]
        y[i, 1] = np.dot(np.flip(head), head)
        y[i, 2] = np.abs(np.diff(head)).sum()
        y[i, 3] = np.array_equal(s[i : 2 * i], s[i + 1 : 2 * i + 1])
        y[i, 4] = head.searchsorted(x[i] + s[i], side="right")
    return y


def from_outside(a: Any) -> Any:
    """Slices of a table outside of the function, and of it at places."""
    total = 0.0
    for i in range(len(a)):
        total += W[i : a[i]].sum() + (W[: i + 1] * W[a[: i + 1] % 24]).max()
    return total


def written_later(x: Any, n: Any) -> Any:
    """Computed arrays that loops and branches write to."""
    t, u = x[:n] * 2, x[:n] + 1
    v = u
    for i in range(len(x)):
        t[0] += x[i]
        u -= t
        if x[i] > 0.5:
            t[1:] *= 0.5
            u += 1
    return t.sum() + v.max()


JUDGED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (cholesky, (S,)),
    (lu, (A,)),
    (ludcmp, (A, V)),
    (eliminated, (A,)),
    (forward, (A, V)),
    (by_columns, (A, V)),
    (backward, (A, V)),
    (sparse_product, (STARTS, PLACES, W, V)),
    (sparse_transposed, (STARTS, PLACES, W, V)),
    (moving_mean, (W, 3)),
    (windows, (W,)),
    (running, (W,)),
    (moments, (W,)),
    (levinson, (0.8 ** np.arange(9),)),
    (gram_schmidt, (A,)),
    (insertion_sort, (WHOLE,)),
    (merge_sort, (WHOLE,)),
    (pairs, (PLACES[:12] % 4,)),
    (sieve, (50,)),
    (blocks, (W,)),
    (helped, (W, 20)),
    (rows, (A, V)),
    (shifted, (W, 5)),
    (by_row_views, (A,)),
    (longest_increasing, (W,)),
    (written_later, (W, 5)),
    (from_outside, (WHOLE,)),
    (vectors, (np.sort(W), WHOLE // 5)),
    (outside, (W + 0j, 3, 20)),
]
