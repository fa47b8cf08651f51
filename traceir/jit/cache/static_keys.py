"""Static values as parts of a key. Serves: cache.key.static, cache.static.*"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from traceir import rules
from traceir.errors import shown
from traceir.pytrees.typed_equality import typed as deep


class Static:
    """A value of a class of its own, compared by exact type and its own equality."""

    __slots__ = ("value", "_hash")

    def __init__(self, kind: type, value: Any) -> None:
        self.value = value
        try:
            self._hash = hash(value)
        except Exception as error:
            got = f"{shown(value)} of type {kind.__name__}: {error}"
            raise rules.error(
                "cache.static.hashable", got=got, hint=_hint(value)
            ) from None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not Static:
            return NotImplemented
        mine, theirs = self.value, other.value
        if mine is theirs:
            return True
        if type(mine) is not type(theirs):
            return False
        try:
            return bool(mine == theirs)
        except Exception as error:
            kinds = f"{type(mine).__name__} and {type(theirs).__name__}"
            got = f"{kinds}, whose __eq__ raised {type(error).__name__}: {error}"
            raise rules.error("cache.static.comparable", got=got) from error


def _hint(value: Any) -> str | None:
    """The tuple to pass for a list of numbers or texts; None for anything else."""
    if type(value) is not list or not all(
        isinstance(v, int | float | str) for v in value
    ):
        return None
    return f"pass a tuple, `{shown(tuple(value))}`"


def typed(value: Any) -> Hashable:
    """A key that is equal for two static values exactly when they are the same.

    As `traceir.pytrees.typed_equality.typed`. Raises ValueError (cache.static.hashable)
    for a value without a hash; comparing two keys raises ValueError
    (cache.static.comparable) where the values' own equality fails.

    >>> typed((1, 2)) == typed((1, 2.0))
    False
    """
    return deep(value, Static)
