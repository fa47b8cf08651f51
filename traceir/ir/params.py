"""Params of equations: sorted by name, and looked up by it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeAlias

# What equations have, and whoever makes one may give.
Params: TypeAlias = tuple[tuple[str, Hashable], ...]


class NamedInPrograms(Enum):
    """A choice of few: params of equations have its name, which it equals."""

    @property
    def param(self) -> str:
        """The name that params have, such as `Precision.HIGH`."""
        return f"{type(self).__name__}.{self.name}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.param)

    def __hash__(self) -> int:
        return hash(self.param)


# Readers get dimension numbers as tuples with names for their parts, by the name of
# another param of the same equation, which tells primitives apart.
NUMBERS = "dimension_numbers"
NAMED_NUMBERS: dict[str, Callable[..., Any]] = {}


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
                return value if key != NUMBERS else self._named(value)
        if isinstance(key, str):
            raise KeyError(key)
        return tuple.__getitem__(self, key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return any(name == key for name, _ in self)
        return tuple.__contains__(self, key)

    def _named(self, numbers: Any) -> Any:
        """Dimension numbers, with names for their parts where there are some."""
        for name, _ in self:
            if name in NAMED_NUMBERS and numbers is not None:
                return NAMED_NUMBERS[name](*numbers)
        return numbers

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.copy(), **other}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a param, or what is given for one that there is not."""
        return self[key] if any(name == key for name, _ in self) else default

    def keys(self) -> list[str]:
        """The names."""
        return [name for name, _ in self]

    def values(self) -> list[Any]:
        """The values, in the order of their names."""
        return [self[name] for name in self.keys()]

    def items(self) -> Iterator[tuple[str, Any]]:
        """The pairs."""
        return zip(self.keys(), self.values(), strict=True)

    def copy(self) -> dict[str, Any]:
        """A dict of its own with the same params.

        >>> EqnParams([("axes", (0,))]).copy()
        {'axes': (0,)}
        """
        return dict(self.items())


NONE = EqnParams()


def stored(value: Any) -> Any:
    """A param as equations store it: plain tuples, and names of choices.

    >>> stored((2, (3, 4))), stored(None)
    ((2, (3, 4)), None)
    """
    if isinstance(value, NamedInPrograms):
        return value.param
    return tuple(map(stored, value)) if isinstance(value, tuple) else value


def sort_params(params: Mapping[str, Hashable]) -> Params:
    """Params in the order in which an equation stores them."""
    if NUMBERS in params:
        params = {**params, NUMBERS: stored(params[NUMBERS])}
    return tuple(sorted(params.items())) if params else ()
