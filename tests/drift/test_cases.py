"""The cases against the tables: nothing cited in vain, nothing uncovered.

Cites every row: a row that could be deleted, or whose formula could be another, without
a case noticing, would be no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from inspect import isfunction
from pathlib import Path

import pytest
from array_lines import lines
from fewer_rows import without
from uncited_rows import ELSEWHERE, PROSE

from traceir import rules as rules_module
from traceir.conform import Case, Verdict, judge, load_cases
from traceir.conform.casefiles.cases import attempt
from traceir.conform.systems.implementations import (
    CompiledImplementation,
    Oracle,
    Reference,
)
from traceir.conform.systems.systems import NAMESPACES
from traceir.errors import RuleTableError, TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, subjaxprs
from traceir.ir.promotion import promote
from traceir.ir.typecheck import check, violations
from traceir.jit import staging
from traceir.jit.cache.cache_key import KeyTable
from traceir.reference.kernels import KERNELS
from traceir.rules import Rules, default
from traceir_numba.emitters import EMITTERS

CASES = load_cases()
ROOT = Path(__file__).parents[2]

# About files, printing, settings: no case has such operands.
HOSTS = {
    *("__array_namespace_info__", "array_repr", "array_str", "einsum_path", "load"),
    *("frombuffer", "fromfile", "get_printoptions", "printoptions", "save", "savez"),
    "set_printoptions",
}


# Questions that need no more than this have an answer everywhere.
FREE = ("nothing", "shape")


def eqns(closed: ClosedJaxpr) -> Iterator[Eqn]:
    """The equations of a program and of the programs within."""
    for eqn in closed.eqns:
        yield eqn
        for inner in subjaxprs(eqn):
            yield from eqns(inner)


def rows() -> list[str]:
    """The ids that cases must show: all but those of the calculus.

    Every case with types is judged by its rules; `tests/theorems` deletes them.
    """
    parts = default().tables["judgements"].values()
    calculus = {row.get("id") for part in parts for row in part}
    return [rule for rule in default().clauses if rule not in calculus]


def can_fail() -> list[str]:
    """The ids of rows that something can violate."""
    rules = default()
    formulas = [i for i, c in rules.clauses.items() if c.holds is not None]
    asks = [a.id for a in rules.levels.asks.values() if a.needs not in FREE]
    nesting = [n.id for n in rules.levels.nesting.values() if n.holds is not None]
    keyed = [row["id"] for row in rules.tables["cache"]["clause"]]
    return [*formulas, *asks, *nesting, *keyed, *rules.errors]


@cache
def programs() -> dict[str, ClosedJaxpr]:
    """The programs of the cases that have one which can be read, by case."""
    found = {c.name: attempt(c) for c in CASES if c.session is None}
    for case in CASES:  # programs with types that are transformed
        for function in case.functions.values() if case.session else ():
            if function.typed:
                found[case.name] = attempt(case)
    return {name: p for name, p in found.items() if isinstance(p, ClosedJaxpr)}


@cache
def primitives_of(name: str) -> frozenset[str]:
    """The primitives that a case's program uses."""
    program = programs().get(name)
    return frozenset(e.primitive for e in eqns(program)) if program else frozenset()


# Citations ----------------------------------------------------------------------------


def test_what_a_case_cites_exists() -> None:
    assert [str(case) for case in CASES if not case.cites] == []
    known = default().clauses.keys()
    found = {str(c): {*c.cites, *c.rejected} - known for c in CASES}
    assert {case: lost for case, lost in found.items() if lost} == {}


def test_a_case_cites_what_it_rejects() -> None:
    found = {str(case): case.rejected - {*case.cites} for case in CASES}
    assert {case: lost for case, lost in found.items() if lost} == {}


def test_every_row_is_cited() -> None:
    shown = {rule for case in CASES for rule in case.cites}
    assert [r for r in rows() if r not in shown | ELSEWHERE.keys()] == []


def test_every_row_that_can_fail_is_rejected() -> None:
    shown = {rule for case in CASES for rule in case.rejected}
    assert [r for r in can_fail() if r not in shown | ELSEWHERE.keys()] == []


@pytest.mark.parametrize("rule", ELSEWHERE)
def test_a_row_that_no_case_shows_has_a_test(rule: str) -> None:
    assert rule in (ROOT / ELSEWHERE[rule]).read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", PROSE)
def test_a_row_of_prose_has_a_test(rule: str) -> None:
    assert rule in (ROOT / PROSE[rule]).read_text(encoding="utf-8")


def test_no_row_is_excused_in_vain() -> None:
    shown = {rule for case in CASES for rule in case.cites}
    assert [rule for rule in ELSEWHERE if rule in shown] == []
    assert ELSEWHERE.keys() <= default().clauses.keys()


