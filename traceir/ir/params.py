"""Params of equations: sorted by name, and looked up by it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any, TypeAlias

# What equations have, and whoever makes one may give.
Params: TypeAlias = tuple[tuple[str, Hashable], ...]


class NamedInPrograms(Enum):
    """A choice of few: params of equations have its name, which it equals."""

    @property
    def param(self) -> str:
        """The name that params have, such as `Precision.HIGH`."""
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def _missing_(cls, value: object) -> NamedInPrograms | None:
        return next((choice for choice in cls if choice.param == value), None)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.param)

    def __hash__(self) -> int:
        return hash(self.param)


# Readers get dimension numbers as tuples with names for their parts, by the name of
# another param of the same equation, which tells primitives apart.
NUMBERS = "dimension_numbers"
NAMED_NUMBERS: dict[str, Callable[..., Any]] = {}
# Traces of users get members of enumerations for these, of which equations have the
# name or the number.
CHOICES: dict[str, type[Enum]] = {}
# They get programs for these, which are stored as None where the row names a primitive.
APPLIED = {"update_jaxpr"}


class EqnParams(tuple[tuple[str, Hashable], ...]):
    """The params of an equation, pairs in the order of their names, read as a dict is.

    Iterating gives the pairs, as `items()` does.

    >>> params = EqnParams(sort_params({"shape": (3,), "dtype": "int32"}))
    >>> params["shape"], params.get("axis", 0), "dtype" in params, dict(params)
    ((3,), 0, True, {'dtype': 'int32', 'shape': (3,)})
    """

    __slots__ = ()

    def read(self) -> Params:
        """The pairs that a reader gets."""
        return self

    def __getitem__(self, key: Any) -> Any:
        for name, value in self.read():
            if name == key:
                return value if key != NUMBERS else self._named(value)
        if isinstance(key, str):
            raise KeyError(key)
        return tuple.__getitem__(self, key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return any(name == key for name, _ in self.read())
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
        return self[key] if any(name == key for name, _ in self.read()) else default

    def keys(self) -> list[str]:
        """The names."""
        return [name for name, _ in self.read()]

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


class NamedPrimitive(str):
    """A primitive as equations hold it: a value that is the name of its row.

    How it is applied, its kinds say: those of the tables, and users' own.
    Those of users are told apart by identity; all of them have one row.
    """

    __slots__ = ()
    call_primitive = False
    map_primitive = False

    @property
    def params_type(self) -> type[EqnParams]:
        """The class of the params of equations, by which they are read."""
        return EqnParams

    @property
    def name(self) -> str:
        """The name, as text has it."""
        return str(self)

    @property
    def multiple_results(self) -> bool:
        """True if it gives a list of results."""
        raise NotImplementedError  # each kind has its own; no equation holds this one

    def bind(self, *values: Any, **params: Any) -> Any:
        """Apply it: recorded inside a trace, evaluated outside (level.bind)."""
        raise NotImplementedError  # as above

    def eqn_params(
        self, avals: Sequence[Any], params: Mapping[str, Hashable]
    ) -> EqnParams:
        """The params that an equation of it stores, by the types of its operands."""
        return EqnParams(sort_params(params))

    def get_bind_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params that `bind` takes for an equation's: functions are among them."""
        return dict(params)


def chosen(name: str, value: Any) -> Any:
    """The member of an enumeration that a param stands for, or a tuple of members; any
    other param as it is."""
    if name not in CHOICES:
        return value
    if isinstance(value, tuple):
        return tuple([chosen(name, part) for part in value])
    members: list[Any] = list(CHOICES[name])
    return next((member for member in members if member == value), value)


def stored(value: Any) -> Any:
    """A param as equations store it: plain tuples, names and numbers of choices.

    >>> stored((2, (3, 4))), stored(None)
    ((2, (3, 4)), None)
    """
    if isinstance(value, NamedInPrograms):
        return value.param
    if isinstance(value, IntEnum):
        return int(value)
    return tuple(map(stored, value)) if isinstance(value, tuple) else value


class Applied:
    """The class of programs that readers get for the primitive that a row names."""


def sort_params(params: Mapping[str, Hashable]) -> Params:
    """Params in the order in which an equation stores them."""
    if NUMBERS in params:
        params = {**params, NUMBERS: stored(params[NUMBERS])}
        for name in APPLIED.intersection(params):
            if isinstance(params[name], Applied):
                params[name] = None
    return tuple(sorted(params.items())) if params else ()
