"""Flattening and unflattening of trees, and maps over them.

Serves the row ``cache.key.tree`` (the structure of a call's arguments is part of its
key) and every rule that names an argument by its path.

A node is a ``dict``, ``list``, ``tuple``, namedtuple, ``OrderedDict``, ``defaultdict``,
``None`` (a node without leaves), or an instance of a registered class; anything else is
a leaf.  Dispatch is by exact type, namedtuples excepted, so a subclass of ``dict`` is a
leaf until it is registered.

>>> leaves, tree = flatten({"b": 3, "a": [1, (2, None)]})
>>> leaves, tree
([1, 2, 3], PyTreeDef({'a': [*, (*, None)], 'b': *}))
>>> tree.unflatten([10, 20, 30])
{'a': [10, (20, None)], 'b': 30}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from traceir.pytrees.node_types import LEAF_TYPES, kind_of
from traceir.pytrees.registry import (
    register_dataclass,
    register_leaf_type,
    register_pytree_node,
    register_pytree_node_class,
)
from traceir.pytrees.treedef import (
    FLAT_TUPLES,
    LEAF,
    NONE,
    Path,
    PyTree,
    TreeDef,
    intern,
    key_path,
)
from traceir.pytrees.typed_equality import typed

__all__ = [
    "LEAF",
    "IsLeaf",
    "Path",
    "PyTree",
    "TreeDef",
    "differences",
    "flatten",
    "flatten_with_path",
    "key_path",
    "leaves",
    "map_",
    "mismatch",
    "register_dataclass",
    "register_leaf_type",
    "register_pytree_node",
    "register_pytree_node_class",
    "short",
    "spread",
    "structure",
]

IsLeaf: TypeAlias = Callable[[Any], bool] | None

_all_leaf_types = LEAF_TYPES.issuperset


def flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree, left to right, and its structure.

    ``is_leaf(subtree)`` true makes a leaf of what would be a node.  ValueError when the
    keys of a dict cannot be sorted.

    >>> flatten((1, [2, None]), is_leaf=lambda t: isinstance(t, list))
    ([1, [2, None]], PyTreeDef((*, *)))
    """
    if is_leaf is None:
        if type(tree) is tuple and _all_leaf_types(map(type, tree)) and len(tree) < 33:
            return list(tree), FLAT_TUPLES[len(tree)]
        leaves: list[Any] = []
        return leaves, _flatten(tree, leaves)
    leaves = []
    return leaves, _flatten_until(tree, leaves, is_leaf)


def _flatten(tree: PyTree, leaves: list[Any]) -> TreeDef:
    """Append the leaves of a tree to a list; return its structure."""
    type_ = type(tree)
    if type_ in LEAF_TYPES:
        leaves.append(tree)
        return LEAF
    if type_ is tuple and _all_leaf_types(map(type, tree)) and len(tree) < 33:
        leaves.extend(tree)
        return FLAT_TUPLES[len(tree)]
    if tree is None:
        return NONE
    if type_ is tuple or type_ is list:
        return intern(type_, None, tuple([_flatten(child, leaves) for child in tree]))
    kind = kind_of(type_)
    if kind is None:
        leaves.append(tree)
        return LEAF
    children, meta = kind.split(tree)
    return intern(type_, meta, tuple([_flatten(child, leaves) for child in children]))


def _flatten_until(
    tree: PyTree, leaves: list[Any], is_leaf: Callable[[Any], bool]
) -> TreeDef:
    kind = None if is_leaf(tree) else kind_of(type(tree))
    if kind is None:
        leaves.append(tree)
        return LEAF
    children, meta = kind.split(tree)
    below = tuple([_flatten_until(child, leaves, is_leaf) for child in children])
    return intern(type(tree), meta, below)


def leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, left to right."""
    if is_leaf is not None:
        return flatten(tree, is_leaf)[0]
    found: list[Any] = []
    _collect(tree, found)
    return found


def _collect(tree: PyTree, found: list[Any]) -> None:
    # As `_flatten` at a third of its price: no structure is looked up.
    type_ = type(tree)
    kind = None if type_ in LEAF_TYPES else kind_of(type_)
    if kind is None:
        found.append(tree)
    else:
        for child in kind.split(tree)[0]:
            _collect(child, found)


def structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeDef:
    """The structure of a tree."""
    return flatten(tree, is_leaf)[1]


def flatten_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, takes_path: bool = False
) -> tuple[list[tuple[Path, Any]], TreeDef]:
    """As `flatten`, with the path of each leaf beside it; see `key_path`.

    With `takes_path`, `is_leaf` is called with the path and the subtree.
    """
    if is_leaf is None:
        stop = None
    elif takes_path:
        stop = is_leaf
    else:
        stop = _ignoring_path(is_leaf)
    found: list[tuple[Path, Any]] = []
    return found, _flatten_paths(tree, (), found, stop)


def _ignoring_path(is_leaf: Callable[[Any], bool]) -> Callable[[Path, Any], bool]:
    return lambda _, tree: is_leaf(tree)


def _flatten_paths(
    tree: PyTree,
    path: Path,
    found: list[tuple[Path, Any]],
    stop: Callable[[Path, Any], bool] | None,
) -> TreeDef:
    """Append the leaves with their paths; `stop` says where to end."""
    kind = None if stop and stop(path, tree) else kind_of(type(tree))
    if kind is None:
        found.append((path, tree))
        return LEAF
    parts, meta = kind.split(tree)
    children = list(parts)
    steps = kind.steps(tree, meta, len(children))
    below = [
        _flatten_paths(child, (*path, step), found, stop)
        for step, child in zip(steps, children, strict=True)
    ]
    return intern(type(tree), meta, tuple(below))


def map_(
    function: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Apply a function leaf by leaf; `tree` is a prefix of each tree of `rest`.

    ValueError, with the path of the first difference, where it is not.

    >>> map_(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
    {'a': 11, 'b': (22,)}
    """
    found, treedef = flatten(tree, is_leaf)
    others = [treedef.flatten_up_to(other) for other in rest]
    rows = zip(found, *others, strict=True)
    return treedef.unflatten([function(*row) for row in rows])


def differences(
    a: TreeDef, b: TreeDef, path: Path = ()
) -> Iterator[tuple[Path, TreeDef, TreeDef]]:
    """The paths at which two structures differ first, and their nodes there.

    >>> a, b = structure({"k": 0, "m": 0}), structure({"k": (0, 0), "m": 0})
    >>> [(key_path(path), x, y) for path, x, y in differences(a, b)]
    [("['k']", PyTreeDef(*), PyTreeDef((*, *)))]
    """
    same = a.node_type is b.node_type and typed(a.meta) == typed(b.meta)
    if not same or len(a.below) != len(b.below):
        yield path, a, b
    elif a.kind is not None and a.node_type is not None:
        keys = a.kind.keys(a.node_type, a.meta, len(a.below))
        for key, x, y in zip(keys, a.below, b.below, strict=True):
            yield from differences(x, y, (*path, key))


def short(tree: TreeDef) -> str:
    """A structure in an error: `*` stands for a leaf.

    >>> short(structure([1.0, None]))
    '[*, None]'
    """
    return repr(tree).removeprefix("PyTreeDef(").removesuffix(")")


def mismatch(name: str, given: TreeDef, other: str, wanted: TreeDef) -> str:
    """The first difference of a structure from another, for an error.

    >>> mismatch("t", structure([0, {"a": 0}]), "x", structure([0, {"b": 0}]))
    "t[1] is {'a': *}, where x[1] is {'b': *}"
    """
    path, a, b = next(differences(given, wanted))
    return (
        f"{key_path(path, name)} is {short(a)}, where "
        f"{key_path(path, other)} is {short(b)}"
    )


def prefix_errors(
    prefix: PyTree, tree: PyTree, is_leaf: IsLeaf = None
) -> list[Callable[[str], ValueError]]:
    """An error for each place at which a tree is no prefix of another, to be named.

    >>> [str(made("axes")) for made in prefix_errors((1, [2]), ((1, 1), 2))]
    ['axes[1] is [*], where the tree has *']
    """

    def made(path: Path, a: TreeDef, b: TreeDef, name: str) -> ValueError:
        return ValueError(
            f"{key_path(path, name)} is {short(a)}, where the tree has {short(b)}"
        )

    found = differences(structure(prefix, is_leaf), structure(tree, is_leaf))
    return [partial(made, *row) for row in found if row[1] is not LEAF]


def spread(prefix: PyTree, treedef: TreeDef, is_leaf: IsLeaf = None) -> list[Any]:
    """A value for each leaf of a structure, by a tree of values that is a prefix of it.

    ValueError, with the path of the first difference, where it is none.

    >>> spread((0, 1), structure((5, {"a": 6, "b": 7})))
    [0, 1, 1]
    """
    values, top = flatten(prefix, is_leaf)
    # Classes that check their children know what is no array: no number, but an object.
    parts = [object() for _ in range(treedef.num_leaves)]
    below = top.flatten_up_to(treedef.unflatten(parts))
    pairs = zip(values, below, strict=True)
    return [value for value, part in pairs for _ in leaves(part)]
