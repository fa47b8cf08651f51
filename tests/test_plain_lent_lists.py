"""Lists that grow, and functions that are given them: they read, change or keep them.

Rule: staged.list
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import traceir_numba
from traceir.errors import RuleTypeError

Function = Callable[..., Any]
X = np.array([3.0, -1, 4, -1, 5, 9, -2, 6])


def first_free(taken: Any) -> Any:
    """The place of the first element that is false."""
    for k in range(len(taken)):
        if not taken[k]:
            return k
    return -1


def mean(values: Any, more: int = 0) -> Any:
    """A mean."""
    return sum(values) / (len(values) + more)


def push(out: Any, value: Any) -> None:
    """A list that grows by a choice."""
    if value > 4:
        out.append(value)
    out.append(-value)


def sift_up(heap: Any, k: Any) -> None:
    """An element of a heap goes up."""
    while k > 0:
        parent = (k - 1) // 2
        if heap[k] >= heap[parent]:
            break
        heap[k], heap[parent] = heap[parent], heap[k]
        k = parent


def enter(heap: Any, value: Any) -> None:
    """A function that gives its list to another one."""
    heap.append(value)
    sift_up(heap, len(heap) - 1)


def root(parents: Any, k: Any) -> Any:
    """The root of a tree, whose ways are halved."""
    while parents[k] != k:
        parents[k] = parents[parents[k]]
        k = parents[k]
    return k


def join(parents: Any, i: Any, j: Any) -> None:
    """Make two trees one."""
    one, other = root(parents, i), root(parents, j)
    if one != other:
        parents[one] = other


def itself(values: Any) -> Any:
    """A function that gives a list another name."""
    return values


def later(values: Any) -> Iterator[Any]:
    """A generator, which reads a list later."""
    yield from values


def read_after(x: Any) -> Any:
    """A list that a function reads when it has grown."""
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    return mean(out), mean(values=out, more=1), len(out)


def read_before(x: Any) -> Any:
    """A list that a function reads before it grows."""
    out = [1.0, 2.0]
    before = mean(out)
    for v in x:
        if v < 0:
            out.append(v)
    return out, before


def marks(x: Any) -> Any:
    """Lists of truth values, in a loop that Python runs and in one recorded."""
    few, many = [False] * 3, [False] * len(x)
    for _ in range(2):
        k = first_free(few)
        few[k] = True
    for v in x:
        if v > 0:
            many[first_free(many)] = True
    return few, many


def pushed(x: Any) -> Any:
    """A list that only a function changes."""
    out = [0.5]
    for v in x:
        push(out, v)
    return out


def pushed_before(x: Any) -> Any:
    """A list that a function changes before the loop, and in it by another name."""
    out = []
    push(out, x[0])
    for v in x:
        if v > 0:
            push(value=v, out=out)
    return np.array(out)


def heap(x: Any) -> Any:
    """A heap."""
    found = []
    for v in x:
        enter(found, v)
    return found


def groups(x: Any) -> Any:
    """The sets of what is joined."""
    parents = list(range(len(x)))
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] > 10:
                join(parents, i, j)
    return [root(parents, k) for k in range(len(x))]


def other_name(x: Any) -> Any:
    """A list that has another name: both have what it has."""
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    same = itself(out)
    for v in x:
        if v < 0:
            out.append(v)
    return out, len(same), mean(same)


def made_anew(x: Any) -> Any:
    """A name has a new list, and another name the old one."""
    out, total = [], 0.0
    for v in x:
        if v > 0:
            out.append(v)
    kept = itself(out)
    for v in x:
        out = []
        if v > 0:
            out.append(v)
        total += mean(kept)
    return total, mean(kept), len(out)


CASES = (
    *(read_after, read_before, marks, pushed, pushed_before, heap, groups),
    *(other_name, made_anew),
)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X[::-1].copy(), X[:1]], ids=["x", "back", "one"])
def test_lists_that_are_lent(function: Function, x: Any) -> None:
    want = function(x)
    got = traceir_numba.jit(function)(x)
    assert type(got) is type(want)
    np.testing.assert_equal(got, want)


def test_a_list_that_was_kept_does_not_grow() -> None:
    def kept(x: Any) -> Any:
        out = [1.0, 2.0]
        same = itself(out)
        for v in x:
            if v < 0:
                out.append(v)
        return out, len(same)

    def kept_by_a_generator(x: Any) -> Any:
        out = [1.0, 2.0]
        rest = later(out)
        for v in x:
            if v < 0:
                out.append(v)
        return sum(rest)

    for function in (kept, kept_by_a_generator):
        with pytest.raises(RuleTypeError, match=r"staged\.effect"):
            traceir_numba.jit(function)(X)


def test_a_function_of_another_line_may_keep_it() -> None:
    def outer(x: Any, mean: Any) -> Any:
        out = [1.0, 2.0]
        same = mean(out)
        for v in x:
            if v < 0:
                out.append(v)
        return out, len(same)

    with pytest.raises(RuleTypeError, match=r"staged\.effect"):
        traceir_numba.jit(lambda x: outer(x, itself))(X)


def test_the_callers_list_is_changed_beside_one_that_grows() -> None:
    def filled(x: Any, given: Any) -> Any:
        out = []
        for v in x:
            if v > 0:
                out.append(v)
        given.append(x[0])
        given.extend([x[1], x[2]])
        given[0] = x[3]
        given += [x[4]]
        return out

    mine, other = [0.5], [0.5]
    filled(X, mine)
    traceir_numba.jit(filled)(X, other)
    np.testing.assert_equal(other, mine)


def test_the_callers_list_is_changed_by_a_comprehension() -> None:
    def filled(x: Any, given: Any) -> None:
        doubled = [2 * v for v in x]
        given.extend(doubled[:2])
        given += doubled

    mine, other = [0.5], [0.5]
    filled(X, mine)
    traceir_numba.jit(filled)(X, other)
    np.testing.assert_equal(other, mine)
