"""Typing by the tables: inference, violations, checking. Serves: program.*"""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import numpy as np
import pytest
from fewer_rows import without

from traceir.base.source_info import capture
from traceir.errors import JaxprTypeError, TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.ir.typecheck import Typer, check, infer, violations
from traceir.rules import Rules, default, load
from traceir.rules.rules import PRIMITIVES
from traceir.text import parse

F3, F4 = ShapedArray((3,), "float32"), ShapedArray((4,), "float32")
I3, SCALAR = ShapedArray((3,), "int32"), ShapedArray((), "float32", weak_type=True)
DOT: dict[str, Any] = {
    "dimension_numbers": (((1,), (0,)), ((), ())),
    "precision": None,
    "preferred_element_type": None,
    "out_sharding": None,
}


def test_the_types_of_results() -> None:
    assert infer("add", (F3, SCALAR)) == (F3,)
    assert infer("add", (SCALAR, SCALAR)) == (SCALAR,)
    assert infer("lt", (F3, F3)) == (ShapedArray((3,), "bool"),)
    x, y = ShapedArray((2, 3), "float32"), ShapedArray((3, 4), "float32")
    assert infer("dot_general", (x, y), DOT) == (ShapedArray((2, 4), "float32"),)
    cases = (ShapedArray((), "bool"), F3, F3)
    assert infer("select_n", cases) == (F3,)


def test_operands_and_params_may_be_given_in_other_forms() -> None:
    params = {"out_sharding": None, "axes": (0,)}
    expected = (ShapedArray((), "float32"),)
    assert infer("reduce_sum", [F3], params) == expected
    assert infer("reduce_sum", (F3,), sort_params(params)) == expected


@pytest.mark.parametrize(
    ("primitive", "avals", "params", "rule", "got"),
    [
        ("frobnicate", (F3,), {}, "program.primitive", "frobnicate in `frobnicate f32"),
        ("add", (F3,), {}, "program.arity", "1 and 2 in `add f32[3]`"),
        ("add", (F3, F3), {"y": 2}, "program.params", "y and () in `add[y=2]"),
        ("integer_pow", (F3,), {"y": 2.0}, "program.domain", "y=2.0, not int in"),
        ("integer_pow", (F3,), {"y": True}, "program.domain", "y=True, not int in"),
        ("add", (F3, F4), {}, "pointwise2.broadcast", "(3,) and (4,) in"),
        ("add", (F3, I3), {}, "pointwise2.dtype", "float32 and int32 in"),
        ("add", (F3, ShapedArray((4,), "int32")), {}, "pointwise2.broadcast", "(3,)"),
        ("sin", (I3,), {"accuracy": None}, "function.floating", "int32 in `sin["),
    ],
)
def test_the_first_failed_clause_is_the_error(
    primitive: str,
    avals: tuple[ShapedArray, ...],
    params: dict[str, Any],
    rule: str,
    got: str,
) -> None:
    for _ in range(2):  # an error is not remembered as an answer
        with pytest.raises(TypeError) as caught:
            infer(primitive, avals, params)
        error = caught.value
        assert isinstance(error, TraceirError) and error.rule == rule
        assert error.got.startswith(got)
        assert "test_typing.py" in str(error)


def test_all_violations_are_found() -> None:
    bad = ShapedArray((4,), "bool")
    both = {"pointwise2.broadcast", "pointwise2.dtype"}
    assert violations("add", (F3, bad)) == both
    assert violations("add", (F3, F3)) == set()
    assert violations("add", (F3,), {"y": 1}) == {"program.arity", "program.params"}


def test_a_clause_is_not_asked_before_those_that_it_needs() -> None:
    x, y = ShapedArray((2, 3), "float32"), ShapedArray((2,), "float32")
    numbers = (((5,), (0,)), ((), ()))
    found = violations("dot_general", (x, y), {**DOT, "dimension_numbers": numbers})
    assert found == {"dot_general.lhs-axes"}


def test_a_param_of_no_domain_hides_the_clauses_of_the_row() -> None:
    found = violations("reduce_sum", (F3,), {"axes": 7, "out_sharding": None})
    assert found == {"program.domain"}


def test_without_a_clause_its_violation_passes() -> None:
    less = without("pointwise2.dtype")
    assert infer("add", (F3, I3), (), less) == (F3,)
    assert violations("add", (F3, I3), (), less) == set()
    with pytest.raises(TypeError):
        infer("add", (F3, I3))


