"""Pytrees: what is a node, that structures are interned, paths, prefixes, registering.

Cites: cache.key.tree.
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import threading
import timeit
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceir.pytrees import flatten

Point = namedtuple("Point", "x y")


class Unregistered(dict[str, Any]):
    """A subclass of dict: a leaf, as dispatch is by exact type."""


@pytest.mark.parametrize(
    ("tree", "leaves", "text"),
    [
        (1, [1], "*"),
        (None, [], "None"),
        ((), [], "()"),
        ((1,), [1], "(*,)"),
        ({"b": 3, "a": [1, (2, None)]}, [1, 2, 3], "{'a': [*, (*, None)], 'b': *}"),
        (Point(1, [2]), [1, 2], "CustomNode(namedtuple[Point], [*, [*]])"),
        (
            OrderedDict(b=1, a=2),
            [1, 2],
            "CustomNode(OrderedDict[('b', 'a')], [*, *])",
        ),
        (
            defaultdict(list, z=1),
            [1],
            "CustomNode(defaultdict[(<class 'list'>, ('z',))], [*])",
        ),
        ({2: "b", 1: "a"}, ["a", "b"], "{1: *, 2: *}"),
        (tuple(range(40)), list(range(40)), f"({', '.join('*' * 40)})"),
    ],
)
def test_nodes_come_apart_and_together(tree: Any, leaves: list[Any], text: str) -> None:
    found, treedef = flatten.flatten(tree)
    assert found == flatten.leaves(tree) == leaves
    assert repr(treedef) == f"PyTreeDef({text})"
    again = treedef.unflatten(found)
    assert again == tree
    assert type(again) is type(tree)


@pytest.mark.parametrize(
    "leaf", ["text", 1.5, np.float32(1), {1, 2}, Unregistered(a=1)]
)
def test_anything_else_is_a_leaf(leaf: Any) -> None:
    assert flatten.flatten(leaf) == ([leaf], flatten.LEAF)


def test_unsortable_keys_are_named() -> None:
    with pytest.raises(ValueError, match=r"sortable, got 1, 'a'$"):
        flatten.flatten({1: 2, "a": 3})


def test_is_leaf_stops_at_nodes_and_none() -> None:
    tree = (1, [2, None], None)
    assert flatten.leaves(tree, lambda t: t is None) == [1, 2, None, None]
    assert flatten.leaves(tree, lambda t: isinstance(t, list)) == [1, [2, None]]
    assert flatten.leaves((1, 2), lambda _: True) == [(1, 2)]


# Structures


DISTINCT = [
    (1, 2),
    [1, 2],
    (1, 2, None),
    ((1, 2),),
    Point(1, 2),
    {"a": 1, "b": 2},
    OrderedDict(a=1, b=2),
    OrderedDict(b=1, a=2),
    {1: 1, 2: 2},
    {1.0: 1, 2: 2},
    {True: 1, 2: 2},
    {(1,): 1, (2,): 2},
    {(1.0,): 1, (2,): 2},
    {0.0: 1},
    {-0.0: 1},
    {"a": 1, "c": 2},
]


def test_equal_structures_are_one_object_and_others_differ() -> None:
    first = [flatten.structure(tree) for tree in DISTINCT]
    again = [flatten.structure(copy.deepcopy(tree)) for tree in DISTINCT]
    assert all(a is b for a, b in zip(first, again, strict=True))
    assert len(set(first)) == len(DISTINCT)
    assert flatten.structure({"b": 1, "a": 2}) is flatten.structure({"a": 1, "b": 2})


def test_structures_survive_copy_and_pickle_as_themselves() -> None:
    for treedef in (flatten.LEAF, flatten.structure({"a": [1, None]})):
        assert copy.deepcopy(treedef) is treedef
        assert pickle.loads(pickle.dumps(treedef)) is treedef


def test_unused_structures_are_freed() -> None:
    from traceir.pytrees.treedef import TABLE

    treedef = flatten.structure({"freed": 1})
    size = len(TABLE)
    del treedef
    gc.collect()
    assert len(TABLE) < size


def test_threads_intern_one_structure() -> None:
    found: list[flatten.TreeDef] = []
    barrier = threading.Barrier(4)

    def work(round_: int) -> None:
        barrier.wait()
        found.append(flatten.structure({f"round {round_}": (1, [2])}))

    for round_ in range(20):
        threads = [threading.Thread(target=work, args=(round_,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(found[-4:])) == 1


@pytest.mark.parametrize(("leaves", "which"), [([1], "few"), ([1, 2, 3], "many")])
def test_unflatten_counts_its_leaves(leaves: list[int], which: str) -> None:
    with pytest.raises(ValueError, match=f"Too {which} leaves .* expected 2, got"):
        flatten.structure((1, 2)).unflatten(leaves)


def test_unflatten_takes_any_iterable() -> None:
    assert flatten.structure([0, {"a": 0}]).unflatten(iter([1, 2])) == [1, {"a": 2}]


# Paths and prefixes


@dataclasses.dataclass
class Layer:
    """A registered dataclass with a static field and one that `__init__` computes."""

    w: Any
    b: Any
    name: str = dataclasses.field(default="", metadata={"static": True})
    size: int = dataclasses.field(init=False, default=0)


flatten.register_dataclass(Layer)


def test_paths_are_written_as_python() -> None:
    tree = {"k": [Layer(1, 2)], "p": Point(3, (4,))}
    found, _ = flatten.flatten_with_path(tree)
    assert [(flatten.key_path(path, "d"), leaf) for path, leaf in found] == [
        ("d['k'][0].w", 1),
        ("d['k'][0].b", 2),
        ("d['p'].x", 3),
        ("d['p'].y[0]", 4),
    ]
    assert flatten.flatten_with_path(7)[0] == [((), 7)]


def test_map_takes_a_prefix() -> None:
    assert flatten.map_(lambda x, y: (x, y), [1, None], [{"a": 2}, None]) == [
        (1, {"a": 2}),
        None,
    ]


@pytest.mark.parametrize(
    ("tree", "other", "message"),
    [
        ([1, 2], (1, 2), "at tree: expected list, got tuple"),
        ({"a": [1, 2]}, {"a": [1]}, r"at tree\['a'\]: expected 2 children, got 1"),
        ({"a": 1}, {"b": 1}, r"at tree: expected the keys \['a'\], got \['b'\]"),
        ((1, None), (1, 2), r"at tree\[1\]: expected NoneType, got int"),
    ],
)
def test_map_says_where_structures_differ(tree: Any, other: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        flatten.map_(lambda x, y: x, tree, other)


# Registering


def test_dataclass_fields_are_children_or_metadata() -> None:
    leaves, treedef = flatten.flatten(Layer(1, [2], "dense"))
    assert leaves == [1, 2]
    assert treedef.unflatten([3, 4]) == Layer(3, [4], "dense")
    assert treedef is not flatten.structure(Layer(1, [2], "other"))


def test_dataclass_with_named_fields() -> None:
    @dataclasses.dataclass
    class Step:
        value: float
        count: int

    flatten.register_dataclass(Step, data_fields=["value"], meta_fields=["count"])
    leaves, treedef = flatten.flatten(Step(1.5, 3))
    assert (leaves, treedef.unflatten([2.5])) == ([1.5], Step(2.5, 3))


def test_dataclass_fields_are_checked() -> None:
    @dataclasses.dataclass
    class Step:
        value: float
        count: int

    with pytest.raises(ValueError, match=r"must be \['count', 'value'\] together"):
        flatten.register_dataclass(Step, data_fields=["value"], meta_fields=[])
    with pytest.raises(ValueError, match="named twice"):
        flatten.register_dataclass(Step, ["value", "count"], ["count"])
    with pytest.raises(TypeError, match="int is not a dataclass"):
        flatten.register_dataclass(int)
    with pytest.raises(
        ValueError, match="Layer is registered as a pytree node already"
    ):
        flatten.register_dataclass(Layer)


def test_registering_makes_a_node_of_a_leaf() -> None:
    class Box:
        def __init__(self, content: Any, label: str) -> None:
            self.content, self.label = content, label

    flatten.register_leaf_type(Box)
    box = Box((1, 2), "a")
    assert flatten.leaves((box,)) == [box]
    flatten.register_pytree_node(
        Box,
        lambda node: ((node.content,), node.label),
        lambda label, children: Box(children[0], label),
    )
    leaves, treedef = flatten.flatten((box,))
    assert leaves == [1, 2]
    (again,) = treedef.unflatten([3, 4])
    assert (again.content, again.label) == ((3, 4), "a")
    assert [flatten.key_path(path) for path in treedef.paths()] == [
        "[0][<flat index 0>][0]",
        "[0][<flat index 0>][1]",
    ]
    with pytest.raises(ValueError, match="Box is registered as a pytree node"):
        flatten.register_leaf_type(Box)


def test_class_decorator() -> None:
    @flatten.register_pytree_node_class
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

        def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
            return (self.a, self.b), None

        @classmethod
        def tree_unflatten(cls, aux_data: None, children: list[Any]) -> Pair:
            return cls(*children)

    doubled = flatten.map_(lambda x: 2 * x, Pair(1, [2]))
    assert (doubled.a, doubled.b) == (2, [4])


def test_metadata_that_cannot_be_hashed_is_compared_by_value() -> None:
    class Tagged:
        def __init__(self, value: Any, tags: list[str]) -> None:
            self.value, self.tags = value, tags

    flatten.register_pytree_node(
        Tagged,
        lambda node: ((node.value,), node.tags),
        lambda tags, v: Tagged(*v, tags),
    )
    leaves, treedef = flatten.flatten((Tagged(1, ["a"]), 2))
    assert treedef.unflatten(leaves)[0].tags == ["a"]
    assert treedef == flatten.structure((Tagged(5, ["a"]), 6))
    assert treedef != flatten.structure((Tagged(1, ["b"]), 2))
    assert treedef != flatten.structure((1, 2))
    tags = ["a"]
    own = flatten.structure(Tagged(1, tags))
    assert len({treedef, flatten.structure((Tagged(5, ["a"]), 6)), own}) == 2
    assert own.unflatten([1]).tags is tags  # not that of an equal one
    assert own.children() == [flatten.LEAF]
    assert own == copy.deepcopy(own)
    tags.append("b")
    assert own != flatten.structure(Tagged(1, tags))
    assert own == flatten.structure(Tagged(1, ["a"]))


# Laws and speed

TREES = st.recursive(
    st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
        st.tuples(inner, inner).map(lambda pair: Point(*pair)),
        st.tuples(inner, inner).map(lambda pair: Layer(*pair)),
    ),
)


@given(TREES)
def test_round_trip(tree: Any) -> None:
    leaves, treedef = flatten.flatten(tree)
    assert len(leaves) == treedef.num_leaves == len(treedef.paths())
    assert treedef.unflatten(leaves) == tree
    assert flatten.structure(tree) is treedef
    assert flatten.flatten(tree, is_leaf=lambda _: False) == (leaves, treedef)
    assert flatten.map_(lambda x, y: x if x is y else None, tree, tree) == tree


def test_a_flat_tuple_costs_a_few_calls() -> None:
    """The hot case stays within 12 calls of the cheapest Python function."""
    args = (np.ones(3), 2.0, 3)

    def nothing(_: object) -> None:
        return None

    def best(function: Any) -> float:
        return min(timeit.repeat(lambda: function(args), number=5000, repeat=7))

    assert best(flatten.flatten) < 12 * best(nothing)
