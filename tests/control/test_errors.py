"""Refusals of control flow: class, rule, and what was got, with the path of the leaf.

Rules: control.*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.errors import TraceirError

X = jnp.arange(3.0)


def one(*_: Any) -> float:
    """A weak float."""
    return 1.0


def whole(*_: Any) -> int:
    """A weak integer."""
    return 1


REFUSED: list[tuple[str, type, str, Callable[[], Any]]] = [
    (
        "control.callable",
        TypeError,
        "true_fun of cond is int",
        lambda: lax.cond(True, 1, one),
    ),
    (
        "control.callable",
        TypeError,
        "body_fun of while_loop",
        lambda: lax.while_loop(one, 2, 0),
    ),
    (
        "control.operand",
        TypeError,
        "1 operands and `operand=`",
        lambda: lax.cond(True, one, one, 1, operand=2),
    ),
    ("control.predicate", TypeError, "f32[3]", lambda: lax.cond(X, one, one)),
    ("control.predicate", TypeError, "list", lambda: lax.cond([1], one, one)),
    ("control.predicate", TypeError, "NoneType", lambda: lax.cond(None, one, one)),
    ("control.index", TypeError, "f32[]", lambda: lax.switch(1.0, [one, one])),
    ("control.index", TypeError, "bool[2]", lambda: lax.switch(X[:2] > 0, [one, one])),
    ("control.branches", ValueError, "no branches", lambda: lax.switch(0, [])),
    (
        "control.branch-types",
        TypeError,
        "true_fun one returns f32[], false_fun whole i32[]",
        lambda: lax.cond(True, one, whole),
    ),
    (
        "control.branch-types",
        TypeError,
        "branch 0 one returns f32[], branch 1 whole i32[]",
        lambda: lax.switch(0, [one, whole, one]),
    ),
    (
        "control.branch-types",
        TypeError,
        "returns i32[] at ['b'][1], false_fun <lambda> f32[]",
        lambda: lax.cond(True, lambda: {"b": (X, 1)}, lambda: {"b": (X, 2.0)}),
    ),
    (
        "control.branch-tree",
        TypeError,
        "returns (*, *) at ['b'], false_fun <lambda> [*, *]",
        lambda: lax.cond(True, lambda: {"b": (X, 1)}, lambda: {"b": [X, 1]}),
    ),
    (
        "control.branch-tree",
        TypeError,
        "takes PyTreeDef(*), returns PyTreeDef((*, *))",
        lambda: lax.associative_scan(lambda a, b: (a, b), X),
    ),
    (
        "control.condition",
        TypeError,
        "whole returns i32[]",
        lambda: lax.while_loop(whole, lambda c: c, 0),
    ),
    (
        "control.condition",
        TypeError,
        "bool[], i32[]",
        lambda: lax.while_loop(lambda c: (c > 0, c), lambda c: c, 0),
    ),
    (
        "control.carry-types",
        TypeError,
        "c['k'][0] is i32[], comes back as f32[]",
        lambda: lax.while_loop(
            lambda c: c["k"][0] > 0,
            lambda c: {"k": (c["k"][0] * 1.5,)},
            {"k": (jnp.asarray(1, "int32"),)},
        ),
    ),
    (
        "control.carry-types",
        TypeError,
        "c[1] is f32[3], comes back as f32[2,3]",
        lambda: lax.scan(lambda c, x: ((x, jnp.stack([X, X])), x), (0.0, X), X),
    ),
    (
        "control.carry-tree",
        TypeError,
        "c is *, comes back as (*, *)",
        lambda: lax.while_loop(lambda c: c > 0, lambda c: (c, c), 1),
    ),
    (
        "control.carry-tree",
        TypeError,
        "c['b'] is *, comes back as [*]",
        lambda: lax.scan(
            lambda c, x: ({"a": x, "b": [x]}, None), {"a": 0.0, "b": 0.0}, X
        ),
    ),
    ("control.pair", TypeError, "one returns f32[]", lambda: lax.scan(one, 0.0, X)),
    (
        "control.pair",
        TypeError,
        "(*, *, *)",
        lambda: lax.scan(lambda c, x: (c, x, x), 0.0, X),
    ),
    (
        "control.rows",
        ValueError,
        "f32[], which is xs['a']",
        lambda: lax.scan(lambda c, x: (c, x), 0.0, {"a": 1.0}),
    ),
    (
        "control.length",
        ValueError,
        "no arrays and no length",
        lambda: lax.scan(lambda c, x: (c, x), 0.0),
    ),
    (
        "control.length",
        ValueError,
        "length has 5, xs has 3",
        lambda: lax.scan(lambda c, x: (c, x), 0.0, X, length=5),
    ),
    (
        "control.length",
        ValueError,
        "xs['a'] has 3, xs['b'] has 2",
        lambda: lax.scan(lambda c, x: (c, x), 0.0, {"a": X, "b": X[:2]}),
    ),
    (
        "control.length",
        ValueError,
        "length has -1",
        lambda: lax.scan(lambda c, x: (c, x), 0.0, None, length=-1),
    ),
    (
        "level.concretize.number",
        traceir.errors.ConcretizationTypeError,
        "length of i32[], in the trace of <lambda> for jit",
        lambda: traceir.jit(lambda n: lax.scan(one, 0.0, None, length=n))(3),
    ),
    (
        "control.length",
        ValueError,
        "elems[0] has 3, elems[1] has 2",
        lambda: lax.associative_scan(lambda a, b: a, (X, X[:2])),
    ),
    (
        "control.unroll",
        ValueError,
        "unroll=-1",
        lambda: lax.scan(lambda c, x: (c, x), 0.0, X, unroll=-1),
    ),
    (
        "control.unroll",
        ValueError,
        "bounds that are traced",
        lambda: traceir.jit(lambda n: lax.fori_loop(0, n, one, 1.0, unroll=2))(3),
    ),
    (
        "control.bounds",
        TypeError,
        "f32[] and i32[]",
        lambda: lax.fori_loop(0.0, 1, one, 1.0),
    ),
    (
        "control.batch-size",
        ValueError,
        "batch_size=-1",
        lambda: lax.map(one, X, batch_size=-1),
    ),
    (
        "control.reverse-mode",
        ValueError,
        "lambda x: lax.while_loop(",
        lambda: traceir.grad(
            lambda x: lax.while_loop(lambda c: c < 9, lambda c: c * 2, x)
        )(1.0),
    ),
    (
        "control.reverse-mode",
        ValueError,
        "not known",
        lambda: traceir.jit(
            lambda n: traceir.grad(
                lambda x: lax.fori_loop(0, n, lambda i, c: c * x, 1.0)
            )(2.0)
        )(3),
    ),
    (
        "level.concretize.bool",
        TypeError,
        "for scan; it depends on the value of the argument c",
        lambda: lax.scan(lambda c, x: (c if c > 0 else x, x), 0.0, X),
    ),
    (
        "level.concretize.bool",
        TypeError,
        "in the trace of <lambda> for fori_loop; it depends on the value of the "
        "argument d['x']",
        lambda: lax.fori_loop(0, 3, lambda i, d: d if d["x"] > 0 else {}, {"x": 1.0}),
    ),
    (
        "level.concretize.bool",
        TypeError,
        "in the trace of <lambda> for map; it depends on the value of the argument r",
        lambda: lax.map(lambda r: r if r > 0 else 0.0, X),
    ),
    (
        "control.carry-types",
        TypeError,
        "fori_loop of <lambda>: d['x'] is f32[3], comes back as f32[]",
        lambda: lax.fori_loop(0, 3, lambda i, d: {"x": jnp.sum(d["x"])}, {"x": X}),
    ),
    (
        "control.carry-tree",
        TypeError,
        "fori_loop of <lambda>: d is {'x': *}, comes back as None",
        lambda: lax.fori_loop(0, 3, lambda i, d: None, {"x": X}),
    ),
    (
        "control.carry-types",
        TypeError,
        "associative_scan of <lambda>: elems['a'] is f32[1], comes back as f32[]",
        lambda: lax.associative_scan(
            lambda a, b: {"a": jnp.sum(a["a"] + b["a"])}, {"a": X}
        ),
    ),
    (
        "control.bounds",
        TypeError,
        "i32[2] and i32[]",
        lambda: lax.fori_loop(jnp.zeros(2, int), 3, lambda i, x: x, 1.0),
    ),
    (
        "jit.output",
        TypeError,
        "str at output component [0]['a']",
        lambda: lax.scan(lambda c, x: ({"a": "b"}, x), 0.0, X),
    ),
    (
        "face.argument",
        TypeError,
        "init['a']",
        lambda: lax.scan(lambda c, x: (c, x), {"a": "b"}, X),
    ),
]


@pytest.mark.parametrize(("rule", "kind", "got", "call"), REFUSED)
def test_the_error_names_rule_and_leaf(
    rule: str, kind: type, got: str, call: Callable[[], Any]
) -> None:
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert isinstance(error, TraceirError)
    assert error.rule == rule
    assert got in error.got
    assert "test_errors.py" in str(error)


def test_without_jit_a_scan_needs_a_step() -> None:
    with traceir.disable_jit(), pytest.raises(ValueError) as caught:
        lax.scan(lambda c, x: (c, x), 0.0, X[:0])
    assert caught.value.rule == "control.no-steps"
