"""Calls outside traces, of nine elements: nothing is compiled, NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import traceir
from benchmarks.measure import Call
from benchmarks.workload import normal
from benchmarks.worlds import OWN

# A function of an array module and its arrays, in each line.
CALLS: dict[str, Callable[..., Any]] = {
    "x + y": lambda xp, x, y: x + y,
    "x * 2": lambda xp, x, y: x * 2,
    "x > y": lambda xp, x, y: x > y,
    "sin": lambda xp, x, y: xp.sin(x),
    "maximum": lambda xp, x, y: xp.maximum(x, y),
    "where": lambda xp, x, y: xp.where(x > 0, x, y),
    "sum": lambda xp, x, y: xp.sum(x),
    "x.mean(0)": lambda xp, x, y: x.mean(0),
    "argmax": lambda xp, x, y: xp.argmax(x),
    "x @ y": lambda xp, x, y: x @ y,
    "x[1:-1]": lambda xp, x, y: x[1:-1],
    "x[3]": lambda xp, x, y: x[3],
    "reshape": lambda xp, x, y: x.reshape(3, 3),
    "concatenate": lambda xp, x, y: xp.concatenate([x, y]),
    "stack": lambda xp, x, y: xp.stack([x, y]),
    "zeros": lambda xp, x, y: xp.zeros(9),
    "arange": lambda xp, x, y: xp.arange(9),
    "astype": lambda xp, x, y: x.astype("float16"),
    "sort": lambda xp, x, y: xp.sort(x),
    "take": lambda xp, x, y: xp.take(x, 3),
    "cumsum": lambda xp, x, y: xp.cumsum(x),
    "clip": lambda xp, x, y: xp.clip(x, -1, 1),
}


def _call(f: Callable[..., Any], *args: Any) -> Call:
    return lambda: f(*args)


def rows() -> Iterator[tuple[str, dict[str, Call]]]:
    """JAX's calls are not waited for: on a CPU it is done with such small work."""
    x, y = normal(9), normal(9)
    ours = [traceir.numpy.asarray(a) for a in (x, y)]
    theirs = [jax.numpy.asarray(a) for a in (x, y)]
    for name, f in CALLS.items():
        yield (
            name,
            {
                OWN: _call(f, traceir.numpy, *ours),
                "JAX": _call(f, jax.numpy, *theirs),
                "NumPy": _call(f, np, x, y),
            },
        )
