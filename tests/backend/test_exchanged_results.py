"""Arrays that a loop exchanges begin in the memory of the results.

Cites: backend.compile
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax

M = np.arange(9.0, dtype=np.float32).reshape(3, 3) / 8
X, Y = np.float32([[1], [2], [3]]), np.float32([[4], [5], [6]])

Step = Callable[[Any, Any], tuple[Any, Any]]


def one(x: Any, y: Any) -> tuple[Any, Any]:
    return M @ x, y


def two(x: Any, y: Any) -> tuple[Any, Any]:
    return y, M @ x


def other(x: Any, y: Any) -> tuple[Any, Any]:
    return y + 1, x


def known(step: Step, count: int, x: Any, y: Any) -> Any:
    def run(x: Any, y: Any) -> Any:
        return lax.fori_loop(0, count, lambda _, v: step(*v), (x, y))

    return traceir.jit(run, backend="numba")(x, y)


def unknown(step: Step, count: int, x: Any, y: Any) -> Any:
    def run(count: Any, x: Any, y: Any) -> Any:
        return lax.fori_loop(0, count, lambda _, v: step(*v), (x, y))

    return traceir.jit(run, backend="numba")(count, x, y)


def chosen(step: Step, count: int, x: Any, y: Any) -> Any:
    """The loop is one side of a choice, and one of its results alone is used."""

    def run(count: Any, x: Any, y: Any) -> Any:
        def loops() -> Any:
            return lax.fori_loop(0, count, lambda _, v: step(*v), (x, y))[1]

        found = lax.cond(count >= 0, loops, lambda: x - y)
        return found * 2, found

    doubled, found = traceir.jit(run, backend="numba")(count, x, y)
    np.testing.assert_array_equal(doubled, found * 2)
    return [found]


def nested(step: Step, count: int, x: Any, y: Any) -> Any:
    """The loop runs again in each turn of another, by a choice; rows are stacked."""

    def run(count: Any, x: Any, y: Any) -> Any:
        def turn(v: Any, k: Any) -> Any:
            def loops() -> Any:
                return lax.fori_loop(0, k, lambda _, v: step(*v), v)

            found = lax.cond(k % 4 < 3, loops, lambda: v)
            return found, found

        return lax.scan(turn, (x, y), jnp.arange(7) + count)

    last, rows = traceir.jit(run, backend="numba")(count, x, y)
    return [*last, *rows]


def by_python(way: Any, step: Step, count: int, x: Any, y: Any) -> list[Any]:
    def loops(count: int, x: Any, y: Any) -> tuple[Any, Any]:
        for _ in range(count):
            x, y = step(x, y)
        return x, y

    if way is not nested:
        found = loops(count, x, y)
        return [*found][1:] if way is chosen else [*found]
    rows: list[list[Any]] = [[], []]
    for k in range(7):
        x, y = loops(k + count, x, y) if (k + count) % 4 < 3 else (x, y)
        rows[0].append(x)
        rows[1].append(y)
    return [x, y, *map(np.array, rows)]


@pytest.mark.parametrize("way", [known, unknown, chosen, nested])
@pytest.mark.parametrize("step", [one, two, other])
def test_results_are_those_of_any_number_of_turns(way: Any, step: Step) -> None:
    for count in range(5):
        wanted = by_python(way, step, count, X, Y)
        found = way(step, count, X, Y)
        for mine, right in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine, right, 1e-5)


def test_no_array_is_copied_after_a_loop_of_known_length() -> None:
    for count in (8, 9):

        def run(x: Any, count: int = count) -> Any:
            return lax.fori_loop(0, count, lambda _, v: M @ v, x)

        source = traceir.jit(run, backend="numba").lower(X).as_text()
        assert source.split("def run(")[-1].count("memory_") == 2  # made, and given
        assert source.count("copy_f32(") == 2  # defined, and at the start
