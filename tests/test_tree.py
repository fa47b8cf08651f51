"""`traceir.tree` and `traceir.tree_util`: what JAX's modules of these names give.

The expressions were run by JAX 0.10.2 with its own modules; the texts are its answers.

Cites: cache.key.tree.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
from typing import Any

import pytest

import traceir
from traceir import tree, tree_util
from traceir.tree_util import DictKey, GetAttrKey, SequenceKey, keystr

Pair = collections.namedtuple("Pair", "x y")


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    """A child and a piece of metadata."""

    w: Any
    name: str = tree.static(default="dense")


@tree_util.register_pytree_with_keys_class
class Named:
    """Children that it names itself, one by a word of its own."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def tree_flatten_with_keys(self) -> Any:
        """Pairs of a step and a child."""
        return ((GetAttrKey("a"), self.a), ("bee", self.b)), "aux"

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Named:
        """The node again."""
        return cls(*children)


@tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Mode:
    """A leafless node."""

    name: str


@tree_util.register_pytree_node_class
class Flat:
    """Leaves of a tree, whose structure is kept as metadata."""

    def __init__(self, whole: Any) -> None:
        self.leaves, self.structure = tree.flatten(whole)

    def tree_flatten(self) -> Any:
        """Its leaves, and the structure."""
        return self.leaves, self.structure

    @classmethod
    def tree_unflatten(cls, structure: Any, leaves: Any) -> Flat:
        """The tree of any leaves, flattened again."""
        return cls(tree.unflatten(structure, leaves))


def test_a_node_that_keeps_its_structure_is_transposed() -> None:
    outer, inner = tree.structure(Flat({"a": 1, "b": 2})), tree.structure([1, 2])
    found = tree.transpose(outer, inner, Flat({"a": [3, 4], "b": [5, 6]}))
    assert [one.leaves for one in found] == [[3, 5], [4, 6]]
    with pytest.raises(TypeError, match="of other structures"):
        tree.transpose(outer, inner, Flat({"a": [3, 4], "b": [5]}))


SCOPE: dict[str, Any] = {
    "tu": tree_util,
    "K": (
        SequenceKey(0),
        DictKey("a"),
        GetAttrKey("x"),
        tree_util.FlattenedIndexKey(3),
    ),
    "Pair": Pair,
    "Layer": Layer,
    "Named": Named,
    "Mode": Mode,
    "od": collections.OrderedDict([("z", 5), ("y", 6)]),
    "dd": collections.defaultdict(list, {"q": 7}),
    "deque": collections.deque,
    "td": tree_util.tree_structure((1, [2, {"a": 3}])),
    "o": tree_util.tree_structure((0, 0)),
    "i": tree_util.tree_structure({"a": 0, "b": 0}),
    "none": lambda x: x is None,
    "add": lambda a, b: a + b,
    "nested": lambda a, b: f"{a}({b})",
    "pair": lambda *xs: xs,
    "partial": functools.partial,
}
_D = "DictKey(key="
_S = "SequenceKey(idx="
_G = "GetAttrKey(name="

