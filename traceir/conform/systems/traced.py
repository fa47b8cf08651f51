"""Traced values of the model: they answer what the level rows permit.

Serves: level.*
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from traceir import rules
from traceir.tracing.trace import typeof

Ask = Callable[["ModelTracer", str], Any]


@dataclass(eq=False)
class TraceLevel:
    """A trace in force: its entries, and the values that it used of the traces around
    it.

    `whole` if it handles all operations.
    """

    transform: str
    knows: str
    depth: int = 0
    whole: bool = False
    entries: dict[Any, Any] = field(default_factory=dict)
    captures: list[ModelTracer] = field(default_factory=list)


@dataclass(frozen=True)
class ValueOrigin:
    """The origin of a value: a function of concrete values, and the operands."""

    function: Callable[..., Any]
    operands: tuple[Any, ...]


@dataclass(eq=False)
class ModelTracer:
    """A value of some trace: the level rows answer questions to it.

    `home` is the trace that made it, `knows` how much is known of it, `made` how it can
    be computed again; an input has none.
    """

    value: Any
    home: TraceLevel
    knows: str
    ask: Ask
    made: ValueOrigin | None = None

    @property
    def aval(self) -> Any:
        """The type, for functions that look at nothing else."""
        return typeof(self.value)

    def __bool__(self) -> bool:
        return bool(self.ask(self, "host_bool"))

    def __int__(self) -> int:
        return int(self.ask(self, "host_number"))

    def __float__(self) -> float:
        return float(self.ask(self, "host_number"))

    def __index__(self) -> int:
        return operator.index(self.ask(self, "host_index"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.ask(self, "host_array"))

    def __repr__(self) -> str:
        return repr(self.ask(self, "host_print"))

    def __format__(self, spec: str) -> str:
        return format(self.ask(self, "host_format" if spec else "host_print"), spec)

    def __hash__(self) -> int:
        self.ask(self, "host_hash")
        return object.__hash__(self)  # the rows alone refuse, not the value

    def __len__(self) -> int:
        return len(self.ask(self, "host_len"))

    def __iter__(self) -> Iterator[ModelTracer]:
        length = len(self.ask(self, "host_iter"))
        return (self._row(n) for n in range(length))

    def _row(self, n: int) -> ModelTracer:
        made = ValueOrigin(lambda value: value[n], (self,))
        return ModelTracer(self.value[n], self.home, self.knows, self.ask, made)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise rules.error("array.immutable")

    def item(self) -> Any:
        """The element, where it may be known."""
        return self.ask(self, "host_item").item()

    @property
    def shape(self) -> Any:
        """The shape, where it may be known."""
        return self.ask(self, "host_shape").shape

    @property
    def sharding(self) -> Any:
        """An attribute of concrete arrays alone."""
        return self.ask(self, "host_attribute").sharding


class DemandedArguments(Exception):
    """Ends a trace that needs the values of arguments, of these names."""

    def __init__(self, labels: frozenset[str]) -> None:
        super().__init__(labels)
        self.labels = labels


def demands(value: Any, numbers: Mapping[int, str]) -> frozenset[str]:
    """The arguments that a value is computed from, if all of them are such numbers, by
    the identity of the inputs; else none."""
    if id(value) in numbers:
        return frozenset((numbers[id(value)],))
    if not isinstance(value, ModelTracer) or value.made is None:
        return frozenset()
    traced = [v for v in value.made.operands if isinstance(v, ModelTracer)]
    found = [demands(operand, numbers) for operand in traced]
    return frozenset().union(*found) if all(found) else frozenset()


def concrete(value: Any) -> Any:
    """The value that a value of a trace stands for; any other value as it is."""
    return value.value if isinstance(value, ModelTracer) else value


def replayed(
    results: Sequence[Any], inputs: Sequence[ModelTracer], others: Sequence[Any]
) -> list[Any]:
    """The results of a trace for other inputs than those that it was traced with."""
    known = dict(zip(map(id, inputs), others, strict=True))

    def again(value: Any) -> Any:
        if not isinstance(value, ModelTracer):
            return value
        if id(value) not in known and value.made is not None:
            operands = tuple(map(again, value.made.operands))
            found = value.made.function(*map(concrete, operands))
            made = ValueOrigin(value.made.function, operands)
            known[id(value)] = ModelTracer(
                found, value.home, value.knows, value.ask, made
            )
        return known.get(id(value), value)

    return list(map(again, results))
