"""Statistics by hand."""

import math

import numpy as np

from plain.loops.program import Program, integers, normal, uniform


def kmeans(points, k, tol=1e-9):
    centres = points[:k].copy()
    moved = np.inf
    while moved > tol:
        d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        label = d.argmin(axis=1)
        new = centres.copy()
        for c in range(k):
            mine = label == c
            if mine.any():
                new[c] = (points * mine[:, None]).sum(axis=0) / mine.sum()
        moved = np.abs(new - centres).max()
        centres = new
    return centres, label


def bin_counts(x, edges):
    counts = np.zeros(len(edges) - 1, dtype=int)
    for k, (lo, hi) in enumerate(zip(edges[:-1], edges[1:])):
        counts[k] = np.count_nonzero((x >= lo) & (x < hi))
    counts[-1] += np.count_nonzero(x == edges[-1])
    return counts


def logistic_regression(X, y, rate=0.5, epochs=20):
    w = np.zeros(X.shape[1])
    b = 0
    losses = []
    for epoch in range(epochs):
        p = 1 / (1 + np.exp(-(X @ w + b)))
        losses.append(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))
        w -= rate * X.T @ (p - y) / len(y)
        b -= rate * np.mean(p - y)
        if epoch > 5 and losses[-2] - losses[-1] < 1e-4:
            rate = rate / 2
    return w, b, losses[-1]


def welford(x):
    n = 0
    mean = 0.0
    m2 = 0.0
    low = np.inf
    high = -np.inf
    for value in x:
        if math.isnan(value):
            continue
        n += 1
        delta = value - mean
        mean += delta / n
        m2 += delta * (value - mean)
        low = min(low, value)
        high = max(high, value)
    if n < 2:
        return mean, 0.0, low, high
    return mean, m2 / (n - 1), low, high


def running_median(x, width):
    """Medians of windows that are kept sorted: one value leaves, another enters."""
    n = len(x)
    window = np.empty(width)
    out = np.empty(n - width + 1)
    for i in range(width):
        j = i
        while j > 0 and window[j - 1] > x[i]:
            window[j] = window[j - 1]
            j -= 1
        window[j] = x[i]
    half = width // 2
    for i in range(n - width + 1):
        if i > 0:
            j = 0
            while window[j] != x[i - 1]:
                j += 1
            while j + 1 < width and window[j + 1] < x[i + width - 1]:
                window[j] = window[j + 1]
                j += 1
            while j > 0 and window[j - 1] > x[i + width - 1]:
                window[j] = window[j - 1]
                j -= 1
            window[j] = x[i + width - 1]
        if width % 2:
            out[i] = window[half]
        else:
            out[i] = (window[half - 1] + window[half]) / 2
    return out


def histogram_2d(x, y, bins, out=None):
    """Count points of the unit square; those outside are counted apart."""
    if out is None:
        out = np.zeros((bins, bins), dtype=np.int64)
    outside = 0
    for i in range(x.size):
        if not (0.0 <= x[i] < 1.0) or not (0.0 <= y[i] < 1.0):
            outside += 1
            continue
        out[int(x[i] * bins), int(y[i] * bins)] += 1
    return out, outside


def mode(values):
    """The commonest value, how often it comes, and if no other comes so often."""
    best = values[0]
    best_count = 0
    unique = True
    for i in range(len(values)):
        count = 0
        for j in range(len(values)):
            if values[j] == values[i]:
                count += 1
        if count > best_count:
            best, best_count = values[i], count
            unique = True
        elif count == best_count and values[i] != best:
            unique = False
    return best, best_count, unique


def with_nans(n):
    x = normal(n)
    x[::5] = np.nan
    return x


PROGRAMS = [
    Program("numpy", kmeans, lambda n, k: (normal(n, 2), k), (12, 3), (3000, 6)),
    Program(
        "numpy",
        bin_counts,
        lambda n, m: (uniform(n), np.linspace(0, 1, m + 1)),
        (20, 4),
        (20_000, 60),
    ),
    Program(
        "numpy",
        logistic_regression,
        lambda n, m: (normal(n, m), (normal(n, seed=1) > 0).astype(float)),
        (9, 3),
        (2000, 20),
    ),
    Program("numba", welford, lambda n: (with_nans(n),), (11,), (300_000,)),
    Program(
        "numba", running_median, lambda n, w: (normal(n), w), (12, 5), (20_000, 31)
    ),
    Program(
        "numba",
        histogram_2d,
        lambda n, b: (uniform(n) * 1.1, uniform(n, seed=1) * 1.1, b),
        (20, 4),
        (300_000, 32),
    ),
    Program("numba", mode, lambda n: (integers(n, below=6),), (11,), (2000,)),
]
