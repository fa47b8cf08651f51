"""Memory of arrays that loops and choices write to, exchange or bind anew.

Each function is run by NumPy and under the decorator: results and arguments agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.compare import equals

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


def nested(a: Any, n: int) -> Any:
    """An argument that an inner loop exchanges, and that is written to afterwards."""
    b = a.copy()
    for i in range(n):
        for _ in range(i):
            a, b = b, a
    a[0] = 7
    return a, b


def exchanged_in_some_turns(a: Any, b: Any, n: int) -> Any:
    """Arguments that some turns exchange, and a choice in an inner loop."""
    for i in range(n):
        b[1:] = a[:-1] + i
        for j in range(i):
            if a[j] > b[0]:
                a, b = b, a
            a[j] += b[0]
        if a[1] > i:
            a, b = b, a
    a[0] = 7
    return a, b


def exchanged_by_a_third_name(a: Any, b: Any, n: int) -> Any:
    """Arguments that change places without a tuple."""
    for i in range(n):
        b[1:] = a[:-1] + i
        last = a
        a = b
        b = last
    a[0] = 7
    return a, b


def exchanged_on_one_side(a: Any, b: Any, n: int) -> Any:
    """A loop on one side of a choice, and a choice in another."""
    if n > 2:
        for _ in range(n):
            a, b = b, a
    d = a
    if n > 0:
        a[2] = 5
        if a[0] > 1:
            d, b = b, d
    d[0] = 9
    b[1] = 7
    return a, b, d


def bound_on_two_sides(a: Any, b: Any, n: int) -> Any:
    """A name that is one of two arguments, or has no value, and is written to."""
    if n > 0:
        e = a
    if n > 3:
        e = b
    if n > 0:
        e[0] = 4
    return a, b


def tuples_of_arrays(a: Any, b: Any, n: int) -> Any:
    """Two arguments in a tuple, in either order."""
    pair = (a, b)
    if n > 3:
        pair = (b, a)
    if n > 0:
        pair[0][0] = 3
    x, y = pair
    y[1] += x[0]
    return a, b, *pair


def made_on_one_side(a: Any, n: int) -> Any:
    """An array that one side makes and gives two names."""
    if n > 3:
        d = a.copy()
        e = d
    else:
        d = a.copy()
        e = a.copy()
    d[0] = 5
    e[1] = 6
    return d, e


@traceir_numba.jit
def begun(p: Any, value: Any) -> Any:
    """An argument that is written and given back."""
    p[0] = value
    return p


def given_back(a: Any, n: int) -> Any:
    """An array that another function gives back, after some choices."""
    p = a
    for k in range(3):
        if a[k + 1] <= n:
            p = begun(p, a[k] + k)
    p[1] = 8
    return p


def given_back_and_written(a: Any, n: int) -> Any:
    """An array by its first name while a choice has given it back by another."""
    p, total = a, 0.0
    for k in range(3):
        if a[k + 1] > n:
            a[2] += 1
            total += p[2]
        else:
            p = begun(p, a[k] + k)
            total += a[0]
    p[1] = total
    return p


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((exchanged, (X, X * 3, n)) for n in (0, 4, 5)),
    *((exchanged_then_written, (X, n)) for n in range(4)),
    *((accepted, (X, n)) for n in range(4)),
    *((rotated, (X, X * 2, X * 3, n)) for n in (0, 4)),
    *((rebound, (X, n)) for n in (0, 3)),
    (copied, (X, 3)),
    *((given_back, (X, n)) for n in (0, 3, 9)),
    *((given_back_and_written, (X, n)) for n in (0, 3, 9)),
    *((two_names, (X, n)) for n in (0, 3)),
    (updated, (X, 4)),
    (viewed, (X, 3)),
    (grouped, (X, 4)),
    *((one_of_two, (X, n)) for n in (3, 4)),
    *((nested, (X, n)) for n in (0, 1, 3)),
    *((made_on_one_side, (X, n)) for n in (3, 4)),
    *(
        (function, (X, X[::-1].copy(), n))
        for function in (
            *(exchanged_in_some_turns, exchanged_by_a_third_name),
            *(exchanged_on_one_side, bound_on_two_sides, tuples_of_arrays),
        )
        for n in (0, 1, 4)
    ),
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
