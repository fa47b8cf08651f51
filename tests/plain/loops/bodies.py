"""Bodies that attract each other."""

import math

import numpy as np
from numba import prange

from plain.loops.program import Program, normal, uniform


def leapfrog(pos, vel, mass, dt, steps):
    def acceleration(p):
        d = p[None, :, :] - p[:, None, :]
        r2 = (d**2).sum(-1) + 0.01
        return (mass[None, :, None] * d / r2[..., None] ** 1.5).sum(1)

    energies = np.zeros(steps)
    acc = acceleration(pos)
    for k in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = acceleration(pos)
        vel += 0.5 * dt * acc
        energies[k] = 0.5 * np.sum(mass * (vel**2).sum(axis=1))
    return energies


def kepler(mean_anomaly, eccentricity):
    """Eccentric anomalies, by Newton's steps until all rest."""
    E = mean_anomaly.copy()
    step = np.ones_like(E)
    while np.abs(step).max() > 1e-12:
        step = (E - eccentricity * np.sin(E) - mean_anomaly) / (
            1 - eccentricity * np.cos(E)
        )
        E -= step
    return E


def advance(pos, vel, mass, dt, n_steps):
    n = pos.shape[0]
    for _ in range(n_steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = pos[i, 0] - pos[j, 0]
                dy = pos[i, 1] - pos[j, 1]
                dz = pos[i, 2] - pos[j, 2]
                d2 = dx * dx + dy * dy + dz * dz + 0.01
                mag = dt / (d2 * math.sqrt(d2))
                vel[i, 0] -= dx * mass[j] * mag
                vel[i, 1] -= dy * mass[j] * mag
                vel[i, 2] -= dz * mass[j] * mag
                vel[j, 0] += dx * mass[i] * mag
                vel[j, 1] += dy * mass[i] * mag
                vel[j, 2] += dz * mass[i] * mag
        for i in range(n):
            for k in range(3):
                pos[i, k] += dt * vel[i, k]


def minimum_image(d, box):
    if d > 0.5 * box:
        d -= box
    elif d < -0.5 * box:
        d += box
    return d


def lennard_jones(pos, box, cutoff):
    """Forces in a periodic box, and the energy."""
    n = pos.shape[0]
    forces = np.zeros_like(pos)
    energies = np.zeros(n)
    for i in prange(n):
        for j in range(n):
            if i == j:
                continue
            dx = minimum_image(pos[i, 0] - pos[j, 0], box)
            dy = minimum_image(pos[i, 1] - pos[j, 1], box)
            r2 = dx**2 + dy**2
            if r2 > cutoff**2:
                continue
            inv = 1.0 / r2
            inv6 = inv * inv * inv
            energies[i] += 2.0 * inv6 * (inv6 - 1.0)
            f = 48.0 * inv * inv6 * (inv6 - 0.5)
            forces[i, 0] += f * dx
            forces[i, 1] += f * dy
    return forces, energies.sum()


def for_bodies(n, steps):
    return normal(n, 3), normal(n, 3, seed=1), uniform(n, seed=2), 0.01, steps


PROGRAMS = [
    Program("numpy", leapfrog, for_bodies, (4, 5), (60, 50)),
    Program("numpy", kepler, lambda n: (uniform(n) * 6, 0.3), (6,), (50_000,)),
    Program("numba", advance, for_bodies, (4, 5), (5, 20_000)),
    Program(
        "numba", lennard_jones, lambda n: (uniform(n, 2) * 6, 6.0, 2.5), (7,), (800,)
    ),
]
