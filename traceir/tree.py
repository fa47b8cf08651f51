"""Trees of containers, taken apart and put together: the short names of `tree_util`.

Serves the row ``cache.key.tree``; `pytree` says what a node is.

>>> import traceir
>>> params = {"w": (1.0, 2.0), "b": None}
>>> traceir.tree.map(lambda x: x * 2, params)
{'b': None, 'w': (2.0, 4.0)}
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

from traceir.base.tracebacks import publish as _publish
from traceir.pytrees import flatten as pytree
from traceir.pytrees.flatten import IsLeaf, PyTree, TreeDef
from traceir.pytrees.key_path import KeyPath
from traceir.pytrees.treedef import intern

_MISSING: Any = object()


def flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree, left to right, and its structure.

    `is_leaf(subtree)` true makes a leaf of what would be a node.

    >>> flatten({"b": 3, "a": [1, (2, None)]})
    ([1, 2, 3], PyTreeDef({'a': [*, (*, None)], 'b': *}))
    """
    return pytree.flatten(tree, is_leaf)


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> PyTree:
    """The tree of a structure and leaves; ValueError unless their number is right.

    >>> unflatten(structure({"a": 0, "b": 0}), [1, 2])
    {'a': 1, 'b': 2}
    """
    return treedef.unflatten(leaves)


def leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, left to right.

    >>> leaves([1, None, {"k": (2, 3)}])
    [1, 2, 3]
    """
    return pytree.leaves(tree, is_leaf)


def structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeDef:
    """The structure of a tree.

    >>> structure((1, [2]))
    PyTreeDef((*, [*]))
    """
    return pytree.structure(tree, is_leaf)


def map(
    f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Apply a function leaf by leaf; `tree` is a prefix of each tree of `rest`.

    ValueError, with the path of the first difference, where it is not.

    >>> map(lambda x, y: (x, y), {"a": 1, "b": 2}, {"a": 3, "b": [4, 5]})
    {'a': (1, 3), 'b': (2, [4, 5])}
    """
    return pytree.map_(f, tree, *rest, is_leaf=is_leaf)


def reduce(
    function: Callable[[Any, Any], Any],
    tree: PyTree,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Fold a function over the leaves, from the left.

    TypeError where there are no leaves and no initial value.

    >>> reduce(lambda a, b: a + b, {"a": 1, "b": (2, 3)}, 10)
    16
    """
    found = leaves(tree, is_leaf)
    if initializer is _MISSING:
        return functools.reduce(function, found)
    return functools.reduce(function, found, initializer)


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: PyTree,
    *,
    identity: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Fold an associative function over the leaves, as a balanced tree of pairs.

    Of n leaves no value goes through more than log2(n) + 1 operations. TypeError where
    there are no leaves and no identity.

    >>> reduce_associative(lambda a, b: f"({a}{b})", list("abcd"))
    '((ab)(cd))'
    """
    found = leaves(tree, is_leaf)
    if not found and identity is _MISSING:
        raise TypeError("a tree without leaves is reduced to its `identity`: give one")
    return _halves(operation, found) if found else identity


def _halves(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return operation(
        _halves(operation, values[:half]), _halves(operation, values[half:])
    )


def all(tree: PyTree, *, is_leaf: IsLeaf = None) -> bool:
    """True if every leaf is true.

    >>> all({"a": True, "b": [1, 2]}), all((True, 0)), all(())
    (True, False, True)
    """
    return not any(not leaf for leaf in leaves(tree, is_leaf))


def transpose(
    outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: PyTree
) -> PyTree:
    """Turn a tree of trees inside out.

    Without `inner_treedef`, it is that of the first inner tree. TypeError where the
    tree is not made of the two structures, ValueError where the outer has no leaves.

    >>> rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    >>> transpose(structure([0, 0]), structure({"a": 0, "b": 0}), rows)
    {'a': [1, 3], 'b': [2, 4]}
    """
    if inner_treedef is None:
        inner_treedef = structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    found, treedef = flatten(pytree_to_transpose)
    wanted = outer_treedef.compose(inner_treedef)
    # A node that keeps the structure below it as metadata differs from a composed one.
    kept = isinstance(outer_treedef.meta, TreeDef)
    if treedef != wanted and not (kept and treedef.num_leaves == wanted.num_leaves):
        found_at = pytree.mismatch("tree", treedef, "the structures", wanted)
        raise TypeError(f"the tree to transpose is of other structures: {found_at}")
    inner, outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if not outer:
        raise ValueError(f"nothing to transpose: {outer_treedef} has no leaves")
    columns = [found[k :: inner or 1] for k in range(inner)]
    return inner_treedef.unflatten([outer_treedef.unflatten(c) for c in columns])


def broadcast(prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Each leaf of a prefix repeated for all leaves of the tree in its place.

    ValueError, with the path of the first difference, unless it is a prefix.

    >>> broadcast((0, 1), ({"a": 5, "b": 6}, [7]))
    ({'a': 0, 'b': 0}, [1])
    """

    def repeated(value: Any, below: PyTree) -> PyTree:
        return map(lambda _: value, below, is_leaf=is_leaf)

    return map(repeated, prefix_tree, full_tree, is_leaf=is_leaf)


def flatten_with_path(
    tree: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> tuple[list[tuple[KeyPath, Any]], TreeDef]:
    """As `flatten`, with the path of each leaf beside it.

    With `is_leaf_takes_path`, `is_leaf` is called with path and subtree.

    >>> flatten_with_path({"a": (5,)})
    ([((DictKey(key='a'), SequenceKey(idx=0)), 5)], PyTreeDef({'a': (*,)}))
    """
    return pytree.flatten_with_path(tree, is_leaf, is_leaf_takes_path)


def leaves_with_path(
    tree: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with its path.

    >>> leaves_with_path([5])
    [((SequenceKey(idx=0),), 5)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: PyTree,
    *rest: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> PyTree:
    """As `map`, the function getting the path of the leaf first.

    >>> from traceir.tree_util import keystr
    >>> map_with_path(lambda path, x: f"{keystr(path)} is {x}", {"a": [1, 2]})
    {'a': ["['a'][0] is 1", "['a'][1] is 2"]}
    """
    found, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [treedef.flatten_up_to(other) for other in rest]
    rows = zip(found, *others, strict=True)
    return treedef.unflatten([f(path, leaf, *other) for (path, leaf), *other in rows])


def static(**options: Any) -> Any:
    """A field of a dataclass that `register_dataclass` makes metadata.

    Takes the options of `dataclasses.field`.

    >>> import dataclasses
    >>> from traceir.tree_util import register_dataclass
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = static(default="dense")
    >>> structure(Layer(1.5))
    PyTreeDef(CustomNode(Layer[('dense',)], [*]))
    """
    given = options.pop("metadata", None) or {}
    return dataclasses.field(**options, metadata={**given, "static": True})


def tuple_of(treedefs: Iterable[TreeDef]) -> TreeDef:
    """The structure of a tuple of trees of these structures.

    >>> tuple_of([structure([0]), structure(0)])
    PyTreeDef(([*], *))
    """
    return intern(tuple, None, tuple(treedefs))


_publish(globals())
