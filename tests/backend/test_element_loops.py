"""Loops over elements as straight code: no clamps, no copies, scalars in registers.

Cites: backend.compile, index.bounds
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import code_of
from hypothesis import example, given
from hypothesis import strategies as st
from plain.compare import agrees
from plain.loops import graphs, images, sorting

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


def folded(n: int) -> Any:
    t = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j > 2:
                t[i, j] = max(t[i, j], t[i, j - 1])
            if i + 1 < n:
                t[i, j] = max(t[i, j], t[i + 1, j])
            t[i, j] += 1
    return t


def divided(numbers: Any, found: Any) -> None:
    for i in range(len(numbers)):
        f = 2.0
        while f * f <= numbers[i]:
            if numbers[i] % f == 0:
                found[i] = f
                break
            f += 1
        else:
            found[i] = numbers[i]
        if f > 3:
            found[i] = -found[i]


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
    "heap sort": (sorting.heap_sort, (RANDOM.integers(0, 99, 50),)),
}
# Arrays that are written at more than one place in a turn, under choices and in loops.
WRITTEN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{name: PROGRAMS[name] for name in ("factors", "bubble sort", "insertion sort")},
    "choices in a row": (folded, (12,)),
    "choices in choices": (images.dither, (RANDOM.random((5, 6)) * 255,)),
    "a loop, then a choice": (divided, (np.arange(2.0, 40.0), np.zeros(38))),
    "two loops, then choices": (graphs.components, (9, RANDOM.integers(0, 9, (20, 2)))),
}


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


@pytest.mark.parametrize("name", WRITTEN)
def test_an_array_is_copied_once_whatever_loops_and_choices_write(name: str) -> None:
    f, args = WRITTEN[name]
    code = code_of(f, *args)
    copies = re.findall(r"^( *)copy_\w+\((\w+)", code, re.MULTILINE)
    assert {indent for indent, _ in copies} <= {"    "}, code
    assert len({*copies}) == len(copies), code
    assert "_old" not in code
    assert "_body_" not in code
    agrees(f, args)


def agree(f: Callable[..., Any], x: Any) -> None:
    """Assert that a function's arrays are those of the reference backend."""
    wanted = traceir.jit(f, backend="reference")(x)
    for one, other in zip(traceir.jit(f, backend="numba")(x), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def chosen(yes: Callable[..., Any], no: Callable[..., Any]) -> Callable[..., Any]:
    """A turn that does one thing or another with three arrays."""
    return lambda i, *abc: lax.cond(i % 3 != 1, yes, no, i, *abc)


def put(i: Any, a: Any, b: Any, c: Any) -> Any:
    return a.at[i].add(1 + b[0]), b, c


def same(i: Any, a: Any, b: Any, c: Any) -> Any:
    return a, b, c


def turned(times: Any, turn: Callable[..., Any]) -> Callable[..., Any]:
    """A turn that has turns of its own."""

    def loop(i: Any, *abc: Any) -> Any:
        return lax.fori_loop(0, times(i), lambda k, x: turn((i + k) % 6, *x), abc)

    return loop


def alone(i: Any, a: Any) -> Any:
    return lax.cond(i % 2 == 0, lambda a: a.at[i].add(7.0), lambda a: a, a)


def given_on(i: Any, a: Any, b: Any, c: Any) -> Any:
    made = jnp.sin(a)
    kept, _ = lax.fori_loop(0, 3, lambda k, two: (two[1], made), (b, c))
    return alone(i, made), kept, c


# What may be done with three arrays at a time: parts are written, arrays are kept
# beside what is made of them, change places and are read anew.
TURNS: tuple[Callable[..., Any], ...] = (
    put,
    lambda i, a, b, c: (alone(i, a), a, c),
    given_on,
    lambda i, a, b, c: (alone(i, b) * a[1] + b, b, c),
    lambda i, a, b, c: (a, a, c),
    lambda i, a, b, c: (b, c, a),
    lambda i, a, b, c: (a.at[0].set(b[i] + c.sum()), b, a),
    chosen(put, same),
    chosen(put, lambda i, a, b, c: (b.at[1].set(a[i]), a, c)),
    chosen(lambda i, a, b, c: (a.at[i].set(2.0), a, c), same),
    chosen(lambda i, a, b, c: (a * 0.5 + b, b, c), put),
    chosen(lambda i, a, b, c: (a[::-1], b, c), put),
    chosen(lambda i, a, b, c: (b, a, c), same),
    chosen(same, chosen(put, lambda i, a, b, c: (c, b, c.at[i].mul(0.5)))),
    chosen(turned(lambda i: 2, put), same),
    turned(lambda i: 2, put),
    turned(lambda i: i, lambda i, a, b, c: (b, a.at[i].add(1.0), c)),
    turned(lambda i: i, chosen(put, lambda i, a, b, c: (a, c, b))),
)


@given(
    st.lists(
        st.tuples(st.sampled_from(TURNS), st.permutations(range(3))),
        min_size=1,
        max_size=6,
    )
)
@example([(put, (0, 1, 2)), (TURNS[1], (0, 1, 2))])
@example([(put, (1, 0, 2)), (TURNS[3], (0, 1, 2))])
@example([(given_on, (0, 1, 2))])
def test_an_array_that_is_still_read_is_not_written_over(turns: Any) -> None:
    def turn(i: Any, abc: Any) -> Any:
        for one, order in turns:
            found = one(i, *(abc[k] for k in order))
            abc = tuple(found[order.index(k)] for k in range(3))
        return abc

    def f(x: Any) -> Any:
        return lax.fori_loop(0, 4, turn, (x, jnp.sin(x), jnp.cos(x)))

    with traceir.enable_x64(True):
        agree(f, jnp.arange(6.0))


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
            agree(f, x)


def test_loops_that_end_soon_are_no_places_to_stop_at() -> None:
    compiled = traceir_numba.jit(factorized).lower(MATRIX).compile()
    assert "traceir_safepoint" not in compiled.as_text("llvm")
    compiled = traceir_numba.jit(factorized).lower(np.eye(200)).compile()
    calls = re.findall(r"call .*@traceir_safepoint", compiled.as_text("llvm"))
    assert len(calls) == 1, calls  # in the outer loop


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
    (first,) = re.findall(r"for turn in range\(.*?(?=\n\n)", code, re.DOTALL)
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
    assert "copy_i64(" not in code
    np.testing.assert_array_equal(traceir_numba.jit(table)(3), table(3))


def test_a_loop_that_writes_by_choice_has_one_jump_for_it() -> None:
    def risen(a: Any, b: Any, n: Any) -> Any:
        count = 0
        for j in range(200):
            if a[j] > b[j]:
                a[j] = n
                count += 1
        return count

    args = np.ones(200), np.ones(200), 1.0
    compiled = traceir_numba.jit(risen).lower(*args).compile()
    assert len(re.findall(r"fcmp .*double", compiled.as_text("llvm"))) == 1
