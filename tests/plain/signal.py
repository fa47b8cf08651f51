"""Signals in one dimension."""

import numpy as np

from plain.examples import example, numbers


@example(numbers(20), large=lambda: (numbers(500_000),))
def moving_average(x):
    sums = np.cumsum(x)
    sums[5:] = sums[5:] - sums[:-5]
    return sums[4:] / 5


@example(numbers(16), large=lambda: (numbers(500_000),))
def three_point_smoothing(x):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return y


@example(numbers(16), 0.3, large=lambda: (numbers(300), 0.3))
def exponential_smoothing(x, alpha):
    y = np.empty_like(x)
    y[0] = x[0]
    for k in range(1, len(x)):
        y[k] = alpha * x[k] + (1 - alpha) * y[k - 1]
    return y


@example(
    numbers(24),
    numbers(5, seed=1),
    large=lambda: (numbers(200_000), numbers(16, seed=1)),
)
def fir_filter(x, taps):
    n = len(taps)
    y = np.zeros(len(x))
    padded = np.concatenate([np.zeros(n - 1), x])
    for k in range(n):
        y += taps[k] * padded[n - 1 - k : len(padded) - k]
    return y


@example(
    numbers(12),
    np.array([0.2, 0.3]),
    np.array([1.0, -0.4]),
    large=lambda: (numbers(200), np.array([0.2, 0.3]), np.array([1.0, -0.4])),
)
def iir_filter(x, b, a):
    y = np.zeros_like(x)
    y[0] = b[0] * x[0]
    for k in range(1, x.size):
        y[k] = b[0] * x[k] + b[1] * x[k - 1] - a[1] * y[k - 1]
    return y


@example(numbers(30), large=lambda: (numbers(500_000),))
def zero_crossings(x):
    signs = np.sign(x)
    return np.count_nonzero(signs[1:] * signs[:-1] < 0)


@example(numbers(20), large=lambda: (numbers(300),))
def envelope(x):
    y = np.abs(x)
    for k in range(1, len(y)):
        y[k] = max_of(y[k], 0.9 * y[k - 1])
    return y


def max_of(a, b):
    return np.where(a > b, a, b)


@example(numbers(32), large=lambda: (numbers(1_000_000),))
def normalize_peak(x):
    peak = np.max(np.abs(x))
    out = np.empty_like(x)
    np.divide(x, peak, out=out)
    return out


@example(numbers(17), large=lambda: (numbers(1_000_000),))
def derivative(x):
    d = np.empty_like(x)
    d[0] = x[1] - x[0]
    d[-1] = x[-1] - x[-2]
    d[1:-1] = (x[2:] - x[:-2]) / 2
    return d


@example(numbers(16), large=lambda: (numbers(1_000_000),))
def haar_step(x):
    even, odd = x[::2], x[1::2]
    y = np.empty(x.size)
    y[: x.size // 2] = (even + odd) / np.sqrt(2)
    y[x.size // 2 :] = (even - odd) / np.sqrt(2)
    return y


@example(numbers(8), large=lambda: (numbers(500_000),))
def upsample_by_two(x):
    y = np.zeros(2 * len(x))
    y[::2] = x
    y[1:-1:2] = (x[:-1] + x[1:]) / 2
    return y


@example(
    numbers(16, dtype="float32"), large=lambda: (numbers(300_000, dtype="float32"),)
)
def window_and_energy(x):
    w = np.hanning(len(x)).astype(np.float32)
    y = x * w
    return y, np.sum(y * y)


@example(numbers(10), large=lambda: (numbers(400),))
def discrete_cosine(x):
    n = len(x)
    k = np.arange(n)
    basis = np.cos(np.pi * (2 * k[:, None] + 1) * k[None, :] / (2 * n))
    return x @ basis


@example(
    numbers(12), numbers(12, seed=7), large=lambda: (numbers(200), numbers(200, seed=7))
)
def lagged_products(x, y):
    n = len(x)
    out = np.zeros(2 * n - 1)
    for k in range(n):
        out[k : k + n] += x[k] * y
    return out


@example(numbers(20), large=lambda: (numbers(500_000),))
def remove_trend(x):
    t = np.arange(len(x))
    slope = np.sum((t - t.mean()) * (x - x.mean())) / np.sum((t - t.mean()) ** 2)
    return x - slope * t


@example(numbers(15), large=lambda: (numbers(500_000),))
def clip_and_count(x):
    y = x.copy()
    loud = np.abs(y) > 1.0
    y[loud] = np.sign(y[loud])
    return y, loud.sum()


@example(numbers(10), large=lambda: (numbers(1_000_000),))
def teager_energy(x):
    return x[1:-1] ** 2 - x[:-2] * x[2:]


@example(
    numbers(24),
    numbers(5, seed=1),
    large=lambda: (numbers(200_000), numbers(25, seed=1)),
)
def convolution(x, kernel):
    return np.convolve(x, kernel, mode="same")
