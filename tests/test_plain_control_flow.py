"""Loops and choices of each form run as they are. Rules: staged.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.compare import agrees
from plain.forms import carried, chains, helpers, jumps, memory
from plain.forms.case import CASES, V

import traceir_numba

MODULES = (carried, chains, helpers, jumps, memory)
Function = Callable[..., Any]


def named(value: Any) -> str | None:
    """The name of a function, in the name of a test."""
    return value.__name__ if callable(value) else ""


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=named)
def test_a_construct_does_what_python_does(
    function: Function, arguments: tuple[Any, ...]
) -> None:
    agrees(function, arguments)


def test_a_step_of_zero_is_an_error() -> None:
    @traceir_numba.jit
    def summed(a: Any, step: int) -> Any:
        total = 0.0
        for i in range(7, 0, step):
            total += a[i]
        return total

    assert summed(V, -2) == V[1::2].sum()
    with pytest.raises((ValueError, IndexError)):
        summed(V, 0)


@pytest.mark.parametrize("bound", [2.5, np.float32(2)])
def test_a_bound_of_a_range_is_an_integer(bound: Any) -> None:
    @traceir_numba.jit
    def counted(n: Any) -> int:
        total = 0
        for i in range(n):
            total += i
        return total

    with pytest.raises(TypeError, match="integer"):
        counted(bound)


def test_complex_scalars_are_divided() -> None:
    @traceir_numba.jit
    def divided(z: complex) -> Any:
        return z / 2, 2 / z, z / z, z * 1j / 3

    z = 1 + 2j
    assert divided(z) == (z / 2, 2 / z, 1, z * 1j / 3)
