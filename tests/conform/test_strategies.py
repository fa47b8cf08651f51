"""The strategies drawn from the tables reach what the tables say. Rules: program.*"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from traceir.conform.programs import arguments, programs
from traceir.conform.strategies import applications, arrays, avals, violated
from traceir.ir import ClosedJaxpr, Literal, subjaxprs
from traceir.rules import default
from traceir.typing import check

SEARCH = settings(
    max_examples=3000,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
PLAIN = [
    row.name
    for row in default().prims.values()
    if not any(p.domain == "jaxpr" for p in row.params)
]
# Each clause once, by the last of the primitives that have it.
CLAUSES = {c.id: name for name in PLAIN for c in default().prims[name].clauses}
# Small shapes have no dimension whose indices do not fit in an int8.
UNREACHED = {"index_reduction.index-fits"}


@pytest.mark.parametrize("primitive", PLAIN)
def test_valid_applications_are_drawn(primitive: str) -> None:
    find(applications(primitive), lambda a: not violated(a), settings=SEARCH)


@pytest.mark.parametrize("rule, primitive", CLAUSES.items())
def test_every_clause_is_violated_alone(rule: str, primitive: str) -> None:
    if rule not in UNREACHED:
        strategy = applications(primitive, wide=True)
        find(strategy, lambda a: violated(a) == {rule}, settings=SEARCH)


def test_programs_use_most_primitives() -> None:
    seen: Counter[str] = Counter()

    @settings(SEARCH, max_examples=150)
    @given(programs())
    def draw(closed: ClosedJaxpr) -> None:
        seen.update(eqn.primitive for eqn in closed.eqns)

    draw()
    assert len(seen) > 0.8 * len(default().prims)


@given(programs(wide=True, depth=2))
def test_programs_are_well_typed(closed: ClosedJaxpr) -> None:
    check(closed)
    assert 1 <= len(closed.eqns) <= 6


@given(programs(grid=True, primitives=["add", "jit"], size=3))
def test_programs_are_of_the_primitives_asked_for(closed: ClosedJaxpr) -> None:
    for eqn in closed.eqns:
        assert eqn.primitive in ("add", "jit", "stack")
        for inner in subjaxprs(eqn):
            assert {e.primitive for e in inner.eqns} <= {"add", "jit", "stack"}


def test_programs_hold_constants_literals_and_programs() -> None:
    find(programs(), lambda closed: bool(closed.consts), settings=SEARCH)
    find(
        programs(),
        lambda closed: any(list(subjaxprs(e)) for e in closed.eqns),
        settings=SEARCH,
    )
    find(
        programs(),
        lambda closed: any(type(a) is Literal for e in closed.eqns for a in e.inputs),
        settings=SEARCH,
    )


@given(st.data())
def test_arrays_of_the_grid_are_eighths(data: st.DataObject) -> None:
    aval = data.draw(avals(wide=True))
    array = data.draw(arrays(aval))
    assert (array.shape, array.dtype) == (aval.shape, aval.dtype)
    if aval.dtype.kind == "f":
        assert ((array * 8) % 1 == 0).all()


@given(st.data())
def test_arguments_have_the_types_of_the_inputs(data: st.DataObject) -> None:
    closed = data.draw(programs(size=2))
    args = data.draw(arguments(closed, grid=False))
    wanted = [(a.shape, a.dtype) for a in closed.in_avals]
    assert [(a.shape, a.dtype) for a in args] == wanted
