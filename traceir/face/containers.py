"""Lists, dicts and objects among arguments, and changes to them.

Serves: update.container

A trace gets containers of its own. The function's changes in them are found by
comparing each with what it had, and are made in the caller's when the program has run.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from operator import is_
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.functions.selection import Unsized
from traceir.face.generator_arguments import held as held_generator
from traceir.face.generator_arguments import is_generator
from traceir.face.object_arguments import ObjectArgument, has_methods
from traceir.face.records import is_structured, record_argument
from traceir.jit.cache.writeback import ContainerWrite, Item, Path, Updated, contents
from traceir.pytrees.node_types import kind_of
from traceir.tracing.trace import Tracer

_DICTS = (dict, OrderedDict, defaultdict)
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), np.generic)


class Containers:
    """The containers among a trace's arguments, as they are before it runs."""

    def __init__(self, roots: Sequence[Any], labels: Sequence[str]) -> None:
        self._labels = labels
        self._before: dict[int, tuple[Path, Any, dict[Any, Any]]] = {}
        for k, root in enumerate(roots):
            self._look(root, (("root", k),))

    def _look(self, value: Any, path: Path) -> None:
        found = contents(value)
        if id(value) in self._before:
            return
        if found is not None and type(value) is not tuple:
            self._before[id(value)] = path, value, found
        kind = "attribute" if _is_object(value) else "item"
        for key, part in (found or {}).items():
            self._look(part, (*path, (kind, key)))

    def updated(self, results: Any, leaves: Sequence[Any]) -> Any:
        """The results, with changes in the containers, if there are any.

        Raises TypeError (update.container) for what cannot be done to the caller's.
        """
        made = _Encoder(self._before, leaves)
        writes = []
        for path, value, before in self._before.values():
            now = contents(value) or {}
            same = list(now) == list(before) and all(
                now[key] is before[key] for key in now
            )
            if not same:
                label = self._labels[path[0][1]]
                if _is_object(value) and not {*before} <= {*now}:
                    got = f"{label}, less an attribute"
                    raise rules.error("update.container", got=got)
                # Of an object those that have changed; of a list or a dict all.
                kept = before if _is_object(value) else {}
                items = tuple(
                    (key, made.item(label, v))
                    for key, v in now.items()
                    if key not in kept or kept[key] is not v
                )
                writes.append(ContainerWrite(path, label, items))
        if not writes:
            return results
        paths = tuple(path for path, _, _ in self._before.values())
        return Updated(results, tuple(made.values), (tuple(writes), paths))


def _is_object(value: Any) -> bool:
    return not isinstance(value, (list, tuple, *_DICTS))


class _Encoder:
    """An encoder of a container's contents: the caller's values, results, and
    constants.
    """

    def __init__(self, known: Any, leaves: Sequence[Any]) -> None:
        self._known = known
        self._leaves = {id(leaf): k for k, leaf in enumerate(leaves)}
        self.values: list[Any] = []

    def item(self, label: str, value: Any) -> Item:
        """The instruction to make one element again."""
        if id(value) in self._leaves:
            return Item("leaf", self._leaves[id(value)])
        if id(value) in self._known:
            return Item("path", self._known[id(value)][0])
        if isinstance(value, (Tracer, np.ndarray)):
            self.values.append(value)
            plain = isinstance(value, Tracer) and not value.shape and value.weak_type
            return Item("number" if plain else "result", len(self.values) - 1)
        if type(value) in (list, tuple):
            return Item(type(value).__name__, tuple(self._items(label, value)))
        if type(value) is dict:
            pairs = zip(value, self._items(label, value.values()), strict=True)
            return Item("dict", tuple(pairs))
        if isinstance(value, Unsized):
            return self.item(label, value.or_sized("an element", value.made))
        if isinstance(value, _CONSTANTS):
            return Item("constant", value)
        got = f"{label}, in which there is a value of type {type(value).__name__}"
        raise rules.error("update.container", got=got)

    def _items(self, label: str, values: Any) -> Iterator[Item]:
        return (self.item(label, value) for value in values)


def held(value: Any) -> Any:
    """A tree of arguments in the form that a program takes: its generators by numbers,
    and the fields of its structured arrays; itself without any."""
    kind = type(value)
    if kind in (tuple, list):
        parts = [held(part) for part in value]
        same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if same else kind(parts)
    if kind is dict:
        found = {key: held(part) for key, part in value.items()}
        return found if any(found[key] is not value[key] for key in value) else value
    if is_structured(value):
        return record_argument(value)
    return held_generator(value) if is_generator(value) else value


def is_convertible(kind: type) -> bool:
    """True if NumPy makes arrays of objects of a class, such as the series of pandas,
    and nothing else here knows them.

    >>> is_convertible(memoryview), is_convertible(np.ndarray)
    (False, False)
    """
    if kind_of(kind) is not None or issubclass(kind, (np.ndarray, np.generic)):
        return False
    if getattr(kind, "is_traced", False) is True:
        return False
    return hasattr(kind, "__array__") and not hasattr(kind, "__dlpack__")


def _taken(value: Any) -> Any:
    """An argument as a program takes it. An array that NumPy makes of it may be a copy,
    to which writes would be lost: nobody can make one."""
    if not is_convertible(type(value)):
        return ObjectArgument(value, _taken) if has_methods(value) else held(value)
    array = np.asarray(value).view(np.ndarray)
    array.setflags(write=False)
    return array


def held_arguments(args: Any, kwargs: Any, static: Any) -> tuple[Any, Any]:
    """The arguments of a call, of which some are static, as a program takes them."""
    positions, names = static.positions, static.names
    given = tuple(a if k in positions else _taken(a) for k, a in enumerate(args))
    named = {n: a if n in names else _taken(a) for n, a in kwargs.items()}
    same = all(map(is_, given, args)) and all(named[n] is kwargs[n] for n in kwargs)
    return (args, kwargs) if same else (given, named)
