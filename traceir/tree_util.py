"""Trees of containers, by the names of `jax.tree_util`. Serves: cache.key.tree

`traceir.tree` has most of them without the prefix `tree_`.

>>> tree_map(lambda x: x + 1, {"a": (1, None)})
{'a': (2, None)}
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from traceir.base.tracebacks import publish as _publish
from traceir.pytrees import flatten as pytree
from traceir.pytrees.key_path import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    SequenceKey,
    keystr,
)
from traceir.pytrees.node_types import kind_of
from traceir.pytrees.registry import (
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from traceir.pytrees.treedef import TreeDef as PyTreeDef
from traceir.tree import all as tree_all
from traceir.tree import broadcast as tree_broadcast
from traceir.tree import flatten as tree_flatten
from traceir.tree import flatten_with_path as tree_flatten_with_path
from traceir.tree import leaves as tree_leaves
from traceir.tree import leaves_with_path as tree_leaves_with_path
from traceir.tree import map as tree_map
from traceir.tree import map_with_path as tree_map_with_path
from traceir.tree import reduce as tree_reduce
from traceir.tree import reduce_associative as tree_reduce_associative
from traceir.tree import structure as tree_structure
from traceir.tree import transpose as tree_transpose
from traceir.tree import tuple_of as treedef_tuple
from traceir.tree import unflatten as tree_unflatten

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]


def all_leaves(iterable: Iterable[Any], is_leaf: pytree.IsLeaf = None) -> bool:
    """True if none of the values is a node.

    >>> all_leaves([1, 2.5]), all_leaves([1, [2]]), all_leaves([None])
    (True, False, False)
    """
    return all(pytree.structure(v, is_leaf) is pytree.LEAF for v in iterable)


def is_tree_node(typ: type) -> bool:
    """True if the instances of a class are nodes.

    >>> is_tree_node(dict), is_tree_node(int)
    (True, False)
    """
    return kind_of(typ) is not None


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]:
    """The children of a node and its metadata; ValueError for a leaf.

    >>> flatten_one_level({"a": [1, 2], "b": 3})
    (([1, 2], 3), ('a', 'b'))
    """
    children, meta = _kind(tree).split(tree)
    return tuple(children), meta


def flatten_one_level_with_keys(
    tree: Any,
) -> tuple[tuple[tuple[KeyEntry, Any], ...], Hashable]:
    """The children of a node, each with its step of a path, and the metadata.

    ValueError for a leaf.

    >>> flatten_one_level_with_keys({"a": [1, 2]})
    (((DictKey(key='a'), [1, 2]),), ('a',))
    """
    children, meta = flatten_one_level(tree)
    children = tuple(children)
    steps = _kind(tree).steps(tree, meta, len(children))
    return tuple(zip(steps, children, strict=True)), meta


def _kind(tree: Any) -> Any:
    kind = kind_of(type(tree))
    if kind is None:
        raise ValueError(f"a leaf has no children: got {type(tree).__name__}")
    return kind


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures below the root.

    >>> treedef_children(tree_structure((1, [2])))
    [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """True if there is nothing below the root, as of a leaf, `None` and `()`.

    >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure([1]))
    (True, False)
    """
    return treedef.num_nodes == 1


class _Registry:
    """All classes whose instances are nodes: there is one registry."""

    def flatten(
        self, tree: Any, is_leaf: pytree.IsLeaf = None
    ) -> tuple[list[Any], PyTreeDef]:
        """The leaves and the structure of a tree."""
        return pytree.flatten(tree, is_leaf)

    def flatten_one_level(self, tree: Any) -> tuple[Iterable[Any], Hashable] | None:
        """The children of a node and its metadata; None for a leaf."""
        return flatten_one_level(tree) if is_tree_node(type(tree)) else None


default_registry = _Registry()


class Partial(functools.partial[Any]):
    """As `functools.partial`, and a node: the arguments that it holds are its children.

    So it can be passed to a function under `jit`, its function being part of the key.

    >>> import traceir
    >>> scaled = Partial(lambda a, x: a * x, 3.0)
    >>> tree_leaves(scaled)
    [3.0]
    >>> traceir.jit(lambda f, x: f(x))(scaled, 2.0)
    Array(6., dtype=float32, weak_type=True)
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kw: Any) -> Partial:
        """Arguments of a partial function stay its own: it is part of the key."""
        if isinstance(func, functools.partial):
            func = _Whole(func)
        return super().__new__(cls, func, *args, **kw)


class _Whole:
    """A partial function as one callable, which `functools.partial` does not unfold.

    Equal where the functions are.
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


register_pytree_node(
    Partial,
    lambda node: ((node.args, node.keywords), node.func),
    lambda function, parts: Partial(function, *parts[0], **parts[1]),
)

_publish(globals())
