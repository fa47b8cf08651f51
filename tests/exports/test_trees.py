"""Containers of arguments and results in files. Cites export.tree."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.exports import register_class, trees
from traceir.pytrees.flatten import structure
from traceir.tree_util import register_dataclass


class Point(NamedTuple):
    """A namedtuple."""

    x: Any
    y: Any


@register_dataclass
@dataclass(frozen=True)
class Layer:
    """A registered class without metadata."""

    w: Any
    b: Any


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """A context after which a test's registrations are forgotten."""
    before = dict(trees._by_type), dict(trees._by_name)
    yield
    for kept, now in zip(before, (trees._by_type, trees._by_name), strict=True):
        now.clear()
        now.update(kept)


TREES: dict[str, Any] = {
    "a leaf": 0,
    "nothing": None,
    "tuples": (0, (), (0, (0,))),
    "lists": [0, [], [(0,)]],
    "a dict": {"a": 0, "b": {"c": [0]}},
    "keys that are numbers": {0: 0, 3: 0},
    "keys that are tuples": {("a", 0): 0, ("a", 1): (0,)},
    "an ordered dict": OrderedDict([("b", 0), ("a", None)]),
    "truth is no number": {True: 0},
}


@pytest.mark.parametrize("what", TREES)
def test_a_structure_is_the_same_in_a_file(what: str) -> None:
    tree = structure(TREES[what])
    data = trees.tree_to_json(tree)
    assert trees.tree_from_json(data) is tree


def test_arguments_and_results_nest_as_before() -> None:
    def f(a: Any, *rest: Any, **named: Any) -> Any:
        return OrderedDict(z=a["k"][0] + rest[1], y=[named["n"], None])

    args = {"k": (1.0,)}, 2.0, 3.0
    program = traceir.deserialize(traceir.export(f, *args, n=4.0).serialize())
    assert program(*args, n=5.0) == f(*args, n=5.0)
    said = r"a is PyTreeDef\({'k': \[\*\]}\), exported for PyTreeDef\({'k': \(\*,\)}"
    with raises_rule("jit.compiled-tree", TypeError, said):
        program({"k": [1.0]}, 2.0, 3.0, n=5.0)


def test_a_long_structure_is_cut_where_it_is_shown() -> None:
    program = traceir.export(lambda x: x, np.zeros(1000, "float32"))
    with pytest.raises(TypeError, match=r"x is PyTreeDef.*\.\.\.") as caught:
        program([0.0] * 1000)
    assert len(str(caught.value)) < 600


REFUSED: dict[str, Any] = {
    "a namedtuple": Point(1.0, 2.0),
    "a dataclass": Layer(1.0, 2.0),
    "a default": defaultdict(list, a=1.0),
    "a key that is bytes": {b"a": 1.0},
    "a key that is no number": {float("inf"): 1.0},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_name_stands_for_is_refused(what: str) -> None:
    with raises_rule("export.tree", TypeError, "register_class"):
        traceir.export(lambda v: 0.0, REFUSED[what])


@pytest.mark.parametrize("value", [Point(1.0, 2.0), Layer(1.0, 2.0)])
def test_a_registered_class_goes_by_its_name(value: Any) -> None:
    cls = type(value)
    register_class(cls, "tests.cls")
    register_class(cls, "tests.cls")
    data = traceir.export(lambda v: v, value).serialize()
    assert traceir.deserialize(data)(value) == value
    trees._by_name.clear()
    with raises_rule("export.tree", TypeError, "the name 'tests.cls'"):
        traceir.deserialize(data)


def test_a_name_stands_for_one_class() -> None:
    register_class(Point, "tests.one")
    with raises_rule("export.tree", TypeError, "second class"):
        register_class(Layer, "tests.one")


def test_metadata_goes_through_functions_of_the_users() -> None:
    class Tagged:
        def __init__(self, value: Any, tags: frozenset[str]) -> None:
            self.value, self.tags = value, tags

    traceir.tree_util.register_pytree_node(
        Tagged, lambda t: ((t.value,), t.tags), lambda tags, v: Tagged(*v, tags)
    )
    register_class(Tagged, "tests.tagged", sorted, frozenset)
    data = traceir.export(lambda t: t, Tagged(1.0, frozenset("ab"))).serialize()
    found = traceir.deserialize(data)(Tagged(2.0, frozenset("ba")))
    assert found.tags == frozenset("ab") and float(found.value) == 2.0


def test_arrays_without_elements_are_in_the_structure() -> None:
    def f(x: Any, n: Any) -> Any:
        return traceir.grad(lambda v: jnp.sum(v[0] * v[1]), allow_int=True)((x, n))

    args = jnp.ones(2), np.arange(2, dtype="int32")
    found = traceir.deserialize(traceir.export(f, *args).serialize())(*args)
    wanted = f(*args)
    assert found[1].dtype == wanted[1].dtype and found[1].shape == (2,)
    assert found[0].tolist() == wanted[0].tolist()
