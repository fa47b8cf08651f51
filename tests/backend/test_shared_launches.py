"""Kernels in loops whose ranges threads share: the same bits, wherever it pays.

Rules: staged.turns
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir_numba.compat import prange


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = traceir_numba.threads()
    yield
    traceir_numba.set_threads(before)


def heat(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].add(0.1 * (around - 4 * inner))

    return lax.fori_loop(0, 7, step, u)


def orbits(x: Any) -> Any:
    return lax.fori_loop(0, 9, lambda _, x: 3.7 * x * (1 - x), x)


def rows(x: Any) -> Any:
    def step(x: Any, k: Any) -> Any:
        x = jnp.exp(x - x.max(-1, keepdims=True)) * k
        return x / x.sum(-1, keepdims=True), x.sum(0)

    return lax.scan(step, x, jnp.arange(1.0, 6.0, dtype="float32"))


def until(x: Any) -> Any:
    def more(state: Any) -> Any:
        return state[0].max() < 100

    def body(state: Any) -> Any:
        x, steps = state
        return x + jnp.roll(jnp.tanh(x), 1, 0) + 1, steps + 1

    return lax.while_loop(more, body, (x, 0))


def folded(x: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, x: x / jnp.sum(x * x) + 1, x)


def put(x: Any) -> Any:
    places = jnp.arange(x.size) * 7 % 1000
    return lax.fori_loop(0, 3, lambda k, x: x.at[places].add(jnp.sin(x) * k), x)


FUNCTIONS = {
    "heat": (heat, (301, 517)),
    "orbits": (orbits, (100_003,)),
    "rows": (rows, (700, 130)),
    "until": (until, (130, 700)),
    "folded": (folded, (90_001,)),
    "put": (put, (40_000,)),
}


def bits(result: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in traceir.tree.leaves(result)]


def argument(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).random(shape, "float32")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_number_of_threads_gives_the_same_bits(name: str) -> None:
    function, shape = FUNCTIONS[name]
    x, jitted = argument(shape), traceir.jit(function, backend="numba")
    traceir_numba.set_threads(1)
    alone = bits(jitted(x))
    for count in (2, 3, 8):
        traceir_numba.set_threads(count)
        for _ in range(3):
            assert bits(jitted(x)) == alone


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("heat", "2 kernels shared by 2 threads"),
        ("rows", "2 kernels shared by 2 threads"),
        ("put", "one thread"),
    ],
)
def test_a_report_tells_what_is_shared(name: str, told: str) -> None:
    """None is where much is done in order, as additions at places that may be equal."""
    function, shape = FUNCTIONS[name]
    jitted = traceir.jit(function, backend="numba")
    traceir_numba.set_threads(2)
    assert f"control flow, {told}" in jitted.explain(argument(shape), what="speed")
    small = argument((8,) * len(shape))
    assert "control flow, one thread" in jitted.explain(small, what="speed")


def test_threads_of_the_user_that_meet_run_alone_or_together() -> None:
    traceir_numba.set_threads(2)
    x, jitted = argument((200_000,)), traceir.jit(orbits, backend="numba")
    want = bits(jitted(x))
    found: list[list[bytes]] = []

    def calls() -> None:
        found.extend(bits(jitted(x)) for _ in range(20))

    workers = [threading.Thread(target=calls) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 80
    assert all(one == want for one in found)


def test_a_launch_in_shared_turns_runs_in_its_thread() -> None:
    @traceir_numba.jit
    def each(x: Any) -> Any:
        out = np.zeros_like(x)
        for k in prange(len(x)):
            y = x[k]
            for _ in range(3):
                y = 3.7 * y * (1 - y)
            out[k] = y
        return out

    x = argument((16, 50_000))
    found = []
    for count in (1, 3):
        traceir_numba.set_threads(count)
        found.append(bits(each(x)))
    assert found[0] == found[1]
