"""Memory of arrays that can't be told after loops and choices: refused, not guessed.

Rules: staged.memory, staged.effect
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba

X = np.arange(1.0, 8.0)


def seen_twice(x: Any, n: int) -> Any:
    """An argument that is written to before its name is another's."""
    for i in range(n):
        x[0] = i
        x = x * 2
    return x


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


def part(a: Any, n: int) -> Any:
    """Parts of an array that one side makes."""
    if n > 2:
        d = a.copy()
        e = d[:]
    else:
        d, e = a.copy(), a.copy()
    d[0] = 5
    return d, e


def types(a: Any, n: int) -> Any:
    """An array of another dtype than the one that it may be."""
    k = a.astype(int)
    y = k if n > 2 else a * 0.5
    y[0] = 1.5
    return y


def read_by_another_name(a: Any, n: int) -> Any:
    """An argument that turns exchange, write to, and read by another name."""
    e, b, total = a, a * 2, 0.0
    for _ in range(n):
        a[0] += 1
        total += e[0]
        a, b = b, a
    return total


def asked_by_another_name(a: Any, n: int) -> Any:
    """The same, read by the test of a loop."""
    e, b, k = a[1:], a * 2, 0
    while k < n and e[0] < 50:
        a[1] += 1
        k += 1
        a, b = b, a
    return k


def one_of_both(a: Any, n: int) -> Any:
    """A name that may be an argument, which is written to and exchanged."""
    b = a * 2
    d = b if a[0] > n else a
    for i in range(n):
        d[0] += 1
        if a[0] > i:
            d, b = b, d
    return a, b, d


def in_a_tuple(a: Any, n: int) -> Any:
    """Arrays in a tuple that some turns exchange."""
    pair = (a, a * 2)
    for i in range(n):
        pair[0][0] += i
        if a[1] > i:
            pair = (pair[1], pair[0])
    return pair


def kept_from_a_turn(a: Any, n: int) -> Any:
    """A name for one of two arrays that turns exchange, read in the next turn."""
    b, x, total = a * 2, a * 3, 0.0
    for _ in range(n):
        total += x[0]
        a[0] += 1
        if a[1] > 3:
            x = a
        elif b[0] > 5:
            x = np.zeros(7)
        a, b = b, a
    return total


def appended(x: Any, n: Any) -> Any:
    """A list that grows by a number of turns that is not known."""
    found = []
    for i in range(n):
        found.append(x[i])
    return x * len(found)


@pytest.mark.parametrize(
    "function",
    [
        *(halved, met, outer, one_array, twice_exchanged, part, types, one_of_both),
        *(read_by_another_name, asked_by_another_name, in_a_tuple, kept_from_a_turn),
    ],
)
def test_what_would_be_seen_elsewhere_is_refused(function: Any) -> None:
    with raises_rule("staged.memory", TypeError, r"f64\[7\]|i64\[7\]"):
        traceir_numba.jit(function)(X.copy(), 3)


def test_the_name_is_told() -> None:
    with raises_rule("staged.memory", TypeError, r"x, f64\[7\]"):
        traceir_numba.jit(seen_twice)(X.copy(), 3)


def test_a_list_that_grows_is_refused() -> None:
    with raises_rule("staged.effect", TypeError, "list"):
        traceir_numba.jit(appended)(X, np.array(3))
