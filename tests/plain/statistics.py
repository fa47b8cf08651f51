"""Statistics."""

import numpy as np

from plain.examples import example, numbers


@example(numbers(20), large=lambda: (numbers(500_000),))
def zscore(x):
    return (x - x.mean()) / x.std(ddof=1)


@example(numbers(6, 4), large=lambda: (numbers(50_000, 10),))
def standardize_columns(x):
    centred = x - x.mean(axis=0)
    centred /= x.std(axis=0)
    return centred


@example(numbers(8, 3), large=lambda: (numbers(100_000, 10),))
def covariance(x):
    x = x - np.mean(x, axis=0, keepdims=True)
    return x.T @ x / (len(x) - 1)


@example(numbers(8, 3), large=lambda: (numbers(100_000, 10),))
def correlation(x):
    c = np.cov(x, rowvar=False)
    d = np.sqrt(np.diag(c))
    return c / np.outer(d, d)


@example(
    numbers(15, seed=1),
    numbers(15, seed=2),
    large=lambda: (numbers(500_000, seed=1), numbers(500_000, seed=2)),
)
def pearson(x, y):
    dx = x - x.mean()
    dy = y - y.mean()
    return np.sum(dx * dy) / np.sqrt(np.sum(dx**2) * np.sum(dy**2))


@example(numbers(30), large=lambda: (numbers(200_000),))
def skewness_and_kurtosis(x):
    m = np.mean(x)
    s = np.std(x)
    z = (x - m) / s
    return np.mean(z**3), np.mean(z**4) - 3.0


@example(numbers(21), large=lambda: (numbers(300_000),))
def five_numbers(x):
    return np.percentile(x, [0, 25, 50, 75, 100])


@example(numbers(25), large=lambda: (numbers(200_000),))
def median_absolute_deviation(x):
    return np.median(np.abs(x - np.median(x)))


@example(
    numbers(10),
    np.abs(numbers(10, seed=3)),
    large=lambda: (numbers(500_000), np.abs(numbers(500_000, seed=3))),
)
def weighted_mean_and_variance(x, w):
    mean = np.average(x, weights=w)
    return mean, np.average((x - mean) ** 2, weights=w)


@example(numbers(12, dtype="int64"), large=lambda: (numbers(200_000, dtype="int64"),))
def counts(labels):
    return (labels[:, None] == np.arange(10)).sum(axis=0)


@example(numbers(40), large=lambda: (numbers(100_000),))
def histogram(x):
    edges = np.linspace(-3, 3, 13)
    places = np.searchsorted(edges, x)
    found = np.zeros(14, dtype=int)
    np.add.at(found, places, 1)
    return found


@example(numbers(12), large=lambda: (numbers(200_000),))
def trimmed_mean(x):
    ordered = np.sort(x)
    return ordered[2:-2].mean()


@example(numbers(11), large=lambda: (numbers(100_000),))
def ranks(x):
    order = np.argsort(x)
    found = np.empty(len(x), dtype=int)
    found[order] = np.arange(len(x))
    return found


@example(numbers(9, dtype="int8"), large=lambda: (numbers(1_000_000, dtype="int8"),))
def totals_of_bytes(x):
    return x.sum(), x.prod(), x.mean(), x.cumsum(), x.var()


@example(
    numbers(16),
    numbers(16, seed=5),
    large=lambda: (numbers(300_000), numbers(300_000, seed=5)),
)
def linear_regression(x, y):
    a = np.stack([np.ones_like(x), x], axis=1)
    return np.linalg.solve(a.T @ a, a.T @ y)


@example(numbers(20), large=lambda: (numbers(300_000),))
def winsorize(x):
    low, high = np.quantile(x, [0.1, 0.9])
    return np.clip(x, low, high)


@example(numbers(30), large=lambda: (numbers(500_000),))
def positive_part_statistics(x):
    chosen = x[x > 0]
    return chosen.mean(), chosen.sum(), chosen.max(), chosen.std()


@example(numbers(7, 5), large=lambda: (numbers(2000, 200),))
def softmax_rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@example(
    np.array([1.0, np.nan, 3.0, np.nan, 6.0]),
    large=lambda: (np.where(numbers(500_000) > 1, np.nan, 1.0),),
)
def fill_missing_with_mean(x):
    filled = x.copy()
    filled[np.isnan(x)] = np.nanmean(x)
    return filled


@example(numbers(18), large=lambda: (numbers(500_000),))
def autocorrelation(x):
    x = x - x.mean()
    total = np.dot(x, x)
    found = np.zeros(6)
    for lag in range(6):
        found[lag] = np.dot(x[: len(x) - lag], x[lag:]) / total
    return found
