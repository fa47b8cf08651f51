"""Medians of calls that take turns, and the ratios of what ran side by side."""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

Call = Callable[[], Any]
# A sample is as many calls as take this many seconds or half, so that neither the clock
# counts nor what the caches lack when a turn begins.
SAMPLE = 1e-3
ROUNDS = 15
# The longest wait for other threads: OpenBLAS's spin for 0.1 seconds after a product.
PATIENCE = 0.3
THREADS = Path("/proc/self/task")


@dataclass(frozen=True)
class Spread:
    """The median of some numbers, between their first and their third quartile."""

    low: float
    median: float
    high: float

    @staticmethod
    def of(numbers: list[float]) -> Spread:
        """The spread of at least one number.

        >>> Spread.of([3.0, 1.0, 2.0])
        Spread(low=1.5, median=2.0, high=2.5)
        """
        if len(numbers) == 1:
            return Spread(*numbers * 3)
        low, median, high = statistics.quantiles(numbers, n=4, method="inclusive")
        return Spread(low, median, high)


def seconds(call: Call, calls: int = 1) -> float:
    """The time of a call, the mean of several in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def until_alone() -> None:
    """Waits until no other thread of the process runs, where Linux tells.

    Libraries let their threads spin for a while after a call. Whoever comes next has a
    processor less for it, and in turns that would always be the same one.
    """
    deadline = time.perf_counter() + PATIENCE
    while _others_run() and time.perf_counter() < deadline:
        time.sleep(1e-3)


def _others_run() -> bool:
    own = str(threading.get_native_id())
    for stat in THREADS.glob("*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # one that just ended
            state = stat.read_text().rpartition(")")[2].split()[0]
            if state == "R" and stat.parent.name != own:
                return True
    return False


def _count(call: Call) -> int:
    count = 1
    while min(seconds(call, count), seconds(call, count)) * count < SAMPLE / 2:
        count *= 2
    return count


def in_turn(calls: dict[str, Call], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Seconds of each, sample after sample; each round begins with another one."""
    counts = {}
    for name, call in calls.items():
        call()
        counts[name] = _count(call)
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = cycle(calls)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            next(names)
            for name in (next(names) for _ in calls):
                until_alone()
                times[name].append(seconds(calls[name], counts[name]))
    finally:
        if collecting:
            gc.enable()
    return times


def ratios(times: dict[str, list[float]], own: str) -> dict[str, Spread]:
    """The ratios of the others' times to that of `own`, of each round."""
    return {
        name: Spread.of([b / a for a, b in zip(times[own], others, strict=True)])
        for name, others in times.items()
        if name != own
    }