ANSWERS = [
    ("list(map(str, K))", """['[0]', "['a']", '.x', '[<flat index 3>]']"""),
    ("tu.keystr(K)", '''"[0]['a'].x[<flat index 3>]"'''),
    ("tu.keystr(K, simple=True, separator='/')", "'0/a/x/3'"),
    ("tu.keystr(())", "''"),
    ("tu.keystr(('a', 1))", "'a1'"),
    ("tu.DictKey('a') == tu.DictKey('a')", "True"),
    ("tu.SequenceKey(0) == tu.FlattenedIndexKey(0)", "False"),
    (
        "tu.tree_leaves_with_path({'b': (1, [2, None]), 'a': Pair(3, 4)})",
        f"[(({_D}'a'), {_G}'x')), 3), (({_D}'a'), {_G}'y')), 4), "
        f"(({_D}'b'), {_S}0)), 1), (({_D}'b'), {_S}1), {_S}0)), 2)]",
    ),
    (
        "tu.tree_leaves_with_path([od, dd, Layer(8)])",
        f"[(({_S}0), {_D}'z')), 5), (({_S}0), {_D}'y')), 6), "
        f"(({_S}1), {_D}'q')), 7), (({_S}2), {_G}'w')), 8)]",
    ),
    (
        "tu.tree_leaves_with_path(Named(1, [2]))",
        f"[(({_G}'a'),), 1), (('bee', {_S}0)), 2)]",
    ),
    (
        "tu.tree_leaves_with_path({'a': [1]}, lambda p, x: len(p) == 1, True)",
        f"[(({_D}'a'),), [1])]",
    ),
    (
        "tu.tree_map_with_path(lambda p, x, y: (tu.keystr(p), x, y), [1], [(2,)])",
        "[('[0]', 1, (2,))]",
    ),
    ("tu.tree_structure(Layer(8))", "PyTreeDef(CustomNode(Layer[('dense',)], [*]))"),
    ("tu.tree_structure(Named(1, [2]))", "PyTreeDef(CustomNode(Named[aux], [*, [*]]))"),
    ("tu.tree_structure(deque([1]))", "PyTreeDef(*)"),
    ("tu.tree_structure(td)", "PyTreeDef(*)"),
    (
        "tu.tree_structure((Mode('a'), 2))",
        "PyTreeDef((CustomNode(Mode[Mode(name='a')], []), *))",
    ),
    ("tu.tree_map(lambda x: x + 1, (Mode('a'), 2))", "(Mode(name='a'), 3)"),
    ("tu.tree_map(pair, {'a': 1}, {'a': (1, 2)})", "{'a': (1, (1, 2))}"),
    ("tu.tree_map(pair, None, None)", "None"),
    (
        "tu.tree_map(pair, (None, 1), (None, 2), is_leaf=none)",
        "((None, None), (1, 2))",
    ),
    ("tu.tree_reduce(add, [1, 2, [3]])", "6"),
    ("tu.tree_reduce(add, [], 0)", "0"),
    ("tu.tree_reduce_associative(nested, list('abcde'))", "'a(b)(c(d(e)))'"),
    ("tu.tree_reduce_associative(add, [], identity=0)", "0"),
    (
        "tu.tree_all([1, True, '']), tu.tree_all([]), tu.tree_all([None])",
        "(False, True, True)",
    ),
    ("tu.all_leaves([1, 2]), tu.all_leaves([1, [2]])", "(True, False)"),
    ("tu.all_leaves([None]), tu.all_leaves([])", "(False, True)"),
    (
        "tu.tree_transpose(o, i, ({'a': 1, 'b': 2}, {'a': 3, 'b': 4}))",
        "{'a': (1, 3), 'b': (2, 4)}",
    ),
    (
        "tu.tree_transpose(o, None, ({'a': 1, 'b': 2}, {'a': 3, 'b': 4}))",
        "{'a': (1, 3), 'b': (2, 4)}",
    ),
    ("tu.tree_transpose(o, tu.tree_structure(()), ((), ()))", "()"),
    (
        "tu.tree_broadcast((1, {'a': 2}), ([3, 4], {'a': (5, 6)}))",
        "([1, 1], {'a': (2, 2)})",
    ),
    ("tu.tree_broadcast(1, None)", "None"),
    ("td.num_leaves, td.num_nodes", "(3, 6)"),
    ("td.children()", "[PyTreeDef(*), PyTreeDef([*, {'a': *}])]"),
    ("td.node_data()", "(<class 'tuple'>, None)"),
    ("tu.tree_structure({'a': 1}).node_data()", "(<class 'dict'>, ['a'])"),
    ("tu.tree_structure(3).node_data()", "None"),
    ("tu.tree_structure(None).num_nodes", "1"),
    ("o.compose(tu.tree_structure([1, 2]))", "PyTreeDef(([*, *], [*, *]))"),
    ("td.flatten_up_to((1, [2, {'a': [3]}]))", "[1, 2, [3]]"),
    (
        "td.walk(lambda n, d: ('n', n, d), lambda x: ('l', x), [1, 2, 3])",
        "('n', (('l', 1), ('n', (('l', 2), ('n', (('l', 3),), ['a'])), None)), None)",
    ),
    ("tu.treedef_tuple([o, i])", "PyTreeDef(((*, *), {'a': *, 'b': *}))"),
    ("tu.treedef_is_leaf(td)", "False"),
    ("tu.treedef_is_leaf(tu.tree_structure(None))", "True"),
    ("tu.treedef_children(td)", "[PyTreeDef(*), PyTreeDef([*, {'a': *}])]"),
    ("tu.flatten_one_level({'a': [1, 2], 'b': 3})", "(([1, 2], 3), ('a', 'b'))"),
    ("tu.flatten_one_level(None)", "((), None)"),
    (
        "tu.flatten_one_level_with_keys({'a': [1, 2]})",
        f"((({_D}'a'), [1, 2]),), ('a',))",
    ),
    ("tu.is_tree_node(dict), tu.is_tree_node(int)", "(True, False)"),
    ("tu.is_tree_node(Pair), tu.is_tree_node(type(None))", "(True, True)"),
    ("tu.Partial(max, 1, y=2)", "Partial(<built-in function max>, 1, y=2)"),
    (
        "tu.tree_structure(tu.Partial(max, 1, y=2))",
        "PyTreeDef(CustomNode(Partial[<built-in function max>], [(*,), {'y': *}]))",
    ),
    ("tu.tree_leaves(tu.Partial(tu.Partial(max, 1), 2))", "[2]"),
    ("tu.tree_leaves(tu.Partial(partial(max, 1), 2))", "[2]"),
    ("tu.Partial(partial(max, 1), 2)()", "2"),
]


