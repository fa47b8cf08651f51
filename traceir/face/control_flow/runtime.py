"""The functions that rewritten code calls, by the names that it knows.

Serves: staged.construct, staged.effect
"""

from __future__ import annotations

import functools
import operator
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.arrays.array import NumpyTracer, known, traced
from traceir.face.arrays.loop_steps import TracedList, TracedSequence
from traceir.face.arrays.texts import text
from traceir.face.arrays.values import array_of
from traceir.face.checks import exceptions
from traceir.face.checks.bounds import check_index
from traceir.face.checks.exceptions import Trying
from traceir.face.checks.status import note, note_rule
from traceir.face.control_flow import state
from traceir.face.control_flow.choices import (
    Diverged,
    negated,
    truth_of,
)
from traceir.face.control_flow.choices import IfStatement as If
from traceir.face.control_flow.expressions import all_of, any_of, chained
from traceir.face.control_flow.expressions import choose_value as choose
from traceir.face.control_flow.for_loops import ForLoop as For
from traceir.face.control_flow.growing_lists import GrowingList, grown
from traceir.face.control_flow.growing_tables import GrowingTable
from traceir.face.control_flow.list_elements import lend
from traceir.face.control_flow.regions import RegionTrace, function_room
from traceir.face.control_flow.state import (
    NUMBERS,
    UNBOUND,
    MaybeNone,
    MaybeUnbound,
    MissingValue,
)
from traceir.face.control_flow.while_loops import WhileLoop as While
from traceir.lax.checks.operands import convert
from traceir.tracing.concretization import ArgumentDemand, demanded
from traceir.tracing.staging import StagingTrace
from traceir.tracing.trace import Tracer, current_trace

__all__ = [
    "UNBOUND",
    "For",
    "If",
    "Trying",
    "While",
    "all_of",
    "appended",
    "is_among",
    "any_of",
    "bound",
    "chained",
    "caught",
    "changed",
    "check",
    "choose",
    "copied",
    "formatted",
    "fresh",
    "given",
    "indexed",
    "is_none",
    "lent",
    "listed",
    "method",
    "mutated",
    "negated",
    "raised",
    "renewed",
    "returned",
    "same",
    "table",
    "text",
    "truth",
]


# The rules of what can't be traced; others are of errors that Python has, too.
_REFUSALS = ("staged.", "level.")
_CONTAINERS = (list, dict, set, deque, bytearray, np.ndarray)


def bound(value: Any, name: str) -> Any:
    """The value of a name that is not None. Raises UnboundLocalError for one without,
    which ends a recorded side, and TypeError (staged.join) for one whose values have no
    common type."""
    value = copied(value, name)
    if type(value) is not MaybeNone:
        return value
    none = TypeError(f"{name!r} is None")
    note(negated(value.flag), exceptions.later(none))
    return value.value


def copied(value: Any, name: str) -> Any:
    """The value of a name, which may be None."""
    if type(value) is MaybeUnbound:
        make = exceptions.later(_unbound(name))
        note(negated(value.flag), make, kind=UnboundLocalError)
        return value.value
    if type(value) is not MissingValue:
        return value
    if value.reason:
        error = rules.error("staged.join", got=f"{name}: {value.reason}")
        raise demanded(error, value.truth)
    raise raised(lambda: _unbound(name))


def is_none(value: Any, name: str) -> Any:
    """`value is None`."""
    value = copied(value, name)
    return negated(value.flag) if type(value) is MaybeNone else value is None


def _unbound(name: str) -> UnboundLocalError:
    return UnboundLocalError(
        f"cannot access local variable {name!r} where it is not associated with a value"
    )


def returned(value: Any) -> Any:
    """The result of a function, which has been set where its end is reached."""
    if type(value) is MaybeUnbound:
        value = value.value
    if type(value) is MaybeNone:  # which one may never be
        kind = state.said(state.type_of(state.tree_of(value.value)))
        got = f"the result: None, where others are {kind}"
        note_rule(negated(value.flag), "staged.join", got)
        return value.value
    return copied(value, "the result")


def mutated(value: Any) -> Any:
    """A value that is to be changed in place if it is a container of Python's, or an
    array from outside of the function."""
    region = current_trace()
    if isinstance(region, RegionTrace) and id(value) in region.lists:
        return region.lists[id(value)]
    is_container = isinstance(value, _CONTAINERS) and not isinstance(value, Tracer)
    return changed(value) if is_container else value


def method(value: Any, name: str) -> Any:
    """A method that may change its object, to be called later."""
    found = getattr(value, name)
    if isinstance(value, Tracer) or not isinstance(value, _CONTAINERS):
        return found

    @functools.wraps(found)
    def called(*args: Any, **options: Any) -> Any:
        return getattr(mutated(value), name)(*args, **options)

    return called


def appended(value: Any, item: Any) -> Any:
    """The value of a name after `value.append(item)`."""
    alone = sys.getrefcount(item) <= _OF_NOBODY_ELSE
    if isinstance(value, GrowingList):
        value.append(item, alone)
    else:
        mutated(value).append(item)
    return value


def _count(item: Any) -> int:
    return sys.getrefcount(item)


# The references to an argument that nobody else has.
_OF_NOBODY_ELSE = _count(object())


def renewed(value: Any, items: list[Any]) -> Any:
    """The value of a name that is to have a new list, instead of one that it has."""
    if not isinstance(value, GrowingList) or value.is_lent:
        return fresh(items)
    value.clear()
    value.extend(items)
    return value


