"""Loops whose turns threads may share: functions, and what becomes of each loop.

`SHARED` are functions with a loop that is shared by threads, `ORDERED` those whose
turns come in order though they are written with `prange`, with words of the reason.
Numbers are multiples of a quarter, or whole, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir_numba.compat import prange

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def rows_of_ranges(A: Any) -> Any:
    """A plain range, each turn with a place of its own."""
    out = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * j
        out[i] = s
    return out


def changed_rows(A: Any) -> Any:
    """Rows are read and written, and their own neighbours along the row."""
    for i in range(len(A)):
        for j in range(1, A.shape[1]):
            A[i, j] += A[i, j - 1]
    return A


def backwards(A: Any) -> Any:
    """Steps downwards, at places that move twice as far."""
    out = np.zeros(2 * len(A))
    for i in range(len(A) - 1, -1, -1):
        out[2 * i] = A[i, 0]
        out[2 * i + 1] = -A[i, 1]
    return out


def counts(A: Any) -> Any:
    """Sums of integers, extremes and the last turn's value, in a plain range."""
    many, least, last = 0, 100.0, -1
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > 0:
                many += 1
            least = min(least, A[i, j])
        last = i * 3
    return many, least, last


def sums(x: Any) -> Any:
    """A sum, a product and a greatest number of floats."""
    s, p, most = 1.0, 1.0, -np.inf
    for i in prange(len(x)):
        s += x[i]
        if i % 40 == 0:
            p *= 2.0
        most = max(most, x[i])
    return s, p, most


def complex_sum(x: Any) -> Any:
    """A sum of complex numbers, taken away."""
    s = 0j
    for i in prange(len(x)):
        s -= x[i] * 1j
    return s


def traced_length(n: Any) -> Any:
    """A loop whose length is a value."""
    s = 0
    for i in prange(3, n, 2):
        s += i * i
    return s


def data_rows(data: Any, ptr: Any, scale: Any) -> Any:
    """Places that the user knows to be a turn's own."""
    for i in prange(len(ptr) - 1):
        for k in range(ptr[i], ptr[i + 1]):
            data[k] *= scale[i]
    return data


def permuted(x: Any, at: Any) -> Any:
    """Places that are found in an array, and written alone."""
    out = np.zeros(len(x))
    for i in prange(len(x)):
        out[at[i]] = x[i] * 2
    return out


def own_memory(x: Any, n: Any) -> Any:
    """An array of each turn's own."""
    out = np.zeros(40)
    for i in prange(40):
        own = np.zeros(9)
        for j in range(9):
            own[j] = x[j] * i
        for j in range(8):
            own[j + 1] += own[j]
        out[i] = own[8] + own.sum() * n
    return out


def in_time(u: Any, steps: Any) -> Any:
    """A shared loop in one that is not."""
    v = u.copy()
    for _ in range(steps):
        for i in prange(1, len(u) - 1):
            v[i] = (u[i - 1] + 2 * u[i] + u[i + 1]) * 0.25
        u, v = v, u
    return u


def nested(A: Any) -> Any:
    """Of two parallel loops the outer one is shared."""
    out = np.zeros(A.shape)
    for i in prange(A.shape[0]):
        for j in prange(A.shape[1]):
            out[i, j] = A[i, j] + i * j
    return out


def halves(x: Any) -> Any:
    """All that is read lies beyond what any turn writes."""
    n = 60
    for i in prange(n):
        x[i] = x[i + n] + 1
    return x


def prefix(x: Any) -> Any:
    """A turn reads what the one before has written."""
    for i in prange(1, len(x)):
        x[i] = x[i - 1] + x[i]
    return x


def histogram(x: Any) -> Any:
    """Places that are found in an array, read and written."""
    found = np.zeros(7, int)
    for i in prange(len(x)):
        found[x[i]] += 1
    return found


def recurrence(x: Any) -> Any:
    """A number that each turn reads."""
    s = 0.0
    for i in prange(len(x)):
        s = s * 0.5 + x[i]
    return s


def one_place(x: Any) -> Any:
    """Each turn writes to one element."""
    out = np.zeros(3)
    for i in prange(len(x)):
        out[1] = x[i]
    return out


def greatest_at(x: Any) -> Any:
    """A place that goes with a greatest number."""
    most, at = -np.inf, -1
    for i in prange(len(x)):
        if x[i] > most:
            most, at = x[i], i
    return most, at


def whole(x: Any) -> Any:
    """A turn reads all of what others write to."""
    for i in prange(len(x)):
        x[i] = x.sum() * 0 + i
    return x


def left_early(x: Any) -> Any:
    """A loop that ends before its end."""
    for i in prange(len(x)):
        if x[i] > 3:
            return i
    return -1


def quarters(*shape: int, below: int = 32) -> Any:
    """Multiples of a quarter."""
    return np.random.default_rng(0).integers(-below, below, shape) / 4


POINTERS = np.array([0, 3, 3, 10, 40, 41, 41, 60, 99, 120])
SHARED: tuple[Case, ...] = (
    (rows_of_ranges, (quarters(70, 5),)),
    (changed_rows, (quarters(50, 6),)),
    (backwards, (quarters(45, 2),)),
    (counts, (quarters(45, 3),)),
    (sums, (quarters(203),)),
    (complex_sum, (quarters(50) + 1j * quarters(50, below=9),)),
    (traced_length, (150,)),
    (traced_length, (2,)),
    (data_rows, (quarters(120), POINTERS, quarters(9))),
    (permuted, (quarters(99), np.random.default_rng(1).permutation(99))),
    (own_memory, (quarters(9), 2)),
    (in_time, (quarters(64), 5)),
    (nested, (quarters(40, 3),)),
    (halves, (quarters(120),)),
)
ORDERED: tuple[tuple[Case, str], ...] = (
    ((prefix, (quarters(40),)), "reads an element that another turn writes"),
    ((histogram, (np.arange(90) % 7,)), "at a place that is found in an array"),
    ((recurrence, (quarters(20),)), "a number that the turn before has computed"),
    ((one_place, (quarters(40),)), "writes to the same element"),
    ((greatest_at, (quarters(90),)), "a number that the turn before has computed"),
    ((whole, (quarters(30),)), "all of an array that other turns write to"),
    ((left_early, (quarters(50),)), ""),
)
