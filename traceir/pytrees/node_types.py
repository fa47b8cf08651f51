"""The kinds of node: how each container type comes apart.

Serves the row ``cache.key.tree``.  `NODES` is the registry; what it does not hold is a
leaf, namedtuples excepted.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.pytrees.key_path import DictKey, GetAttrKey, KeyEntry, SequenceKey


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """The way in which one type of node comes apart and together.

    ``split`` gives children and metadata, ``join`` rebuilds the node from its type,
    metadata and children. ``keys`` gives the path step to each of ``n`` children as far
    as type and metadata tell, ``keyed`` those of a node where they do not tell all.
    ``attributes`` are the names of children and metadata of a node that is no more than
    these, made by its type of all of them by name.
    """

    split: Callable[[Any], tuple[Iterable[Any], Any]]
    join: Callable[[type, Any, list[Any]], Any]
    keys: Callable[[type, Any, int], Sequence[KeyEntry]]
    show: Callable[[type, Any, list[str]], str]
    keyed: Callable[[Any], Sequence[KeyEntry]] | None = None
    attributes: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def steps(self, node: Any, meta: Any, n: int) -> Sequence[KeyEntry]:
        """The path step to each of the `n` children of a node."""
        return self.keyed(node) if self.keyed else self.keys(type(node), meta, n)


def _sorted_keys(node: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(node))
    except TypeError:
        names = ", ".join(map(repr, node))
        raise ValueError(
            f"the keys of a dict in a pytree must be sortable, got {names}"
        ) from None


def _split_dict(node: dict[Any, Any]) -> tuple[list[Any], Any]:
    keys = _sorted_keys(node)
    return [node[key] for key in keys], keys


def _split_default(node: defaultdict[Any, Any]) -> tuple[list[Any], Any]:
    children, keys = _split_dict(node)
    return children, (node.default_factory, keys)


def _show_dict(_type: type, meta: Any, parts: list[str]) -> str:
    items = [f"{key!r}: {part}" for key, part in zip(meta, parts, strict=True)]
    return "{" + ", ".join(items) + "}"


def _show_tuple(_type: type, _meta: Any, parts: list[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def show_custom(type_: type, meta: Any, parts: list[str]) -> str:
    """The text of a registered class's structure."""
    return f"CustomNode({type_.__name__}[{meta}], [{', '.join(parts)}])"


def _index_keys(_type: type, _meta: Any, n: int) -> list[KeyEntry]:
    return list(map(SequenceKey, range(n)))


def _item_keys(_type: type, meta: Any, _n: int) -> list[KeyEntry]:
    return list(map(DictKey, meta))


_SEQUENCE = Kind(
    lambda node: (node, None),
    lambda type_, _, children: type_(children),
    _index_keys,
    _show_tuple,
)
NAMEDTUPLE = Kind(
    lambda node: (node, None),
    lambda type_, _, children: type_(*children),
    lambda type_, *_: list(map(GetAttrKey, getattr(type_, "_fields", ()))),
    lambda t, _, parts: f"CustomNode(namedtuple[{t.__name__}], [{', '.join(parts)}])",
)


NODES: dict[type, Kind] = {
    tuple: _SEQUENCE,
    list: Kind(
        _SEQUENCE.split,
        _SEQUENCE.join,
        _index_keys,
        lambda _, __, parts: f"[{', '.join(parts)}]",
    ),
    type(None): Kind(
        lambda _: ((), None),
        lambda _, __, ___: None,
        lambda _, __, ___: (),
        lambda _, __, ___: "None",
    ),
    dict: Kind(
        _split_dict,
        lambda _, meta, children: dict(zip(meta, children, strict=True)),
        _item_keys,
        _show_dict,
    ),
    OrderedDict: Kind(
        lambda node: (list(node.values()), tuple(node)),
        lambda _, meta, children: OrderedDict(zip(meta, children, strict=True)),
        _item_keys,
        show_custom,
    ),
    defaultdict: Kind(
        _split_default,
        lambda _, meta, kids: defaultdict(meta[0], zip(meta[1], kids, strict=True)),
        lambda type_, meta, n: _item_keys(type_, meta[1], n),
        show_custom,
    ),
}

# Types known to be leaves: membership of the set spares the namedtuple test.
LEAF_TYPES: set[type] = {int, float, bool, complex, str, np.ndarray}
LEAF_TYPES.update(scalar for scalar in np.sctypeDict.values())


def kind_of(type_: type) -> Kind | None:
    """The kind of the nodes of a type; None if its instances are leaves."""
    kind = NODES.get(type_)
    if kind is None and issubclass(type_, tuple) and hasattr(type_, "_fields"):
        return NAMEDTUPLE
    return kind