@pytest.mark.parametrize("space", ["numpy", "lax"])
def test_every_function_of_arrays_is_called_by_a_case(space: str) -> None:
    module = NAMESPACES[space]
    texts = [p.read_text() for p in (ROOT / "spec/cases").glob("*.tir")]
    called = {n for t in texts for n in re.findall(rf"\b{space}\.(\w+)", t)}
    functions = {n for n in module.__all__ if isfunction(getattr(module, n))}
    # A line that compares a function with NumPy's says more than a case, and so do
    # the tests of complex numbers and of transforms.
    beside = {n for line in lines() for n in line.names} if space == "numpy" else set()
    names = {"numpy": "jnp", "lax": "lax"}[space]
    for path in (*ROOT.glob("tests/complex/*.py"), *ROOT.glob("tests/fourier/*.py")):
        beside.update(re.findall(rf"\b{names}\.(\w+)", path.read_text()))
    assert functions - called - beside == (HOSTS if space == "numpy" else set())


# Single fault -------------------------------------------------------------------------


@pytest.mark.parametrize("case", [c for c in CASES if c.reject], ids=str)
def test_a_rejected_program_has_one_fault(case: Case) -> None:
    assert case.reject is not None
    if case.session:
        return
    program = attempt(case)
    if isinstance(program, TraceirError):
        assert program.rule == case.reject
        return
    found = set()
    for eqn in eqns(program):
        avals = tuple(a.aval for a in eqn.inputs)
        found |= violations(eqn.primitive, avals, eqn.params)
    if "call" in case.verbs:  # the fault is of the call alone
        assert found == set()
        check(program)
        return
    # What is wrong between equations is not seen in any of them; without an operand,
    # nor are params that are left out and depend on it.
    assert found <= {case.reject} or case.reject == "program.arity"
    with pytest.raises(TraceirError) as caught:
        check(program)
    assert caught.value.rule == case.reject


# One place per layer ------------------------------------------------------------------


def test_every_primitive_has_a_row_a_kernel_and_an_emitter() -> None:
    prims = default().prims.keys()
    assert {"KERNELS": prims ^ KERNELS.keys(), "EMITTERS": prims ^ EMITTERS.keys()} == {
        "KERNELS": set(),
        "EMITTERS": set(),
    }


@pytest.mark.parametrize("primitive", sorted(default().prims))
def test_every_primitive_has_a_value_and_a_type_in_some_case(primitive: str) -> None:
    if any(p.domain == "function" for p in default().prims[primitive].params):
        # No text has the function that is called; a session calls one.
        texts = [p.read_text() for p in (ROOT / "spec/cases").glob("*.tir")]
        made = "custom_vjp" if primitive == "custom_lin" else primitive
        assert any(re.search(rf"\b{made}\b", t) for t in texts)
        return
    using = [c for c in CASES if primitive in primitives_of(c.name)]
    assert any("value" in case.verbs for case in using)


# Deletion -----------------------------------------------------------------------------


def verdicts(cases: list[Case], rules: Rules) -> Iterator[Verdict]:
    """The verdicts of the tables, and theirs on the reference."""
    for case in cases:
        if case.plain and case.plain.decorates:
            yield judge(CompiledImplementation("numba", rules), case, rules)
            continue
        yield judge(Oracle(rules), case, rules, exact=True)
        yield judge(Reference(rules), case, rules)


@pytest.mark.parametrize(
    "rule", [r for r in rows() if r not in ELSEWHERE and r not in PROSE]
)
def test_a_deleted_row_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        less = without(rule)
    except RuleTableError:
        return  # another row of the tables refers to it
    if rule.startswith("cache.key."):  # which the reference looks at, too
        table = KeyTable(less, frozenset({"cache.key.function"}))
        monkeypatch.setattr(staging, "key_table", lambda: table)
    using = [case for case in CASES if rule in case.cites]
    if any(case.plain for case in using):
        # A plain function is traced by the tables in force.
        monkeypatch.setattr(rules_module, "default", lambda: less)
    assert not all(verdicts(using, less))


# `custom_lin`, which only transforms make, stands in the program of no case.
@pytest.mark.parametrize("primitive", sorted(default().prims.keys() - {"custom_lin"}))
def test_a_deleted_primitive_is_noticed(primitive: str) -> None:
    less = without(primitive)
    using = [c for c in CASES if primitive in primitives_of(c.name)]
    # A transform applies the tables in force, not those that lack a row.
    alone = [c for c in using if "value" in c.verbs and "under" not in c.verbs]
    assert not all(verdicts((alone or using)[:3], less))


@pytest.mark.parametrize("face", ["jax", "numpy"])
def test_a_deleted_face_is_noticed(face: str) -> None:
    operands = ShapedArray((), "int32"), ShapedArray((), "float32")
    assert promote(*operands, face=face)
    with pytest.raises(KeyError):
        promote(*operands, face=face, rules=without(f"promote.{face}"))
