"""Memory of arrays that loops and choices write to, exchange or bind anew.

Each function is run by NumPy and under the decorator: results and arguments agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.compare import equals
from rule_errors import raises_rule

import traceir_numba

X = np.arange(1.0, 8.0)


def exchanged(a: Any, b: Any, n: int) -> Any:
    """Two arguments that change places."""
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a


def rotated(a: Any, b: Any, c: Any, n: int) -> Any:
    """Three arguments that change places."""
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + c[2:])
        a, b, c = b, c, a
    return a


def exchanged_then_written(a: Any, n: int) -> Any:
    """An argument and its copy that change places, and are written to afterwards."""
    b = a.copy()
    for _ in range(n):
        a, b = b, a
    b[0] = 7
    return a, b


def accepted(a: Any, n: int) -> Any:
    """Arrays of the function's own that change places in some turns."""
    a, b = a.copy(), a * 2
    for i in range(n):
        b[1:] = a[:-1] + 1
        for _ in range(i):
            a, b = b, a
        if a[1] > i:
            a, b = b, a
    a[0] = 7
    return a, b


def rebound(x: Any, n: int) -> Any:
    """An argument's name for a new array, unless there is no turn."""
    for _ in range(n):
        x = x * 2
    x[0] = 7
    return x


def copied(x: Any, n: int) -> Any:
    """A copy that is written to, and then its name for a new array."""
    x = x.copy()
    for i in range(n):
        x[0] = i
        x = x * 2
    return x


def two_names(x: Any, n: int) -> Any:
    """An array with two names, if there is no turn."""
    y = x
    for _ in range(n):
        y = y + 1
    x[0] = 5
    return y


def updated(x: Any, n: int) -> Any:
    """An argument that is updated as a whole."""
    for i in range(n):
        x += i
    return x


def viewed(x: Any, n: int) -> Any:
    """A view that is made in each turn."""
    for i in range(n):
        y = x[1:]
        y[0] += i
    return x


def grouped(x: Any, n: int) -> Any:
    """Arrays and numbers in a tuple."""
    pair = (x, 0)
    for _ in range(n):
        pair = (pair[0] + 1, pair[1] + 2)
    return pair[0] * pair[1]


def one_of_two(x: Any, n: int) -> Any:
    """A name for an argument or for a new array, which is written to."""
    y = x if n > 3 else x * 2
    y[0] = 1
    x[1] = 9
    return y


def known(x: Any) -> Any:
    """An array that is known until a loop writes to it."""
    table = np.zeros(30)
    for i in range(30):
        table[i] = x[i % 5]
    np.copyto(table[:3], x[:3])
    return table


def in_place(x: Any, n: int) -> Any:
    """Functions that write to their arguments."""
    table = np.zeros(7)
    for _ in range(n):
        np.copyto(table, x)
        np.add(table, 1, out=table)
        np.multiply.at(table, [0, 0], 3.0)
        table.sort()
    return table


def by_closure(x: Any, n: int) -> Any:
    """A number that a function inside sets."""
    total = 0.0

    def add(value: Any) -> None:
        nonlocal total
        total += value

    for i in range(n):
        add(x[i])
    return total


def push(values: list[Any], value: Any) -> None:
    """Change a list of the caller's."""
    values.append(value)


def collected(x: Any) -> Any:
    """A list that another function appends to."""
    found: list[Any] = []
    for i in range(8):
        push(found, x[i % 3] * i)
    return np.array(found)


class Sum:
    """An object that is changed."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.count = 0

    def add(self, value: Any) -> None:
        """Add a value."""
        self.value = self.value + value
        self.count += 1


def made(x: Any, n: int) -> Any:
    """An object that is made in each turn."""
    total = 0.0
    for i in range(n):
        total += Sum(x[i]).value
    return total


def changed(x: Any) -> Any:
    """An object that each turn changes."""
    one = Sum(x[0])
    for i in range(7):
        one.add(x[i])
    return one.value * one.count


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((exchanged, (X, X * 3, n)) for n in (0, 4, 5)),
    *((exchanged_then_written, (X, n)) for n in range(4)),
    *((accepted, (X, n)) for n in range(4)),
    *((rotated, (X, X * 2, X * 3, n)) for n in (0, 4)),
    *((rebound, (X, n)) for n in (0, 3)),
    (copied, (X, 3)),
    *((two_names, (X, n)) for n in (0, 3)),
    (updated, (X, 4)),
    (viewed, (X, 3)),
    (grouped, (X, 4)),
    *((one_of_two, (X, n)) for n in (3, 4)),
    (known, (X,)),
    (in_place, (X, 3)),
    (by_closure, (X, 5)),
    (collected, (X,)),
    (made, (X, 5)),
    (changed, (X,)),
]


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_memory_is_as_in_numpy(function: Any, args: tuple[Any, ...]) -> None:
    equals(function, args)


def seen_twice(x: Any, n: int) -> Any:
    """An argument that is written to before its name is another's."""
    for i in range(n):
        x[0] = i
        x = x * 2
    return x


def nested(a: Any, n: int) -> Any:
    """An argument that an inner loop exchanges, and that is written to afterwards."""
    b = a.copy()
    for i in range(n):
        for _ in range(i):
            a, b = b, a
    a[0] = 7
    return a


def halved(a: Any, n: int) -> Any:
    """An argument that some turns bind to a new array."""
    for i in range(n):
        if a[0] > i:
            a = a * 0.5
    a[0] = 7
    return a


def met(a: Any, n: int) -> Any:
    """Arrays that become one in some turns, and are written to."""
    a, b = a.copy(), a * 2
    for i in range(n):
        a[0] += 1
        if a[0] > i:
            a, b = b, b
    return a


def outer(a: Any, n: int) -> Any:
    """An array of its own until it is one that each turn writes to."""
    b, x = a.copy(), a * 1
    for i in range(n):
        b[0] += 1
        x = x + a
        if a[1] > i:
            a = b
    return x


def one_array(a: Any, n: int) -> Any:
    """Two names for what a turn makes."""
    b = a = a.copy()
    for i in range(n):
        b = np.zeros(7) + i
        if a[1] > i:
            a = b
    a[0] = 7
    return b


def twice_exchanged(a: Any, n: int) -> Any:
    """An argument that two inner loops exchange."""
    b, c = a.copy(), a.copy()
    for i in range(n):
        for _ in range(i):
            a, b = b, a
        for _ in range(n):
            a, c = c, a
    c[0] = 7
    return a


def appended(x: Any, n: int) -> Any:
    """A list that grows by a number of turns that is not known."""
    found = []
    for i in range(n):
        found.append(x[i])
    return x * len(found)


def test_what_would_be_seen_elsewhere_is_refused() -> None:
    with raises_rule("staged.memory", TypeError, r"x, f64\[7\]"):
        traceir_numba.jit(seen_twice)(X.copy(), 3)
    for function in (nested, halved, met, outer, one_array, twice_exchanged):
        with raises_rule("staged.memory", TypeError, r"f64\[7\]"):
            traceir_numba.jit(function)(X.copy(), 3)
    with raises_rule("staged.effect", TypeError, "list"):
        traceir_numba.jit(appended)(X, np.int64(3))
