"""The costs of operations on elements: each is timed, in additions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import traceir
from tools.costs.programs import drawn
from traceir import lax
from traceir_numba import cost_model

SIZE = 8192
ADDITIONS = 64
ROUNDS = 25

# Primitives of one number, and of two.
UNARY = (
    *("sign", "round", "sqrt", "exp", "exp2", "expm1", "log", "log1p", "tanh"),
    *("logistic", "sinh", "cosh", "cbrt", "asin", "acos", "atan", "erf", "sin", "cos"),
    *("atanh", "asinh", "acosh", "tan", "erfc", "erf_inv", "lgamma", "digamma"),
    *("bessel_i0e", "bessel_i1e"),
)
BINARY = ("div", "rem", "pow", "atan2", "nextafter", "igamma", "igammac")


def table() -> str:
    """The additions that each operation takes now, beside those of the cost model."""
    x, y = drawn((SIZE,), (SIZE,))
    y = y + 0.5
    bases = {1: _seconds(lambda x: -x, x), 2: _seconds(lambda x, y: x + y, x, y)}
    one = (_seconds(_added, x) - bases[1]) / ADDITIONS
    lines = [f"{'':14}{'additions':>10}{'model':>8}"]
    for name in (*UNARY, *BINARY):
        given = (x,) if name in UNARY else (x, y)
        cost = 1 + (_seconds(getattr(lax, name), *given) - bases[len(given)]) / one
        lines.append(f"{name:14}{cost:10.0f}{cost_model.operation_cost(name):8}")
    return "\n".join(lines)


def _added(x: Any) -> Any:
    for _ in range(ADDITIONS):
        x = x + x
    return x


def _seconds(function: Callable[..., Any], *args: Any) -> float:
    """The median time of a compiled call."""
    jitted = traceir.jit(function)
    jitted(*args)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(20):
            jitted(*args)
        times.append((time.perf_counter() - start) / 20)
    return statistics.median(times)
