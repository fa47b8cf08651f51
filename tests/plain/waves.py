"""Complex numbers: waves, circuits, roots."""

import numpy as np

from plain.examples import example, numbers

Z = numbers(12) + 1j * numbers(12, seed=1)


@example(numbers(9))
def unit_circle(angles):
    z = np.empty(angles.shape, np.complex128)
    z.real = np.cos(angles)
    z.imag = np.sin(angles)
    return z


@example(Z)
def instantaneous_frequency(z):
    turns = z[1:] * np.conjugate(z[:-1])
    return np.angle(turns), np.angle(turns, deg=True), np.abs(turns)


@example(Z)
def without_negative_parts(z):
    z.real[z.real < 0] = 0
    z.imag[:] = np.maximum(z.imag, 0)
    return z.real.sum()


@example(numbers(8))
def discrete_fourier(x):
    n = len(x)
    turn = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    return turn @ x, np.abs(turn @ x) ** 2 / n


@example(numbers(5), numbers(5, seed=1), numbers(5, seed=2))
def quadratic_roots(a, b, c):
    root = np.sqrt((b * b - 4 * a * c).astype(complex))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@example(np.linspace(1.0, 90.0, 7), 8.0, 0.1, 0.002)
def impedance(frequency, resistance, inductance, capacity):
    omega = 2 * np.pi * frequency
    z = resistance + 1j * omega * inductance + 1 / (1j * omega * capacity)
    return np.abs(z), np.angle(z, deg=True), z.real.min(), z.imag.max()


@example(np.linspace(-2, 1, 6)[:, None] * (1 + 0j) + 1j * np.linspace(-1, 1, 5))
def steps_to_escape(c):
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, int)
    for _ in range(8):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        steps += inside
    return steps


@example(Z.reshape(3, 4))
def swapped_in_place(z):
    real = z.real.copy()
    z.real = z.imag
    z.imag = real
    z.T.imag[0] += 1
    np.conjugate(z, out=z)
    return z.real.T