@pytest.mark.parametrize(("expression", "text"), ANSWERS)
def test_a_tree_is_as_in_jax(expression: str, text: str) -> None:
    found = repr(eval(expression, {**SCOPE, "map": map}))
    assert found.replace("traceir.tree_util.", "") == text


REFUSED = [
    (
        "tu.tree_map(add, [1, 2], [3])",
        ValueError,
        "at tree: expected 2 children, got 1",
    ),
    (
        "tu.tree_map(add, [(1, 2)], [[3, 4]])",
        ValueError,
        r"at tree\[0\]: expected tuple",
    ),
    ("tu.tree_map(add, {'a': 1}, {'b': 1})", ValueError, "Dict key mismatch"),
    ("tu.tree_map(add, None, 3)", ValueError, "expected NoneType, got int"),
    ("tu.tree_map(add, (Mode('a'), 2), (Mode('b'), 2))", ValueError, r"at tree\[0\]"),
    ("tu.tree_map(add, Named(1, (2,)), Named(1, [2]))", ValueError, "at treebee"),
    ("tu.tree_broadcast((1, None), (2, 3))", ValueError, r"at tree\[1\]"),
    ("tu.tree_reduce(add, [])", TypeError, "empty"),
    ("tu.tree_reduce_associative(add, [])", TypeError, "identity"),
    ("tu.tree_transpose(o, i, [1])", TypeError, r"tree is \[\*\], where"),
    (
        "tu.tree_transpose(o, i, ({'a': 1, 'b': 2}, {'a': 3, 'b': (4,)}))",
        TypeError,
        r"tree\[1\]\['b'\] is \(\*,\), where",
    ),
    ("tu.tree_transpose(tu.tree_structure(()), i, ())", ValueError, "no leaves"),
    ("td.unflatten([1, 2])", ValueError, "Too few leaves for PyTreeDef; expected 3"),
    ("tu.tree_unflatten(td, [1, 2, 3, 4])", ValueError, "Too many leaves"),
    ("td.walk(pair, None, [1])", ValueError, "Too few leaves"),
    ("td.flatten_up_to(3)", ValueError, "expected tuple, got int"),
    ("tu.flatten_one_level(3)", ValueError, "int"),
    ("tu.register_dataclass(Layer)", ValueError, "already"),
    ("tu.tree_structure({1: 2, 'a': 3})", ValueError, "sortable"),
]


