"""Numba's typed containers: lists and dicts of Python's own.

Serves: compat.missing

What a compiled function makes of them is in `staged.list` and `staged.table`: the types
that are said here change nothing, since they follow from what is put in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["Dict", "List"]


class Dict(dict[Any, Any]):
    """A dict, as Numba spells it; each that is made is one of Python's.

    >>> from traceir_numba.compat import types
    >>> Dict.empty(key_type=types.int64, value_type=types.float64)
    {}
    """

    def __new__(cls, items: Any = ()) -> dict[Any, Any]:  # type: ignore[misc]
        """A dict of pairs, or of another one."""
        return dict(items)

    @staticmethod
    def empty(key_type: Any, value_type: Any, n_keys: int = 0) -> dict[Any, Any]:
        """An empty dict."""
        return {}


class List(list[Any]):
    """A list, as Numba spells it; each that is made is one of Python's.

    >>> List([1.0, 2.0]), List.empty_list(None)
    ([1.0, 2.0], [])
    """

    def __new__(cls, items: Iterable[Any] = ()) -> list[Any]:  # type: ignore[misc]
        """A list of items."""
        return list(items)

    @staticmethod
    def empty_list(item_type: Any, allocated: int = 0) -> list[Any]:
        """An empty list."""
        return []
