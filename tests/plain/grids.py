"""Differential equations on grids, and other recurrences."""

import numpy as np

from plain.examples import example, numbers


@example(numbers(12), 0.1, large=lambda: (numbers(300_000), 0.1))
def heat_1d(u, r):
    for _ in range(4):
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])


@example(numbers(7, 7), large=lambda: (numbers(700, 700),))
def jacobi(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@example(numbers(8), large=lambda: (numbers(300),))
def gauss_seidel(u):
    u = u.copy()
    for i in range(1, len(u) - 1):
        u[i] = (u[i - 1] + u[i + 1]) / 2
    return u


@example(numbers(16), large=lambda: (numbers(200_000),))
def wave(u):
    before = u.copy()
    now = u.copy()
    for _ in range(3):
        after = np.zeros_like(now)
        after[1:-1] = 2 * now[1:-1] - before[1:-1]
        after[1:-1] += 0.2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now = now, after
    return now


@example(numbers(10), 0.4, large=lambda: (numbers(500_000), 0.4))
def upwind(u, c):
    new = u.copy()
    new[1:] -= c * (u[1:] - u[:-1])
    new[0] = new[-1]
    return new


@example(
    np.abs(numbers(8, seed=1)) + 3,
    numbers(7, seed=2),
    numbers(7, seed=3),
    numbers(8, seed=4),
    large=lambda: (
        np.abs(numbers(100, seed=1)) + 3,
        numbers(99, seed=2),
        numbers(99, seed=3),
        numbers(100, seed=4),
    ),
)
def thomas(diagonal, lower, upper, right):
    n = len(diagonal)
    d = diagonal.copy()
    b = right.copy()
    for i in range(1, n):
        m = lower[i - 1] / d[i - 1]
        d[i] -= m * upper[i - 1]
        b[i] -= m * b[i - 1]
    x = np.zeros(n)
    x[-1] = b[-1] / d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (b[i] - upper[i] * x[i + 1]) / d[i]
    return x


@example(
    np.array([1.0, 0.5]),
    0.1,
    5,
    static=("steps",),
    large=lambda: (np.array([1.0, 0.5]), 0.01, 100),
)
def lotka_volterra(state, h, steps):
    path = np.empty((steps + 1, 2))
    path[0] = state
    for k in range(steps):
        x, y = path[k]
        path[k + 1, 0] = x + h * (x - x * y)
        path[k + 1, 1] = y + h * (x * y - y)
    return path


@example(np.array([1.0, 1.0, 1.0]), 0.01)
def lorenz_step(state, h):
    def slope(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    k1 = slope(state)
    k2 = slope(state + h / 2 * k1)
    k3 = slope(state + h / 2 * k2)
    k4 = slope(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@example(0.3)
def logistic_map(x):
    path = np.zeros(8)
    path[0] = x
    for k in range(7):
        path[k + 1] = 3.7 * path[k] * (1 - path[k])
    return path


@example(
    numbers(5, 2),
    np.abs(numbers(5, seed=1)),
    large=lambda: (numbers(300, 2), np.abs(numbers(300, seed=1))),
)
def gravity(positions, masses):
    d = positions[None, :, :] - positions[:, None, :]
    r2 = np.sum(d**2, axis=-1) + 0.01
    return np.sum(d * (masses[None, :] / r2**1.5)[..., None], axis=1)


@example(numbers(6, 6), large=lambda: (numbers(600, 600),))
def periodic_laplacian(u):
    total = np.zeros_like(u)
    for axis in range(2):
        total += np.roll(u, 1, axis) + np.roll(u, -1, axis)
    return total - 4 * u


@example(numbers(9), large=lambda: (numbers(2_000_001),))
def simpson(y):
    return (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1]) / 3


@example(numbers(10), large=lambda: (numbers(500_000),))
def cumulative_trapezoid(y):
    out = np.zeros(len(y))
    out[1:] = np.cumsum((y[1:] + y[:-1]) / 2)
    return out


@example(5, static=("n",), large=lambda: (20,))
def pascal(n):
    rows = np.zeros((n, n), dtype=int)
    rows[:, 0] = 1
    for i in range(1, n):
        for j in range(1, i + 1):
            rows[i, j] = rows[i - 1, j - 1] + rows[i - 1, j]
    return rows


@example(
    numbers(6, 6),
    numbers(6, 6, seed=2),
    large=lambda: (numbers(500, 500), numbers(500, 500, seed=2)),
)
def advect(u, v):
    du = np.gradient(u, axis=0)
    dv = np.gradient(v, axis=1)
    return u - 0.1 * (u * du + v * dv)
