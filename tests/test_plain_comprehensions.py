"""Comprehensions without conditions, and lists that are added.

Rule: staged.list
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba
from traceir.errors import RuleTypeError

Function = Callable[..., Any]
X = np.random.default_rng(4).normal(size=40)


def square(v: Any) -> Any:
    """A function of a number."""
    return v * v


def as_array(x: Any) -> Any:
    """Arrays of lists."""
    return np.array([v * 2 for v in x]), np.array(
        [x[: i + 1].sum() for i in range(len(x))]
    )


def reduced(x: Any) -> Any:
    """Functions of lists."""
    return sum([square(v) for v in x]), max([abs(v) for v in x]), len([-v for v in x])


def by_value(x: Any) -> Any:
    """As many elements as a value says."""
    n = int(x[0] ** 2 * 100)
    return np.array([i * 2.0 for i in range(n)]), [i + 1 for i in range(n)]


def of_a_list(x: Any) -> Any:
    """Elements of a list whose length values decide."""
    positive = [v for v in x if v > 0]
    return [v * 2 for v in positive], sum([v - 1 for v in positive]) / len(positive)


def in_a_loop(x: Any) -> Any:
    """Lists of a loop's turns, of known and of other lengths."""
    total = 0.0
    for i in range(len(x)):
        total += sum([x[i] * k for k in range(4)])
        total += max([x[j] for j in range(i + 1)])
    return total


def in_a_test(x: Any) -> Any:
    """A choice by a list."""
    if max([-v for v in x]) > 1:
        return 1
    elif min([square(v) for v in x]) > 1:
        return 2
    return 3


def changed(x: Any) -> Any:
    """A list that is changed later."""
    found = [0.0 for _ in range(len(x))]
    for i in range(len(x)):
        if x[i] > 0:
            found[i] = x[i]
            found.append(-x[i])
    return found


def others(x: Any) -> Any:
    """Tuples, arrays and text."""
    pairs = [(i, v) for i, v in enumerate(x)]
    rows = [np.zeros(2) + v for v in x[:5]]
    return pairs, rows, [len(name) for name in ("a", "bc")]


def nested(x: Any) -> Any:
    """A list of lists."""
    return np.array([[i * j * x[0] for j in range(3)] for i in range(4)])


def added(x: Any) -> Any:
    """Sums of lists."""
    positive = [v for v in x if v > 0]
    none = [v for v in x if v > 99]
    head, empty = [2.5], []
    both = head + [v for v in x if v > 1] + positive
    return both, head + none, none + none + head, positive + empty


def added_tuples(x: Any) -> Any:
    """Sums of lists of tuples."""
    found, last = [(0, 0.5)], [(-1, 0.25)]
    for i in range(len(x)):
        if x[i] > 0:
            found.append((i, x[i]))
    return found + last


def positive(x: Any) -> Any:
    """A list that grows."""
    return [v for v in x if v > 0]


def extended(x: Any) -> Any:
    """Lists to which others are added, and as many numbers as a value says."""
    out, zeros, pairs, known = [], [], [], [1.0, 2.0]
    for i in range(len(x)):
        out.extend(positive(x[: i + 1]))
        if x[i] > 0:
            out += known
            out.extend(x[:3])
            pairs += [(i, x[i]), (-i, 0.5)]
        else:
            zeros += [0.5] * int(-3 * x[i])
            zeros.extend(range(i))
    return out, zeros, pairs


def contained(x: Any) -> Any:
    """Lists of comprehensions in other containers."""
    return {"a": [v for v in x if v > 0]}, ([i for i in range(len(x)) if x[i] > 0], 1)


def drawn(x: Any) -> Any:
    """Draws in the order of the program."""
    first = np.random.random() + sum([np.random.random() for _ in range(20)]) * 0.5
    return first, [np.random.random() for _ in range(20)]


CASES = (
    *(as_array, reduced, by_value, of_a_list, in_a_loop, in_a_test, changed, others),
    *(nested, added, added_tuples, extended, contained),
)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_comprehensions(function: Function) -> None:
    want = function(X)
    got = traceir_numba.jit(function)(X)
    assert np.isscalar(want) or type(got) is type(want)
    for one, other in zip(
        got if isinstance(want, tuple) else (got,),
        want if isinstance(want, tuple) else (want,),
        strict=True,
    ):
        pairs = isinstance(other, list) and isinstance(other[0], tuple)
        if pairs or isinstance(other, (dict, tuple)):
            np.testing.assert_equal(one, other)
        else:
            assert type(one) is type(other) or np.isscalar(one)
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_what_is_called_before_is_called_before() -> None:
    np.random.seed(7)
    got = traceir_numba.jit(drawn)(X)
    np.random.seed(7)
    np.testing.assert_allclose(np.hstack(got), np.hstack(drawn(X)), rtol=1e-12)


def test_long_ones_are_loops() -> None:
    compiled = traceir_numba.jit(as_array)
    few = compiled.trace(X).jaxpr
    many = compiled.trace(np.zeros(30_000)).jaxpr
    assert len(str(many)) < 2 * len(str(few))


def test_lists_that_do_not_meet_are_not_added() -> None:
    def mixed(x: Any) -> Any:
        head = [(1, 2.0)]
        return head + [v for v in x if v > 0]

    with pytest.raises(RuleTypeError, match=r"staged\.effect"):
        traceir_numba.jit(mixed)(X)


def test_long_lists_are_results_in_one_piece() -> None:
    def doubled(x: Any) -> Any:
        out = []
        for v in x:
            out.append(v * 2)
        return {"list": out, "both": (out, [i for i in range(len(x)) if x[i] > 0])}

    compiled = traceir_numba.jit(doubled)
    assert len(str(compiled.trace(np.zeros(30_000)).jaxpr)) < 10_000
    got, want = compiled(X), doubled(X)
    assert type(got["list"][0]) is np.float64
    np.testing.assert_equal(got, want)
