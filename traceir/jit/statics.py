"""Deep typed equality of static values. Serves: cache.key.static, cache.static.*"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from traceir import rules

PLAIN = frozenset({int, bool, str, bytes, type(None)})


def typed(value: Any) -> Hashable:
    """A key that is equal for two static values exactly when they are the same.

    Numbers are compared by type and bits, containers by type and elements, anything
    else by exact type and its own equality. Raises ValueError
    (cache.static.hashable) for a value without a hash.

    >>> typed((1, 2)) == typed((1, 2.0))
    False
    >>> typed(0.0) == typed(-0.0)
    False
    """
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, np.float64(value).tobytes()
    if kind is complex:
        return kind, np.complex128(value).tobytes()
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, tuple):
        return kind, tuple(map(typed, value))
    if kind is frozenset:
        return kind, frozenset(map(typed, value))
    if _is_frozen_dataclass(kind):
        names = (f.name for f in dataclasses.fields(value) if f.compare)
        try:
            return kind, tuple(typed(getattr(value, name)) for name in names)
        except rules.TraceirError:
            pass  # a field without a hash: the class may still have one of its own
    try:
        hash(value)
    except TypeError as error:
        raise rules.error(
            "cache.static.hashable", got=f"{value!r} of type {kind.__name__}: {error}"
        ) from None
    return kind, value


def _is_frozen_dataclass(kind: type) -> bool:
    params = getattr(kind, "__dataclass_params__", None)
    return bool(params and params.frozen and params.eq)