def test_without_a_clause_about_equations_its_violation_passes() -> None:
    less = without("program.params")
    assert infer("add", (F3, F3), {"extra": 1}, less) == (F3,)


def test_a_formula_that_fails_where_no_clause_refuses_is_the_tables_fault() -> None:
    tables = dict(default().tables)
    row = {"in": ["x"], "out": "(x,)", "value": "at(x, i)", "accuracy": "exact"}
    odd = {"id": "odd", "says": "Odd.", "holds": "x.shape[5] == 1"}
    tables["primitives"] = {"prim": {"same": {**row, "clause": [odd]}}}
    for stem in PRIMITIVES[1:]:  # whose derivatives speak of the rows that are gone
        tables.pop(stem)
    with pytest.raises(IndexError):
        infer("same", (F3,), (), load(tables))


def test_answers_are_remembered_and_rules_kept_apart() -> None:
    typer = Typer(default())
    found = typer.infer("add", (F3, F3), ())
    assert typer.memo == {("add", (F3, F3), (), ()): found}
    less = without("add.numeric")
    assert infer("add", (F3, F3), (), less) == found


@pytest.mark.parametrize(
    ("primitive", "right", "wrong"),
    [
        ("integer_pow", {"y": 2}, {"y": 2.0}),
        ("integer_pow", {"y": 1}, {"y": True}),
        ("reduce_max", {"axes": (0,)}, {"axes": (False,)}),
        ("reduce_max", {"axes": (0,)}, {"axes": (0.0,)}),
    ],
)
def test_params_that_are_only_equal_have_answers_of_their_own(
    primitive: str, right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    row = default().prims[primitive]
    as_params = lambda given: sort_params({**row.defaults, **given})  # noqa: E731
    assert infer(primitive, (F3,), as_params(right))
    with pytest.raises(TraceirError) as caught:
        infer(primitive, (F3,), as_params(wrong))
    assert caught.value.rule == "program.domain"


def test_a_program_in_a_param_is_not_kept_alive() -> None:
    inner = parse("{ lambda ; a:f32[3]. let b:f32[3] = neg a in (b,) }")
    params = {p.name: p.default for p in default().prims["jit"].params}
    params |= {"name": "f", "jaxpr": inner}
    assert infer("jit", (F3,), params) == (F3,)
    alive = weakref.ref(inner)
    del inner, params
    gc.collect()
    assert alive() is None


# --- programs -------------------------------------------------------------------------

NESTED = """{ lambda ; a:f32[3] b:f32[4]. let
    c:f32[3] = jit[
      name=f
      jaxpr={ lambda ; a:f32[3] b:f32[4]. let c:f32[3] = add a b in (c,) }
    ] a b
  in (c,) }"""

ILL: dict[str, tuple[str, str]] = {
    "program.inputs": ("{ lambda ; a:f32[] a:f32[]. let in (a,) }", "(a, a)"),
    "program.bound": (
        "{ lambda ; a:f32[]. let b:f32[] = neg c in (b,) }",
        "c in `b:f32[] = neg c`",
    ),
    "program.defined-once": (
        "{ lambda ; a:f32[]. let a:f32[] = neg a in (a,) }",
        "a in `a:f32[] = neg a`",
    ),
    "program.outputs": ("{ lambda ; a:f32[]. let in (b,) }", "b"),
    "program.primitive": (
        "{ lambda ; a:f32[]. let b:f32[] = frob a in (b,) }",
        "frob in `b:f32[] = frob a`",
    ),
    "program.arity": (
        "{ lambda ; a:f32[]. let b:f32[] = neg a a in (b,) }",
        "2 and 1 in `b:f32[] = neg a a`",
    ),
    "program.params": (
        "{ lambda ; a:f32[]. let b:f32[] = neg[y=2] a in (b,) }",
        "y and () in `b:f32[] = neg[y=2] a`",
    ),
    "program.domain": (
        "{ lambda ; a:f32[]. let b:f32[] = integer_pow[y=two] a in (b,) }",
        "y='two', not int in `b:f32[] = integer_pow[y=two] a`",
    ),
    "program.results": (
        "{ lambda ; a:f32[]. let b:f32[] c:f32[] = neg a in (b, c) }",
        "2 and 1 in `b:f32[] c:f32[] = neg a`",
    ),
    "program.result-type": (
        "{ lambda ; a:f32[]. let b:i32[] = neg a in (b,) }",
        "(int32[],) and (float32[],) in `b:i32[] = neg a`",
    ),
    "pointwise2.broadcast": (NESTED, "(3,) and (4,) in `c:f32[3] = add a b`"),
}


@pytest.mark.parametrize("rule", ILL)
def test_an_ill_typed_program_is_refused(rule: str) -> None:
    text, got = ILL[rule]
    with pytest.raises(TypeError) as caught:
        check(parse(text))
    error = caught.value
    assert isinstance(error, TraceirError)
    assert (error.rule, error.got) == (rule, got)
    assert len(str(error).splitlines()) < 10


def program(eqns: tuple[Eqn, ...], a: Var, b: Var, **parts: Any) -> Jaxpr:
    """A program of these equations from `a` to `b`."""
    return Jaxpr(parts.get("constvars", ()), (a,), eqns, (b,))


def test_a_literal_is_a_scalar() -> None:
    a, b = Var(F3), Var(F3)
    eqn = Eqn("add", (a, Literal(1.0, F3)), (b,))
    with pytest.raises(JaxprTypeError) as caught:
        check(program((eqn,), a, b))
    assert (caught.value.rule, caught.value.got[:4]) == ("program.literal", "(3,)")


def test_params_are_sorted() -> None:
    a, b = Var(F3), Var(ShapedArray((), "float32"))
    params = (("out_sharding", None), ("axes", (0,)))
    with pytest.raises(JaxprTypeError) as caught:
        check(program((Eqn("reduce_sum", (a,), (b,), params),), a, b))
    assert caught.value.rule == "program.params"


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ((np.zeros(3, "float32"), np.zeros(3, "float32")), "program.constants"),
        ((np.zeros(4, "float32"),), "program.constant-type"),
        ((np.zeros(3, "float64"),), "program.constant-type"),
    ],
)
def test_constants_have_values_of_their_types(values: Any, rule: str) -> None:
    a, c = Var(F3), Var(F3)
    jaxpr = program((), a, c, constvars=(c,))
    check(ClosedJaxpr(jaxpr, (np.zeros(3, "float32"),)))
    check(jaxpr)  # as from text, which leaves values out
    with pytest.raises(JaxprTypeError) as caught:
        check(ClosedJaxpr(jaxpr, values))
    assert caught.value.rule == rule


