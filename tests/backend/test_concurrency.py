"""Calls at once: from many threads, from calls within calls, after a fork, in children.

Results are those of one thread, bit for bit, and nobody waits for ever.
"""

from __future__ import annotations

import functools
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from forked import ends_well

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir_numba import cost_model
from traceir_numba.runtime import thread_pool

jit = functools.partial(traceir.jit, backend="numba")
SIZE = 3000


@pytest.fixture(autouse=True)
def all_shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Four threads, and small work is enough for them."""
    monkeypatch.setattr(cost_model, "THREADED_WORK", 1)
    monkeypatch.setattr(cost_model, "THREADED_MATMUL_WORK", 1)
    before = traceir_numba.set_threads(4)
    yield
    traceir_numba.set_threads(before)


def standardised(x: Any) -> Any:
    return (x - x.mean(0)) / jnp.sqrt(((x - x.mean(0)) ** 2).mean(0) + 1)


def softmax(x: Any) -> Any:
    e = jnp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def loss(x: Any) -> Any:
    return jnp.sum(jnp.tanh(x @ x.T) ** 2)


def halved(x: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, v: jnp.sin(v) * 0.5 + x, x)


# Twenty functions of one matrix.
FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x * 2 + 1,
    lambda x: jnp.exp(x) - jnp.log1p(abs(x)),
    lambda x: x.T + x.T,
    lambda x: x.sum(),
    lambda x: x.sum(0),
    lambda x: x.sum(1),
    lambda x: x.max(0),
    lambda x: jnp.argmax(x, 1),
    lambda x: (x > 0).any(1),
    lambda x: x @ x.T,
    lambda x: x.T @ x,
    lambda x: x @ x[0],
    lambda x: jnp.tanh(x @ x.T) + 1,
    lambda x: (x[1:] + x[:-1]).mean(),
    lambda x: jnp.where(x > 0, x, x * x),
    lambda x: (x, x + 1, x.sum()),
    standardised,
    softmax,
    traceir.grad(loss),
    halved,
)


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    random = np.random.default_rng(0)
    return random.standard_normal((70, 90)).astype(np.float32)


def bits(result: Any) -> tuple[bytes, ...]:
    """All elements of a result."""
    leaves = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(leaf).tobytes() for leaf in leaves)


def started(works: list[Callable[[], None]], seconds: float) -> list[BaseException]:
    """Run some works at once; what they raised. Fails if they do not end in time."""
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(w,), daemon=True) for w in works]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "threads wait for ever"
    return errors


def test_many_threads_call_many_functions(matrix: np.ndarray) -> None:
    """Eight threads, a thousand calls each, of functions that nobody has called yet."""
    wanted = [bits(jit(f)(matrix)) for f in FUNCTIONS]
    fresh = [jit(lambda x, f=f: f(x)) for f in FUNCTIONS]

    def work(first: int) -> None:
        for k in range(1000):
            n = (first + k) % len(FUNCTIONS)
            assert bits(fresh[n](matrix)) == wanted[n]

    assert started([functools.partial(work, 3 * t) for t in range(8)], 300) == []


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_the_number_of_threads_does_not_show(number: int, matrix: np.ndarray) -> None:
    f = jit(FUNCTIONS[number])
    found = set()
    for threads in (1, 2, 3, 4):
        traceir_numba.set_threads(threads)
        found.add(bits(f(matrix)))
    assert len(found) == 1


def test_calls_within_calls(matrix: np.ndarray) -> None:
    """A callback of one program calls another one, from several threads at once."""
    inner = jit(lambda x: jnp.tanh(x @ x.T).sum(1))
    shape = traceir.ShapeDtypeStruct((70,), np.float32)

    def host(x: Any) -> Any:
        return np.asarray(inner(np.asarray(x)))

    outer = jit(lambda x: traceir.pure_callback(host, shape, x * 2) + x.sum(1))
    want = bits(outer(matrix))

    def work() -> None:
        for _ in range(30):
            assert bits(outer(matrix)) == want

    assert started([work] * 4, 120) == []


def test_a_call_in_a_worker_of_the_pool(matrix: np.ndarray) -> None:
    """Work in the pool may itself have work for the pool: it does it alone."""
    f = jit(FUNCTIONS[12])
    want = bits(f(matrix))
    found: list[bool] = []

    def entry(lo: int, hi: int) -> None:
        found.extend(bits(f(matrix)) == want for _ in range(lo, hi))

    assert started([lambda: thread_pool.parallel(entry, (), 0, 16)], 60) == []
    assert found == [True] * 16


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_after_and_during_use(matrix: np.ndarray) -> None:
    functions = [jit(FUNCTIONS[n]) for n in (0, 5, 9, 12, 16)]
    wanted = [bits(f(matrix)) for f in functions]

    def all_of_them() -> None:
        for f, want in zip(functions, wanted, strict=True):
            assert bits(f(matrix)) == want

    assert ends_well(all_of_them)
    ended = threading.Event()

    def busy() -> None:
        while not ended.is_set():
            all_of_them()

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        assert all(ends_well(all_of_them) for _ in range(5))
    finally:
        ended.set()
        thread.join()


def _spawned(queue: Any, matrix: np.ndarray) -> None:
    traceir_numba.set_threads(3)
    queue.put(bits(jit(FUNCTIONS[17])(matrix)))


def test_a_spawned_process(matrix: np.ndarray) -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [
        context.Process(target=_spawned, args=(queue, matrix)) for _ in range(2)
    ]
    for child in children:
        child.start()
    want = bits(jit(FUNCTIONS[17])(matrix))
    assert [queue.get(timeout=120) for _ in children] == [want, want]
    for child in children:
        child.join(60)
        assert child.exitcode == 0
