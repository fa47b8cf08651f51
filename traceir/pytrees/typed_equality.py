"""Equality of values that tells types apart. Serves: cache.key.static, cache.key.tree

Python finds 1, 1.0 and True equal, and 0.0 and -0.0; a trace made for one of them is
wrong for the others.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Hashable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import compares_fields

# Types whose equality is that of a value of one type, and never fails.
PLAIN = frozenset({int, bool, bytes, type, FunctionType, BuiltinFunctionType})
Other = Callable[[type, Any], Hashable]

_only_str = {str}.issuperset


def _pair(kind: type, value: Any) -> Hashable:
    return kind, value


def typed(value: Any, other: Other = _pair) -> Hashable:
    """A key that is equal for two values exactly when they are the same.

    Numbers are compared by type and bits; tuples, slices, frozensets and frozen
    dataclasses without an equality of their own by type and elements; anything else by
    what `other` makes of its type and of itself: the pair of both, whose hash fails if
    the value has none.

    >>> typed((1, 2)) == typed((1, 2.0))
    False
    >>> typed(0.0) == typed(-0.0)
    False
    """
    kind = type(value)
    if kind is str or value is None:
        return value  # type: ignore[no-any-return]
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, struct.pack("d", value)
    if kind is complex:
        return kind, struct.pack("dd", value.real, value.imag)
    if isinstance(value, tuple):
        if kind is tuple and _only_str(map(type, value)):
            return value
        return kind, *[typed(v, other) for v in value]
    if kind is frozenset:
        return kind, frozenset(typed(v, other) for v in value)
    if kind is slice:
        return kind, typed((value.start, value.stop, value.step), other)
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    if compares_fields(kind):
        return _of_dataclass(kind, value, other)
    return other(kind, value)


def _of_dataclass(kind: type, value: Any, other: Other) -> Hashable:
    fields = [getattr(value, f.name) for f in dataclasses.fields(value) if f.compare]
    try:
        hash((*map(typed, fields),))
    except TypeError:  # of a field; the class may still have a hash of its own
        return other(kind, value)
    return kind, *[typed(field, other) for field in fields]


def hashable(value: Any) -> Hashable:
    """As `typed`, of any value: lists, dicts, sets and arrays count as they are now.

    What else has no hash is compared by its own equality.

    >>> hashable({"a": [1, 2]}) == hashable({"a": [1, 2]})
    True
    >>> hashable([1]) == hashable((1,)), hashable([1]) == hashable([True])
    (False, False)
    """
    return typed(value, _as_now)


def _as_now(kind: type, value: Any) -> Hashable:
    if kind is list:
        return kind, *map(hashable, value)
    if kind is dict:
        return kind, *[(typed(key), hashable(item)) for key, item in value.items()]
    if kind is np.ndarray:
        return kind, value.dtype, value.shape, value.tobytes()
    if kind is set:
        return kind, frozenset(map(typed, value))
    try:
        hash(value)
    except TypeError:
        return ByEquality(value)
    return kind, value


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ByEquality:
    """A value without a hash, compared by its own equality."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByEquality):
            return False
        mine, its = self.value, other.value
        return mine is its or (type(mine) is type(its) and bool(mine == its))

    def __hash__(self) -> int:
        return hash(type(self.value))
