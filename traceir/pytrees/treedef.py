"""Structures of pytrees, interned: equal ones are one object.

Serves the row ``cache.key.tree``: a key holds a structure and compares it by identity.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from traceir.base.fast_dataclass import dataclass
from traceir.base.fork_safety import kept_over_forks
from traceir.pytrees.key_path import KeyPath, keystr
from traceir.pytrees.node_types import Kind, kind_of
from traceir.pytrees.typed_equality import hashable, typed

AnyTreeDef = TypeVar("AnyTreeDef", bound="TreeDef")
PyTree: TypeAlias = Any
Path: TypeAlias = KeyPath


@dataclass(frozen=True, eq=False, repr=False, slots=True, weakref_slot=True)
class TreeDef:
    """The structure of a tree: equal structures are the same object.

    ``node_type`` is the node's type (None for a leaf), ``meta`` its metadata (the keys
    of a dict) and ``below`` the structures below it.

    >>> from traceir.pytrees.flatten import structure
    >>> structure((1, 2)) is structure(("x", "y"))
    True
    """

    node_type: type | None
    kind: Kind | None
    meta: Any
    below: tuple[TreeDef, ...]
    num_leaves: int
    flat: bool

    @property
    def num_nodes(self) -> int:
        """The number of nodes and leaves.

        >>> from traceir.pytrees.flatten import structure
        >>> structure((1, [2, None])).num_nodes
        5
        """
        return 1 + sum(child.num_nodes for child in self.below)

    def children(self) -> list[TreeDef]:
        """The structures below the root, none below a leaf."""
        return list(self.below)

    def node_data(self) -> tuple[type, Any] | None:
        """The root's type and metadata, None for a leaf.

        >>> from traceir.pytrees.flatten import structure
        >>> structure({"a": 1}).node_data()
        (<class 'dict'>, ['a'])
        """
        if self.node_type is None:
            return None
        meta = list(self.meta) if self.node_type is dict else self.meta
        return self.node_type, meta

    def compose(self, inner: TreeDef) -> TreeDef:
        """This structure with `inner` in the place of each leaf.

        >>> from traceir.pytrees.flatten import structure
        >>> structure((1, 2)).compose(structure([1, 2]))
        PyTreeDef(([*, *], [*, *]))
        """
        if self.node_type is None:
            return inner
        below = tuple([child.compose(inner) for child in self.below])
        return intern(self.node_type, self.meta, below)

    def walk(
        self,
        node: Callable[[tuple[Any, ...], Any], Any],
        leaf: Callable[[Any], Any] | None,
        leaves: Iterable[Any],
    ) -> Any:
        """Fold leaves from the bottom up: `node` of what the children gave and of the
        metadata, `leaf` of each leaf.

        >>> from traceir.pytrees.flatten import structure
        >>> structure((0, [0, 0])).walk(lambda parts, _: sum(parts), None, [1, 2, 3])
        6
        """
        return _walk(self, node, leaf, iter(self._counted(leaves)))

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Build the tree of this structure; ValueError unless the count is right."""
        leaves = self._counted(leaves)
        if self.kind is None:
            return leaves[0]
        if self.flat:
            return tuple(leaves) if self.node_type is tuple else list(leaves)
        return _join(self, iter(leaves))

    def _counted(self, leaves: Iterable[Any]) -> list[Any] | tuple[Any, ...]:
        if not isinstance(leaves, list | tuple):
            leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            which = "few" if len(leaves) < self.num_leaves else "many"
            raise ValueError(
                f"Too {which} leaves for PyTreeDef; "
                f"expected {self.num_leaves}, got {len(leaves)}"
            )
        return leaves

    def flatten_up_to(self, tree: PyTree) -> list[Any]:
        """The subtrees of `tree` at this structure's leaves.

        ValueError, with the path of the first difference, unless this structure is a
        prefix of the tree's.

        >>> from traceir.pytrees.flatten import structure
        >>> structure((0, 0)).flatten_up_to(([1, 2], 3))
        [[1, 2], 3]
        """
        found: list[Any] = []
        _up_to(self, tree, (), found)
        return found

    def paths(self) -> list[Path]:
        """The path of each leaf, in the order of the leaves.

        >>> from traceir.pytrees.flatten import structure
        >>> [key_path(p, "d") for p in structure({"k": [0, 1]}).paths()]
        ["d['k'][0]", "d['k'][1]"]
        """
        return list(_paths(self, ()))

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"PyTreeDef({_show(self)})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self.node_type is None:
            return "LEAF"
        return intern, (self.node_type, self.meta, self.below)


class OpenTreeDef(TreeDef):
    """A structure with metadata that has no hash, its own or of one below.

    It is not interned, so its metadata is what the node had. It is compared by value,
    by that which the metadata had when the structure was made.
    """

    __slots__ = ("as_made",)
    as_made: Hashable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpenTreeDef):
            return False
        return self is other or (
            self.node_type is other.node_type
            and self.below == other.below
            and self.as_made == other.as_made
        )

    def __hash__(self) -> int:
        return hash((self.node_type, self.as_made, self.below))


# --- interning

# Weak in its values; a plain dict, as WeakValueDictionary.get costs twice as much.
TABLE: dict[Hashable, weakref.KeyedRef[Hashable, TreeDef]] = {}
# Reentrant: hashing user metadata, or a collection, may come back here.
_LOCK = kept_over_forks(threading.RLock())


