"""Static values as parts of a key. Serves: cache.key.static, cache.static.*"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable
from typing import Any

from traceir import rules
from traceir.typed import typed as deep

# An error shows so much of a value.
WIDTH = 80


class Static:
    """A value of a class of its own, compared by exact type and its own equality."""

    __slots__ = ("value", "_hash")

    def __init__(self, kind: type, value: Any) -> None:
        self.value = value
        try:
            self._hash = hash(value)
        except Exception as error:
            got = f"{shown(value)} of type {kind.__name__}: {error}"
            raise rules.error("cache.static.hashable", got=got) from None

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


def typed(value: Any) -> Hashable:
    """A key that is equal for two static values exactly when they are the same.

    As `traceir.typed.typed`. Raises ValueError (cache.static.hashable) for a value
    without a hash; comparing two keys raises ValueError (cache.static.comparable) where
    the values' own equality fails.

    >>> typed((1, 2)) == typed((1, 2.0))
    False
    """
    return deep(value, Static)


def shown(value: Any) -> str:
    """A value in an error: its `repr` on one line, cut.

    >>> shown(list(range(100)))
    '[0, 1, 2, 3, 4, 5, ...]'
    """
    return " ".join(_texts.repr(value).split())


_texts = reprlib.Repr()
_texts.maxother = _texts.maxstring = _texts.maxlong = WIDTH
