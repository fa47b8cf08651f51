"""Programs of any length, and what counts the work and the memory of making them."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import traceir.numpy as jnp

Case = tuple[Callable[..., Any], tuple[Any, ...]]
ROW = np.ones(4, np.float32)


def chain(n: int) -> Case:
    """Each step reads the one before."""

    def run(x: Any, y: Any) -> Any:
        for _ in range(n):
            x = jnp.sin(x) * y
        return x

    return run, (ROW, ROW)


def results(n: int) -> Case:
    """Every step is a result."""

    def run(x: Any, y: Any) -> Any:
        return [jnp.sin(x + k) * y for k in range(n)]

    return run, (ROW, ROW)


def products(n: int) -> Case:
    """Steps that cannot be one kernel: a product of matrices in each."""

    def run(w: Any, x: Any) -> Any:
        for _ in range(n):
            x = jnp.tanh(w @ x)
        return x

    return run, (np.ones((4, 4), np.float32), ROW)


def elements(n: int) -> Case:
    """A sum over the elements of an array, one by one."""

    def run(x: Any, y: Any) -> Any:
        total = 0.0
        for k in range(n):
            total = total + x[k] * y
        return total

    return run, (np.ones(n, np.float32), np.float32(2))


def stacked(n: int) -> Case:
    """All steps are operands of one concatenation."""

    def run(x: Any, y: Any) -> Any:
        found = []
        for _ in range(n):
            x = jnp.sin(x) * y
            found.append(x)
        return jnp.stack(found)

    return run, (ROW, ROW)


def normalised(n: int) -> Case:
    """Two reductions in each step."""

    def run(x: Any, y: Any) -> Any:
        for _ in range(n):
            x = jnp.exp(x - jnp.max(x))
            x = x / jnp.sum(x)
        return x * y

    return run, (ROW, ROW)


def constants(n: int) -> Case:
    """An array of its own in each step."""
    arrays = [np.full(4, k, np.float32) for k in range(n)]

    def run(x: Any, y: Any) -> Any:
        for array in arrays:
            x = jnp.sin(x + array)
        return x * y

    return run, (ROW, ROW)


def written_out(n: int) -> Case:
    """A line of its own for each step."""
    text = "def run(x, y):\n" + "    x = jnp.sin(x) * y\n" * n + "    return x\n"
    names: dict[str, Any] = {"jnp": jnp}
    exec(compile(text, "<written out>", "exec"), names)
    return names["run"], (ROW, ROW)


PROGRAMS: dict[str, Callable[[int], Case]] = {
    made.__name__: made
    for made in (
        chain,
        results,
        products,
        elements,
        stacked,
        normalised,
        constants,
        written_out,
    )
}


def instructions(call: Callable[[], object]) -> int:
    """The number of Python's instructions in a call: the same each time."""
    count = 0

    def step(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "opcode"
        return step

    def enter(frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return step

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def memory(call: Callable[[], object]) -> int:
    """The most bytes that Python holds while a call runs, over what it held before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
