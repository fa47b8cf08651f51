"""The rows of a group, measured: times in seconds, ratios of what ran side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.measure import ROUNDS, Spread, in_turn, ratios
from benchmarks.worlds import OWN, calls_of, copy, moved

Row = dict[str, Any]
# Calls of microseconds are sampled more often: the scheduler disturbs them more.
MANY = 41
CALLED = {
    "calls": MANY,
    "steps": MANY,
    "eager": MANY,
    "plain": MANY,
    "examples": ROUNDS,
    "devices": ROUNDS,
}


def rows_of(group: str, only: str) -> Iterator[Row]:
    """The rows of one group whose names contain a text."""
    match group:
        case (
            "calls"
            | "steps"
            | "eager"
            | "plain"
            | "examples"
            | "devices"
            | "compiles"
            | "processes"
            | "memory"
        ):
            for name, given in import_module(f"benchmarks.{group}").rows():
                if only in name:
                    rounds = CALLED.get(group)
                    times = in_turn(given, rounds) if rounds else given
                    unit = {"unit": "MB"} if group == "memory" else {}
                    yield {"name": name, **unit, **summary(times)}
        case "growth":
            yield from _growth(only)
        case _:
            for work in import_module(f"benchmarks.{group}").workloads():
                if only in work.name:
                    calls = calls_of(work)
                    size = moved(work, calls[OWN]())
                    calls["copy"] = copy(size)
                    times = in_turn(calls, ROUNDS)
                    yield {"name": work.name, "bytes": size, **summary(times)}


def _growth(only: str) -> Iterator[Row]:
    from benchmarks import compiles
    from benchmarks.elementwise import selu
    from benchmarks.workload import Workload, normal, numpy_only
    from traceir_numba.runtime import thread_pool

    if any(only in name for name in ("trace", "first call")):
        for name, size, times in compiles.growth():
            yield {"name": name, "size": size, **summary(times)}
    for size in (2**power for power in (*range(0, 14, 2), *range(14, 25))):
        work = Workload("elements", numpy_only(selu), (normal(size),))
        if only in work.name:
            calls = calls_of(work)
            yield {"name": work.name, "size": size, **summary(in_turn(calls))}
            # Each by itself: what else runs leaves the caches as it likes.
            before = thread_pool.set_threads(1)
            alone = {"one thread": in_turn({OWN: calls[OWN]})[OWN]}
            thread_pool.set_threads(before)
            alone[OWN] = in_turn({OWN: calls[OWN]})[OWN]
            yield {"name": "threads", "size": size, **summary(alone)}


def summary(times: dict[str, list[float]]) -> Row:
    """First quartile, median and third quartile of times, and of ratios to ours."""
    return {
        "times": {name: astuple(Spread.of(found)) for name, found in times.items()},
        "ratios": {name: astuple(s) for name, s in ratios(times, OWN).items()},
    }


def geometric_mean(numbers: list[float]) -> float:
    """The geometric mean of positive numbers.

    >>> round(geometric_mean([1.0, 4.0]), 6)
    2.0
    """
    return float(np.exp(np.mean(np.log(numbers))))
