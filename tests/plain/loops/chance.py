"""Random numbers: drawn by NumPy's generators, or by one written out."""

import math

import numpy as np
from numba import prange

from plain.loops.program import Program, normal

A, C, M = 1103515245, 12345, 2**31


def random_walk(rng, n_steps, n_walkers):
    pos = np.zeros(n_walkers)
    furthest = np.zeros(n_walkers)
    for _ in range(n_steps):
        pos += rng.normal(size=n_walkers)
        furthest = np.maximum(furthest, np.abs(pos))
    return pos, furthest


def asian_option(s0, strike, rate, sigma, paths):
    """The price from given normal draws, one row for each step of time."""
    steps, n = paths.shape
    dt = 1.0 / steps
    price = np.full(n, s0)
    total = np.zeros(n)
    for z in paths:
        price = price * np.exp((rate - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z)
        total += price
    payoff = np.maximum(total / steps - strike, 0)
    return np.exp(-rate) * payoff.mean()


def ising(spins, draws, beta):
    """Sweeps over the two colours of a chequerboard; the magnetization after each."""
    n = spins.shape[0]
    rows, cols = np.indices((n, n))
    history = []
    for sweep in draws:
        for colour in (0, 1):
            mask = (rows + cols) % 2 == colour
            neighbours = (
                np.roll(spins, 1, 0)
                + np.roll(spins, -1, 0)
                + np.roll(spins, 1, 1)
                + np.roll(spins, -1, 1)
            )
            flip = mask & (sweep < np.exp(-2 * beta * spins * neighbours))
            spins[flip] *= -1
        history.append(spins.mean())
    return np.array(history)


def lcg(state):
    return (A * state + C) % M


def lcg_float(state):
    state = lcg(state)
    return state, state / M


def estimate_pi(n, seed):
    state = seed
    inside = 0
    for _ in range(n):
        state, x = lcg_float(state)
        state, y = lcg_float(state)
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


def integrate_rows(n, samples):
    """A mean of sin(x)**2 for each row, drawn by a stream of its own."""
    out = np.zeros(n)
    for row in prange(n):
        state = 12345 + 977 * row
        acc = 0.0
        for _ in range(samples):
            state, x = lcg_float(state)
            acc += math.sin(math.pi * x) ** 2
        out[row] = acc / samples
    return out


def metropolis(x0, n, seed, width=1.5):
    """Draws of a normal number, and how many proposals were accepted."""
    chain = np.empty(n)
    x = x0
    accepted = 0
    state = seed
    for i in range(n):
        state, u = lcg_float(state)
        proposal = x + width * (2.0 * u - 1.0)
        log_ratio = 0.5 * (x * x - proposal * proposal)
        state, u = lcg_float(state)
        if log_ratio >= 0 or u < math.exp(log_ratio):
            x = proposal
            accepted += 1
        chain[i] = x
    return chain, accepted


def darts(rng, n):
    """An estimate of pi."""
    inside = 0
    for _ in range(n):
        x = rng.random()
        y = rng.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


def farthest(rng, n):
    """The end of a walk in normal steps, how far it came, and when."""
    place, far, when = 0.0, 0.0, 0
    for k in range(n):
        place += rng.standard_normal()
        if abs(place) > far:
            far, when = abs(place), k
    return place, far, when


def spin_flips(rng, spins, beta, n):
    """Metropolis steps of an Ising model; the energy that they change it by."""
    size = spins.shape[0]
    change = 0.0
    for _ in range(n):
        i = rng.integers(0, size)
        j = rng.integers(0, size)
        near = spins[i - 1, j] + spins[(i + 1) % size, j]
        near += spins[i, j - 1] + spins[i, (j + 1) % size]
        cost = 2.0 * spins[i, j] * near
        if cost <= 0 or rng.random() < math.exp(-beta * cost):
            spins[i, j] = -spins[i, j]
            change += cost
    return change


def birth_and_death(rng, count, birth, death, end):
    """Gillespie's simulation of a population, until a time or until it is gone."""
    time, events, most = 0.0, 0, count
    while count > 0:
        total = (birth + death) * count
        time += rng.exponential(1.0 / total)
        if time > end:
            break
        if rng.random() * (birth + death) < birth:
            count += 1
        else:
            count -= 1
        most = max(most, count)
        events += 1
    return count, most, events


PROGRAMS = [
    Program(
        "numpy",
        random_walk,
        lambda n, m: (np.random.default_rng(7), n, m),
        (5, 4),
        (100, 5000),
    ),
    Program(
        "numpy",
        asian_option,
        lambda n, m: (100.0, 95.0, 0.03, 0.2, normal(n, m)),
        (6, 5),
        (50, 10_000),
    ),
    Program(
        "numpy",
        ising,
        lambda n, t: (
            np.where(normal(n, n) > 0, 1, -1),
            np.random.default_rng(1).random((t, n, n)),
            0.4,
        ),
        (6, 4),
        (100, 30),
    ),
    Program("numba", estimate_pi, lambda n: (n, 42), (50,), (1_000_000,)),
    Program("numba", integrate_rows, lambda n, m: (n, m), (4, 10), (100, 2000)),
    Program("numba", metropolis, lambda n: (0.0, n, 2024), (30,), (200_000,)),
    Program(
        "numba", darts, lambda n: (np.random.default_rng(3), n), (40,), (1_000_000,)
    ),
    Program(
        "numba", farthest, lambda n: (np.random.default_rng(4), n), (40,), (1_000_000,)
    ),
    Program(
        "numba",
        spin_flips,
        lambda m, n: (
            np.random.default_rng(5),
            np.where(normal(m, m) > 0, 1.0, -1.0),
            0.4,
            n,
        ),
        (6, 200),
        (64, 200_000),
    ),
    Program(
        "numba",
        birth_and_death,
        lambda n, end: (np.random.default_rng(6), n, 1.0, 1.1, float(end)),
        (20, 2),
        (10_000, 10),
    ),
]
