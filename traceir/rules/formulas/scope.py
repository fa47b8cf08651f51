"""Names of a formula, whose values are computed when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Scope(Mapping[str, Any]):
    """Names bound to values, or to computations that run once, when first read.

    A part that makes sense only after some clause may thus stand beside that clause.

    >>> scope = Scope({"a": 2}, {"b": lambda s: s["a"] + 1, "c": lambda s: 1 // 0})
    >>> scope["b"], Scope({"a": 5}, outer=scope)["a"]
    (3, 5)
    """

    __slots__ = ("_values", "_pending", "_outer")

    def __init__(
        self,
        values: Mapping[str, Any],
        pending: Mapping[str, Callable[[Scope], Any]] | None = None,
        outer: Mapping[str, Any] | None = None,
    ) -> None:
        self._values = dict(values)
        self._pending = pending or {}
        self._outer = {} if outer is None else outer

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if name in self._pending:
            value = self._values[name] = self._pending[name](self)
            return value
        return self._outer[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._pending or name in self._outer

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._values, *self._pending, *self._outer)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def lookup(env: Mapping[str, Any], name: str, known: Mapping[str, Any]) -> Any:
    """The value of a name in an environment, or among those that are always known.

    >>> lookup(Scope({"a": 1}, outer={"b": 2}), "b", {"b": 3, "c": 4})
    2
    """
    while type(env) is Scope:
        if name in env._values:
            return env._values[name]
        if name in env._pending:
            return env[name]
        env = env._outer
    return env[name] if name in env else known[name]
