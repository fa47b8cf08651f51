"""Grids that change in time."""

import numpy as np
from numba import prange

from plain.loops.program import Program, normal, uniform


def laplace(u, tol):
    """Relax until no value moves by more than tol."""
    err = 1.0
    count = 0
    while err > tol:
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        )
        err = np.max(np.abs(new - u))
        u = new
        count += 1
    return u, count


def heat_3d(A, B, steps):
    for t in range(1, steps):
        for x, y in ((A, B), (B, A)):
            y[1:-1, 1:-1, 1:-1] = x[1:-1, 1:-1, 1:-1] + 0.125 * (
                (x[2:, 1:-1, 1:-1] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1])
                + (x[1:-1, 2:, 1:-1] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1])
                + (x[1:-1, 1:-1, 2:] - 2.0 * x[1:-1, 1:-1, 1:-1] + x[1:-1, 1:-1, :-2])
            )


def fdtd(ex, ey, hz, source):
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def gray_scott(U, V, steps, f=0.035, k=0.065):
    def laplacian(Z):
        return (
            np.roll(Z, 1, 0)
            + np.roll(Z, -1, 0)
            + np.roll(Z, 1, 1)
            + np.roll(Z, -1, 1)
            - 4 * Z
        )

    for _ in range(steps):
        uvv = U * V**2
        U = U + 0.16 * laplacian(U) - uvv + f * (1 - U)
        V = V + 0.08 * laplacian(V) + uvv - (f + k) * V
    return U, V


def wave_string(u, c, steps):
    """The string's shapes at a few times."""
    prev = u.copy()
    frames = []
    for step in range(steps):
        nxt = np.zeros_like(u)
        nxt[1:-1] = 2 * u[1:-1] - prev[1:-1] + c**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        if step % 3 == 0:
            frames.append(nxt)
        prev, u = u, nxt
    return np.array(frames)


def jacobi_2d(A, B, steps):
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.2 * (
                    A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j]
                )
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                A[i, j] = 0.2 * (
                    B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j]
                )


def seidel_2d(A, steps):
    n = A.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                s = 0.0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        s += A[i + di, j + dj]
                A[i, j] = s / 9.0


def diffuse_periodic(u, steps, rate=0.1):
    n, m = u.shape
    v = np.empty_like(u)
    for _ in range(steps):
        for i in prange(n):
            up = i - 1 if i > 0 else n - 1
            down = i + 1 if i < n - 1 else 0
            for j in range(m):
                left = (j - 1) % m
                right = (j + 1) % m
                v[i, j] = u[i, j] + rate * (
                    u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4 * u[i, j]
                )
        u, v = v, u
    return u


def adi_sweep(u, v, p, q, a, steps):
    """Alternate the directions; each solves lines forwards, then backwards."""
    n = u.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -a / (a * p[i, j - 1] + 2.0 + a)
                q[i, j] = (u[j, i] + a * q[i, j - 1]) / (a * p[i, j - 1] + 2.0 + a)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = v[i, j]


PROGRAMS = [
    Program("numpy", laplace, lambda n: (uniform(n, n), 0.01), (7,), (120,)),
    Program(
        "numpy",
        heat_3d,
        lambda n, t: (normal(n, n, n), normal(n, n, n), t),
        (5, 4),
        (30, 20),
    ),
    Program(
        "numpy",
        fdtd,
        lambda n, t: (normal(n, n), normal(n, n), normal(n, n), np.arange(t) + 0.0),
        (6, 7),
        (200, 30),
    ),
    Program(
        "numpy",
        gray_scott,
        lambda n, t: (uniform(n, n), uniform(n, n, seed=1), t),
        (6, 8),
        (100, 50),
    ),
    Program(
        "numpy", wave_string, lambda n, t: (normal(n), 0.4, t), (9, 10), (2000, 60)
    ),
    Program(
        "numba",
        jacobi_2d,
        lambda n, t: (normal(n, n + 1), normal(n, n + 1), t),
        (6, 5),
        (200, 20),
    ),
    Program("numba", seidel_2d, lambda n, t: (normal(n, n), t), (6, 5), (120, 20)),
    Program(
        "numba", diffuse_periodic, lambda n, t: (normal(n, n), t), (6, 5), (300, 20)
    ),
    Program(
        "numba",
        adi_sweep,
        lambda n, t: (*(normal(n, n, seed=k) for k in range(4)), 0.3, t),
        (6, 3),
        (150, 10),
    ),
]
