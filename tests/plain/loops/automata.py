"""Cellular automata, and other machines on grids."""

import numpy as np

from plain.loops.program import Program, integers

RULE = 110


def life(grid, generations):
    for _ in range(generations):
        n = sum(
            np.roll(np.roll(grid, i, 0), j, 1)
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        grid = ((n == 3) | ((grid == 1) & (n == 2))).astype(grid.dtype)
    return grid


def sandpile(grid):
    """Topple until no cell has four grains; the number of rounds."""
    rounds = 0
    while np.any(grid >= 4):
        over = grid // 4
        grid -= 4 * over
        grid[1:] += over[:-1]
        grid[:-1] += over[1:]
        grid[:, 1:] += over[:, :-1]
        grid[:, :-1] += over[:, 1:]
        rounds += 1
    return rounds


def elementary(first, steps):
    width = first.shape[0]
    rows = np.empty((steps + 1, width), dtype=np.uint8)
    rows[0, :] = first
    for t in range(steps):
        for x in range(width):
            left = rows[t, x - 1]
            right = rows[t, (x + 1) % width]
            pattern = (left << 2) | (rows[t, x] << 1) | right
            rows[t + 1, x] = (RULE >> pattern) & 1
    return rows


def count_neighbours(grid, y, x):
    height, width = grid.shape
    total = 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy == 0 and dx == 0:
                continue
            yy = y + dy
            xx = x + dx
            if 0 <= yy < height and 0 <= xx < width:
                total += grid[yy, xx]
    return total


def life_bounded(grid):
    """The next generation where nothing lives beyond the edge, and the living."""
    out = np.zeros_like(grid)
    alive = 0
    for y in range(grid.shape[0]):
        for x in range(grid.shape[1]):
            n = count_neighbours(grid, y, x)
            if grid[y, x]:
                out[y, x] = 1 if 2 <= n <= 3 else 0
            elif n == 3:
                out[y, x] = 1
            alive += out[y, x]
    return out, alive


def langton(grid, steps):
    """Langton's ant walks until it leaves the grid, or has made its steps."""
    n = grid.shape[0]
    y = x = n // 2
    direction = 0
    for step in range(steps):
        if not (0 <= y < n and 0 <= x < n):
            return step
        if grid[y, x]:
            direction = (direction + 3) % 4
        else:
            direction = (direction + 1) % 4
        grid[y, x] = not grid[y, x]
        if direction == 0:
            y -= 1
        elif direction == 1:
            x += 1
        elif direction == 2:
            y += 1
        else:
            x -= 1
    return steps


PROGRAMS = [
    Program(
        "numpy", life, lambda n, t: (integers(n, n, below=2), t), (6, 3), (200, 30)
    ),
    Program("numpy", sandpile, lambda n: (integers(n, n + 1, below=9),), (5,), (60,)),
    Program(
        "numba",
        elementary,
        lambda n, t: (integers(n, below=2).astype(np.uint8), t),
        (11, 6),
        (1000, 500),
    ),
    Program("numba", life_bounded, lambda n: (integers(n, n, below=2),), (7,), (500,)),
    Program(
        "numba",
        langton,
        lambda n, t: (np.zeros((n, n), bool), t),
        (5, 60),
        (300, 11_000),
    ),
]
