"""The process that measures one function after the other, as it is told."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from plain.examples import Example

from benchmarks.functions.contenders import (
    ENOUGH,
    ROUNDS,
    Function,
    arguments,
    examples,
    first_call,
    transformed,
    warm_up,
    writes,
)

# A sample is as many calls as take this long, so that the clock does not count.
SAMPLE = 2e-3


def serve(connection: Connection) -> None:
    """Answer `(function, contenders)` with what became of each, and with the times.

    What is sent: `("begin", contender)` before each first call, `("first", contender,
    outcome)` after it, and `("times", {name: seconds of each round})` at the end.
    """
    listed = examples()
    np.seterr(all="ignore")
    warm_up()
    while (asked := connection.recv()) is not None:
        name, contenders = asked
        example = listed[name]
        calls: dict[str, Function] = {"NumPy": example.function}
        for contender in contenders:
            connection.send(("begin", contender))
            f = transformed(contender, example)
            outcome = first_call(f, example)
            connection.send(("first", contender, outcome))
            if outcome.status in ("works", "other dtype"):
                calls[contender] = f
        connection.send(("begin", "times"))
        connection.send(("times", _in_turn(calls, example)))


def _in_turn(calls: dict[str, Function], example: Example) -> dict[str, list[float]]:
    """Seconds of a call, round after round; a round begins with another each time."""
    fresh = writes(example)
    kept = arguments(example)
    names = list(calls)
    times: dict[str, list[float]] = {name: [] for name in names}
    counts: dict[str, int] = {}
    for name in names:
        _sample(calls[name], example, kept, fresh, 1)
        once = _sample(calls[name], example, kept, fresh, 1)
        counts[name] = max(1, min(1000, round(SAMPLE / max(once, 1e-7))))
    started = time.perf_counter()
    for k in range(ROUNDS):
        turn = k % len(names)
        for name in names[turn:] + names[:turn]:
            times[name].append(_sample(calls[name], example, kept, fresh, counts[name]))
        if k >= 2 and time.perf_counter() - started > ENOUGH:
            break
    return times


def _sample(
    f: Function, example: Example, kept: tuple[Any, ...], fresh: bool, calls: int
) -> float:
    """Seconds of one call, the mean of several; new arguments are not counted."""
    total = 0.0
    if not fresh:
        start = time.perf_counter()
        for _ in range(calls):
            f(*kept)
        return (time.perf_counter() - start) / calls
    for _ in range(calls):
        args = arguments(example)
        start = time.perf_counter()
        f(*args)
        total += time.perf_counter() - start
    return total / calls
