"""The strategies drawn from the tables reach what the tables say. Rules: program.*"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from soak import sample

from traceir.conform import judge
from traceir.conform.casefiles.cases import read_cases
from traceir.conform.drawing.aims import aim, clauses, plain_primitives
from traceir.conform.drawing.programs import arguments, drawable, programs
from traceir.conform.drawing.strategies import (
    applications,
    arrays,
    avals,
    elements,
    violated,
)
from traceir.conform.drawing.written import as_case, as_program
from traceir.conform.systems.implementations import Reference
from traceir.dtypes import KEY
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr, Literal, subjaxprs
from traceir.ir.typecheck import check
from traceir.rules import default
from traceir.text import parse, to_text

SEARCH = settings(
    max_examples=3000,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
FEW = settings(SEARCH, max_examples=10)
MORE = settings(SEARCH, max_examples=500)
PLAIN = plain_primitives()
DRAWABLE = [row.name for row in default().prims.values() if drawable(row)]


@pytest.mark.parametrize("primitive", PLAIN)
def test_valid_applications_are_drawn(primitive: str) -> None:
    find(applications(primitive), lambda a: not violated(a), settings=SEARCH)


@pytest.mark.parametrize("rule, primitive", sample(clauses().items(), 6))
def test_an_aim_violates_its_clause_alone(rule: str, primitive: str) -> None:
    found = find(aim(primitive, rule), lambda a: True, settings=FEW)
    assert violated(found) == {rule}
    text = as_case("drawn/one", as_program(found), (), [rule], rule)
    (case,) = read_cases(text)
    assert judge(Reference(), case), text


@pytest.mark.parametrize("primitive", sample(DRAWABLE, 6))
def test_programs_use_every_primitive(primitive: str) -> None:
    strategy = programs(size=1, primitives=[primitive, "stack"])
    find(strategy, lambda c: c.eqns[0].primitive == primitive, settings=MORE)


def test_programs_mix_primitives() -> None:
    def mixed(closed: ClosedJaxpr) -> bool:
        return len({eqn.primitive for eqn in closed.eqns}) > 3

    find(programs(), mixed, settings=MORE)


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


@given(elements(KEY, grid=False))
def test_a_drawn_key_is_a_literal_that_is_read_again(key: np.void) -> None:
    literal = Literal(key, ShapedArray((), KEY))
    closed = ClosedJaxpr(Jaxpr((), (), (), (literal,)), ())
    assert parse(to_text(closed, full=True)) == closed


@given(st.data())
def test_arguments_have_the_types_of_the_inputs(data: st.DataObject) -> None:
    closed = data.draw(programs(size=2))
    args = data.draw(arguments(closed, grid=False))
    wanted = [(a.shape, a.dtype) for a in closed.in_avals]
    assert [(a.shape, a.dtype) for a in args] == wanted
