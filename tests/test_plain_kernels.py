"""Kernels as scientists write them: arrays filled in loops. Rules: staged.*, face.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.compare import agrees, same

import traceir
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
    """The questions that functions ask of the class of arrays."""
    made = np.ndarray(shape=[2, 3], dtype=np.int32, order="F")
    made[:] = 7
    table = {np.ndarray: 2.0, float: 3.0}
    return (
        *(made, isinstance(x, np.ndarray), isinstance(x[0, 0], np.ndarray)),
        *(issubclass(type(x), np.ndarray), table[type(x)]),
        *(isinstance(x, list | np.ndarray), x.view(np.ndarray).sum()),
        np.ndarray((3,), buffer=np.arange(3.0)),
    )


def primes(n: int) -> Any:
    """The first places of an array, of which a loop counts how many there are."""
    out = np.empty(n, np.int64)
    count = 0
    for i in range(2, n):
        for k in range(count):
            if i % out[k] == 0:
                break
        else:
            out[count] = i
            count += 1
    return out[:count]


def cut(x: Any, m: Any) -> Any:
    """Results whose extents values decide, of each form."""
    k = np.argmax(x)
    return (
        *(x[k:], x[:k], x[k::-1], x[k:0], x[k:] * 2 + 1, x[x > x[k] / 2]),
        *(m[1:3, : k % 4].T, m[k % 5 :, None, : k % 4], m[k % 5, : k % 4]),
        *(m[m > 0], (m * 2)[m[:, 0] > 0], m[: k % 4, 2]),
        x[x > 1].size,
        *(len(m[m > 0]), len(m[m[:, 0] > 0]) / 2, len(x[x > 5])),
    )


KERNELS: list[tuple[Function, tuple[Any, ...]]] = [
    (springs, (V, 6, 0.1)),
    (classes, (M,)),
    (primes, (40,)),
    (cut, (V[[5, 9, 2, 11, 3, 1, 0]], M)),
    (cut, (V[:1], M)),
]


@pytest.mark.parametrize(
    ("kernel", "arguments"), KERNELS, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_kernel_does_what_numpy_does(
    kernel: Function, arguments: tuple[Any, ...]
) -> None:
    agrees(kernel, arguments)


def test_a_cut_result_is_cut_anew_in_each_call_and_each_caller() -> None:
    @traceir_numba.jit
    def until(x: Any, limit: float) -> Any:
        return {"found": x[: np.searchsorted(x, limit)], "rest": x[x >= limit]}

    @traceir_numba.jit
    def sums(x: Any, limit: float) -> Any:
        found = until(x, limit)
        return found["found"].sum(), found["rest"].sum(), found["found"] * 2

    for limit in (0.0, 0.5, 1.2, 9.0):
        small = np.extract(limit > V, V)
        one = until(V, limit)
        same((one["found"], one["rest"]), (small, np.extract(limit <= V, V)))
        same(sums(V, limit), (small.sum(), np.extract(limit <= V, V).sum(), small * 2))


@pytest.mark.parametrize("function", [lambda x: x[: np.argmax(x)], lambda x: x[x > 1]])
def test_a_transform_has_no_cut_results(function: Function) -> None:
    compiled = traceir_numba.jit(function)
    with pytest.raises(RuleTypeError, match="a result in a transform"):
        traceir.vmap(compiled)(traceir.numpy.asarray(M))


def test_no_array_is_made_over_a_traced_buffer() -> None:
    function = traceir_numba.jit(lambda x: np.ndarray((3,), buffer=x))
    with pytest.raises(RuleTypeError, match=r"np\.ndarray with buffer"):
        function(V)
