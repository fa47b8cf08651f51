"""The pool: interruptions, errors and late threads leave results right."""

from __future__ import annotations

import _thread
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import traceir
import traceir_numba
from traceir_numba.runtime import thread_pool

SIZE = 1000


class Interrupted(BaseException):
    """The exception that a signal raises in the main thread, as Ctrl-C does."""


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = thread_pool.threads()
    thread_pool.set_threads(2)
    yield
    thread_pool.set_threads(before)


@pytest.fixture
def alarm() -> Iterator[Any]:
    """Raises in the main thread after some seconds."""

    def ring(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def fill(out: np.ndarray, lo: int, hi: int, value: int) -> None:
    """An entry as kernels are: a range, then sizes."""
    time.sleep(0.001)  # so that the other thread gets a piece
    out[lo:hi] = value


def slow_in_workers(out: np.ndarray, lo: int, hi: int, value: int) -> None:
    """The caller is done soon and then waits."""
    main = threading.current_thread() is threading.main_thread()
    time.sleep(0.001 if main else 0.2)
    out[lo:hi] = value


def check_pool() -> None:
    """Every element is written when `parallel` returns, time after time."""
    for value in range(20):
        out = np.full(SIZE, -1)
        thread_pool.parallel(fill, (out,), 0, SIZE, value)
        assert (out == value).all()


def test_an_interrupted_wait_leaves_the_pool_in_order(alarm: Any) -> None:
    check_pool()
    for seconds in (0.05, 0.1, 0.001):
        out = np.zeros(SIZE)
        with pytest.raises(Interrupted):
            alarm(seconds)
            for _ in range(100):
                thread_pool.parallel(slow_in_workers, (out,), 0, SIZE, 1)
        check_pool()


def test_interruptions_at_any_time_leave_the_pool_in_order(alarm: Any) -> None:
    for k in range(100):
        out = np.zeros(SIZE)
        with pytest.raises(Interrupted):
            alarm(0.0005 + 0.0001 * k)
            while True:
                thread_pool.parallel(fill, (out,), 0, SIZE, k)
    check_pool()


def test_an_error_in_any_piece_reaches_the_caller() -> None:
    def fails(out: np.ndarray, lo: int, hi: int, bad: int) -> None:
        fill(out, lo, hi, 0)
        if lo <= bad < hi:
            raise MemoryError

    for bad in range(0, SIZE, 125):
        with pytest.raises(MemoryError):
            thread_pool.parallel(fails, (np.zeros(SIZE),), 0, SIZE, bad)
    check_pool()


def test_threads_keep_nothing_of_what_they_ran() -> None:
    out = np.zeros(SIZE)
    before = sys.getrefcount(out)
    thread_pool.parallel(fill, (out,), 0, SIZE, 1)
    time.sleep(0.05)
    gc.collect()
    assert sys.getrefcount(out) == before


# -- the number of threads ------------------------------------------------------------


def test_the_number_can_be_set_and_is_told() -> None:
    before = traceir_numba.set_threads(3)
    assert (before, traceir_numba.threads()) == (2, 3)
    check_pool()
    assert traceir_numba.set_threads(before) == 3


@pytest.mark.parametrize("number", [0, -1, 1.0, True, "2", None])
def test_other_numbers_are_refused(number: Any) -> None:
    with pytest.raises(TypeError, match="number of threads") as caught:
        traceir_numba.set_threads(number)
    assert getattr(caught.value, "rule", None) == "backend.threads"
    assert traceir_numba.threads() == 2


def workers() -> int:
    """The threads that Python has started."""
    return _thread._count()


def test_threads_that_are_not_wanted_any_more_end() -> None:
    thread_pool.set_threads(1)
    before = workers()
    for number in (4, 6, 2, 8, 1):
        thread_pool.set_threads(number)
        check_pool()
    for _ in range(500):
        if workers() <= before:
            break
        time.sleep(0.01)
    assert workers() <= before


def test_the_number_changes_under_calls_that_run() -> None:
    ended = threading.Event()

    def change() -> None:
        while not ended.is_set():
            for number in (1, 4, 2, 3):
                thread_pool.set_threads(number)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(5):
            check_pool()
    finally:
        ended.set()
        thread.join()


def test_where_the_system_grants_few_threads_these_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, granted = _thread.start_new_thread, [1]

    def grudging(*arguments: Any) -> int:
        if not granted:
            raise RuntimeError("can't start new thread")
        granted.pop()
        return start(*arguments)

    monkeypatch.setattr(_thread, "start_new_thread", grudging)
    thread_pool.set_threads(5)
    out = np.zeros(SIZE, int)
    thread_pool.parallel(fill, (out,), 0, SIZE, 7)
    assert (out == 7).all()
    assert thread_pool.threads() == 2


def test_no_number_takes_all_threads_of_the_machine() -> None:
    thread_pool.set_threads(10**6)
    assert thread_pool.threads() == thread_pool.MOST


def test_a_launch_wakes_so_many_threads_as_it_pays_for() -> None:
    thread_pool.set_threads(16)
    seen: set[int] = set()
    out = np.zeros(SIZE)

    def noted(out: np.ndarray, lo: int, hi: int, value: int) -> None:
        seen.add(threading.get_ident())
        fill(out, lo, hi, value)

    thread_pool.parallel(noted, (out,), 0, SIZE, 7, threads=3)
    assert (out == 7).all()
    assert len(thread_pool._pool.workers) == 2
    assert len(seen) <= 3
    thread_pool.parallel(noted, (out,), 0, SIZE, 8)
    assert (out == 8).all()
    assert len(thread_pool._pool.workers) == 15


def test_short_launches_say_how_many_threads_they_pay_for() -> None:
    twice = traceir.jit(lambda x: x * 2 + 1, backend="numba")
    few, many = (traceir.ShapeDtypeStruct((n,), "f4") for n in (300_000, 200_000_000))
    calls = [twice.source(x).rpartition("parallel(")[2] for x in (few, many)]
    assert ", threads=3)" in calls[0]
    assert ", threads=" not in calls[1]


def test_workers_leave_the_processor_of_their_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They may run on all others that the caller may, on any where it has but one."""
    own = os.sched_getaffinity(0)
    for processor in sorted(own):
        monkeypatch.setattr(thread_pool, "current_processor", lambda n=processor: n)
        check_pool()
        (worker,) = thread_pool._pool.workers
        assert worker.native is not None
        assert os.sched_getaffinity(worker.native) == (own - {processor} or own)
    assert os.sched_getaffinity(0) == own
