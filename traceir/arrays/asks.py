"""Python's questions to arrays and traced values, answered or refused by rows.

A method that answers is left as it is where the rows of `levels.toml` have an answer
for every value of its class, which costs nothing; else another stands in its place,
made when the tables are read. Serves: level.answer
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from traceir import rules
from traceir.base.tracebacks import entry_point
from traceir.rules import Rules

# The methods and properties by which a value is asked, by the row of the question.
ASKED: Mapping[str, tuple[str, ...]] = {
    "level.concretize.bool": ("__bool__",),
    "level.concretize.number": ("__int__", "__float__", "__complex__"),
    "level.concretize.index": ("__index__",),
    "level.concretize.array": ("__array__",),
    "level.concretize.item": ("item", "tolist"),
    "level.concretize.format": ("__format__",),
    "level.attribute": (
        *("device", "sharding", "devices", "is_fully_replicated"),
        *("is_fully_addressable", "addressable_shards", "global_shards"),
        "addressable_data",
    ),
    "level.shape": ("shape",),
    "level.length": ("__len__",),
    "level.iterate": ("__iter__",),
    "level.print": ("__repr__",),
    "level.hash": ("__hash__",),
}
Method = Callable[..., Any]


def install(
    cls: type,
    asks: Mapping[str, bool],
    instead: Callable[[str, Method], Method],
) -> None:
    """Put another method in the place of each that asks, where the value is True.

    `instead` makes it of the question's row and of the method that answers. Like the
    methods of the class it is an entry point.
    """
    for ask in (ask for ask, other in asks.items() if other):
        for name in ASKED[ask]:
            answer = getattr(cls, name)
            if isinstance(answer, property):
                assert answer.fget is not None
                setattr(cls, name, property(entry_point(instead(ask, answer.fget))))
            else:
                setattr(cls, name, entry_point(instead(ask, answer)))


def refusing(ask: str, answer: Method) -> Method:
    """A method that refuses what no value of its class answers."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise rules.error(ask, got=self.aval.str_short())

    return method


def refused_outside(found: Rules) -> Mapping[str, bool]:
    """The questions that a value of no trace does not answer."""
    known = found.levels.answered[found.levels.known_outside]
    return {ask: ask not in known for ask in ASKED}
