"""Dicts and sets of plain functions by keys that are values, and comprehensions with
conditions. Cites: staged.table, staged.list, level.hash"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir.base import cost_model

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 9, 40)
Y = RANDOM.random(40)
SIGNED = X - 5


def counted(x: Any) -> Any:
    """A dict that is a result."""
    found = {}
    for v in x:
        found[v] = found.get(v, 0) + 1
    return found


def counted_by_choice(x: Any) -> Any:
    """The same by a choice."""
    found = dict()  # noqa: C408  # as people write it
    for v in x:
        if v in found:
            found[v] += 1
        else:
            found[v] = 1
    return len(found), max(found.values()), sum(found.values()), found[x[3]]


def summed(x: Any, y: Any) -> Any:
    """Values of another dtype than is first seen."""
    found = {}
    for i in range(len(x)):
        found[x[i]] = found.get(x[i], 0) + y[i]
    return found


def pairs(x: Any) -> Any:
    """Keys that are tuples."""
    found: dict[tuple[int, int], int] = {}
    for i in range(len(x) - 1):
        key = x[i] % 3, x[i + 1] % 3
        if key not in found:
            found[key] = 0
        found[key] += 1
    best, most = (-1, -1), 0
    for key, count in found.items():
        if count > most:
            best, most = key, count
    return best[0], best[1], most, len(found)


def last_places(x: Any) -> Any:
    """Values that are tuples."""
    found = {}
    for i in range(len(x)):
        found[x[i]] = (i, 2 * i)
    total = 0
    for key in found:
        a, b = found[key]
        total += key * a + b
    return total


def in_order(x: Any) -> Any:
    """A set, and a list of its elements in the order in which they came."""
    seen, order = set(), []
    for v in x:
        if v not in seen:
            seen.add(v)
            order.append(v)
    return np.array(order), len(seen)


def cycle(x: Any) -> Any:
    """A set that a loop without a bound asks."""
    seen = {x[0] * 0}
    i = x[0]
    while i not in seen:
        seen.add(i)
        i = (3 * i + 5) % 17
    return len(seen), i


def two_sum(x: Any) -> Any:
    """A result in the middle of a loop."""
    places = {}
    for i in range(len(x)):
        if 9 - x[i] in places:
            return places[9 - x[i]], i
        places[x[i]] = i
    return -1, -1


def collatz(n: Any) -> Any:
    """A table of results, which a loop in a loop asks."""
    known = {1: 0}
    best = most = 0
    for start in range(2, n[0]):
        k, steps = start, 0
        while k not in known:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        known[start] = steps + known[k]
        if known[start] > most:
            best, most = start, known[start]
    return best, most


def numbered(x: Any, y: Any) -> Any:
    """Numbers for names, in arrays that are made for them."""
    numbers = {}
    for name in x:
        if name not in numbers:
            numbers[name] = len(numbers)
    total = np.zeros(len(numbers))
    for i in range(len(x)):
        total[numbers[x[i]]] += y[i]
    return total


def in_each_turn(x: Any) -> Any:
    """A new dict in each turn of a loop."""
    total = 0
    for i in range(4):
        found = {}
        for v in x[10 * i : 10 * i + 10]:
            found[v] = found.get(v, 0) + 1
        total += len(found)
    return total


def floats(y: Any) -> Any:
    """Keys that are floats: zero has one sign."""
    found = {}
    for v in np.round(y, 1) - 0.5:
        found[v] = found.get(v, 0) + 1
    return len(found), found[0.0], found


def listed(x: Any) -> Any:
    """Lists of keys and values."""
    found = {}
    for v in x:
        found[v] = 2 * v
    values = np.array(list(found.values()))
    return values, np.array(sorted(found)), sorted(found.keys(), reverse=True)


def known_keys(x: Any) -> Any:
    """Keys that are known: it is one of Python's."""
    found = {}
    for k in range(3):
        found[k] = x[k : k + 2]
    return found[0] + found[2], found


def of_none(x: Any) -> Any:
    """A dict that nothing is put into."""
    found = {}
    for v in x:
        if v > 100:
            found[v] = 1
    return len(found), found, len([v for v in x if v > 100])


