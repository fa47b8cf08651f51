"""Elementwise functions: dtypes, chains, broadcasts, transposed and strided reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from benchmarks.workload import Function, Workload, each, normal, numpy_only, whole

EDGE = 1000


def axpb_by_hand() -> Function:
    """A loop for Numba: `a * 2 + 1`."""

    @numba.njit
    def run(a: Any) -> Any:
        out = np.empty_like(a)
        for i in range(a.size):
            out[i] = a[i] * np.float32(2) + np.float32(1)
        return out

    return run


def chain_by_hand() -> Function:
    """A loop for Numba: `((a * b + a) * 0.5 - b) * a`."""

    @numba.njit
    def run(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in range(a.size):
            x, y = a[i], b[i]
            out[i] = ((x * y + x) * np.float32(0.5) - y) * x
        return out

    return run


def selu_by_hand() -> Function:
    """A loop for Numba, as one writes it: a branch, and the C library's `exp`."""

    @numba.njit
    def run(a: Any) -> Any:
        out = np.empty_like(a)
        for i in range(a.size):
            x = a[i]
            if x > 0:
                out[i] = np.float32(1.05) * x
            else:
                y = np.float32(1.67) * np.exp(x) - np.float32(1.67)
                out[i] = np.float32(1.05) * y
        return out

    return run


def selu(xp: Any) -> Function:
    """The function of the tutorials."""
    return lambda x: 1.05 * xp.where(x > 0, x, 1.67 * xp.exp(x) - 1.67)


def gelu(xp: Any) -> Function:
    """The unit of transformers, by `tanh`."""
    return lambda x: 0.5 * x * (1 + xp.tanh(0.7978846 * (x + 0.044715 * x * x * x)))


def black_scholes(world: Any) -> Function:
    """Prices of options by `erf`."""
    xp, erf = world.numpy, world.lax.erf

    def price(s: Any, k: Any, t: Any) -> Any:
        root = 0.3 * xp.sqrt(t)
        d = (xp.log(s / k) + (0.02 + 0.045) * t) / root
        n, m = (0.5 * (1 + erf(v * 0.70710678)) for v in (d, d - root))
        return s * n - k * xp.exp(-0.02 * t) * m

    return price


def twenty(xp: Any) -> Function:
    """Twenty transcendental operations in a row."""

    def run(x: Any) -> Any:
        for _ in range(5):
            x = xp.sin(xp.exp(-abs(xp.cos(xp.log1p(abs(x))))))
        return x

    return run


def polar(xp: Any) -> Function:
    """Two results."""
    return lambda x, y: (xp.sqrt(x * x + y * y), x * y / (x * x + y * y + 1))


def workloads() -> Iterator[Workload]:
    """A million elements, a thousand rows of them; ten million for some."""
    flat, other = normal(EDGE * EDGE), normal(EDGE * EDGE)
    yield Workload(
        "a * 2 + 1", each(lambda a: a * 2 + 1), (flat,), True, axpb_by_hand, "a * 2 + 1"
    )
    huge = normal(10 * EDGE * EDGE), normal(10 * EDGE * EDGE)
    yield Workload(
        "a * 2 + 1, 10^7",
        each(lambda a: a * 2 + 1),
        huge[:1],
        by_hand=axpb_by_hand,
        numexpr="a * 2 + 1",
    )
    chain = each(lambda a, b: ((a * b + a) * 0.5 - b) * a)
    expression = "((a * b + a) * 0.5 - b) * a"
    yield Workload(
        "five operations", chain, (flat, other), True, chain_by_hand, expression
    )
    yield Workload(
        "five operations, 10^7", chain, huge, True, chain_by_hand, expression
    )
    yield Workload("selu", numpy_only(selu), (flat,), by_hand=selu_by_hand)
    yield Workload("selu, 10^7", numpy_only(selu), huge[:1], by_hand=selu_by_hand)
    yield Workload("gelu", numpy_only(gelu), (flat,))
    sine = numpy_only(lambda xp: lambda a: xp.sin(a) + xp.cos(a))
    yield Workload("sin + cos", sine, (flat,), numexpr="sin(a) + cos(a)")
    yield Workload("sin + cos, f64", sine, (flat.astype("float64"),))
    yield Workload("twenty transcendental", numpy_only(twenty), (flat,))
    yield Workload("two results", numpy_only(polar), (flat, other))
    price = abs(flat) + 1, abs(other) + 1, abs(flat) + np.float32(0.1)
    yield Workload("option prices", black_scholes, price, in_numpy=False)
    yield Workload("selu, f64", numpy_only(selu), (flat.astype("float64"),))
    yield Workload(
        "five operations, f64", chain, (flat.astype("f8"), other.astype("f8"))
    )
    yield from others(flat)
    yield from strided()


def others(flat: np.ndarray) -> Iterator[Workload]:
    """Integers, truths and mixtures."""
    ints, more = whole(EDGE * EDGE), whole(EDGE * EDGE)
    bytes_ = whole(EDGE * EDGE, dtype="uint8", most=256)
    yield Workload("int32 a * 3 + b", each(lambda a, b: a * 3 + b), (ints, more))
    yield Workload("int32 a // b", each(lambda a, b: a // b), (ints, more))
    yield Workload("int32 * f32", each(lambda a, b: a * b), (ints, flat))
    blend = numpy_only(lambda xp: lambda a: (a.astype("float32") * 0.5).astype("uint8"))
    yield Workload("uint8 scaled", blend, (bytes_,))
    within = numpy_only(lambda xp: lambda a: (a > -1) & (a < 1))
    yield Workload("two comparisons", within, (flat,))
    clip = numpy_only(lambda xp: lambda a: xp.where(a > 1, 1, xp.maximum(a, -1)))
    yield Workload("clipped", clip, (flat,))


def strided() -> Iterator[Workload]:
    """Operands that are not read in the order in which they lie in memory."""
    square, row = normal(EDGE, EDGE), normal(EDGE)
    column = normal(EDGE, 1)
    join = numpy_only(lambda xp: lambda a, b: xp.concatenate([a, b * 2]))
    yield Workload("plus a row", each(lambda a, b: a + b), (square, row))
    yield Workload("times a column", each(lambda a, b: a * b), (square, column))
    yield Workload("outer product", each(lambda a, b: a * b), (column, row))
    yield Workload("a.T + a", each(lambda a: a.T + a), (square,))
    yield Workload("a.T * 2", each(lambda a: a.T * 2), (square,))
    yield Workload("every second", each(lambda a: a[:, ::2] * 2), (square,))
    yield Workload("halves joined", join, (square, square))
    yield Workload(
        "rows of 4, scaled", each(lambda a, b: a * b), (normal(250_000, 4), normal(4))
    )
