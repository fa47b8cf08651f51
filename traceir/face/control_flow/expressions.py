"""Choices in expressions: `a if c else b`, `and`, `or`, `a < b < c`.

Serves: staged.choice, staged.join
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.base.config import put_in_force
from traceir.face.control_flow import state
from traceir.face.control_flow.choices import (
    Diverged,
    Side,
    diverges,
    is_recorded,
    joined,
    truth_of,
)
from traceir.face.control_flow.state import MissingValue
from traceir.tracing.concretization import demanded

Later = Callable[[], Any]


def choose_value(test: Any, yes: Later, no: Later) -> Any:
    """`yes() if test else no()`."""
    truth = truth_of(test)
    if not is_recorded(truth):
        return yes() if truth else no()
    sides = []
    for later in (yes, no):
        side = Side(truth)
        outer = put_in_force(side.region)
        try:
            side.finish({"": later()})
        except (Diverged, ArithmeticError, LookupError, ValueError) as ended:
            if not diverges(ended):
                raise
            side.finish({"": state.UNBOUND}, diverged=True)
        finally:
            put_in_force(outer)
            side.region.end()
        sides.append(side)
    found = joined(truth, *sides)[""]
    if type(found) is MissingValue:
        error = rules.error("staged.join", got=f"a choice: {found.reason}")
        raise demanded(error, found.truth)
    return found


def all_of(first: Any, *rest: Later) -> Any:
    """`first and ...`."""
    return _first_of(first, rest, False)


def any_of(first: Any, *rest: Later) -> Any:
    """`first or ...`."""
    return _first_of(first, rest, True)


def _first_of(first: Any, rest: Sequence[Later], wanted: bool) -> Any:
    """The first of some values with a truth, or the last of them."""
    if not rest:
        return first
    truth = truth_of(first)
    if truth is wanted:
        return first

    def later() -> Any:
        return _first_of(rest[0](), rest[1:], wanted)

    if not is_recorded(truth):
        return later()
    sides = (lambda: first), later
    return choose_value(truth, *(sides if wanted else sides[::-1]))


def chained(left: Any, *parts: Any) -> Any:
    """`left < middle < right`: comparisons, each with its right operand."""
    compare, later, *rest = parts
    right = later()
    found = compare(left, right)
    return all_of(found, lambda: chained(right, *rest)) if rest else found