def chosen(x: Any) -> Any:
    """Comprehensions with conditions."""
    v = 3
    some = [2 * v for v in x if v > 0]
    pairs = [(i, j) for i in range(9) for j in range(i, 9) if x[i] + x[j] == 0]
    least = min([v for v in x if v > -3])
    return np.array(some), pairs, least, len([w for w in x if w > v]), v


def chosen_of_chosen(x: Any, y: Any) -> Any:
    """A comprehension in the first part of another one, over two arrays."""
    found = [v for v in [a * b for a, b in zip(x, y) if a > 0] if v < 3]
    x = [v for v in x if v > 1]
    return sum(found), sum(x)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((f, (X,)) for f in (counted, counted_by_choice, pairs, last_places, in_order)),
    *((f, (X,)) for f in (two_sum, in_each_turn, listed, known_keys, of_none)),
    (counted, (SIGNED,)),
    (cycle, (np.array([2]),)),
    (collatz, (np.array([3000]),)),
    (summed, (X, Y)),
    (numbered, (X * 13, Y)),
    (floats, (Y,)),
    (chosen, (SIGNED,)),
    (chosen_of_chosen, (SIGNED, Y)),
]


def assert_same(got: Any, want: Any) -> None:
    """Equal values; lists and dicts have the same order."""
    if isinstance(want, dict):
        assert type(got) is dict
        got, want = list(got.items()), list(want.items())
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            assert_same(one, other)
    else:
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, 1e-12)


@pytest.mark.parametrize(
    ("function", "args"), PROGRAMS, ids=[function.__name__ for function, _ in PROGRAMS]
)
def test_tables_are_pythons(function: Callable[..., Any], args: Any) -> None:
    made = traceir_numba.jit(function)
    for _ in range(2):
        assert_same(made(*args), function(*args))


def test_a_set_is_a_result() -> None:
    def doubled(x: Any) -> Any:
        found = set()
        for v in x:
            found.add(2 * v)
        return found

    assert traceir_numba.jit(doubled)(X) == doubled(X)


def test_a_key_that_is_missing_is_told() -> None:
    def asked(x: Any, key: Any) -> Any:
        found = {}
        for v in x:
            found[v] = 1
        return found[key[0]]

    made = traceir_numba.jit(asked)
    assert made(X, X) == 1
    with pytest.raises(KeyError, match="99"):
        made(X, np.array([99]))


@pytest.mark.parametrize("count", [1, 1024, 1025, 40_000])
def test_there_is_room_for_what_is_put_in(count: int) -> None:
    def filled(n: Any) -> Any:
        found = {}
        for i in range(n[0]):
            found[7 * i] = i
        return len(found), found[7 * (n[0] - 1)]

    assert traceir_numba.jit(filled)(np.array([count])) == (count, count - 1)


def test_elements_are_found_whatever_their_bits() -> None:
    """Keys that lie far apart, near, and at the ends of their dtype."""
    far = 2 ** np.arange(63, dtype=np.int64)
    keys = np.concatenate((far, -far, np.arange(200) << 40, [2**63 - 1, -(2**63)]))
    assert_same(traceir_numba.jit(counted)(keys), counted(keys))


def named_twice(x: Any) -> Any:
    found = {}
    other = found
    for v in x:
        other[v] = 1
    return found


def of_lists(x: Any) -> Any:
    found = {}
    for i in range(len(x)):
        if x[i] not in found:
            found[x[i]] = []
    return len(found)


def of_two_kinds(x: Any) -> Any:
    found = {}
    for v in x:
        found[v] = 1
        found[v, v] = 1
    return len(found)


def without_default(x: Any) -> Any:
    found = {}
    for v in x:
        found[v] = found.get(v + 1)
    return len(found)


@pytest.mark.parametrize(
    ("rule", "function"),
    [
        ("level.hash", named_twice),
        ("staged.table", of_lists),
        ("staged.table", of_two_kinds),
        ("staged.table", without_default),
    ],
)
def test_what_it_does_not_have_is_told(rule: str, function: Any) -> None:
    with raises_rule(rule, TypeError, "test_plain_tables.py"):
        traceir_numba.jit(function)(X)


def test_a_batch_does_not_know_whether_it_is_full() -> None:
    made = traceir_numba.jit(counted_by_choice)
    with raises_rule("staged.effect", TypeError):
        traceir.vmap(lambda x: made(x)[0])(X.reshape(4, 10))
    assert cost_model.LIST_ROOM < 10**4
