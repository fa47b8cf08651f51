"""Order: sorting, ranks, searches, sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.workload import Function, Workload, normal, whole


def named(name: str, *more: Any, **params: Any) -> Any:
    """A function of the array module, by its name."""
    return lambda world: lambda *xs: getattr(world.numpy, name)(*xs, *more, **params)


def best(k: int) -> Any:
    """The greatest elements and their places."""
    return lambda world: lambda x: world.lax.top_k(x, k)


def quantity(world: Any) -> Function:
    """The places of thresholds among running sums."""
    xp = world.numpy
    return lambda x, y: xp.searchsorted(xp.cumsum(x), y)


def counts(world: Any) -> Function:
    """The number of elements in each bin of one width."""
    return lambda x: world.numpy.histogram(x, bins=100)[0]


def line(world: Any) -> Function:
    """Points on the line through others."""
    return lambda x, points: world.numpy.interp(x, points, points)


def workloads() -> Iterator[Workload]:
    """Each of a million elements, or as many as its name says."""

    def row(name: str, make: Any, *args: Any) -> Workload:
        # NumPy's default order of equal elements is its own.
        return Workload(name, make, args, near=0.98)

    def without(name: str, make: Any, *args: Any) -> Workload:
        return Workload(name, make, args, in_numpy=False)

    x, square = normal(1_000_000), normal(1000, 1000)
    few = whole(1_000_000, most=1000)
    yield row("sort", named("sort"), x)
    yield row("sort, f64", named("sort"), x.astype("f8"))
    yield row("sort, int32", named("sort"), whole(1_000_000, most=1_000_000))
    yield row("sort of rows, 1000^2", named("sort"), square)
    yield row("sort of columns, 1000^2", named("sort", axis=0), square)
    yield row("argsort", named("argsort"), x)
    yield row("argsort of rows, 1000^2", named("argsort"), square)
    yield row("median", named("median"), x)
    yield row("quantile of rows, 1000^2", named("quantile", 0.9, axis=1), square)
    yield without("top 10", best(10), x)
    yield without("top 10 of rows, 1000^2", best(10), square)
    yield without("unique, 1000 values", named("unique", size=1000), few)
    thresholds = np.linspace(1, 7e5, 10_000, dtype=np.float32)
    yield row("searchsorted of a cumsum", quantity, np.abs(x), thresholds)
    yield row("searchsorted in 1000", named("searchsorted"), np.sort(x[:1000]), x)
    yield row("histogram, 100 bins", counts, x)
    yield row("interp of 1000 points", line, x, np.sort(x[:1000]))
    yield row("isin of 1000 values", named("isin"), few, few[:1000])
    yield row("digitize, 10 bins", named("digitize"), x, np.linspace(-2, 2, 10))