@pytest.mark.parametrize(("expression", "kind", "text"), REFUSED)
def test_a_tree_is_refused_as_in_jax(expression: str, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        eval(expression, SCOPE)


# What `dir` of JAX's modules gives; `PyTreeRegistry` and such are not among the names.
TREE = """all broadcast flatten flatten_with_path leaves leaves_with_path map
    map_with_path reduce reduce_associative static structure transpose unflatten"""
TREE_UTIL = """DictKey FlattenedIndexKey GetAttrKey KeyEntry KeyPath Partial PyTreeDef
    SequenceKey all_leaves default_registry flatten_one_level
    flatten_one_level_with_keys is_tree_node keystr register_dataclass
    register_pytree_node register_pytree_node_class register_pytree_with_keys
    register_pytree_with_keys_class register_static tree_all tree_broadcast
    tree_flatten tree_flatten_with_path tree_leaves tree_leaves_with_path tree_map
    tree_map_with_path tree_reduce tree_reduce_associative tree_structure
    tree_transpose tree_unflatten treedef_children treedef_is_leaf treedef_tuple"""


def test_every_name_of_jax_is_there() -> None:
    assert sorted(tree_util.__all__) == sorted(TREE_UTIL.split())
    assert all(hasattr(tree, name) for name in TREE.split())


@pytest.mark.parametrize("name", TREE.split())
def test_both_modules_have_one_function(name: str) -> None:
    if name != "static":
        assert getattr(tree, name) is getattr(tree_util, f"tree_{name}")
    assert inspect.getdoc(getattr(tree, name))


def test_the_error_of_a_jit_names_the_keys_of_a_class() -> None:
    with pytest.raises(TypeError, match=r"argument n\.a"):
        traceir.jit(lambda n: n.a)(Named("text", 1))


def test_a_partial_is_an_argument_of_jit() -> None:
    traced: list[Any] = []

    def apply(f: Any, x: Any) -> Any:
        traced.append(f)
        return f(x)

    jitted = traceir.jit(apply)
    assert float(jitted(tree_util.Partial(pow, 2.0), 3.0)) == 8
    assert float(jitted(tree_util.Partial(pow, 3.0), 2.0)) == 9
    assert len(traced) == 1


def test_dropped_fields_are_neither_children_nor_metadata() -> None:
    @dataclasses.dataclass
    class Cached:
        x: Any
        cache: Any = None

    tree_util.register_dataclass(Cached, ["x"], [], drop_fields=["cache"])
    assert tree.leaves(Cached(1, 2)) == [1]
    assert tree.map(lambda x: x + 1, Cached(1, 2)) == Cached(2)


def test_a_class_that_looks_at_its_children_is_named_by_place() -> None:
    class Checked:
        def __init__(self, x: Any) -> None:
            self.x = float(x)

    tree_util.register_pytree_with_keys(
        Checked,
        lambda node: (((GetAttrKey("x"), node.x),), None),
        lambda _, children: Checked(*children),
    )
    (path,) = tree.structure(Checked(1)).paths()
    assert keystr(path) == "[<flat index 0>]"
    ((path, _),) = tree.leaves_with_path(Checked(1))
    assert keystr(path) == ".x"


def test_a_frozen_dataclass_is_compared_by_the_equality_that_it_defines() -> None:
    @dataclasses.dataclass(frozen=True)
    class Opaque:
        value: Any

        def __eq__(self, other: object) -> bool:
            return type(other) is Opaque

        def __hash__(self) -> int:
            return 0

    traced = []
    f = traceir.jit(lambda x, n: traced.append(n) or x, static_argnums=1)
    for value in (Opaque(1), Opaque(1.0), Opaque([])):
        f(1.0, value)
    assert len(traced) == 1
    traceir.tree_util.register_dataclass(Node, ["leaf"], ["meta"])
    one, other = Node(1, Opaque(1)), Node((2, 3), Opaque(2))
    assert traceir.tree.structure(one).flatten_up_to(other) == [(2, 3)]
    assert traceir.tree.structure(one) == traceir.tree.structure(Node(5, Opaque(3)))


@dataclasses.dataclass
class Node:
    """A node with metadata."""

    leaf: Any
    meta: Any
