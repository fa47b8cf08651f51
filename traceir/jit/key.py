"""The cache key of a call, computed from the rows of the table. Serves: cache.key.*"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from traceir import pytree
from traceir.avals import ShapedArray, short_dtype
from traceir.jit.statics import typed
from traceir.rules import KeyRow, Rules
from traceir.rules.language import compile_formula

Key = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """What the rows of the key may look at, and the names that `explain` shows."""

    function: Any
    x64: bool
    face: str
    labels: tuple[str, ...]
    treedef: pytree.TreeDef
    avals: tuple[ShapedArray, ...]
    statics: tuple[tuple[str, Any], ...]

    @property
    def tree(self) -> Hashable:
        """The nesting of the traced arguments, with the arguments' names."""
        return self.labels, self.treedef

    @property
    def paths(self) -> tuple[str, ...]:
        """How the user spells each leaf of the traced arguments."""
        return leaf_paths(self.labels, self.treedef)


def leaf_paths(labels: Sequence[str], treedef: pytree.TreeDef) -> tuple[str, ...]:
    """How the user spells each leaf of the arguments, such as `d['k'][0]`."""
    return tuple(
        pytree.key_path(path, label)
        for label, child in zip(labels, treedef.children, strict=True)
        for path in child.paths()
    )


class KeyTable:
    """The rows of `cache.toml` as one function from calls to keys."""

    def __init__(self, rules: Rules, without: frozenset[str] = frozenset()) -> None:
        self.rows = tuple(row for row in rules.keys if row.id not in without)
        self._parts: dict[str, Callable[..., Hashable]] = {
            row.id: compile_formula(row.part, _NAMES[row.per]) for row in self.rows
        }

    def key(self, call: Call) -> Key:
        """The parts of every row, in order; a tuple for a row per leaf or static.

        Raises ValueError (cache.static.hashable).
        """
        return tuple(self._row(row, call) for row in self.rows)

    def _row(self, row: KeyRow, call: Call) -> Hashable:
        part = self._parts[row.id]
        match row.per:
            case "call":
                return part(call)
            case "leaf":
                return tuple(part(aval) for aval in call.avals)
            case _:
                return tuple((name, part(v, typed)) for name, v in call.statics)

    def differences(self, old: Key, new: Key, call: Call) -> Iterator[str]:
        """One line for each row that differs, with the argument, old and new."""
        for row, was, now in zip(self.rows, old, new, strict=True):
            if was == now:
                continue
            if row.per == "call":
                yield f"{row.id}: was {_show(was)}, now {_show(now)}"
                continue
            names = call.paths if row.per == "leaf" else [n for n, _ in call.statics]
            yield from _by_name(row, names, was, now)


_NAMES = {"call": ("call",), "leaf": ("v",), "static": ("v", "typed")}


def _by_name(row: KeyRow, names: Sequence[str], was: Any, now: Any) -> Iterator[str]:
    if len(was) == len(now):
        for name, a, b in zip(names, was, now, strict=True):
            if a != b:
                yield f"{row.id}: argument {name} was {_show(a)}, now {_show(b)}"
    elif row.per == "static":  # a different number of leaves shows in the tree
        yield f"{row.id}: there were {len(was)} static arguments, now {len(now)}"


def _show(part: Any) -> str:
    if hasattr(part, "itemsize"):
        return short_dtype(part)
    match part:
        case (str(), (type() as kind, _) as value):
            return f"{_static(value)} ({kind.__name__})"
        case (tuple() as labels, treedef):
            return f"{treedef} for ({', '.join(labels)})"
    return repr(part)


def _static(key: Any) -> str:
    """A static value as the user wrote it, from its typed key where that tells."""
    kind, value = key
    if kind is float:
        return str(np.frombuffer(value)[0])
    if isinstance(value, bytes) and kind is not bytes:
        return f"another {kind.__name__}"
    if kind is tuple:
        return f"({', '.join(map(_static, value))}{',' * (len(value) == 1)})"
    return repr(value)
