"""Complex numbers: arithmetic, functions, products of matrices, and orbits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.workload import Function, Workload, each, normal, numpy_only

MANY = 1_000_000
STEPS = 50


def numbers(*shape: int, dtype: str) -> np.ndarray:
    """Complex numbers around zero."""
    return (normal(*shape, dtype="float64") + 1j * normal(*shape)).astype(dtype)


def plane(rows: int, columns: int) -> np.ndarray:
    """The part of the plane in which the Mandelbrot set lies."""
    x, y = np.linspace(-2, 1, columns), np.linspace(-1.5, 1.5, rows)
    return (x + 1j * y[:, None]).astype("complex64")


def orbits_counted(world: Any) -> Function:
    """The number of steps that each orbit stays near, of a given number."""
    xp = world.numpy

    def count(c: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            z, n = state
            near = abs(z) <= 2
            return xp.where(near, z * z + c, z), n + near

        start = c * 0, xp.zeros(c.shape, "int32")
        return world.lax.fori_loop(0, STEPS, step, start)[1]

    return count


def orbits_until(world: Any) -> Function:
    """The same, for as long as one of them is near."""
    xp = world.numpy

    def count(c: Any) -> Any:
        def goes_on(state: Any) -> Any:
            z, _, k = state
            return (k < STEPS) & xp.any(abs(z) <= 2)

        def step(state: Any) -> Any:
            z, n, k = state
            near = abs(z) <= 2
            return xp.where(near, z * z + c, z), n + near, k + 1

        start = c * 0, xp.zeros(c.shape, "int32"), 0
        return world.lax.while_loop(goes_on, step, start)[1]

    return count


def function(name: str) -> Callable[[Any], Function]:
    """The maker of a function that the array module has."""
    return lambda xp: lambda x: getattr(xp, name)(x)


def workloads() -> Iterator[Workload]:
    """A million elements, matrices of 512 rows, a picture of 400 by 400."""
    for dtype in ("complex64", "complex128"):
        x, y, z = (numbers(MANY, dtype=dtype) for _ in range(3))
        a, b = (numbers(512, 512, dtype=dtype) for _ in range(2))
        yield Workload(
            f"{dtype}, a * b + c", each(lambda a, b, c: a * b + c), (x, y, z)
        )
        yield Workload(f"{dtype}, a / b", each(lambda a, b: a / b), (x, y))
        for name in ("abs", "exp", "log", "sqrt", "tanh"):
            yield Workload(f"{dtype}, {name}", numpy_only(function(name)), (x,))
        yield Workload(f"{dtype}, sum", each(lambda a: a.sum()), (x,))
        yield Workload(f"{dtype}, 512 x 512", each(lambda a, b: a @ b), (a, b))
    # An orbit at the edge of the set hangs on the last bit.
    c = plane(400, 400)
    for name, make in (
        ("counted", orbits_counted),
        ("while one is near", orbits_until),
    ):
        yield Workload(f"Mandelbrot, {name}", make, (c,), in_numpy=False, near=0.99)
