"""Registration of node types.

Serves the row ``cache.key.tree``: what a class gives as metadata is part of a key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from traceir.pytrees.key_path import FlattenedIndexKey, GetAttrKey, KeyEntry
from traceir.pytrees.node_types import LEAF_TYPES, NODES, Kind, kind_of, show_custom
from traceir.pytrees.treedef import forget_type

Keyed: TypeAlias = Iterable[tuple[KeyEntry, Any]]


def register_leaf_type(type_: type) -> None:
    """Declare a class whose instances are leaves, for the speed of `flatten`.

    ValueError if the class is already a node.
    """
    if kind_of(type_) is not None:
        raise ValueError(f"{type_.__name__} is registered as a pytree node")
    LEAF_TYPES.add(type_)


def register_pytree_node(
    nodetype: type[Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, list[Any]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Keyed, Any]] | None = None,
) -> None:
    """Make nodes of a class's instances.

    ``flatten_func(node)`` gives its children and its metadata (hashable and comparable,
    as it becomes part of a jit key); ``unflatten_func(metadata, children)`` gives the
    node back.  ``flatten_with_keys_func(node)`` gives each child with its step of a
    path; without it a child is named by its place.  ValueError if the class is a node
    already.

    >>> import traceir
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(
    ...     Pair, lambda p: ((p.a, p.b), None), lambda _, children: Pair(*children)
    ... )
    >>> traceir.tree.leaves([Pair(1, 2), 3])
    [1, 2, 3]
    """

    def join(_: type, meta: Any, children: list[Any]) -> Any:
        return unflatten_func(meta, children)

    def keys(_: type, meta: Any, n: int) -> Sequence[KeyEntry]:
        places = list(map(FlattenedIndexKey, range(n)))
        if keyed is None:
            return places
        try:  # as a node tells them, whatever its children are
            return keyed(unflatten_func(meta, [object() for _ in range(n)]))
        except Exception:  # a class that looks at its children
            return places

    keyed = flatten_with_keys_func and _keys_by(flatten_with_keys_func)
    _register(nodetype, Kind(flatten_func, join, keys, show_custom, keyed))


def _keys_by(
    flatten_with_keys: Callable[[Any], tuple[Keyed, Any]],
) -> Callable[[Any], list[KeyEntry]]:
    return lambda node: [key for key, _ in flatten_with_keys(node)[0]]


def register_pytree_with_keys(
    nodetype: type[Any],
    flatten_with_keys: Callable[[Any], tuple[Keyed, Any]],
    unflatten_func: Callable[[Any, list[Any]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Make nodes of a class's instances, which name their children.

    ``flatten_with_keys(node)`` gives pairs of a step and a child, and the metadata.

    >>> import traceir
    >>> from traceir.tree_util import GetAttrKey, keystr
    >>> class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> register_pytree_with_keys(
    ...     Box, lambda b: (((GetAttrKey("x"), b.x),), None), lambda _, c: Box(*c)
    ... )
    >>> [(keystr(path), x) for path, x in traceir.tree.leaves_with_path([Box(1)])]
    [('[0].x', 1)]
    """

    def flatten(node: Any) -> tuple[Iterable[Any], Any]:
        pairs, meta = flatten_with_keys(node)
        return [child for _, child in pairs], meta

    register_pytree_node(
        nodetype, flatten_func or flatten, unflatten_func, flatten_with_keys
    )


