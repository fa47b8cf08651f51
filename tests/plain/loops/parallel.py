"""Loops whose turns are independent, as Numba's users write them with `prange`."""

import math

import numpy as np
from numba import prange

from plain.loops.program import Program, normal, uniform


def distances(points, others):
    """The distance of each point to each other one."""
    n, m = points.shape[0], others.shape[0]
    out = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            total = 0.0
            for k in range(points.shape[1]):
                d = points[i, k] - others[j, k]
                total += d * d
            out[i, j] = math.sqrt(total)
    return out


def nearest_centre(points, centres):
    """The number of the nearest centre, and the sum of squared distances to it."""
    n = points.shape[0]
    labels = np.empty(n, np.int64)
    inertia = 0.0
    for i in prange(n):
        best = np.inf
        label = -1
        for c in range(centres.shape[0]):
            total = 0.0
            for k in range(points.shape[1]):
                d = points[i, k] - centres[c, k]
                total += d * d
            if total < best:
                best = total
                label = c
        labels[i] = label
        inertia += best
    return labels, inertia


def integral(n, low, high):
    """The area under a curve by the midpoints of n parts."""
    h = (high - low) / n
    total = 0.0
    for i in prange(n):
        x = low + (i + 0.5) * h
        total += math.exp(-x * x) * math.cos(3.0 * x)
    return total * h


def softmax_rows(x):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        most = x[i, 0]
        for j in range(1, m):
            most = max(most, x[i, j])
        total = 0.0
        for j in range(m):
            e = math.exp(x[i, j] - most)
            out[i, j] = e
            total += e
        for j in range(m):
            out[i, j] /= total
    return out


def jacobi_parallel(u, steps):
    """Relaxation in time, each step over all rows at once."""
    n, m = u.shape
    v = u.copy()
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


def lattice_points(radius):
    """The number of points with whole coordinates that lie in a ball."""
    count = 0
    for x in prange(-radius, radius + 1):
        for y in range(-radius, radius + 1):
            for z in range(-radius, radius + 1):
                if x * x + y * y + z * z <= radius * radius:
                    count += 1
    return count


def potential(pos, charge):
    """The energy of charges in each other's field."""
    n = pos.shape[0]
    energy = 0.0
    for i in prange(n):
        own = 0.0
        for j in range(n):
            if i != j:
                dx = pos[i, 0] - pos[j, 0]
                dy = pos[i, 1] - pos[j, 1]
                dz = pos[i, 2] - pos[j, 2]
                own += charge[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
        energy += 0.5 * charge[i] * own
    return energy


def for_distances(n, m):
    return normal(n, 3), normal(m, 3, seed=1)


PROGRAMS = [
    Program("numba", distances, for_distances, (7, 5), (1000, 800)),
    Program("numba", nearest_centre, for_distances, (20, 4), (40_000, 16)),
    Program("numba", integral, lambda n: (n, -2.0, 2.0), (50,), (400_000,)),
    Program("numba", softmax_rows, lambda n, m: (normal(n, m),), (5, 6), (1000, 300)),
    Program(
        "numba", jacobi_parallel, lambda n, k: (uniform(n, n), k), (8, 3), (600, 20)
    ),
    Program("numba", lattice_points, lambda r: (r,), (4,), (110,)),
    Program(
        "numba", potential, lambda n: (normal(n, 3), uniform(n, seed=2)), (9,), (1500,)
    ),
]
