"""Loops over elements as straight code: no clamps, no copies, scalars in registers.

Cites: backend.compile, index.bounds
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax


def product(a: Any, b: Any) -> Any:
    n, m = a.shape
    c = np.zeros((n, b.shape[1]))
    for i in range(n):
        for j in range(b.shape[1]):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


def factorized(a: Any) -> Any:
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def bubbles(a: Any) -> Any:
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                t = a[j]
                a[j] = a[j + 1]
                a[j + 1] = t


def inserted(a: Any) -> Any:
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def searched(a: Any, x: Any) -> Any:
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def smoothed(a: Any) -> Any:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4
    return a


RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.random((20, 20)) + 20 * np.eye(20)
VECTOR = RANDOM.random(50)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "product": (product, (MATRIX, MATRIX.T.copy())),
    "factors": (factorized, (MATRIX,)),
    "bubble sort": (bubbles, (VECTOR,)),
    "insertion sort": (inserted, (VECTOR,)),
    "binary search": (searched, (np.sort(VECTOR), 0.3)),
    "stencil": (smoothed, (MATRIX,)),
}


def code_of(f: Callable[..., Any], *args: Any) -> str:
    """The generated kernels of a function, without what all modules have."""
    source = traceir_numba.jit(f).source(*args)
    return "".join(re.split(r"\n(?=@)", source)[2:])


def own_copies(args: tuple[Any, ...]) -> list[Any]:
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize("name", PROGRAMS)
def test_places_that_are_inside_have_no_clamp_and_no_test(name: str) -> None:
    f, args = PROGRAMS[name]
    code = code_of(f, *args)
    kernels = code[code.index("@kernel") :]
    assert not re.search(r"nearest|is_place| < 0|\bif .* else\b", kernels), kernels
    mine, theirs = own_copies(args), own_copies(args)
    np.testing.assert_array_equal(traceir_numba.jit(f)(*mine), f(*theirs))
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["factors", "bubble sort", "insertion sort"])
def test_an_array_is_copied_once_whatever_loops_and_choices_write(name: str) -> None:
    f, args = PROGRAMS[name]
    code = code_of(f, *args)
    copies = re.findall(r"^( *)copy_f64", code, re.MULTILINE)
    assert copies == ["    "]
    assert "_old" not in code
    assert "_body_" not in code


def test_a_value_that_a_loop_gives_on_is_not_written_over() -> None:
    x = np.arange(30.0)

    def given_on(x: Any) -> Any:
        a = jnp.sin(x)
        kept, _ = lax.fori_loop(0, 3, lambda i, c: (c[1], a), (x, x))
        return kept, lax.fori_loop(0, 3, lambda i, b: b.at[i].set(5.0), a)

    def last_row(x: Any) -> Any:
        rows = jnp.cos(x.reshape(3, 10))
        last, _ = lax.scan(lambda c, row: (row, None), rows[0], rows)
        return last, lax.fori_loop(0, 3, lambda i, b: b.at[i, 0].set(5.0), rows)

    def in_a_loop(f: Callable[..., Any]) -> Callable[..., Any]:
        def turn(i: Any, carry: Any) -> Any:
            return tuple(a + b for a, b in zip(carry, f(x + i), strict=True))

        start = tuple(jnp.zeros_like(part) for part in f(x))
        return lambda _: lax.fori_loop(0, 2, turn, start)

    with traceir.enable_x64(True):
        for f in (given_on, last_row, in_a_loop(given_on), in_a_loop(last_row)):
            found = traceir.jit(f, backend="numba")(x)
            for one, other in zip(found, f(x), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-14)


def test_negative_places_count_from_the_end() -> None:
    def ends(a: Any) -> Any:
        s = 0.0
        for i in range(-30, 30):
            s = s * 0.5 + a[i]
        return s

    assert traceir_numba.jit(ends)(VECTOR) == ends(VECTOR)


def test_divisions_by_powers_of_two_are_shifts() -> None:
    def halvings(n: int) -> int:
        turns = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            turns += 1
        return turns

    code = code_of(halvings, 27)
    assert "div" not in code and "rem" not in code, code
    assert traceir_numba.jit(halvings)(27) == halvings(27)


def test_numbers_of_arrays_are_divided_so_too() -> None:
    def middles(a: Any) -> Any:
        i = 0
        while i < 5:
            i += (a[i] + a[i + 1]) // 2 + 1
        return i

    places = np.arange(10)
    assert "div" not in code_of(middles, places)
    assert traceir_numba.jit(middles)(places) == middles(places)


BOUND = st.integers(-6, 12)


@given(BOUND, BOUND, st.sampled_from([-3, -1, 1, 2]), BOUND, st.integers(1, 5))
def test_loops_read_and_write_where_numpy_does(
    start: int, stop: int, step: int, shift: int, every: int
) -> None:
    """Ranges of counters and carried numbers hold, or a place is told to be outside."""

    def f(a: Any) -> Any:
        last = shift
        for i in range(start, stop, step):
            k = i + shift
            if k % every == 0 and k < 8:
                a[k // 2] += last
            elif i != 2:
                last = k - last if k - last > -5 else -5
                a[last % 7] -= i
            while last > 3:
                last -= every
                a[last] *= 2
        return last

    mine, theirs = np.arange(8), np.arange(8)
    try:
        wanted = f(theirs)
    except IndexError:
        with pytest.raises(IndexError):
            traceir_numba.jit(f)(mine)
        return
    assert traceir_numba.jit(f)(mine) == wanted
    np.testing.assert_array_equal(mine, theirs)


def added(a: float, x: Any, y: Any, n: int) -> None:
    for i in range(n):
        y[i] = a * x[i] + y[i]


def test_a_loop_with_a_traced_end_has_a_part_without_clamps_in_vectors() -> None:
    args = 2.0, np.ones(1000), np.zeros(1000), 1000
    code = code_of(added, *args)
    (first,) = re.findall(r"for step_0 in range\(.*?(?=\n    \w)", code, re.DOTALL)
    assert "nearest" not in first and "is_place" not in first
    compiled = traceir_numba.jit(added).lower(*args).compile()
    assert re.search(r"fmul (contract )?<\d+ x double>", compiled.as_text("llvm"))


@given(BOUND, BOUND, st.sampled_from([1, 2, -1]), st.integers(-3, 3))
def test_traced_ends_reach_as_far_as_numpy_does(
    start: int, stop: int, step: int, shift: int
) -> None:
    def f(a: Any, start: int, stop: int) -> Any:
        s = 0
        for i in range(start, stop, step):
            a[i + shift] += i
            s += a[i]
        return s

    mine, theirs = np.arange(8), np.arange(8)
    jitted = traceir_numba.jit(f)
    try:
        wanted = f(theirs, start, stop)
    except IndexError:
        with pytest.raises(IndexError):
            jitted(mine, start, stop)
        return
    assert jitted(mine, start, stop) == wanted
    np.testing.assert_array_equal(mine, theirs)


def test_loops_that_follow_one_another_are_one_routine() -> None:
    def table(n: Any) -> Any:
        d = np.zeros((30, 30), np.int64)
        for i in range(30):
            d[i, 0] = i
        for j in range(30):
            d[0, j] = n * j
        for i in range(1, 30):
            for j in range(1, 30):
                d[i, j] = d[i - 1, j] + d[i, j - 1]
        return d

    code = code_of(table, 3)
    assert len(re.findall(r"^def table_(scan|cond|while)", code, re.MULTILINE)) == 1
    assert code.count("copy_i64(") == 1
    np.testing.assert_array_equal(traceir_numba.jit(table)(3), table(3))
