"""Templates of derivatives: how they are read, and what the loader refuses.

Rules: table.template, table.derivative, derive.template, derive.broadcast
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import traceir
from tests.rule_errors import raises_rule
from traceir.ir.avals import ShapedArray
from traceir.rules import default, load
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.templates import (
    TemplateHole,
    TemplateName,
    TemplateNumber,
    TemplateSpread,
    parse_template,
)
from traceir.tracing.trace import typeof
from traceir.transforms.rules.derivative_templates import broadcast, scalar, unbroadcast


def template(text: str) -> Any:
    """A template over x, the values of xs, and t."""
    values = {"x": False, "xs": True, "t": False}
    return parse_template(text, values, FormulaNames(["axes", "k"]), "here")


def test_statements_and_results() -> None:
    found = template("c = reduce_sum[axes={axes}] x; d e = split c; mul t d")
    first, second, last = found.statements
    assert (first.results, first.primitive) == (("c",), "reduce_sum")
    assert [(n, f.text) for n, f in first.params] == [("axes", "axes")]
    assert second.results == ("d", "e")
    assert last.operands == (TemplateName("t"), TemplateName("d"))
    assert found.whole


def test_parts() -> None:
    found = template("a = concatenate *xs; b = mul a -2.5; c = pad b 0:int32; c, x")
    numbers = [s.operands for s in found.statements]
    assert numbers[0] == (TemplateSpread("xs"),)
    assert numbers[1] == (TemplateName("a"), TemplateNumber(-2.5))
    assert numbers[2] == (TemplateName("b"), TemplateNumber(0, "int32"))
    assert found.results == (TemplateName("c"), TemplateName("x")) and not found.whole
    hole = template("mul {k} t").statements[0].operands[0]
    assert isinstance(hole, TemplateHole) and hole.formula.text == "k"
    assert template("t").results == (TemplateName("t"),)
    assert template("mul x inf").statements[0].operands[1] == TemplateNumber(
        float("inf")
    )


def test_a_statement_for_each_of_several_values() -> None:
    found = template("*r = mul {k} *xs; *s = neg *r; concatenate *s")
    first, second, last = found.statements
    assert (first.each, second.each, last.each) == (True, True, False)
    assert second.operands == (TemplateSpread("r"),)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("*r = neg x; t", "of no operand that is several"),
        ("*r = neg *xs; neg r", "r"),
        ("*r s = split *xs; t", "s"),
        ("mul t y", "y"),
        ("c = cos x", "no more"),
        ("c = cos x; c = sin x; c", "c, which has a meaning already"),
        ("x = cos x; x", "x, which has a meaning already"),
        ("mul t xs", "xs"),
        ("mul t *x", r"\*x"),
        ("mul[axes] t", r"\]"),
        ("mul[axes={axes} t", "t"),
        ("mul t ? x", r"\? x"),
        ("t x", "x"),
        ("t, ", "no more"),
        ("= mul t x", "="),
    ],
)
def test_what_is_no_template(text: str, got: str) -> None:
    with raises_rule("table.template", ValueError, got, inside=True):
        template(text)


def test_formulas_in_templates_are_formulas() -> None:
    with raises_rule("table.name", ValueError, "zzz", inside=True):
        template("reduce_sum[axes={zzz}] x")


TABLES: list[tuple[dict[str, Any], str]] = [
    ({"jvp": {"z": "t"}}, "z"),
    ({"transpose": {"z": "ct"}}, "z"),
    ({"linear": ["z"]}, "z"),
    ({"linear": ["x"], "jvp": {"x": "t"}}, "more than one"),
    ({"derivative": "zero", "linear": ["x"]}, "more than one"),
    ({"jvp": {"x": "mul t"}}, "1 operands of mul"),
    ({"jvp": {"x": "mul t t t"}}, "3 operands of mul"),
    ({"jvp": {"x": "reduce_sum t"}}, "reduce_sum with the params axes"),
    ({"jvp": {"x": "neg[axes={x.shape}] t"}}, "neg with the params axes"),
    ({"jvp": {"x": []}}, "case"),
    ({"batch": {"rule": "front", "is": "mul x"}}, "1 operands of mul"),
    ({"batch": {"rule": "front", "is": []}}, "case"),
    ({"jvp": {"x": [{"is": "t"}, {"is": "neg t"}]}}, "case after one for all"),
]


@pytest.mark.parametrize(("columns", "got"), TABLES)
def test_columns_that_the_loader_refuses(columns: dict[str, Any], got: str) -> None:
    tables = copy.deepcopy(dict(default().tables))
    row = tables["primitives"]["prim"]["add"]
    for key in ("jvp", "transpose"):
        row.pop(key)
    row |= columns
    with raises_rule("table.derivative", ValueError, got, inside=True):
        load(tables)


def test_a_tangent_of_several_values_has_no_template() -> None:
    tables = copy.deepcopy(dict(default().tables))
    row = tables["primitives"]["prim"]["concatenate"]
    row.pop("linear")
    row["jvp"] = {"xs": "t"}
    with raises_rule("table.derivative", ValueError, r"\*xs", inside=True):
        load(tables)


def test_a_number_is_typed_by_what_stands_beside_it() -> None:
    weak = scalar(2, ShapedArray((3,), "float32", weak_type=True))
    assert type(weak) is float
    assert scalar(2, ShapedArray((3,), "float16")).dtype == np.float16
    assert scalar(2, ShapedArray((), "float16", weak_type=True)).dtype == np.float16


@pytest.mark.parametrize(
    ("shape", "target"),
    [((3, 4), ()), ((3, 4), (1, 4)), ((3, 4), (3, 1)), ((3, 4), (1, 1)), ((2,), (2,))],
)
def test_a_cotangent_is_summed_and_a_tangent_broadcast(
    shape: tuple[int, ...], target: tuple[int, ...]
) -> None:
    value = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    axes = tuple(d for d, n in enumerate(shape) if not target or n != target[d])
    wanted = value.sum(axis=axes, keepdims=bool(target))
    assert np.array_equal(unbroadcast(value, target), wanted)
    small = np.ones(target, "float32")
    assert np.array_equal(broadcast(small, shape), np.ones(shape))


def test_an_operation_that_changes_nothing_is_left_out() -> None:
    closed = traceir.make_jaxpr(traceir.grad(lambda x: traceir.numpy.sum(x)))(2.0)
    assert [e.primitive for e in closed.eqns].count("broadcast_in_dim") == 0
    assert typeof(broadcast(2.0, ())).weak_type


def test_every_differentiable_row_is_read() -> None:
    rows = default().prims
    zero = {n for n, p in rows.items() if p.derivative and p.derivative.zero}
    assert {"eq", "floor", "argmax", "iota"} <= zero
    assert rows["mul"].derivative and set(rows["mul"].derivative.transpose) == {
        "x",
        "y",
    }


def test_a_number_beside_a_weak_operand_keeps_all_digits() -> None:
    def slope(x: Any) -> Any:
        return traceir.jvp(traceir.lax.cbrt, (x,), (x,))[1]

    assert "mul 0.3333333333333333:f32[] " in str(traceir.make_jaxpr(slope)(0.5))
    strong = traceir.make_jaxpr(slope)(np.float32(0.5))
    assert "mul 0.3333333432674408:f32[] " in str(strong)
    weak = ShapedArray((), np.dtype(np.float32), weak_type=True)
    assert scalar(2, weak) == 2.0
    assert isinstance(scalar(2, weak), float)
