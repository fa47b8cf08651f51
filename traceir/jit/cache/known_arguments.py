"""Arguments of plain functions that are known while tracing.

Serves: cache.key.known, face.demand

Text, slices, members of enumerations, classes and functions are known at once: no
program computes with them. A number of Python's, an integer of NumPy's, or a tuple of
these, is known by demand, if a trace has asked for its value; later calls of the
function with arguments of the same types have it known from the start.
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from traceir import rules
from traceir.base import source_info
from traceir.base.fast_dataclass import dataclass
from traceir.errors import shown
from traceir.ir.jaxpr import Var
from traceir.jit.cache.signature import Bound
from traceir.jit.cache.static_keys import typed
from traceir.tracing.staging import StagedTracer
from traceir.tracing.trace import Tracer


class CompiledFunction:
    """A function of a decorator: known at once, as Python's functions are."""

    __slots__ = ()


NUMBERS = frozenset({bool, int, float, complex})
# What no program computes with, and what nobody can change.
AT_ONCE = (
    *(str, bytes, enum.Enum, type, range, slice, type(Ellipsis), np.dtype, np.ufunc),
    *(FunctionType, BuiltinFunctionType, CompiledFunction),
)
# A few values of an argument are settings, so many are sizes: a warning says so.
MANY_VALUES = 8
# So many kinds of calls are remembered of a function; more begin anew.
MOST_KEYS = 4096


def _leaves(value: Any) -> Iterable[Any]:
    """The elements of nested tuples."""
    if not isinstance(value, tuple):
        return (value,)
    return (leaf for part in value for leaf in _leaves(part))


def is_data(value: Any) -> bool:
    """True if a value can be known: Python's numbers, NumPy's integers, text, None, and
    tuples of these.

    >>> is_data((2, "same", None)), is_data((2, np.ones(2))), is_data([2])
    (True, False, False)
    """
    kinds = (np.integer, np.bool, *AT_ONCE)
    return all(
        v is None or type(v) in NUMBERS or isinstance(v, kinds) for v in _leaves(value)
    )


def known_at_once(bound: Bound) -> Bound:
    """The arguments, those known that no program computes with."""
    labels = [
        label
        for label, value in bound.dynamic
        if isinstance(value, (*AT_ONCE, tuple))
        and any(isinstance(v, AT_ONCE) for v in _leaves(value))
        and is_data(value)
    ]
    return bound.knowing(labels) if labels else bound


def demandable_inputs(
    bound: Bound, labels: Sequence[str], tracers: Sequence[StagedTracer]
) -> Iterator[tuple[Var, int]]:
    """The inputs of a trace whose arguments may be known, with their numbers.

    `labels` are the arguments of the inputs. An argument that is a number of a trace
    around it may be known if it is so there.
    """
    able = {label for label, value in bound.dynamic if _may_be_known(value)}
    for k, label in enumerate(labels):
        var = tracers[k]._var
        if label in able and isinstance(var, Var):
            yield var, k


def _may_be_known(value: Any) -> bool:
    return all(
        is_data(v) or (isinstance(v, Tracer) and v.aval.weak_type and not v.aval.shape)
        for v in _leaves(value)
    )


@dataclass(eq=False, slots=True)
class KnownArgument:
    """An argument that was demanded: where, and the values that it has had."""

    where: str
    values: set[Any]
    told: bool = False


class KnownArguments:
    """The arguments of one function that were demanded."""

    def __init__(self) -> None:
        # By the keys of calls without them, their names.
        self.demands: dict[Any, frozenset[str]] = {}
        self.arguments: dict[str, KnownArgument] = {}

    def clear(self) -> None:
        """Forget all."""
        self.demands.clear()
        self.arguments.clear()

    def wanted(self, key: Any, bound: Bound) -> list[str]:
        """The arguments of a call that were demanded in a call of this key."""
        labels = self.demands.get(key, ())
        return [n for n, value in bound.dynamic if n in labels and is_data(value)]

    def note(self, key: Any, where: dict[str, str]) -> None:
        """Remember the arguments that calls of a key demand, and the lines that do."""
        if len(self.demands) >= MOST_KEYS:
            self.demands.clear()
        self.demands[key] = self.demands.get(key, frozenset()) | frozenset(where)
        for label, line in where.items():
            self.arguments.setdefault(label, KnownArgument(line, set()))

    def count(self, name: str, known: Iterable[tuple[str, Any]]) -> None:
        """Count the values of a new trace; many of one argument are told, once."""
        for label, value in known:
            one = self.arguments.get(label)
            if one is None or one.told:
                continue
            one.values.add(typed(value))
            if len(one.values) >= MANY_VALUES:
                one.told, one.values = True, set()
                _tell(name, label, one.where)

    def described(self, known: Iterable[tuple[str, Any]]) -> list[str]:
        """A line for each argument that was demanded, for `explain`."""
        return [
            f"argument {label} is known, {shown(value)}: its value is needed "
            f"{self.arguments[label].where}"
            for label, value in known
            if label in self.arguments
        ]


def _tell(name: str, label: str, where: str) -> None:
    """Warn at the line that calls the function."""
    text = (
        f"{name} was traced and compiled for {MANY_VALUES} values of its argument "
        f"{label}, each anew, since the value is needed {where}\n"
        f"  hint: {rules.default().clauses['face.demand'].hint}\n  [face.demand]"
    )
    place = source_info.capture()
    file, line = (place.file, place.line) if place else ("", 0)
    warnings.warn_explicit(text, UserWarning, file, line)
