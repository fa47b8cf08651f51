"""Strategies that aim at one clause: applications that violate it alone.

A nearly valid application is changed in one respect at a time until the clause is the
only one that fails. Serves: every clause of a primitive's row

>>> from hypothesis import find
>>> found = find(aim("transpose", "transpose.permutation"), lambda a: True)
>>> sorted(violated(found))
['transpose.permutation']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from traceir.conform.drawing.strategies import (
    DRAWN,
    DrawnApplication,
    applications,
    violated,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import sort_params
from traceir.rules import Clause, Rules, default
from traceir.rules.applied import demand, row_scope

TRIES = 30
# An extent too large for any index of 8 bits, in an array of no more elements.
LARGE = 300
# A clause with a greater number speaks of more elements than are drawn.
LARGEST = 1 << 24
NARROW = ("int8", "uint8")


def plain_primitives(rules: Rules | None = None) -> list[str]:
    """The primitives whose params hold no program, function or name of an axis."""
    rows = (rules or default()).prims.values()
    return [r.name for r in rows if DRAWN.issuperset(p.domain for p in r.params)]


def clauses(rules: Rules | None = None) -> Mapping[str, str]:
    """The clauses of these primitives, each with one that has few others beside it.

    Without those that speak of more elements than an array of a test has.
    """
    rules = rules or default()
    names = plain_primitives(rules)
    names = sorted(names, key=lambda name: -len(rules.prims[name].clauses))
    pairs = [(c, name) for name in names for c in rules.prims[name].clauses]
    return {c.id: name for c, name in pairs if _largest_number(c) <= LARGEST}


def _largest_number(clause: Clause) -> int:
    """The greatest number that a clause writes, or names as the limit of a dtype."""
    text = str(clause.holds)
    named = re.findall(r"\blimits\((u?int\d+)\)", text)
    numbers = map(int, re.findall(r"\d+", text))
    return max((*numbers, *(int(np.iinfo(name).max) for name in named)), default=0)


@st.composite
def aim(
    draw: DrawFn, primitive: str, clause: str, rules: Rules | None = None
) -> DrawnApplication:
    """Applications of a primitive that violate one clause alone."""
    near = applications(primitive, wide=True, rules=rules)
    rules = rules or default()
    for _ in range(TRIES):
        found = draw(near)
        for changed in (found, *changes(found, rules)):
            wanted = is_false(clause, changed, rules)
            if wanted and violated(changed, rules) == {clause}:
                return changed
    assume(False)
    raise AssertionError  # `assume` has left


def is_false(clause: str, it: DrawnApplication, rules: Rules) -> bool:
    """True if the formula of a clause is false of an application, whatever others say.

    >>> from hypothesis import find
    >>> found = find(aim("neg", "neg.numeric"), lambda a: True)
    >>> is_false("neg.numeric", found, default())
    True
    """
    row = rules.prims[it.primitive]
    scope = row_scope(row, it.avals, it.params, rules)
    (asked,) = (c for c in row.clauses if c.id == clause)
    try:
        return not demand(asked)(scope)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return False  # it says nothing of what another clause refuses


def changes(
    it: DrawnApplication, rules: Rules | None = None
) -> Iterator[DrawnApplication]:
    """The applications that differ from one in a single operand or param."""
    row = (rules or default()).prims[it.primitive]
    least = row.arity
    if row.variadic:
        yield DrawnApplication(it.primitive, it.avals[:least], it.params)
        yield DrawnApplication(it.primitive, (*it.avals, *it.avals[-1:]), it.params)
    for number, aval in enumerate(it.avals):
        for other in _others(aval):
            avals = (*it.avals[:number], other, *it.avals[number + 1 :])
            yield DrawnApplication(it.primitive, avals, it.params)
    for name, value in it.params:
        for changed in _values(value):
            params = sort_params({**dict(it.params), name: changed})
            yield DrawnApplication(it.primitive, it.avals, params)
            if changed in map(np.dtype, NARROW):
                yield from _long(it.primitive, it.avals, params)


def _others(aval: ShapedArray) -> Iterator[ShapedArray]:
    """Types that differ from one in dtype, or in one extent."""
    for name in ("bool", "int32", "uint32", "float32", "float64"):
        yield ShapedArray(aval.shape, name)
    for axis, size in enumerate(aval.shape):
        for other in (0, 1, size + 1):
            shape = (*aval.shape[:axis], other, *aval.shape[axis + 1 :])
            yield aval.update(shape=shape, weak_type=False)
    yield aval.update(shape=(*aval.shape, 2), weak_type=False)
    yield aval.update(shape=(), weak_type=False)


def _values(value: Any) -> Iterator[Any]:
    """Other values of a param's kind."""
    match value:
        case bool() | None | str():
            return
        case int():
            yield from (-1, value + 1, 7)
        case np.dtype():
            yield from map(np.dtype, (*NARROW, "int32", "float32", "bool"))
        case tuple():
            yield from ((*value, 0), value[1:], (*value, *value[:1]))
            for k, item in enumerate(value):
                for other in _values(item):
                    yield (*value[:k], other, *value[k + 1 :])


def _long(primitive: str, avals: Any, params: Any) -> Iterator[DrawnApplication]:
    """Applications with an operand of a large extent."""
    for number, aval in enumerate(avals):
        for axis in range(aval.ndim):
            shape = (*aval.shape[:axis], LARGE, *aval.shape[axis + 1 :])
            other = aval.update(shape=shape, weak_type=False)
            yield DrawnApplication(
                primitive, (*avals[:number], other, *avals[number + 1 :]), params
            )
