"""Loops and choices in odd forms: each function agrees with Python running it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from plain.compare import equals
from rule_errors import raises_rule

import traceir_numba


def counted_down(n: Any) -> Any:
    """A test that sets a name."""
    s = 0
    while (n := (n - 1)) > 0:
        s += n
    return s


def over_ranges(x: Any, y: Any) -> Any:
    """Ranges of either sign, numbered, side by side, and from their ends."""
    found = 0
    for i, j in enumerate(range(x, y, -1)):
        found += (i + 1) * j
    for i, j in enumerate(range(x, y, 3), y):
        found += (i + 2) * j
    for i, j in zip(range(x, y, 3), range(y, x, -2), strict=False):
        found += 3 * i - j
    for i, j in enumerate(reversed(range(x, y))):
        found += 5 * i + j
    for i in range(x, y, abs(y) + 1):
        found -= i
    return found


def named_in_choice(x: Any) -> Any:
    """A conditional expression that sets a name."""
    y = (z := (x[0] + 1)) if len(x) > 3 else 0
    return y + z


def named_in_test(x: Any) -> Any:
    """A choice that sets a name."""
    if (m := x.max()) > 3:
        return m
    return m * 2


@traceir_numba.jit
def compiled_update(a: Any, i: Any) -> Any:
    """A compiled function that writes to its argument."""
    a[i] = a[i] * 2 + 1


@traceir_numba.jit
def compiled_value(a: Any, i: Any) -> Any:
    """A compiled function that reads."""
    return a[i] * 2 + 1


def plain_update(a: Any, i: Any) -> Any:
    """A function that writes to its argument."""
    a[i] = a[i] * 2 + 1
    return a


def calls_compiled(x: Any, n: Any) -> Any:
    """A loop that calls a compiled function."""
    for i in range(n):
        compiled_update(x, i)
    return x


def sums_compiled(x: Any, n: Any) -> Any:
    """A loop with results of a compiled function."""
    s = 0.0
    for i in range(n):
        s += compiled_value(x, i)
    return s


def calls_plain(x: Any, n: Any) -> Any:
    """A loop that calls a function."""
    for i in range(n):
        plain_update(x, i)
    return x


def cleans_up(x: Any, n: Any) -> Any:
    """A statement that cleans up."""
    s = 0.0
    for i in range(n):
        try:
            s += x[i]
        finally:
            s += 1
    return s


def fails_known(x: Any, n: Any) -> Any:
    """A failure that Python sees while tracing."""
    d = {"a": 1.0}
    s = 0.0
    for i in range(n):
        try:
            s += d["b"] * x[i]
        except KeyError:
            s += x[i]
    return s


def jumps(x: Any) -> Any:
    """Jumps out of nested loops, and ends of loops."""
    c = 0
    for i in range(len(x)):
        for j in range(i, len(x)):
            if x[i] * x[j] > 10:
                c += 1
                if c > 5:
                    break
            elif j > 4:
                continue
            else:
                c -= 1
        else:
            c += 100
        if c > 250:
            return c
    return -c


def reads_later(x: Any, n: Any) -> Any:
    """A function that reads a name that the loop sets."""
    k = 0.0
    s = 0.0

    def fs(v: Any) -> Any:
        return v * k

    for i in range(n):
        k = k + x[i]
        s += fs(2.0)
    return s


def lists_inside(x: Any, n: Any) -> Any:
    """A list in the body."""
    s = 0.0
    for i in range(n):
        s += sum([x[i] * w for w in (1, 2, 3)])
    return s


def ends_while(x: Any) -> Any:
    """The end of a `while` loop."""
    i = 0
    while i < len(x):
        if x[i] > 100:
            break
        i += 1
    else:
        return -1
    return i


def deletes(x: Any, n: Any) -> Any:
    """A name that is deleted."""
    s = 0.0
    for i in range(n):
        t = x[i]
        s += t
        del t
    return s


def any_large(x: Any, n: Any) -> Any:
    """A flag by `or`."""
    found = False
    for i in range(n):
        found = found or x[i] > 5
    return found


def none_negative(x: Any, n: Any) -> Any:
    """A flag by `and` and `not`."""
    ok = True
    for i in range(n):
        ok = ok and (not x[i] < 0)
    return ok


def spread(x: Any) -> Any:
    """Least and greatest."""
    lo = hi = x[0]
    for v in x:
        if v < lo:
            lo = v
        if v > hi:
            hi = v
    return hi - lo


def chosen_place(x: Any, n: Any) -> Any:
    """A conditional expression in an index."""
    for i in range(n):
        x[i if i % 2 else -i] = 0 if x[i] > 3 else i
    return x


def rows_as_views(A: Any) -> Any:
    """Rows that are views."""
    for i in range(A.shape[0]):
        r = A[i]
        for j in range(A.shape[1]):
            r[j] += i * j
    return A


def rows_exchanged(A: Any, n: Any) -> Any:
    """Rows that are exchanged."""
    for i in range(n):
        A[i], A[i + 1] = (A[i + 1].copy(), A[i].copy())
    return A


def elements_exchanged(x: Any, n: Any) -> Any:
    """Elements that are exchanged."""
    for i in range(n):
        x[i], x[i + 1] = (x[i + 1], x[i])
    return x


def rows_by_lists(A: Any, n: Any) -> Any:
    """Rows that are exchanged by lists."""
    for i in range(n):
        A[[i, i + 1]] = A[[i + 1, i]]
    return A


def wrapped(n: Any) -> Any:
    """Integers that wrap."""
    h = np.uint8(7)
    for i in range(n):
        h = np.uint8(h * np.uint8(31) + np.uint8(i))
    return h


def horner(x: Any) -> Any:
    """A range backwards."""
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        s = s * 0.5 + x[i]
    return s


def reversed_sum(x: Any) -> Any:
    """An array backwards."""
    s = 0.0
    for v in reversed(x):
        s = s * 0.5 + v
    return s


def paired(x: Any, y: Any) -> Any:
    """Two arrays together."""
    s = 0.0
    for a, b in zip(x, y[1:]):
        s += a * b
    return s


def by_places(A: Any) -> Any:
    """Places of an array."""
    s = 0.0
    for i, j in np.ndindex(A.shape):
        s += A[i, j] * (i - j)
    return s


def by_mode(x: Any, n: Any) -> Any:
    """A text that stays."""
    mode = "a"
    for i in range(n):
        if mode == "a":
            x[i] += 1
    return x


def stops_after_write(x: Any, n: Any) -> Any:
    """An early result after a write."""
    for i in range(n):
        if x[i] > 5:
            x[0] = -1
            return x
        x[i] = 0
    return x


def largest_or_none(x: Any, n: Any) -> Any:
    """A name that is None at first."""
    best = None
    for i in range(n):
        if best is None or best < x[i]:
            best = x[i]
    return best


def int_or_float(x: Any, n: Any) -> Any:
    """A number that is an int or a float."""
    t = 0
    for i in range(n):
        t = t + 1
        if x[i] > 3:
            t = x[i]
    return t


def escape(c: Any, most: Any) -> Any:
    """A complex number between loops."""
    z = 0j
    for count in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            return count
    return most


X = np.arange(1.0, 8.0)
A = np.arange(12.0).reshape(3, 4)
CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (counted_down, (6,)),
    *((f, (X,)) for f in (named_in_choice, named_in_test, jumps, spread, horner)),
    *((f, (X,)) for f in (ends_while, reversed_sum)),
    (ends_while, (X * 20,)),
    *((f, (X, 4)) for f in (calls_compiled, sums_compiled, calls_plain, cleans_up)),
    *((f, (X, 4)) for f in (fails_known, reads_later, lists_inside, deletes)),
    *(
        (f, (X, n))
        for f in (any_large, none_negative, stops_after_write)
        for n in (3, 7)
    ),
    *(
        (f, (X, 5))
        for f in (chosen_place, elements_exchanged, by_mode, largest_or_none)
    ),
    *((f, (A,)) for f in (rows_as_views, by_places)),
    *((f, (A, 2)) for f in (rows_exchanged, rows_by_lists)),
    (wrapped, (20,)),
    *((escape, (c, 50)) for c in (0.5 + 0.5j, 0.1j)),
    (paired, (X, X)),
    (int_or_float, (X, 7)),
]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(("function", "args"), CALLS)
def test_the_result_is_pythons(function: Any, args: tuple[Any, ...]) -> None:
    equals(function, args)


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.int8, np.uint8])
def test_ranges_of_numpys_integers_are_pythons(kind: Any) -> None:
    f = traceir_numba.jit(over_ranges)
    for x, y in itertools.product((0, 1, 5, 20), repeat=2):
        assert f(kind(x), kind(y)) == over_ranges(x, y)
    if kind is not np.uint8:
        assert f(kind(-3), kind(4)) == over_ranges(-3, 4)
    assert not f._cache.known.arguments  # nothing is demanded


def test_a_result_that_is_none_is_told() -> None:
    def first_large(x: Any, limit: Any) -> Any:
        for value in x:
            if value > limit:
                return value
        return None

    compiled = traceir_numba.jit(first_large)
    least, most = np.min(X), np.max(X)
    assert compiled(X, least) == first_large(X, least)
    with raises_rule("staged.join", TypeError, r"None, where others are f64"):
        compiled(X, most)


def test_none_where_a_number_is_asked_for_is_an_error() -> None:
    def doubled(x: Any, n: int) -> Any:
        best = None
        for i in range(n):
            best = x[i]
        return best * 2

    doubling = traceir_numba.jit(doubled)
    assert doubling(X, 3) == 6
    with pytest.raises(TypeError, match="'best' is None"):
        doubling(X, 0)
