"""Implementations of a plain function, and their results beside NumPy's."""

from __future__ import annotations

import importlib
import inspect
import time
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from plain.examples import EXAMPLES, Example

Function = Callable[..., Any]
THEMES = ("statistics", "signal", "images", "finance", "distances", "grids")
OWN = "traceir"
NAMES = (OWN, "numba.njit", "jax.jit")
# Rounds end after so many seconds.
ENOUGH = 2.0
ROUNDS = 7
# Seconds that a first call may take.
PATIENCE = 60.0


def examples() -> dict[str, Example]:
    """All functions by name, theme by theme."""
    for theme in THEMES:
        importlib.import_module(f"plain.{theme}")
    order = {f"plain.{theme}": k for k, theme in enumerate(THEMES)}
    listed = sorted(EXAMPLES, key=lambda e: order[e.function.__module__])
    return {str(example): example for example in listed}


def transformed(name: str, example: Example) -> Function:
    """The function as a contender has it. Only the name `np` is other for JAX."""
    if name == OWN:
        import traceir_numba

        own: Function = traceir_numba.jit(
            example.function, static_argnames=example.static
        )
        return own
    if name == "numba.njit":
        import numba

        return rebuilt(example.function, {}, numba.njit)
    import jax

    jax.config.update("jax_enable_x64", True)
    plain = rebuilt(example.function, {"np": jax.numpy}, lambda f: f)
    jitted = jax.jit(plain, static_argnames=example.static)
    return lambda *args: jax.block_until_ready(jitted(*args))


def rebuilt(
    f: Function,
    names: dict[str, Any],
    around: Function,
    callers: tuple[Function, ...] = (),
) -> Function:
    """A function with other globals; those of its own module that it calls, too.

    A method may have the name of one of these, and of the function that calls it.
    """
    callers = (*callers, f)
    called = {
        name: rebuilt(value, names, around, callers)
        for name in f.__code__.co_names
        if inspect.isfunction(value := f.__globals__.get(name)) and value not in callers
    }
    new = types.FunctionType(
        f.__code__, {**f.__globals__, **names, **called}, f.__name__, f.__defaults__
    )
    new.__module__ = f.__module__
    made: Function = around(new)
    return made


@dataclass(frozen=True)
class Outcome:
    """The outcome of the first call: `works`, or what went wrong; how long it took."""

    status: str
    first: float
    detail: str = ""


def first_call(f: Function, example: Example) -> Outcome:
    """Call once with the arguments to measure with, and compare with NumPy."""
    wanted_args, args = arguments(example), arguments(example)
    with np.errstate(all="ignore"):
        wanted = example.function(*wanted_args)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = f(*args)
    except Exception as error:
        took = time.perf_counter() - start
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return Outcome(type(error).__name__, took, lines[0][:200] if lines else "")
    took = time.perf_counter() - start
    difference = compared(leaves(found), leaves(wanted), example)
    if not difference and compared(leaves(args), leaves(wanted_args), example):
        difference = "argument kept", "an argument has not what the function wrote"
    status, detail = difference or ("works", "")
    return Outcome(status, took, detail)


def compared(
    found: list[Any], wanted: list[Any], example: Example
) -> tuple[str, str] | None:
    """The difference of two results: how many there are, dtypes, shapes, values."""
    if len(found) != len(wanted):
        return "other values", f"{len(found)} results for {len(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        a, b = np.asarray(one), np.asarray(other)
        if a.shape != b.shape:
            return "other shape", f"{a.shape} for {b.shape}"
        loose = 1e-4 if b.dtype == np.float32 else 1e-7
        if not np.allclose(a, b, loose, loose, equal_nan=True):
            return "other values", f"not within {loose}"
    for one, other in zip(found, wanted, strict=True):
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype != b.dtype:
            return "other dtype", f"{a.dtype} for {b.dtype}"
    return None


def arguments(example: Example) -> tuple[Any, ...]:
    """New arguments to measure with."""
    given = example.large() if example.large else example.arguments
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in given)


def described(value: Any) -> str:
    """An argument in a few characters.

    >>> described(np.zeros((2, 3))), described(0.5)
    ('float64[2,3]', '0.5')
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    return repr(value)


def writes(example: Example) -> bool:
    """True if the function writes to its arguments."""
    given, kept = arguments(example), arguments(example)
    with np.errstate(all="ignore"):
        example.function(*given)
    pairs = zip(leaves(given), leaves(kept), strict=True)
    return not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers in tuples and lists, of a generator its next number."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, np.random.Generator):
        return [value.random()]
    return [] if value is None else [value]


def warm_up() -> None:
    """Import what the contenders need, and have each compile something."""
    for name in NAMES:
        transformed(name, Example(_doubled, ()))(np.ones(3))


def _doubled(x: Any) -> Any:
    return x + x
