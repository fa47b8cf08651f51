"""Reading and writing at places that are values, searches and order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from benchmarks.workload import Function, Workload, normal, whole

MANY = 1_000_000


def taken(xp: Any) -> Function:
    """Elements at random places, and something small done with them."""
    return lambda x, i: x[i] * 2.0 + 1.0


def looked_up(xp: Any) -> Function:
    """The means of rows of a table, eight at a time."""
    return lambda table, ids: table[ids].mean(1)


def counted(size: int) -> Any:
    """Sums of what belongs together."""

    def make(xp: Any) -> Function:
        return lambda i, x: xp.numpy.zeros(size, "float32").at[i].add(x)

    return make


def spread(xp: Any) -> Function:
    """Rows added to rows of a table."""
    return lambda table, ids, rows: table.at[ids].add(rows)


def bins(xp: Any) -> Function:
    """How often each number occurs."""
    return lambda i: xp.numpy.bincount(i, length=1000)


def windows(xp: Any) -> Function:
    """The sum of a thousand slices, each from another place on."""

    def run(x: Any) -> Any:
        def body(k: Any, total: Any) -> Any:
            return total + xp.lax.dynamic_slice(x, (k * 100,), (1000,))

        return xp.lax.fori_loop(0, 1000, body, xp.numpy.zeros(1000, "float32"))

    return run


def recurrence(xp: Any) -> Function:
    """Each element of the two before it, written in its place."""

    def run(x: Any) -> Any:
        def body(i: Any, a: Any) -> Any:
            return a.at[i].set(a[i - 1] * 0.75 + a[i - 2] * 0.25)

        return xp.lax.fori_loop(2, x.shape[0], body, x)

    return run


def common(xp: Any) -> Function:
    """The longest common subsequence, by a table of all beginnings."""
    jnp, lax = xp.numpy, xp.lax

    def run(a: Any, b: Any) -> Any:
        def row(i: Any, table: Any) -> Any:
            def column(j: Any, table: Any) -> Any:
                longest = jnp.maximum(table[i - 1, j], table[i, j - 1])
                alike = table[i - 1, j - 1] + 1
                found = jnp.where(a[i - 1] == b[j - 1], alike, longest)
                return table.at[i, j].set(found)

            return lax.fori_loop(1, b.shape[0] + 1, column, table)

        table = jnp.zeros((a.shape[0] + 1, b.shape[0] + 1), "int32")
        return lax.fori_loop(1, a.shape[0] + 1, row, table)

    return run


def common_by_hand() -> Function:
    """What `common` does, written for Numba."""

    @numba.njit
    def run(a: Any, b: Any) -> Any:
        table = np.zeros((a.shape[0] + 1, b.shape[0] + 1), np.int32)
        for i in range(1, a.shape[0] + 1):
            for j in range(1, b.shape[0] + 1):
                if a[i - 1] == b[j - 1]:
                    table[i, j] = table[i - 1, j - 1] + 1
                else:
                    table[i, j] = max(table[i - 1, j], table[i, j - 1])
        return table

    return run


def by_rows(xp: Any) -> Function:
    """Each row of a table of the one before."""

    def run(table: Any) -> Any:
        def body(k: Any, t: Any) -> Any:
            return t.at[k].set(t[k - 1] * 0.5 + t[k])

        return xp.lax.fori_loop(1, table.shape[0], body, table)

    return run


def ordered(name: str) -> Any:
    """A function of order, by its name."""
    return lambda xp: getattr(xp.numpy, name)


def quantity(xp: Any) -> Function:
    """Where thresholds lie among running sums."""
    jnp = xp.numpy
    return lambda x, y: jnp.searchsorted(jnp.cumsum(x), y)


def different(xp: Any) -> Function:
    """The different values, whose number is known."""
    return lambda i: xp.numpy.unique(i, size=1000)


def histogram(xp: Any) -> Function:
    """How many elements are in each bin of one width."""
    return lambda x: xp.numpy.histogram(x, bins=100)[0]


def line(xp: Any) -> Function:
    """Points on the line through others."""
    return lambda x, points: xp.numpy.interp(x, points, points)


def members(xp: Any) -> Function:
    """Whether each element is one of some."""
    return lambda i, others: xp.numpy.isin(i, others)


def workloads() -> Iterator[Workload]:
    """Each of a million elements, or as many as its name says."""

    def row(name: str, make: Any, *args: Any, **more: Any) -> Workload:
        return Workload(name, make, args, in_numpy=False, **more)

    x, places = normal(MANY), whole(MANY, most=MANY)
    table, ids = normal(10_000, 128), whole(4096, most=10_000)
    few = whole(MANY, most=1000)
    yield row("x[i] * 2 + 1", taken, x, places)
    yield row("lookup of 4096 rows, means", looked_up, table, ids.reshape(512, 8))
    yield row("sums into 1000", counted(1000), few, x)
    yield row("sums into 10^6", counted(MANY), places, x)
    yield row("4096 rows added to a table", spread, table, ids, normal(4096, 128))
    yield row("bincount, 1000 bins", bins, few)
    yield row("1000 slices in a loop", windows, x)
    yield row("recurrence of 10^5 in place", recurrence, x[:100_000])
    letters = (whole(1000, most=5), whole(1000, most=5))
    yield row("common subsequence, 1000^2", common, *letters, by_hand=common_by_hand)
    yield row("rows of rows, 10^4 x 128", by_rows, table)
    yield row("sort", ordered("sort"), x)
    yield row("argsort", ordered("argsort"), x)
    yield row("median", ordered("median"), x)
    thresholds = np.linspace(1, 7e5, 10_000, dtype=np.float32)
    yield row("searchsorted of a cumsum", quantity, np.abs(x), thresholds)
    yield row("unique, 1000 values", different, few)
    yield row("histogram, 100 bins", histogram, x)
    yield row("interp of 1000 points", line, x, np.sort(x[:1000]))
    yield row("isin of 1000 values", members, few, few[:1000])
