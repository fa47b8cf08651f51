"""Loops that write at places that are values."""

from __future__ import annotations

from typing import Any

import numpy as np
from compiling import grid

import traceir.numpy as jnp
from traceir import lax


def fibonacci(x: Any) -> Any:
    """Each element of the two before it."""
    return lax.fori_loop(2, 10, lambda i, a: a.at[i].set(a[i - 1] * 0.5 + a[i - 2]), x)


def common(a: Any, b: Any) -> Any:
    """The length of the longest subsequence that two have, by a table."""

    def row(i: Any, table: Any) -> Any:
        def column(j: Any, table: Any) -> Any:
            longest = jnp.maximum(table[i - 1, j], table[i, j - 1])
            alike = table[i - 1, j - 1] + 1
            found = jnp.where(a[i - 1] == b[j - 1], alike, longest)
            return table.at[i, j].set(found)

        return lax.fori_loop(1, 6, column, table)

    return lax.fori_loop(1, 6, row, jnp.zeros((6, 6), "int32"))


def rows(table: Any) -> Any:
    """Each row of the one before."""
    return lax.fori_loop(1, 4, lambda k, t: t.at[k].set(t[k - 1] * 0.5 + t[k]), table)


def chosen(x: Any) -> Any:
    """One element or none, or all of them."""

    def some(a: Any, i: Any) -> Any:
        return lax.cond(a[0] > 1, lambda a: a * 0.5, lambda a: a, a)

    def body(i: Any, a: Any) -> Any:
        return lax.cond(a[i] > 0, lambda a, i: a.at[i].set(a[i - 1]), some, a, i)

    return lax.fori_loop(0, 10, body, x)


def swaps(x: Any) -> Any:
    """Sorted, by exchanges with the least of what is left."""

    def body(i: Any, a: Any) -> Any:
        j = jnp.argmin(jnp.where(jnp.arange(10) < i, jnp.inf, a))
        return a.at[i].set(a[j]).at[j].set(a[i])

    return lax.fori_loop(0, 10, body, x)


def doubled(x: Any) -> Any:
    """Some elements twice, in a loop that tests them."""

    def body(state: Any) -> Any:
        k, a = state
        return k + 1, a.at[jnp.array([1, 2, 1])].multiply(2.0)

    return lax.while_loop(lambda s: (s[1][1] < 100) & (s[0] < 20), body, (0, x))[1]


LETTERS = np.array([1, 2, 3, 4, 2], np.int32), np.array([2, 1, 3, 2, 4], np.int32)


IN_PLACE = {
    "fibonacci": (fibonacci, (grid(10),)),
    "common": (common, LETTERS),
    "rows": (rows, (grid(4, 5),)),
    "chosen": (chosen, (grid(10),)),
    "swaps": (swaps, (grid(10),)),
    "doubled": (doubled, (grid(10) + 5,)),
}
