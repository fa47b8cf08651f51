"""Trees of Python containers, flattened to leaves and a structure.

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

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from traceir.nodes import LEAF_TYPES, NODES, Kind, kind_of, show_custom
from traceir.treedef import (
    FLAT_TUPLES,
    LEAF,
    NONE,
    Path,
    PyTree,
    TreeDef,
    intern,
    key_path,
)

__all__ = [
    "LEAF",
    "IsLeaf",
    "Path",
    "PyTree",
    "TreeDef",
    "flatten",
    "flatten_with_path",
    "key_path",
    "leaves",
    "map_",
    "register_dataclass",
    "register_leaf_type",
    "register_pytree_node",
    "register_pytree_node_class",
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
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[Path, Any]], TreeDef]:
    """As `flatten`, with the path of each leaf beside it; see `key_path`."""
    found, treedef = flatten(tree, is_leaf)
    return list(zip(treedef.paths(), found, strict=True)), treedef


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


def register_leaf_type(type_: type) -> None:
    """Declare a class whose instances are leaves, for the speed of `flatten`.

    ValueError if the class is already a node.
    """
    if kind_of(type_) is not None:
        raise ValueError(f"{type_.__name__} is registered as a pytree node")
    LEAF_TYPES.add(type_)


def register_pytree_node(
    node_type: type[Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, list[Any]], Any],
) -> None:
    """Make nodes of a class's instances.

    ``flatten_func(node)`` gives its children and its metadata (hashable and comparable,
    as it becomes part of a jit key); ``unflatten_func(metadata, children)`` gives the
    node back.  ValueError if the class is a node already.
    """
    _register(
        node_type,
        Kind(
            flatten_func,
            lambda _, meta, children: unflatten_func(meta, children),
            lambda _, __, n: [f"[<flat index {i}>]" for i in range(n)],
            show_custom,
        ),
    )


class Flattenable(Protocol):
    """What `register_pytree_node_class` asks of a class."""

    def tree_flatten(self) -> tuple[Iterable[Any], Any]:
        """Children and metadata of the node."""

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: list[Any]) -> Any:
        """The node of this metadata and these children."""


_Class = TypeVar("_Class", bound=type[Flattenable])


def register_pytree_node_class(cls: _Class) -> _Class:
    """Decorate a class with ``tree_flatten`` and the classmethod ``tree_unflatten``.

    >>> @register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    ...     def tree_flatten(self):
    ...         return (self.a, self.b), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux_data, children):
    ...         return cls(*children)
    >>> leaves(Pair(1, [2, 3]))
    [1, 2, 3]
    """
    register_pytree_node(cls, lambda node: node.tree_flatten(), cls.tree_unflatten)
    return cls


_DataClass = TypeVar("_DataClass", bound=type)


def register_dataclass(
    node_type: _DataClass,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
) -> _DataClass:
    """Make nodes of a dataclass's instances: data fields are children, meta fields not.

    Without lists of fields, the meta fields are those declared
    ``field(metadata={"static": True})``.  TypeError if the class is no dataclass and
    no lists are given, ValueError if the lists do not name its fields once each or the
    class is a node already.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(metadata={"static": True})
    >>> flatten(Layer(1.5, "dense"))
    ([1.5], PyTreeDef(CustomNode(Layer[('dense',)], [*])))
    """
    data, meta = _fields_of(node_type, data_fields, meta_fields)

    def split(node: Any) -> tuple[list[Any], tuple[Any, ...]]:
        values = tuple(getattr(node, name) for name in meta)
        return [getattr(node, name) for name in data], values

    def join(type_: type, values: Any, children: list[Any]) -> Any:
        pairs = dict(zip(data, children, strict=True))
        return type_(**pairs, **dict(zip(meta, values, strict=True)))

    keys = ["." + name for name in data]
    _register(node_type, Kind(split, join, lambda *_: keys, show_custom))
    return node_type


def _fields_of(
    node_type: type, data: Sequence[str] | None, meta: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if data is None or meta is None:
        if not dataclasses.is_dataclass(node_type):
            raise TypeError(f"{node_type.__name__} is not a dataclass: list its fields")
        init = [field for field in dataclasses.fields(node_type) if field.init]
        static = [f.name for f in init if f.metadata.get("static", False)]
        meta = static if meta is None else meta
        data = [f.name for f in init if f.name not in meta] if data is None else data
    named = (*data, *meta)
    if dataclasses.is_dataclass(node_type):
        wanted = {field.name for field in dataclasses.fields(node_type) if field.init}
        if set(named) != wanted:
            raise ValueError(
                f"data and meta fields of {node_type.__name__} must be {sorted(wanted)}"
                f" together, got {sorted(named)}"
            )
    if len(set(named)) != len(named):
        raise ValueError(f"fields of {node_type.__name__} named twice: {list(named)}")
    return tuple(data), tuple(meta)


def _register(node_type: type, kind: Kind) -> None:
    if node_type in NODES:
        raise ValueError(f"{node_type.__name__} is registered as a pytree node already")
    LEAF_TYPES.discard(node_type)
    NODES[node_type] = kind