class Flattenable(Protocol):
    """The protocol of classes for `register_pytree_node_class`."""

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
    >>> from traceir.pytrees.flatten import leaves
    >>> leaves(Pair(1, [2, 3]))
    [1, 2, 3]
    """
    register_pytree_node(cls, lambda node: node.tree_flatten(), cls.tree_unflatten)
    return cls


class FlattenableWithKeys(Protocol):
    """The protocol of classes for `register_pytree_with_keys_class`."""

    def tree_flatten_with_keys(self) -> tuple[Keyed, Any]:
        """Children, each with its step of a path, and metadata of the node."""

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: list[Any]) -> Any:
        """The node of this metadata and these children."""


_KeyedClass = TypeVar("_KeyedClass", bound=type[FlattenableWithKeys])


def register_pytree_with_keys_class(cls: _KeyedClass) -> _KeyedClass:
    """Decorate a class with ``tree_flatten_with_keys`` and ``tree_unflatten``; its
    ``tree_flatten`` is used where there is one.

    >>> @register_pytree_with_keys_class
    ... class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    ...     def tree_flatten_with_keys(self):
    ...         return ((GetAttrKey("a"), self.a), (GetAttrKey("b"), self.b)), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux_data, children):
    ...         return cls(*children)
    >>> from traceir.tree_util import keystr, tree_leaves_with_path
    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path(Pair(1, [2]))]
    [('.a', 1), ('.b[0]', 2)]
    """
    flatten = getattr(cls, "tree_flatten", None)
    register_pytree_with_keys(
        cls,
        lambda node: node.tree_flatten_with_keys(),
        cls.tree_unflatten,
        flatten and (lambda node: node.tree_flatten()),
    )
    return cls


_Static = TypeVar("_Static", bound=type)


def register_static(cls: _Static) -> _Static:
    """Make nodes without children of a class's instances: each is metadata itself.

    Such a value passes through `jit` as part of the key: it must be hashable.

    >>> import traceir
    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> traceir.tree.flatten((Mode("train"), 1.5))
    ([1.5], PyTreeDef((CustomNode(Mode[train], []), *)))
    """
    register_pytree_node(cls, lambda node: ((), node), lambda node, _: node)
    return cls


_DataClass = TypeVar("_DataClass", bound=type)


def register_dataclass(
    nodetype: _DataClass,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> _DataClass:
    """Make nodes of a dataclass's instances: data fields are children, meta fields not.

    Without lists of fields, the meta fields are those declared
    ``field(metadata={"static": True})``.  Dropped fields are neither; unflattening
    leaves them to their defaults.  TypeError if the class is no dataclass and
    no lists are given, ValueError if the lists do not name its fields once each or the
    class is a node already.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(metadata={"static": True})
    >>> from traceir.pytrees.flatten import flatten
    >>> flatten(Layer(1.5, "dense"))
    ([1.5], PyTreeDef(CustomNode(Layer[('dense',)], [*])))
    """
    data, meta = _fields_of(nodetype, data_fields, meta_fields, drop_fields)

    def split(node: Any) -> tuple[list[Any], tuple[Any, ...]]:
        values = tuple(getattr(node, name) for name in meta)
        return [getattr(node, name) for name in data], values

    def join(type_: type, values: Any, children: list[Any]) -> Any:
        pairs = dict(zip(data, children, strict=True))
        return type_(**pairs, **dict(zip(meta, values, strict=True)))

    keys = list(map(GetAttrKey, data))
    kind = Kind(split, join, lambda *_: keys, show_custom, attributes=(data, meta))
    _register(nodetype, kind)
    return nodetype


def _fields_of(
    nodetype: type,
    data: Sequence[str] | None,
    meta: Sequence[str] | None,
    dropped: Sequence[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a dataclass that are children, and those that are metadata."""
    if data is None or meta is None:
        if not dataclasses.is_dataclass(nodetype):
            raise TypeError(f"{nodetype.__name__} is not a dataclass: list its fields")
        init = [
            field
            for field in dataclasses.fields(nodetype)
            if field.init and field.name not in dropped
        ]
        static = [f.name for f in init if f.metadata.get("static", False)]
        meta = static if meta is None else meta
        data = [f.name for f in init if f.name not in meta] if data is None else data
    named = (*data, *meta)
    if dataclasses.is_dataclass(nodetype):
        init_names = {f.name for f in dataclasses.fields(nodetype) if f.init}
        wanted = init_names - {*dropped}
        if set(named) != wanted:
            raise ValueError(
                f"data and meta fields of {nodetype.__name__} must be {sorted(wanted)}"
                f" together, got {sorted(named)}"
            )
    if len(set(named)) != len(named):
        raise ValueError(f"fields of {nodetype.__name__} named twice: {list(named)}")
    return tuple(data), tuple(meta)


def _register(nodetype: type, kind: Kind) -> None:
    if nodetype in NODES:
        raise ValueError(f"{nodetype.__name__} is registered as a pytree node already")
    LEAF_TYPES.discard(nodetype)
    if kind_of(nodetype) is not None:  # a named tuple that may have been seen
        forget_type(nodetype)
    NODES[nodetype] = kind
