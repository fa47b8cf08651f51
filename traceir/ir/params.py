"""Params of equations: sorted by name, and looked up by it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeAlias

# What equations have, and whoever makes one may give.
Params: TypeAlias = tuple[tuple[str, Hashable], ...]


class EqnParams(tuple[tuple[str, Hashable], ...]):
    """The params of an equation, pairs in the order of their names, read as a dict is.

    Iterating gives the pairs, as `items()` does.

    >>> params = EqnParams(sort_params({"shape": (3,), "dtype": "int32"}))
    >>> params["shape"], params.get("axis", 0), "dtype" in params, dict(params)
    ((3,), 0, True, {'dtype': 'int32', 'shape': (3,)})
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        for name, value in self:
            if name == key:
                return value
        if isinstance(key, str):
            raise KeyError(key)
        return tuple.__getitem__(self, key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return any(name == key for name, _ in self)
        return tuple.__contains__(self, key)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.copy(), **other}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a param, or what is given for one that there is not."""
        return next((value for name, value in self if name == key), default)

    def keys(self) -> list[str]:
        """The names."""
        return [name for name, _ in self]

    def values(self) -> list[Any]:
        """The values, in the order of their names."""
        return [value for _, value in self]

    def items(self) -> Iterator[tuple[str, Any]]:
        """The pairs."""
        return iter(self)

    def copy(self) -> dict[str, Any]:
        """A dict of its own with the same params.

        >>> EqnParams([("axes", (0,))]).copy()
        {'axes': (0,)}
        """
        return dict(iter(self))


NONE = EqnParams()


def sort_params(params: Mapping[str, Hashable]) -> Params:
    """Params in the order in which an equation stores them."""
    return tuple(sorted(params.items())) if params else ()