def test_an_error_shows_the_users_line_and_not_the_checkers() -> None:
    a, b = Var(F3), Var(F4)
    where = capture()  # as if this line had made the equation
    eqn = Eqn("neg", (a,), (b,), source=where)
    with pytest.raises(JaxprTypeError, match="as if this line had made"):
        check(program((eqn,), a, b))
    with pytest.raises(JaxprTypeError) as caught:
        check(program((Eqn("neg", (a,), (b,)),), a, b))
    assert "test_typing.py" not in str(caught.value)


@pytest.mark.parametrize(
    "params, rule",
    [("jaxp=3", "program.params"), ("jaxpr=3", "program.domain")],
)
def test_an_equation_without_its_inner_program_is_shown(params: str, rule: str) -> None:
    text = f"{{ lambda ; a:f32[]. let b:f32[] = jit[name=f {params}] a in (b,) }}"
    program = parse(text)
    assert params in str(program)
    with pytest.raises(JaxprTypeError, match=re.escape(params)) as caught:
        check(program)
    assert caught.value.rule == rule


def test_weakness_is_not_compared() -> None:
    a, b = Var(SCALAR), Var(ShapedArray((), "float32"))
    check(program((Eqn("neg", (a,), (b,)),), a, b))


@pytest.mark.parametrize("rule", ILL)
def test_without_its_clause_an_ill_typed_program_is_not_so_refused(rule: str) -> None:
    assert outcome(ILL[rule][0], default()) == rule
    assert outcome(ILL[rule][0], without(rule)) != rule


def outcome(text: str, rules: Rules) -> str:
    """The id of the clause that refuses a program, or what else becomes of it."""
    try:
        check(parse(text), rules)
    except TraceirError as error:
        return error.rule
    except Exception as error:
        return type(error).__name__
    return "passes"
