"""Fingerprints: equal while a value is as it was. Serves: cache.strict.*"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.jit.cache.fingerprints import Fingerprinter


class Counts(dict[str, int]):
    """A container with a class of its own."""


class Equal:
    """State in a slot, and an equality that says nothing of it."""

    __slots__ = ("k",)

    def __init__(self, k: int) -> None:
        self.k = k

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def __hash__(self) -> int:
        return 1


def test_prints_of_values() -> None:
    same = Fingerprinter({}).of
    cycle: list[Any] = [1]
    cycle.append(cycle)
    values: list[Any] = [
        *(0.0, -0.0, 0, False, None, "a", b"a", 1j, (0,), [0], {0}, frozenset([0])),
        *({"a": 0}, deque([0]), np.float32(0), np.zeros(2), np.zeros(2, int)),
        *(np.array([None, 1]), np.array([None, 2]), cycle, Equal(0), Equal(1)),
        *(len, np.sin, np, jnp.sin, int, object(), functools.partial(len, [0])),
        *([].append, Counts(a=0), type("Int", (int,), {})(0), jnp.zeros(2)),
    ]
    for k, x in enumerate(values):
        for m, y in enumerate(values):
            assert (same(x) == same(y)) == (k == m), (x, y)


def test_prints_of_what_is_within_another() -> None:
    class Node:
        """One of many that know one another."""

        __slots__ = ("__hidden", "others")

        def __init__(self, number: int) -> None:
            self.__hidden = number

        def hide(self, number: int) -> None:
            self.__hidden = number

    nodes = [Node(k) for k in range(40)]
    for node in nodes[:-1]:
        node.others = nodes
    before = Fingerprinter({}).of(nodes[0])
    assert Fingerprinter({}).of(nodes[0]) == before
    nodes[7].hide(0)
    assert Fingerprinter({}).of(nodes[0]) != before
    nodes[7].hide(7)
    assert Fingerprinter({}).of(nodes[0]) == before
    nodes[-1].others = []
    assert Fingerprinter({}).of(nodes[0]) != before


class Named(np.ndarray):
    """An array with a name."""

    name = ""


def test_arrays_of_other_classes_count_by_what_they_have_besides() -> None:
    named, masked = np.ones(2).view(Named), np.ma.masked_array(np.ones(2))
    for array in named, masked:
        before = Fingerprinter({}).of(array)
        assert Fingerprinter({}).of(array) == before
        array[1] = 2
        assert Fingerprinter({}).of(array) != before
    before = Fingerprinter({}).of([named, masked])
    named.name = "new"
    assert Fingerprinter({}).of([named, masked]) != before
    before = Fingerprinter({}).of([named, masked])
    masked.mask = [True, False]
    assert Fingerprinter({}).of([named, masked]) != before


class Hostile:
    """An object that raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise ArithmeticError(name)


class HostileState:
    """An object that raises when it is asked for its attributes."""

    @property
    def __dict__(self) -> Any:
        raise ArithmeticError


class HostileList(list[int]):
    """A list that raises when it is looked through."""

    def __iter__(self) -> Iterator[int]:
        raise ArithmeticError


class HostileText(str):
    """Text whose `str` is never one."""

    def __str__(self) -> str:
        return HostileText(self + "!")


class Homeless:
    """Of a class that names no module."""

    __module__ = None


@pytest.mark.parametrize(
    "kind", [Hostile, HostileState, HostileList, HostileText, Homeless]
)
def test_what_does_not_let_itself_be_looked_into(kind: type) -> None:
    value: Any = kind()

    def double(x: Any) -> Any:
        return x * (2 if value is not None else 1)

    f = traceir.jit(double, strict=True)
    assert f(1.0) == f(1.0) == 2
    assert f.cache_info().hits == 1
    value = None
    with raises_rule("cache.strict.capture", RuntimeError, "the variable value"):
        f(1.0)


def test_prints_do_not_depend_on_the_depth_of_the_stack() -> None:
    nest: list[Any] = [1]
    innermost = nest
    for _ in range(3000):
        nest = [nest]

    def deep(calls: int) -> Any:
        return deep(calls - 1) if calls else Fingerprinter({}).of(nest)

    before = Fingerprinter({}).of(nest)
    assert deep(100) == before
    innermost[0] = 2
    assert Fingerprinter({}).of(nest) != before


def test_prints_of_sets_whose_elements_share_a_hash() -> None:
    assert hash(-1) == hash(-2)
    assert Fingerprinter({}).of({-1, -2}) == Fingerprinter({}).of({-2, -1})
    assert Fingerprinter({}).of({-1}) != Fingerprinter({}).of({-2})


def test_bytes_that_change_in_place() -> None:
    held = bytearray(b"ab")
    before = Fingerprinter({}).of(held)
    assert Fingerprinter({}).of(held) == before
    held[0] = 0
    assert Fingerprinter({}).of(held) != before
