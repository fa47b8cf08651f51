"""One launch on more and more threads: `python -m benchmarks.cores`.

It times a few functions with 1, 2, 4, ... threads, as many as this machine has
processors, in turns. With `--model` nothing is timed: launches of some lengths are
played through with the code that splits them, for up to 64 threads.

In the model the caller wakes one thread after the other; a thread takes pieces until
none is left, and holds Python's lock while it takes one; all run at one speed, that of
one thread alone, but that memory feeds only so many of them.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir_numba import cost_model
from traceir_numba.runtime.cpu_count import processors
from traceir_numba.runtime.thread_pool import thread_split, threads_worth

COUNTS = (2, 4, 8, 16, 32, 64)
# Seconds of a launch on one thread; what is shared from `THREADED_WORK` on takes 60 us.
LENGTHS = {"100 µs": 1e-4, "1 ms": 1e-3, "10 ms": 1e-2, "100 ms": 1e-1}
SHARED = 60e-6
# Waking a thread takes the caller 2 us and the thread 12; taking a piece is a call.
CALLING, WAKING, TAKING = 2e-6, 12e-6, 1e-6
# Threads that the memory of a processor feeds, assumed: it differs most of all.
FED = 8
ELEMENTS = 1 << 20


def launch(seconds: float, threads: int, fed: int, limited: bool = True) -> float:
    """The seconds that a launch takes, by the model; of all threads if not `limited`.

    >>> launch(1e-4, 1, FED)
    0.0001
    """
    work = int(seconds / SHARED * cost_model.THREADED_WORK)
    if limited:
        worth = threads_worth(work, cost_model.THREADED_WORK)
        threads = min(threads, worth)
    if threads == 1:
        return seconds
    pieces = thread_split(0, ELEMENTS, cost_model.PIECES_PER_THREAD * threads)
    slower = max(1.0, threads / fed)
    ready = [(k * CALLING + WAKING, k) for k in range(1, threads)]
    heapq.heappush(ready, ((threads - 1) * CALLING, 0))
    free = end = 0.0
    for low, high in pieces:
        at, thread = heapq.heappop(ready)
        free = max(at, free) + TAKING
        done = free + seconds * slower * (high - low) / ELEMENTS
        end = max(end, done)
        heapq.heappush(ready, (done, thread))
    return end


def modelled() -> Iterator[list[str]]:
    """The rows of the page: how many times as fast as one thread."""
    for name, seconds in LENGTHS.items():
        for kind, fed in (("computes", 1 << 20), ("memory", FED)):
            found = [seconds / launch(seconds, n, fed) for n in COUNTS]
            yield [f"{name}, {kind}", *(f"{speed:.1f}" for speed in found)]


def table(titles: list[str], rows: Iterator[list[str]]) -> str:
    """A table as the page has it."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (titles, *rows):
        lines += [f"   {'  -' if k else '* -'} {cell}" for k, cell in enumerate(row)]
    return "\n".join(lines)


def workloads() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions that wait for memory, that compute, that fold, and a product."""
    draw = traceir.random.normal
    few, many = (draw(traceir.random.key(n), (n,)) for n in (300_000, 10_000_000))
    square = draw(traceir.random.key(1), (1000, 1000))
    return {
        "a * 2 + 1, 300,000": (lambda a: a * 2 + 1, (few,)),
        "a * 2 + 1, 10^7": (lambda a: a * 2 + 1, (many,)),
        "sin(exp(a)), 300,000": (lambda a: jnp.sin(jnp.exp(a)), (few,)),
        "sin(exp(a)), 10^7": (lambda a: jnp.sin(jnp.exp(a)), (many,)),
        "sum, 10^7": (lambda a: a.sum(), (many,)),
        "sums of rows, 1000 x 1000": (lambda a: a.sum(1), (square,)),
        "product, 1000 x 1000": (lambda a: a @ a, (square,)),
    }


def measured(counts: list[int], rounds: int = 31) -> Iterator[list[str]]:
    """Times that one thread takes over those of each number of threads, in turns."""
    for name, (function, args) in workloads().items():
        jitted = traceir.jit(function, backend="numba")
        times: dict[int, list[float]] = {n: [] for n in counts}
        for _ in range(rounds + 1):
            for n in counts:
                before = traceir_numba.set_threads(n)
                jitted(*args)  # which makes the threads
                start = perf_counter()
                jitted(*args)
                times[n].append(perf_counter() - start)
                traceir_numba.set_threads(before)
        alone = median(times[1][1:])
        yield [name, *(f"{alone / median(times[n][1:]):.2f}" for n in counts[1:])]


def main() -> None:
    """Print a table: measured here, or by the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="store_true", help="time nothing")
    if parser.parse_args().model:
        print(table(["a launch of", *map(str, COUNTS)], modelled()))
        return
    counts = [1]
    while 2 * counts[-1] <= processors():
        counts.append(2 * counts[-1])
    print(table(["threads", *map(str, counts[1:])], measured(counts)))


if __name__ == "__main__":
    main()
