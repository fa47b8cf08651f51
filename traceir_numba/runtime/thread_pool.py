"""A thread pool that shares a kernel's range with the caller.

The division of a range never shows in the bits. Handing over costs 12 us; an executor
of the standard library costs 57.
"""

from __future__ import annotations

import _thread
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from math import isqrt
from typing import Any

from traceir_numba import cost_model
from traceir_numba.errors import wrong_threads
from traceir_numba.runtime.cpu_count import current_processor, processors
from traceir_numba.runtime.external_symbols import THREADS

# Threads, whatever is asked for: so many more could take all that a machine has.
MOST = 1024


def number_of_threads() -> int:
    """TRACEIR_NUM_THREADS, or else the processors that this process may use."""
    wanted = os.environ.get("TRACEIR_NUM_THREADS", "").strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if wanted:
        text = f"TRACEIR_NUM_THREADS is a number, 1 at least; {wanted!r} is not used"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return processors()


class _Worker:
    """A thread that sleeps on a lock until there is a task."""

    __slots__ = ("go", "working", "task", "error", "stopped", "native", "off")

    def __init__(self) -> None:
        self.go = _thread.allocate_lock()
        self.working = _thread.allocate_lock()
        self.go.acquire()
        self.task: Callable[[], None] | None = None
        self.error: BaseException | None = None
        self.stopped = False
        self.native: int | None = None
        self.off = -1
        _thread.start_new_thread(self.run, ())

    def run(self) -> None:
        self.native = _thread.get_native_id()
        while not self.stopped:
            self.go.acquire()
            with self.working:
                self.work()

    def work(self) -> None:
        # In a function of its own, whose end drops the task and its arrays.
        task = self.task
        if task is not None:
            try:
                task()
            except BaseException as error:
                self.error = error

    def keep_off(self, processor: int) -> None:
        """Leave a processor to the thread that calls, which is busy there.

        Linux may wake a thread where it last ran, also if that is where its caller
        runs while another processor idles; both then take turns for milliseconds.
        """
        if processor == self.off or self.native is None:
            return
        self.off = processor
        if others := os.sched_getaffinity(0) - {processor}:
            with suppress(OSError):  # of a system that lets no thread choose
                os.sched_setaffinity(self.native, others)

    def start(self, task: Callable[[], None]) -> None:
        self.error = None
        self.task = task
        # A worker that has not yet woken for the last task finds this one.
        if self.go.locked():
            self.go.release()

    def stop(self) -> None:
        """End the thread once it has no task."""
        self.stopped = True
        if self.go.locked():
            self.go.release()

    def finish(self) -> None:
        """Wait for a task under way, and raise its exception."""
        with self.working:
            error, self.error = self.error, None
        if error is not None:
            raise error


class _Pool:
    def __init__(self, threads: int) -> None:
        self.threads = THREADS.value = min(threads, MOST)
        self.busy = _thread.allocate_lock()
        self.workers: list[_Worker] = []
        self.closed = False

    def close(self) -> None:
        """End the threads, those at work when they are done."""
        self.closed = True
        if self.busy.acquire(blocking=False):
            self.stop()
            self.busy.release()

    def stop(self) -> None:
        while self.workers:
            self.workers.pop().stop()

    def engage(self, most: int) -> None:
        """Make the workers that are missing, or learn how many there can be."""
        try:
            while len(self.workers) < min(self.threads, most) - 1:
                self.workers.append(_Worker())
        except RuntimeError:  # the system, or a process that ends, grants no more
            self.threads = THREADS.value = len(self.workers) + 1

    def run(self, task: Callable[[], None], most: int = MOST) -> None:
        """Run a task in all threads, or at most so many, the caller's among them, until
        each has ended.

        A task ends when no piece of work is left, so that one that begins late, in
        a thread that wakes late, does nothing. That is why an exception in the caller,
        which a signal can raise anywhere, leaves the threads in order.
        """
        if self.threads == 1 or not self.busy.acquire(blocking=False):
            # Another Python thread has the workers: both run, each on its own.
            task()
            return
        try:
            self.engage(most)
            engaged = self.workers[: most - 1]
            processor = current_processor()
            for worker in engaged:
                worker.keep_off(processor)
                worker.start(task)
            task()
            for worker in engaged:
                worker.finish()
        finally:
            for worker in self.workers:
                worker.task = None
            if self.closed:
                self.stop()
            self.busy.release()


