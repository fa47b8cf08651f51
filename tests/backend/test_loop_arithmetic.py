"""The arithmetic of loops: divisions, places that are known to be inside, constants.

Cites: backend.compile, index.bounds
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from compiling import code_of

import traceir_numba

VECTOR = np.random.default_rng(0).random(50)


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


def test_divisions_of_unknown_signs_are_pythons() -> None:
    def divided(x: Any, y: Any) -> Any:
        found = np.empty((4, len(x)), x.dtype)
        for i in range(len(x)):
            found[0, i] = x[i] // y[i]
            found[1, i] = x[i] % y[i]
            if x[i] >= 0 and y[i] > 0:
                found[2, i] = x[i] // y[i]
                found[3, i] = x[i] % y[i]
            else:
                found[2, i] = x[i] // 7
                found[3, i] = x[i] % 7
        return found

    def whole(x: Any, y: Any, n: int) -> Any:
        for _ in range(n):
            x = x * 3 % y + x // y
        return x

    def known(n: int) -> Any:
        total = 0
        for i in range(n):
            k = i * 0  # a number that only the backend knows
            total += (k - 7) // (k + 3) + (k - 7) % (k + 3) * 10
            total += (k + 7) // (k + 3) * 100 + (k + 7) % (k + 3) * 1000
            total += (k - 7) // (k - 3) * 10_000
        return total

    assert traceir_numba.jit(known)(3) == known(3)
    for dtype in (np.int64, np.int32, np.uint8):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        some = {least, least + 1, most // 2, most, *range(max(least, -9), 10, 2), 0}
        numbers = np.array(sorted(some), dtype)
        x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(
                traceir_numba.jit(divided)(x, y), divided(x, y)
            )
            wanted = whole(x, y, 5)
        np.testing.assert_array_equal(traceir_numba.jit(whole)(x, y, 5), wanted)
    code = code_of(divided, np.arange(9), np.arange(9))
    assert not re.search(r"\b(rem|div)_i64", code), code


def test_places_around_a_ring_need_no_division() -> None:
    def around(a: Any, m: Any) -> Any:
        found = np.zeros_like(a)
        for i in range(len(a)):
            left, right = (i - 1) % len(a), (i + 1) % len(a)
            found[i] = a[left] * 10_000 + a[right] * 100 + a[(i - 20) % 20]
            for k in range(20, 40):
                found[i] += a[k % 20] * k + (i + k - 20) % max(m[i], 21)
        return found

    args = np.arange(20), np.arange(3, 23)
    code = re.sub(r"#.*", "", code_of(around, *args))
    assert not re.search(r"%|rem_", code), code
    np.testing.assert_array_equal(traceir_numba.jit(around)(*args), around(*args))


@pytest.mark.parametrize(
    ("number", "other"),
    [(np.inf, -0.0), (-0.0, 0.0), (np.float32(0), 1), (True, False), (-1, 2**62)],
)
def test_tables_that_are_nearly_one_number_are_no_constants(
    number: Any, other: Any
) -> None:
    def table(x: Any, places: tuple[int, ...]) -> Any:
        found = np.full((300, 400), number)
        found.flat[list(places)] = other
        for i in range(1, 5):
            found[i, 1] = found[i - 1, 0] if x[i] > 0 else other
        return found

    x = np.ones(9)
    for places in ((), (0,), (0, 799, 3, 119_999)):
        if 119_999 in places:  # the number at the end is another one
            assert "const_" in code_of(table, x, places)
        else:
            assert "const_" not in code_of(table, x, places)
        found, wanted = traceir_numba.jit(table)(x, places), table(x, places)
        assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()
