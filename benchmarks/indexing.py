"""Reading and writing at places that are values."""

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
    """The count of each number."""
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
    """The work of `common`, written for Numba."""

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


def chosen(xp: Any) -> Function:
    """Something small done where masks say."""
    where = xp.numpy.where
    return lambda x: where(x > 0.5, x * 2.0, where(x < -0.5, 0.0, x))


def cut(xp: Any) -> Function:
    """Elements along each row."""
    return lambda x, i: xp.numpy.take_along_axis(x, i, 1)


def rows_of(xp: Any) -> Function:
    """Rows, each at a place."""
    return lambda x, i: xp.numpy.take(x, i, axis=0)


def scaled(xp: Any) -> Function:
    """The gradient of a lookup: sums into the rows of a table."""

    def loss(table: Any, ids: Any) -> Any:
        return (table[ids] ** 2).sum()

    return xp.grad(loss)


def stored(xp: Any) -> Function:
    """A window of an array moved along it, in a loop."""

    def run(x: Any, part: Any) -> Any:
        def body(k: Any, a: Any) -> Any:
            return xp.lax.dynamic_update_slice(a, part * 0.5, (k * 100,))

        return xp.lax.fori_loop(0, 1000, body, x)

    return run


def counts(xp: Any) -> Function:
    """The number of elements in each bin of one width, by two columns."""
    return lambda x, y: xp.numpy.histogram2d(x, y, bins=30)[0]


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
    yield row("two masks", chosen, x)
    square = normal(1000, 1000)
    yield row("take_along_axis, 1000^2", cut, square, whole(1000, 1000) - 1)
    yield row("take of 4096 rows", rows_of, table, ids)
    yield row("gradient of a lookup", scaled, table, ids)
    yield row("1000 slices written in a loop", stored, x, x[:1000])
    yield row("histogram2d, 30 x 30", counts, x, normal(MANY))