_pool = _Pool(number_of_threads())


def threads() -> int:
    """The number of threads that share large kernels, the caller's included.

    At first it is TRACEIR_NUM_THREADS, or else the number of processors that affinity
    and the limits of control groups leave to this process.

    >>> import traceir_numba
    >>> traceir_numba.threads() >= 1
    True
    """
    return _pool.threads


def set_threads(number: int) -> int:
    """Share large kernels among that many threads from now on; returns the former
    number.

    Results do not depend on it: the same bits come out with any number. Calls that are
    under way end with the threads that they began with. A number above that of the
    processors is taken as it is, up to 1,024; where the system grants fewer threads,
    these do.

    Raises TypeError (backend.threads) for what is no int, or less than one.

    >>> import traceir_numba
    >>> before = traceir_numba.set_threads(1)
    >>> traceir_numba.threads()
    1
    >>> traceir_numba.set_threads(before)
    1
    """
    global _pool
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise wrong_threads(number)
    before, _pool = _pool, _Pool(number)
    before.close()
    return before.threads


def _after_fork() -> None:
    # Threads do not survive a fork; locks may be held for ever.
    global _pool
    _pool = _Pool(_pool.threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def parallel(
    entry: Callable[..., None],
    arrays: Sequence[Any],
    low: int,
    high: int,
    *sizes: int,
    pieces: int = 0,
    threads: int = MOST,
) -> None:
    """Call `entry(*arrays, lo, hi, *sizes)` for all of a range, in pieces at once.

    Between pieces Python handles signals, so long work has as many `pieces` at least;
    short work pays for so many `threads` at most.
    """
    most = min(threads, _pool.threads)
    parts = thread_split(low, high, max(pieces, cost_model.PIECES_PER_THREAD * most))
    each(entry, [(*arrays, lo, hi, *sizes) for lo, hi in parts], most)


def in_order(
    entry: Callable[..., None],
    arrays: Sequence[Any],
    low: int,
    high: int,
    *sizes: int,
    pieces: int,
) -> None:
    """As `parallel`, one piece after the other."""
    for lo, hi in thread_split(low, high, pieces):
        entry(*arrays, lo, hi, *sizes)


def each(
    entry: Callable[..., None], tasks: Sequence[Sequence[Any]], most: int = MOST
) -> None:
    """Call `entry` with each list of arguments, several at once: at most so many."""
    left = iter(tasks)

    def task() -> None:
        # An iterator over a list gives each task once, whoever asks.
        for arguments in left:
            entry(*arguments)

    try:
        _pool.run(task, min(most, len(tasks)))
    finally:
        for _ in left:  # after an exception there may be some: leave them undone
            pass


def threads_worth(work: int, shared: int) -> int:
    """The threads that a launch pays for, of which the caller is one.

    Launches are `shared` from so much work on. The caller wakes the others one after
    the other: with n of them a launch takes work / n and n times waking one.

    >>> [threads_worth(n * cost_model.THREADED_WORK, cost_model.THREADED_WORK)
    ...  for n in (1, 10, 1000)]
    [3, 10, 100]
    """
    return max(2, isqrt(cost_model.WAKING_SHARE * work // shared))


def run(task: Callable[[], None]) -> None:
    """Run a task in all threads, until each has ended."""
    _pool.run(task)


def equal_parts(low: int, high: int, count: int) -> list[tuple[int, int]]:
    """A range in at most so many pieces, whose lengths differ by one at most.

    >>> equal_parts(1, 8, 3)
    [(1, 3), (3, 5), (5, 8)]
    """
    length = high - low
    ends = [low + k * length // count for k in range(count + 1)]
    return [(lo, hi) for lo, hi in pairwise(ends) if lo < hi]


def thread_split(low: int, high: int, count: int) -> list[tuple[int, int]]:
    """A range in about so many pieces of almost equal length.

    >>> thread_split(0, 10, 4)
    [(0, 3), (3, 6), (6, 9), (9, 10)]
    """
    step = max(1, -(-(high - low) // count))
    grain = cost_model.PIECE_GRAIN
    if step > cost_model.ROUNDED_GRAINS * grain:  # or else pieces would be unequal
        step = -(-step // grain) * grain
    return [(lo, min(lo + step, high)) for lo in range(low, high, step)]
