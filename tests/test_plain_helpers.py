"""Decorated functions that decorated functions call: lists, dicts, sizes from them.

Rules: staged.list, staged.table, face.demand
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba
from traceir.errors import RuleTypeError

Function = Callable[..., Any]
jit = traceir_numba.jit

X = np.array([0.5, -1.0, 2.0, -3.0, 4.0])


def compared(function: Function, *args: Any) -> Any:
    """The result of a function, which is Python's; helpers in it are decorated."""
    found = jit(function)(*args)
    expected = function(*args)
    assert type(found) is type(expected)
    np.testing.assert_equal(found, expected)
    return found


@jit
def digits(number: Any) -> Any:
    """A list that grows."""
    found = []
    while number:
        found.append(number % 10)
        number //= 10
    return found


@jit
def negative_places(x: Any) -> Any:
    """A list of tuples."""
    found = []
    for i in range(len(x)):
        if x[i] < 0:
            found.append((i, -x[i]))
    return found


@jit
def tally(values: Any) -> Any:
    """A dict by keys that are values."""
    found = {}
    for v in values:
        found[v] = found.get(v, 0) + 1
    return found


@jit
def settings() -> Any:
    """Numbers that are known."""
    return 4, 0.25, True


def test_list_of_a_helper_is_looped_over() -> None:
    def squares(numbers: Any) -> Any:
        total = 0
        for number in numbers:
            for digit in digits(number):
                total += digit * digit
        return total

    compared(squares, np.array([1203, 0, 77]))


def test_list_of_a_helper_grows_further() -> None:
    def weights(x: Any) -> Any:
        found = negative_places(x)
        found.append((len(x), 0.5))
        total = 0.0
        for place, size in found:
            total += place * size
        return total, len(found), found[0], np.array(found)

    compared(weights, X)


def test_helpers_list_is_a_helpers_argument() -> None:
    @jit
    def longest(pairs: Any) -> Any:
        best = 0.0
        for _, size in pairs:
            best = max(best, size)
        return best

    def largest(x: Any) -> Any:
        return longest(negative_places(x)), negative_places(x)

    compared(largest, X)


def test_dict_of_a_helper() -> None:
    def repeated(values: Any) -> Any:
        counts, found = tally(values), []
        for v in counts:
            if counts[v] > 1:
                found.append(v)
        return found, len(counts), 5 in counts

    compared(repeated, np.array([3, 5, 3, 1, 5, 5]))


def test_known_numbers_of_a_helper_are_known() -> None:
    def table(x: Any) -> Any:
        count, step, is_shifted = settings()
        grid = np.zeros((count, len(x)))
        for k in range(count):
            grid[k] = x * k * step
        if is_shifted:
            grid += 1
        return grid.reshape(-1, count)

    compared(table, X)


@pytest.mark.parametrize("size", [2, 5])
def test_draws_by_known_numbers_of_a_helper(size: int) -> None:
    @jit
    def parameters() -> Any:
        return size, 1.5

    @jit
    def walk() -> Any:
        count, scale = parameters()
        return np.cumsum(np.random.normal(0.0, scale, count))

    np.random.seed(3)
    found = walk()
    np.random.seed(3)
    np.testing.assert_allclose(found, np.cumsum(np.random.normal(0.0, 1.5, size)))


def corner(k: Any) -> Any:
    """A function whose end is never reached, if its argument is 0 or 1."""
    if k == 0:
        return (0, 1)
    if k == 1:
        return (1, 2)


def test_a_result_that_is_never_none() -> None:
    def place(x: Any) -> Any:
        for i in range(len(x)):
            if x[i] < 0:
                return corner(i)[1] + x[0]

    compared(place, X)
    with pytest.raises(RuleTypeError, match=r"the result: None, where others are"):
        jit(place)(np.ones(3))
    with pytest.raises(RuleTypeError, match=r"staged\.join"):
        jit(place)(np.array([1.0, 1.0, -1.0]))
