"""Threads that need one trace: who traces, who waits, what is kept.

Cites cache.event.wait, cache.event.trace-too, cache.event.first-insert,
cache.event.raise-too, cache.event.raise, cache.event.keep, cache.event.clear-nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

import traceir
from traceir.rules import default

# Long enough for a thread to do what it should not, short enough to wait for.
SOON = 0.05
LATE = 10


class Gate:
    """A function whose traces stop until they are let go, or made to raise.

    `entered` counts the traces that have begun.
    """

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.traces = 0
        self.orders: list[tuple[threading.Event, list[Exception]]] = []
        self.lock = threading.Lock()
        self.fun = lambda x: self._body(x)

    def _body(self, x: Any) -> Any:
        order: tuple[threading.Event, list[Exception]] = threading.Event(), []
        with self.lock:
            self.traces += 1
            self.orders.append(order)
        self.entered.release()
        assert order[0].wait(LATE)
        if order[1]:
            raise order[1][0]
        return x * 2

    def wait(self) -> None:
        """Until one more trace has begun."""
        assert self.entered.acquire(timeout=LATE)

    def none_begins(self) -> bool:
        """True if for a while no other trace begins."""
        return not self.entered.acquire(timeout=SOON)

    def let_go(self, n: int, error: Exception | None = None) -> None:
        """The trace that began as number `n` goes on."""
        if error is not None:
            self.orders[n][1].append(error)
        self.orders[n][0].set()


@pytest.fixture
def pool() -> Iterator[Callable[..., Future[float]]]:
    """Runs calls in threads of their own; the result as a number."""
    with ThreadPoolExecutor(8) as threads:
        yield lambda f, x: threads.submit(lambda: float(f(x)))


@pytest.fixture
def gate() -> Gate:
    """A function that stops while it is traced."""
    return Gate()


def test_first_calls_at_once_trace_once(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    calls = [pool(f, 3.0) for _ in range(6)]
    gate.wait()
    assert gate.none_begins()  # cache.event.wait
    gate.let_go(0)
    assert [call.result(LATE) for call in calls] == [6.0] * 6
    assert gate.traces == 1 and f.cache_info().currsize == 1


def test_other_keys_do_not_wait(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    first, other = pool(f, 3.0), pool(f, 3)
    gate.wait()
    gate.wait()
    gate.let_go(0)
    gate.let_go(1)
    assert first.result(LATE) == other.result(LATE) == 6
    assert f.cache_info().currsize == 2


def test_two_jits_of_a_function_wait_for_one_another(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    g = traceir.jit(gate.fun, backend="reference", keep_unused=True)
    calls = [pool(f, 3.0), pool(g, 4.0)]
    gate.wait()
    assert gate.none_begins()
    gate.let_go(0)
    assert sorted(call.result(LATE) for call in calls) == [6.0, 8.0]


def test_who_waits_wakes_when_a_trace_raises(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    calls = [pool(f, 3.0) for _ in range(3)]
    gate.wait()
    gate.let_go(0, ArithmeticError("first"))
    gate.wait()  # one of those that waited traces, the third still waits
    assert gate.none_begins()
    gate.let_go(1)
    errors = [call.exception(LATE) for call in calls]
    assert sorted(type(error).__name__ for error in errors) == [
        "ArithmeticError",
        "NoneType",
        "NoneType",
    ]
    assert gate.traces == 2 and f.cache_info().currsize == 1


def nested(inner: Any) -> Any:
    """A function that calls another one while it is traced."""
    return traceir.jit(lambda x: inner(x) + 1, backend="reference")


def two_that_trace(pool: Any, gate: Gate) -> tuple[Any, Future[float], Future[float]]:
    """A function that two threads are tracing, the second for another function."""
    f = traceir.jit(gate.fun, backend="reference")
    first = pool(f, 3.0)
    gate.wait()
    second = pool(nested(f), 3.0)
    gate.wait()
    return f, first, second


def test_a_thread_that_traces_does_not_wait(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    first = pool(f, 3.0)
    gate.wait()
    second = pool(nested(f), 3.0)
    gate.wait()  # cache.event.trace-too
    gate.let_go(1)
    assert second.result(LATE) == 7.0
    kept = f.cache_info().currsize
    third = pool(f, 5.0)  # finds what the second has kept; the first still traces
    assert third.result(LATE) == 10.0 and kept == 1
    gate.let_go(0)
    assert first.result(LATE) == 6.0
    assert gate.traces == 2 and f.cache_info().currsize == 1


def test_who_waits_finds_what_another_thread_has_kept(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    first = pool(f, 3.0)
    gate.wait()
    waiting = pool(f, 5.0)
    second = pool(nested(f), 3.0)
    gate.wait()
    gate.let_go(1)  # cache.event.keep, while the first still traces
    assert (second.result(LATE), waiting.result(LATE)) == (7.0, 10.0)
    gate.let_go(0)
    assert first.result(LATE) == 6.0 and gate.traces == 2


def test_the_first_insert_wins(pool: Any, gate: Gate) -> None:
    f, first, second = two_that_trace(pool, gate)
    gate.let_go(1)
    assert second.result(LATE) == 7.0
    early = f.trace(3.0).jaxpr
    gate.let_go(0)
    assert first.result(LATE) == 6.0
    assert f.trace(3.0).jaxpr is early  # cache.event.first-insert


def test_a_second_trace_that_raises_takes_nothing(pool: Any, gate: Gate) -> None:
    f, first, second = two_that_trace(pool, gate)
    waiting = pool(f, 4.0)
    gate.let_go(1, ArithmeticError("second"))  # cache.event.raise-too
    assert isinstance(second.exception(LATE), ArithmeticError)
    assert gate.none_begins() and not waiting.done()
    gate.let_go(0)
    assert (first.result(LATE), waiting.result(LATE)) == (6.0, 8.0)
    assert gate.traces == 2 and f.cache_info().currsize == 1


def test_a_late_raise_leaves_what_is_kept(pool: Any, gate: Gate) -> None:
    f, first, second = two_that_trace(pool, gate)
    gate.let_go(1)
    assert second.result(LATE) == 7.0
    gate.let_go(0, ArithmeticError("first"))
    assert isinstance(first.exception(LATE), ArithmeticError)
    assert float(f(4.0)) == 8.0 and gate.traces == 2


def test_clearing_does_not_stop_a_trace(pool: Any, gate: Gate) -> None:
    f = traceir.jit(gate.fun, backend="reference")
    first = pool(f, 3.0)
    gate.wait()
    f.clear_cache()  # cache.event.clear-nothing
    second = pool(f, 4.0)
    assert gate.none_begins()
    gate.let_go(0)
    assert (first.result(LATE), second.result(LATE)) == (6.0, 8.0)
    assert gate.traces == 1


def test_threads_that_need_one_another_do_not_stop(pool: Any) -> None:
    both = threading.Barrier(2)
    calls: dict[str, Any] = {}

    def body(x: Any, other: str) -> Any:
        # The first function that a thread traces needs the other thread's.
        if threading.get_ident() in begun:
            return x + 1
        begun.add(threading.get_ident())
        both.wait(LATE)
        return calls[other](x) + 1

    begun: set[int] = set()
    calls["a"] = traceir.jit(lambda x: body(x, "b"), backend="reference")
    calls["b"] = traceir.jit(lambda x: body(x, "a"), backend="reference")
    results = [pool(calls["a"], 1.0), pool(calls["b"], 1.0)]
    assert {result.result(LATE) for result in results} <= {2.0, 3.0}


def test_a_thread_that_traces_too_may_not_call_itself(pool: Any, gate: Gate) -> None:
    """A thread traces a function; another one, which traces it too, calls it inside."""
    again: list[Any] = []
    within = threading.local()

    def body(x: Any) -> Any:
        fun: Any = gate.fun
        y = fun(x)
        if getattr(within, "nested", False):
            return again[0](y * 0 + x)
        return y

    def twice(x: Any) -> Any:
        within.nested = True
        called: Any = again[0]
        return called(x) + 1

    f: Any = traceir.jit(body, backend="reference")
    again.append(f)
    first = pool(f, 3.0)
    gate.wait()
    second = pool(traceir.jit(twice, backend="reference"), 3.0)
    gate.wait()
    gate.let_go(1)
    error: Any = second.exception(LATE)
    assert error.rule == "cache.recursion"
    gate.let_go(0)
    assert first.result(LATE) == 6.0 and gate.traces == 2


@pytest.mark.parametrize(
    "makers, depth, row, outcome",
    [
        ((1,), 0, "cache.event.wait", "waits"),
        ((1,), 1, "cache.event.trace-too", "traces"),
        ((0,), 0, "cache.event.recursion", "raises"),
        ((1, 0), 1, "cache.event.recursion", "raises"),
    ],
)
def test_the_row_of_a_call_of_what_is_being_traced(
    makers: tuple[int, ...], depth: int, row: str, outcome: str
) -> None:
    _, found = default().machine.found("call", makers=makers, depth=depth, captures=())
    assert (found.id, found.outcome) == (row, outcome)


@pytest.mark.parametrize("kept", [False, True])
def test_the_row_of_a_second_trace(kept: bool) -> None:
    machine = default().machine
    seen: dict[str, Any] = {"kept": kept, "makers": (0, 1), "depth": 0, "captures": ()}
    values = {**machine.start, **seen, "caller": 0}
    raised = machine.step("raise", values)
    assert raised.id == f"cache.event.raise{'-too' * kept}"
    ended = machine.step("return", values)
    assert ended.id == f"cache.event.{'first-insert' if kept else 'keep'}"
    for row, keeps in ((raised, kept), (ended, True)):
        after = machine.after(row, values)
        assert (after["kept"], after["makers"]) == (keeps, (1,))
