"""Stencils by slicing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from benchmarks.workload import Function, Workload, each, normal, numpy_only


def neighbours_by_hand() -> Function:
    """Two loops for Numba."""

    @numba.njit
    def run(a: Any) -> Any:
        n, m = a.shape
        out = np.empty((n - 2, m - 2), a.dtype)
        for i in range(n - 2):
            for j in range(m - 2):
                across = a[i + 1, j] + a[i + 1, j + 2]
                down = a[i, j + 1] + a[i + 2, j + 1]
                out[i, j] = np.float32(0.25) * (across + down)
        return out

    return run


def neighbours(x: Any) -> Any:
    """The mean of four neighbours."""
    across, down = x[1:-1, :-2] + x[1:-1, 2:], x[:-2, 1:-1] + x[2:, 1:-1]
    return 0.25 * (across + down)


def blur(x: Any) -> Any:
    """Nine points, one axis after the other."""
    x = 0.25 * x[:, :-2] + 0.5 * x[:, 1:-1] + 0.25 * x[:, 2:]
    return 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]


def wave(u: Any, v: Any) -> Any:
    """A step of the wave equation inside the edge."""
    inner = u[1:-1, 1:-1]
    bend = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4.0 * inner
    return 2.0 * inner - v[1:-1, 1:-1] + 0.1 * bend


def around(x: Any) -> Any:
    """The mean of six neighbours."""
    total = x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1]
    return (total + x[1:-1, 2:, 1:-1] + x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:]) / 6.0


def upwind(xp: Any) -> Function:
    """Transport against or with the wind."""

    def run(u: Any, c: Any) -> Any:
        left, right = u[1:-1] - u[:-2], u[2:] - u[1:-1]
        return u[1:-1] - 0.1 * c[1:-1] * xp.where(c[1:-1] > 0, left, right)

    return run


def workloads() -> Iterator[Workload]:
    """Of about a million points."""
    square, line = normal(1000, 1000), normal(1_000_000)
    yield Workload(
        "four neighbours", each(neighbours), (square,), by_hand=neighbours_by_hand
    )
    yield Workload("nine points", each(blur), (square,))
    yield Workload("wave equation", each(wave), (square, normal(1000, 1000)))
    yield Workload("differences", each(lambda x: x[1:] - x[:-1]), (line,))
    yield Workload("upwind", numpy_only(upwind), (line, normal(1_000_000)))
    cube = normal(100, 100, 100)
    yield Workload("six neighbours in a cube", each(around), (cube,))
