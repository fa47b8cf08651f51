"""Key paths: the steps from a tree to a leaf.

Serves the row ``cache.key.tree`` and every rule that names an argument by its path.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SequenceKey:
    """An element of a tuple or a list.

    >>> SequenceKey(0), str(SequenceKey(0))
    (SequenceKey(idx=0), '[0]')
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True, slots=True)
class DictKey:
    """A value of a dict, by its key.

    >>> DictKey("w"), str(DictKey("w"))
    (DictKey(key='w'), "['w']")
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """A field of a namedtuple or a dataclass.

    >>> GetAttrKey("w"), str(GetAttrKey("w"))
    (GetAttrKey(name='w'), '.w')
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True, slots=True)
class FlattenedIndexKey:
    """A child of a registered class that says no more of it than its place.

    >>> FlattenedIndexKey(1), str(FlattenedIndexKey(1))
    (FlattenedIndexKey(key=1), '[<flat index 1>]')
    """

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key!r}>]"


# Whatever a registered class says of its children; what is above, in the usual case.
KeyEntry: TypeAlias = Any
KeyPath: TypeAlias = tuple[KeyEntry, ...]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as Python would write it; with `simple` the bare indices and names.

    >>> path = (DictKey("layers"), SequenceKey(0), GetAttrKey("w"))
    >>> keystr(path)
    "['layers'][0].w"
    >>> keystr(path, simple=True, separator="/")
    'layers/0/w'
    """
    return separator.join(map(_bare if simple else str, keys))


def _bare(key: KeyEntry) -> str:
    match key:
        case SequenceKey(bare) | DictKey(bare) | GetAttrKey(bare):
            return str(bare)
        case FlattenedIndexKey(bare):
            return str(bare)
    return str(key)
