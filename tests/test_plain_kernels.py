"""Kernels as scientists write them: arrays filled in loops. Rules: staged.*, face.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.compare import agrees

import traceir_numba
from traceir.errors import RuleTypeError

Function = Callable[..., Any]
V = np.linspace(0.1, 2.0, 12)
M = np.sin(np.arange(20.0)).reshape(5, 4)


def springs(x: Any, steps: int, dt: float) -> Any:
    """Energies of a chain of weights, in an array that the class of arrays makes."""
    speed = np.ndarray(x.shape, dtype=x.dtype)
    energies = np.ndarray(steps + 1, dtype=np.float64)
    parts = np.ndarray((steps + 1, 2))
    speed[:] = 0
    energies[0] = parts[0, 0] = parts[0, 1] = 0.0
    for step in range(steps):
        force = np.zeros_like(x)
        force[1:-1] = x[2:] - 2 * x[1:-1] + x[:-2]
        speed += dt * force
        x += dt * speed
        parts[step + 1] = np.sum(speed**2), np.sum(x**2)
        energies[step + 1] = parts[step + 1].sum()
    return energies, parts


def classes(x: Any) -> Any:
    """What functions ask of the class of arrays."""
    made = np.ndarray(shape=[2, 3], dtype=np.int32, order="F")
    made[:] = 7
    table = {np.ndarray: 2.0, float: 3.0}
    return (
        *(made, isinstance(x, np.ndarray), isinstance(x[0, 0], np.ndarray)),
        *(issubclass(type(x), np.ndarray), table[type(x)]),
        *(isinstance(x, list | np.ndarray), x.view(np.ndarray).sum()),
        np.ndarray((3,), buffer=np.arange(3.0)),
    )


KERNELS: list[tuple[Function, tuple[Any, ...]]] = [
    (springs, (V, 6, 0.1)),
    (classes, (M,)),
]


@pytest.mark.parametrize(
    ("kernel", "arguments"), KERNELS, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_kernel_does_what_numpy_does(
    kernel: Function, arguments: tuple[Any, ...]
) -> None:
    agrees(kernel, arguments)


def test_no_array_is_made_over_a_traced_buffer() -> None:
    function = traceir_numba.jit(lambda x: np.ndarray((3,), buffer=x))
    with pytest.raises(RuleTypeError, match=r"np\.ndarray with buffer"):
        function(V)