def _forget(reference: weakref.KeyedRef[Hashable, TreeDef]) -> None:
    with _LOCK:
        if TABLE.get(reference.key) is reference:
            del TABLE[reference.key]


def intern(type_: type, meta: Any, children: tuple[TreeDef, ...]) -> TreeDef:
    """The one structure of a node's type, metadata and children."""
    key = (type_, meta if meta is None else typed(meta), children)
    try:
        reference = TABLE.get(key)
    except TypeError:
        return _open(type_, meta, children)
    found = None if reference is None else reference()
    if found is None:
        if any(type(child) is OpenTreeDef for child in children):
            return _open(type_, meta, children)
        with _LOCK:
            reference = TABLE.get(key)
            found = None if reference is None else reference()
            if found is None:
                found = _build(TreeDef, type_, meta, children)
                TABLE[key] = weakref.KeyedRef(found, _forget, key)
    return found


def forget_type(type_: type) -> None:
    """Make no more of a type's structures of today: its kind is about to change."""
    with _LOCK:
        for key in [k for k in TABLE if isinstance(k, tuple) and k[0] is type_]:
            del TABLE[key]


def _open(type_: type, meta: Any, children: tuple[TreeDef, ...]) -> OpenTreeDef:
    made = _build(OpenTreeDef, type_, meta, children)
    object.__setattr__(made, "as_made", hashable(meta))
    return made


def _build(
    cls: type[AnyTreeDef], type_: type, meta: Any, children: tuple[TreeDef, ...]
) -> AnyTreeDef:
    count = sum(child.num_leaves for child in children)
    flat = type_ in (tuple, list) and all(child is LEAF for child in children)
    return cls(type_, kind_of(type_), meta, children, count, flat)


LEAF = TreeDef(None, None, None, (), 1, False)
NONE = intern(type(None), None, ())
FLAT_TUPLES = [intern(tuple, None, (LEAF,) * n) for n in range(33)]


# --- walks


def key_path(path: Path, root: str = "") -> str:
    """A path as Python would write it.

    >>> from traceir.pytrees.key_path import DictKey, SequenceKey
    >>> key_path((DictKey("k"), SequenceKey(0)), "d")
    "d['k'][0]"
    """
    return root + keystr(path)


def _join(treedef: TreeDef, source: Iterator[Any]) -> PyTree:
    kind, node_type = treedef.kind, treedef.node_type
    if kind is None or node_type is None:
        return next(source)
    if treedef.flat:
        part = islice(source, treedef.num_leaves)
        return tuple(part) if node_type is tuple else list(part)
    children = [
        next(source) if child is LEAF else _join(child, source)
        for child in treedef.below
    ]
    return kind.join(node_type, treedef.meta, children)


def _paths(treedef: TreeDef, prefix: Path) -> Iterator[Path]:
    if treedef.kind is None:
        yield prefix
        return
    assert treedef.node_type is not None
    keys = treedef.kind.keys(treedef.node_type, treedef.meta, len(treedef.below))
    for key, child in zip(keys, treedef.below, strict=True):
        yield from _paths(child, (*prefix, key))


def _show(treedef: TreeDef) -> str:
    if treedef.kind is None:
        return "*"
    assert treedef.node_type is not None
    parts = [_show(child) for child in treedef.below]
    return treedef.kind.show(treedef.node_type, treedef.meta, parts)


def _difference(path: Path, wanted: str, got: str) -> ValueError:
    where = key_path(path, "tree")
    return ValueError(
        f"pytree structures differ at {where}: expected {wanted}, got {got}"
    )


def _up_to(treedef: TreeDef, tree: PyTree, path: Path, found: list[Any]) -> None:
    kind = treedef.kind
    if kind is None:
        found.append(tree)
        return
    assert treedef.node_type is not None
    if type(tree) is not treedef.node_type:
        wanted, got = treedef.node_type.__name__, type(tree).__name__
        raise _difference(path, wanted, got)
    parts, meta = kind.split(tree)
    children = list(parts)
    if treedef.node_type is dict and meta != treedef.meta:
        where = key_path(path, "tree")
        raise ValueError(
            f"Dict key mismatch: pytree structures differ at {where}: expected the "
            f"keys {list(treedef.meta)}, got {list(meta)}"
        )
    if len(children) != len(treedef.below):
        wanted, got = f"{len(treedef.below)} children", str(len(children))
        raise _difference(path, wanted, got)
    if hashable(meta) != hashable(treedef.meta):
        raise _difference(path, f"metadata {treedef.meta!r}", repr(meta))
    keys = kind.steps(tree, meta, len(children))
    for key, child, below in zip(keys, children, treedef.below, strict=True):
        _up_to(below, child, (*path, key), found)


def _walk(
    treedef: TreeDef,
    node: Callable[[tuple[Any, ...], Any], Any],
    leaf: Callable[[Any], Any] | None,
    source: Iterator[Any],
) -> Any:
    data = treedef.node_data()
    if data is None:
        found = next(source)
        return found if leaf is None else leaf(found)
    parts = tuple([_walk(child, node, leaf, source) for child in treedef.below])
    return node(parts, data[1])