def lent(value: Any, function: Any, line: int) -> Any:
    """A list as an argument of a user's function, which may keep it, unless it is the
    one at a line of this file."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    here = sys._getframe(1).f_code.co_filename
    borrows = code is not None and (code.co_filename, code.co_firstlineno) == (
        here,
        line,
    )
    if isinstance(value, GrowingList):
        value.is_lent |= not borrows
    elif type(value) is list and not borrows:
        lend(value)
    return value


def same(value: Any, *places: Any) -> Any:
    """The value of a name whose list is to be changed: a list that may grow, if values
    are to decide what is done with its elements, or at which of its places."""
    if type(value) is list and any(map(_is_traced_number, (*value, *places))):
        return grown(("it",), {"it": value}).get("it", value)
    return value


def given(value: Any) -> Any:
    """The value of a name whose list a function is given that changes it."""
    if not isinstance(current_trace(), StagingTrace):
        return value
    return grown(("it",), {"it": value}).get("it", value)


def is_among(item: Any, values: Any) -> Any:
    """`item in values`, of which some may be traced."""
    if isinstance(values, (GrowingList, GrowingTable)):
        return values.has(item)
    if isinstance(values, (NumpyTracer, np.ndarray)):
        return np.any(values == item)
    is_number = _is_traced_number(item)
    if is_number and type(values) is range:
        inside = (item >= min(values)) & (item <= max(values)) if values else False
        return inside & ((item - values.start) % values.step == 0)
    if type(values) not in (tuple, list, set, frozenset):
        return item in values
    if not is_number and not any(map(_is_traced_number, values)):
        return item in values
    numbers = [v for v in values if isinstance(v, (Tracer, np.generic, *NUMBERS))]
    return functools.reduce(operator.or_, [item == v for v in numbers], False)


def truth(value: Any) -> Any:
    """The truth of a list that may grow."""
    found = truth_of(value)
    return found if isinstance(found, bool) else traced(found, number=True)


def indexed(value: Any) -> Any:
    """A value that is to be indexed; of Python's sequence, one with traced places."""
    return _Sequence(value) if type(value) in (tuple, list) else value


class _Sequence:
    """A tuple or a list whose numbers may be asked for at a traced place."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, index: Any) -> Any:
        known = not _is_traced_number(index)
        return self.values[index] if known else _taken(self.values, index)


def _is_traced_number(value: Any) -> bool:
    return isinstance(value, NumpyTracer) and value.number and value.concrete is None


def _taken(values: Any, index: Any) -> Any:
    """The number at a traced place among some, or the tuple of numbers."""
    kinds = set(map(type, values))
    numbers = all(isinstance(v, (Tracer, np.generic, *NUMBERS)) for v in values)
    if numbers and any(map(_is_traced_number, values)):
        return traced(array_of(values)[index], number=True)
    if kinds == {tuple} and len(set(map(len, values))) == 1:
        return tuple(_taken(column, index) for column in zip(*values, strict=True))
    if not kinds or not all(issubclass(k, (*NUMBERS, np.generic)) for k in kinds):
        return values[index]
    table = np.array(values)
    check_index(table.shape, index)
    found = known(table)[index]
    weak = kinds.issubset(NUMBERS) and table.dtype != bool
    return traced(convert(found, table.dtype, weak), number=True)


def changed(value: Any) -> Any:
    """A value of which a part is to be changed, or the name of one of the module.

    Raises TypeError (staged.effect) inside of what is recorded, for Python's data from
    outside of that.
    """
    region = current_trace()
    arrays = NumpyTracer, TracedSequence
    if not isinstance(region, RegionTrace) or isinstance(value, arrays):
        return value
    if region.is_fresh(value):
        return value
    error = rules.error("staged.effect", got=type(value).__name__)
    raise demanded(error, region.truth)


def table(is_set: bool, items: Any) -> Any:
    """A new dict of pairs, or a set of elements, to which recorded code may add.

    An empty dict that a function has made stands for itself, as does anything else.
    """
    if type(items) is not list:
        if type(items) is not dict or items:
            return items
        items = []
    if function_room() is None:
        return fresh(set(items) if is_set else dict(items))
    made = GrowingTable(is_set)
    for item in items:
        made[item if is_set else item[0]] = None if is_set else item[1]
    return made


def listed(function: Any, *items: Any) -> Any:
    """`list(items)`, of what may have as many elements as values decide."""
    if function is list and len(items) == 1:
        if isinstance(items[0], GrowingTable):
            return list(items[0]) if items[0].is_known else items[0].keys()
        if isinstance(items[0], TracedList):
            return items[0].like(items[0].array())
    return function(*items)


def fresh(value: Any) -> Any:
    """A list, a set or a dict that has just been made."""
    region = current_trace()
    if isinstance(region, RegionTrace):
        region.fresh.append(value)
    return value


def check(test: Any, message: Callable[[], Any]) -> None:
    """`assert test, message`."""
    truth = truth_of(test)
    if truth is True:
        return

    def failed() -> AssertionError:
        said = message()
        return AssertionError(*([] if said is None else [said]))

    if truth is False:
        raise raised(failed)
    exceptions.note_if(negated(truth), failed)


def raised(make: Callable[[], Any]) -> Any:
    """The exception of a `raise` statement; a recorded side ends here."""
    if not isinstance(current_trace(), RegionTrace):
        return make()
    error = exceptions.note_if(True, make)
    if error is not None:
        return error
    raise Diverged


def caught() -> None:
    """The beginning of an `except`: what it must not take is raised again."""
    error = sys.exc_info()[1]
    refused = isinstance(error, rules.TraceirError) and error.rule.startswith(_REFUSALS)
    if error is not None and (refused or isinstance(error, (Diverged, ArgumentDemand))):
        raise error


def formatted(text: str, values: Any) -> str:
    """`text % values`."""
    return exceptions.formatted(text, values)
