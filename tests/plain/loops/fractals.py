"""Points of the plane that escape, or don't."""

import numpy as np
from numba import prange

from plain.loops.program import Program


def julia(c, size, limit):
    y, x = np.mgrid[-1.5 : 1.5 : size * 1j, -1.5 : 1.5 : size * 1j]
    z = x + 1j * y
    counts = np.zeros(z.shape, dtype=int)
    for k in range(limit):
        alive = np.abs(z) <= 2
        if not alive.any():
            break
        z[alive] = z[alive] ** 2 + c
        counts[alive] = k
    return counts


def escape(cr, ci, limit):
    zr = zi = 0.0
    for k in range(limit):
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > 4.0:
            return k
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
    return limit


def mandelbrot(image, limit):
    height, width = image.shape
    for py in prange(height):
        ci = -1.2 + 2.4 * py / (height - 1)
        for px in range(width):
            cr = -2.0 + 2.6 * px / (width - 1)
            image[py, px] = escape(cr, ci, limit)


def newton_basins(size, limit, tol=1e-6):
    """The cube root of one that Newton's steps reach from each point, or -1."""
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    basins = np.full((size, size), -1, np.int8)
    for i in range(size):
        for j in range(size):
            z = complex(-2 + 4 * j / (size - 1), -2 + 4 * i / (size - 1))
            for _ in range(limit):
                if z == 0:
                    break
                z = z - (z**3 - 1) / (3 * z**2)
                found = False
                for r in range(3):
                    if abs(z - roots[r]) < tol:
                        basins[i, j] = r
                        found = True
                        break
                if found:
                    break
    return basins


PROGRAMS = [
    Program("numpy", julia, lambda n, t: (-0.8 + 0.156j, n, t), (8, 6), (300, 40)),
    Program(
        "numba",
        mandelbrot,
        lambda n, t: (np.zeros((n, n + 3), np.uint16), t),
        (6, 20),
        (300, 200),
    ),
    Program("numba", newton_basins, lambda n, t: (n, t), (5, 12), (150, 40)),
]
