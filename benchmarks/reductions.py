"""Reductions over every axis, and the functions of rows that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from benchmarks.workload import Function, Workload, normal, numpy_only

EDGE = 1000


def total_by_hand() -> Function:
    """A loop for Numba that may add in any order."""

    @numba.njit(fastmath=True)
    def run(a: Any) -> Any:
        total = np.float32(0)
        for x in a:
            total += x
        return total

    return run


def softmax(xp: Any) -> Function:
    """Along the last axis."""

    def run(x: Any) -> Any:
        e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
        return e / xp.sum(e, axis=-1, keepdims=True)

    return run


def logsumexp(xp: Any) -> Function:
    """Of each row."""

    def run(x: Any) -> Any:
        top = xp.max(x, axis=-1, keepdims=True)
        return xp.log(xp.sum(xp.exp(x - top), axis=-1)) + top[:, 0]

    return run


def layernorm(xp: Any) -> Function:
    """Rows of mean 0 and variance 1, scaled."""

    def run(x: Any, g: Any, b: Any) -> Any:
        mean = xp.mean(x, axis=-1, keepdims=True)
        rest = x - mean
        power = xp.mean(rest * rest, axis=-1, keepdims=True)
        return rest / xp.sqrt(power + 1e-5) * g + b

    return run


def standardise(xp: Any) -> Function:
    """Columns of mean 0 and variance 1."""
    return lambda x: (
        (x - xp.mean(x, axis=0)) / xp.sqrt(xp.var(x, axis=0) + np.float32(1e-5))
    )


def distances(xp: Any) -> Function:
    """The squares of all distances between two sets of points."""
    return lambda x, y: xp.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


def reduced(name: str, axis: Any) -> Any:
    """The maker of one reduction."""
    return numpy_only(lambda xp: lambda x: getattr(xp, name)(x, axis=axis))


def workloads() -> Iterator[Workload]:
    """Of a million elements; ten million for the sum."""
    square, flat = normal(EDGE, EDGE), normal(EDGE * EDGE)
    cube, thin = normal(100, 100, 100), normal(250_000, 4)
    yield Workload("sum", reduced("sum", None), (flat,), by_hand=total_by_hand)
    yield Workload("sum, 10^7", reduced("sum", None), (normal(10 * EDGE * EDGE),))
    yield Workload("sum, f64", reduced("sum", None), (flat.astype("float64"),))
    polynomial = numpy_only(lambda xp: lambda x: xp.sum(x * x * 0.5 + x))
    yield Workload("sum of a polynomial", polynomial, (flat,))
    root = numpy_only(lambda xp: lambda x, y: xp.sqrt(xp.sum((x - y) ** 2)))
    yield Workload("distance of two", root, (flat, normal(EDGE * EDGE)))
    for name in ("sum", "max", "argmax", "var"):
        for axis, what in ((1, "rows"), (0, "columns")):
            yield Workload(f"{name} of {what}", reduced(name, axis), (square,))
    yield Workload("sum of rows, f64", reduced("sum", 1), (square.astype("f8"),))
    yield Workload("sum of a middle axis", reduced("sum", 1), (cube,))
    yield Workload("sum of two axes", reduced("sum", (0, 2)), (cube,))
    yield Workload("sum of rows of 4", reduced("sum", 1), (thin,))
    yield Workload("max of rows of 16", reduced("max", 1), (normal(62_500, 16),))
    some = numpy_only(lambda xp: lambda x: xp.any(x > 9, axis=1))
    yield Workload("any of rows", some, (square,))
    count = numpy_only(lambda xp: lambda x: xp.sum(x > 0))
    yield Workload("number above 0", count, (flat,))
    for shape in ((EDGE, EDGE), (4096, 128), (62_500, 16)):
        size = "{} x {}".format(*shape)
        rows = normal(*shape)
        yield Workload(f"softmax, {size}", numpy_only(softmax), (rows,))
        scale = normal(shape[1]), normal(shape[1])
        yield Workload(f"layernorm, {size}", numpy_only(layernorm), (rows, *scale))
    yield Workload("logsumexp of rows", numpy_only(logsumexp), (square,))
    yield Workload("standardised columns", numpy_only(standardise), (square,))
    points = normal(1000, 3), normal(1000, 3)
    yield Workload("distances of points", numpy_only(distances), points)
