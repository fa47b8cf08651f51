"""Loops and choices of plain functions mean what Python makes of them.

Cites staged.construct, staged.jump, staged.carry, staged.arrays, staged.unbound,
staged.source
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imperative_programs import function_of, jitted, outcome
from rule_errors import raises_rule

from traceir import jit

X = np.array([3.0, -1.0, 4.0, -2.0, 6.0, 5.0])


def both(x: Any) -> Any:
    """Names that are one array, and a view of it, of which one side writes."""
    y = x.copy()
    same, part = y, y[1:]
    if x[0] > 2:
        y[1] = 7
    else:
        y[2] = 8
    part[0] += 1
    return y, same, part


def chosen(x: Any) -> Any:
    """A name that is one of two arrays, which is then read."""
    y, z = x.copy(), x + 1
    w = y if x[0] > 5 else z
    w = w * 2
    return w, y, z


def swapped(x: Any) -> Any:
    """Two arrays that change their names in each turn of a loop."""
    now, then = x.copy(), x * 0
    for k in range(5):
        for i in range(1, len(x) - 1):
            then[i] = now[i - 1] + now[i + 1] + k
        now, then = then, now
    return now, then


def left(x: Any) -> Any:
    """A loop with `continue`, `break` and `else` in another one."""
    found = 0.0
    for i in range(6):
        for value in x:
            if value < 0:
                continue
            if value > i:
                found += value
                break
        else:
            found += 100
    return found, i


def returning(x: Any) -> Any:
    """Returns from inside of two loops."""
    for i in range(6):
        j = 0
        while j < i:
            if x[i] + x[j] == 10:
                return i, j
            j += 1
    return -1, -1


def untouched(x: Any) -> Any:
    """Loops without a turn."""
    value: Any = 3
    k = 7.5
    for k in range(int(x.shape[0]) - 6):
        value = 0.5 * k
    while value > 5:
        value -= 1.0
    return value, k


def unread(x: Any) -> Any:
    """A name that is bound on one side alone, and read only where it is."""
    if x[0] > 2:
        y = x[1]
    total = x[0]
    if x[0] > 2:
        total = total + y
    return total


def lost(x: Any) -> Any:
    """A name that is read where no side has bound it."""
    if x[0] > 5:
        y = x[1]
    return y


def twice(x: Any) -> Any:
    """A helper with a loop of its own in a loop."""

    def power(base: Any, count: Any) -> Any:
        found = 1.0
        for _ in range(count):
            found = found * base
        return found

    total = 0.0
    for i in range(len(x)):
        total += power(x[i], i)
    return total


FUNCTIONS = [both, chosen, swapped, left, returning, untouched, unread, twice]


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_python_is_the_judge(function: Any, backend: str) -> None:
    for x in (X, -X):
        assert outcome(jitted(function, backend), x) == outcome(function, x)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_name_without_a_value_is_an_error(backend: str) -> None:
    with pytest.raises((UnboundLocalError, IndexError)):
        jitted(lost, backend)(X)
    assert float(jitted(lost, backend)(X * 4)) == -4.0


def test_a_function_without_source_runs_as_it_is() -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return x if x.sum() > 0 else -x", scope)
    with raises_rule("level.concretize.bool", TypeError, "the source of f can't be"):
        jitted(scope["f"], "reference")(X)
    # A function with source calls it; one without is called by one with source.
    with raises_rule("level.concretize.bool", TypeError, "the source of f can't be"):
        jitted(lambda x: scope["f"](x), "reference")(X)
    with raises_rule("level.concretize.bool", TypeError, "the source of f can't be"):
        found = jit(scope["f"], control_flow="staged")
        found(X)


class Names:
    """A class whose functions name it."""

    @staticmethod
    def total(x: Any, depth: int) -> Any:
        """A function that calls itself by the name of its class."""
        found = 0.0
        for value in x:
            if value > 1:
                found += value
        return found if depth == 0 else found + Names.total(x, depth - 1)


def test_a_function_that_names_its_class_is_rewritten() -> None:
    found = jitted(lambda x: Names.total(x, 2), "reference")(X)
    assert found == Names.total(X, 2)


@pytest.mark.parametrize("count", [10, 20])
def test_types_of_a_long_chain_come_to_rest(count: int) -> None:
    # Each pass of the body makes one more of the names a float.
    names = [f"a{k}" for k in range(count)]
    lines = ["def f(n):", f"    {' = '.join(names)} = 0", "    for _ in range(n):"]
    pairs = zip(names[:0:-1], names[-2::-1], strict=True)
    lines += [f"        {new} = {old}" for new, old in pairs]
    lines += ["        a0 = 0.5", f"    return {names[-1]}"]
    delayed = jitted(function_of("\n".join(lines)), "reference")
    assert delayed(count).tolist() == 0.5
    assert delayed(count - 1).tolist() == 0


def test_an_array_that_an_inner_loop_names_is_not_a_copy() -> None:
    def inner(x: Any, n: Any) -> Any:
        y = np.zeros(6)
        for _ in range(n):
            for _ in range(n):
                y = x
        y[:3] += 1.0
        return y

    x = X.copy()
    with raises_rule("staged.memory"):  # whose memory it is can't be told
        jitted(inner, "reference")(x, 5)
    assert x.tolist() == X.tolist()
