"""Tree structures as JSON, with classes by registered names.

Serves: export.tree
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.pytrees.treedef import LEAF, NONE, TreeDef, intern
from traceir.tracing.results import Float0

Coder = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _RegisteredClass:
    """A class in files: its name, and its metadata's conversion to and from JSON."""

    type: type
    name: str
    pack: Coder
    unpack: Coder


_by_type: dict[type, _RegisteredClass] = {}
_by_name: dict[str, _RegisteredClass] = {}

_KEYED: dict[str, type] = {"dict": dict, "OrderedDict": OrderedDict}
_LISTED: dict[str, type] = {"tuple": tuple, "list": list}
_NAMES = {type_: name for name, type_ in (*_KEYED.items(), *_LISTED.items())}


def register_class(
    cls: type, name: str, pack: Coder | None = None, unpack: Coder | None = None
) -> None:
    """Let arguments and results of exported programs hold instances of a class.

    `cls` is a namedtuple or a class that is registered as a pytree node, `name` what
    stands for it in files: whoever loads one must have registered a class of that name.
    `pack` makes JSON of the node's metadata and `unpack` the reverse, where it is more
    than numbers, strings, None and tuples of them.

    Raises ValueError (export.tree) for a name that another class has.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: float
    ...     y: float
    >>> register_class(Point, "example.Point")
    """
    taken = _by_name.get(name)
    if taken is not None and taken.type is not cls:
        raise rules.error("export.tree", got=f"{name!r} for a second class, {cls!r}")
    made = _RegisteredClass(cls, name, pack or packed, unpack or unpacked)
    _by_type[cls] = _by_name[name] = made


def packed(value: Any) -> Any:
    """Metadata, such as the key of a dict, as JSON; TypeError (export.tree).

    >>> packed(("w", 0))
    {'tuple': ['w', 0]}
    """
    if type(value) is tuple:
        return {"tuple": [packed(part) for part in value]}
    finite = type(value) is float and math.isfinite(value)
    if value is None or finite or type(value) in (bool, int, str):
        return value
    raise rules.error("export.tree", got=f"{value!r} of type {type(value).__name__}")


def unpacked(value: Any) -> Any:
    """The value of which `packed` made JSON.

    >>> unpacked(packed(("w", 0)))
    ('w', 0)
    """
    if isinstance(value, dict):
        return tuple(unpacked(part) for part in value["tuple"])
    return value


def tree_to_json(tree: TreeDef) -> Any:
    """A structure as JSON: "*" for a leaf; TypeError (export.tree).

    >>> from traceir.pytrees.flatten import structure
    >>> tree_to_json(structure({"a": (1, None)}))
    {'dict': [['a', {'tuple': ['*', None]}]]}
    """
    type_ = tree.node_type
    if type_ is None:
        return "*"
    if tree is NONE:
        return None
    below = [tree_to_json(child) for child in tree.below]
    name = _NAMES.get(type_, "")
    if name in _LISTED:
        return {name: below}
    if name in _KEYED:
        pairs = zip(tree.meta, below, strict=True)
        return {name: [[packed(key), child] for key, child in pairs]}
    if type_ is Float0:
        return {"float0": list(tree.meta)}
    known = _by_type.get(type_)
    if known is None:
        raise rules.error("export.tree", got=f"the class {type_.__qualname__}")
    return {"class": known.name, "data": known.pack(tree.meta), "parts": below}


def tree_from_json(data: Any) -> TreeDef:
    """The structure that JSON stands for.

    ValueError, TypeError or KeyError where it stands for none, TypeError (export.tree)
    for the name of a class that is not registered.
    """
    if data == "*":
        return LEAF
    if data is None:
        return NONE
    if "class" in data:
        known = _by_name.get(data["class"])
        if known is None:
            raise rules.error("export.tree", got=f"the name {data['class']!r:.60}")
        return intern(known.type, known.unpack(data["data"]), _below(data["parts"]))
    ((name, value),) = data.items()
    if name == "float0":
        return intern(Float0, tuple(map(int, value)), ())
    if name in _LISTED:
        return intern(_LISTED[name], None, _below(value))
    keys = tuple(unpacked(key) for key, _ in value)
    return intern(_KEYED[name], keys, _below([child for _, child in value]))


def _below(data: Any) -> tuple[TreeDef, ...]:
    return tuple(tree_from_json(child) for child in data)
