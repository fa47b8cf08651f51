"""Linear functions and their transposes. Rules: derive.*, linearize.*, vjp.*

And linear_transpose.*
"""

from __future__ import annotations

import gc
import math
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.rule_errors import raises_rule
from traceir.dtypes import float0
from traceir.transforms.rules.registry import TRANSPOSE

V = jnp.arange(3.0) + 1


def counted(fun: Any) -> tuple[Any, list[int]]:
    """A function, and how often it has been called."""
    calls = [0]

    def wrapped(*args: Any) -> Any:
        calls[0] += 1
        return fun(*args)

    return wrapped, calls


@pytest.mark.parametrize("wrap", [lambda f: f, traceir.jit])
def test_a_linearized_function_is_used_again_without_a_trace(wrap: Any) -> None:
    fun, calls = counted(lambda x, y: (x * jnp.sin(y), y))
    value, linear = traceir.linearize(wrap(fun), 2.0, 1.0)
    assert float(value[0]) == pytest.approx(2 * math.sin(1.0))
    for s, t in [(1.0, 0.0), (0.0, 1.0), (3.0, -2.0)]:
        wanted = traceir.jvp(fun, (2.0, 1.0), (s, t))[1]
        calls[0] -= 1
        found = linear(s, t)
        assert np.allclose(found, wanted, rtol=1e-5)
    assert calls == [1]
    assert repr(linear) == "<LinearFunction of wrapped>"


@pytest.mark.parametrize("wrap", [lambda f: f, traceir.jit])
def test_a_function_back_is_used_again_without_a_trace(wrap: Any) -> None:
    fun, calls = counted(lambda v, s: (v * s, jnp.sum(v)))
    value, back = traceir.vjp(wrap(fun), V, 2.0)
    assert value[0].tolist() == [2, 4, 6]
    for a, b in [(jnp.ones(3), 0.0), (V, 5.0)]:
        ct_v, ct_s = back((a, b))
        assert np.allclose(ct_v, np.asarray(a) * 2 + b)
        assert float(ct_s) == pytest.approx(float(jnp.sum(a * V)))
    assert calls == [1]
    assert repr(back) == "<VJPFunction of wrapped>"


def test_a_result_that_does_not_move() -> None:
    value, linear = traceir.linearize(lambda x: (x, 3.0, 7), 1.0)
    tangents = linear(2.0)
    assert [float(v) for v in value] == [1.0, 3.0, 7.0]
    assert [float(t) for t in tangents[:2]] == [2.0, 0.0]
    assert tangents[2].dtype == float0
    _, back = traceir.vjp(lambda x: (x, 3.0, 7), 1.0)
    assert float(back((2.0, 5.0, np.zeros((), float0)))[0]) == 2.0


def test_no_arguments_and_no_leaves() -> None:
    value, back = traceir.vjp(lambda: 3.0)
    assert float(value) == 3.0 and back(1.0) == ()
    value, back = traceir.vjp(lambda x, y: x, 3.0, None)
    assert back(2.0)[1] is None


def test_integers_have_no_cotangent() -> None:
    _, back = traceir.vjp(lambda x, n: x * n, 1.0, 2)
    assert float(back(3.0)[0]) == 6.0 and back(3.0)[1].dtype == float0


def test_what_is_returned_beside_the_result() -> None:
    def fun(x: Any) -> Any:
        return x * x, {"x": x, "name": "square"}

    for transform in (traceir.vjp, traceir.linearize):
        value, linear, aux = transform(fun, 3.0, has_aux=True)
        assert (float(value), aux["name"]) == (9.0, "square")
        assert type(aux["x"]) is traceir.Array
        assert "6." in repr(linear(1.0))


def test_used_inside_other_transforms() -> None:
    def slope(x: Any) -> Any:
        _, back = traceir.vjp(jnp.sin, x)
        return back(1.0)[0]

    assert float(traceir.grad(slope)(0.5)) == pytest.approx(-math.sin(0.5))
    assert np.allclose(traceir.vmap(slope)(V), np.cos(V), atol=1e-6)
    assert np.allclose(traceir.jit(traceir.vmap(slope))(V), np.cos(V), atol=1e-6)
    _, back = traceir.vjp(jnp.sin, V)
    rows = traceir.vmap(back)(jnp.eye(3))[0]
    assert np.allclose(rows, np.diag(np.cos(V)), atol=1e-6)


def test_results_of_one_function_in_another() -> None:
    def outer(x: Any) -> Any:
        value, linear = traceir.linearize(lambda y: x * y * y, 2.0)
        return linear(1.0) + value

    assert float(traceir.grad(outer)(3.0)) == 8.0


def test_transposes_of_linear_functions() -> None:
    back = traceir.linear_transpose(lambda x, y: 2 * x - jnp.sum(y), 1.0, V)
    x, y = back(3.0)
    assert float(x) == 6.0 and y.tolist() == [-3, -3, -3]
    shape = traceir.ShapeDtypeStruct((3,), "float32")
    back = traceir.linear_transpose(lambda v: {"s": jnp.sum(v), "v": v * 2}, shape)
    assert back({"s": 1.0, "v": V})[0].tolist() == [3, 5, 7]
    assert int(traceir.linear_transpose(lambda n: n * 3, 1)(2)[0]) == 6
    assert traceir.linear_transpose(lambda v: 1.0, V)(2.0)[0].tolist() == [0, 0, 0]
    twice = traceir.linear_transpose(traceir.jit(lambda v: v + v), V)
    assert twice(V)[0].tolist() == [2, 4, 6]


def test_cotangents_go_through_every_path_that_fans_out() -> None:
    def fun(x: Any) -> Any:
        y = x * 2
        return y + y * 3 + x, y

    back = traceir.linear_transpose(fun, 1.0)
    assert float(back((1.0, 10.0))[0]) == 29.0


REFUSED: list[tuple[Any, str, type[Exception], str]] = [
    (lambda: traceir.vjp(3, 1.0), "jit.callable", TypeError, "3"),
    (
        lambda: traceir.vjp(jnp.sin, 1.0)[1](1.0, 2.0),
        "vjp.cotangents",
        TypeError,
        "2 for sin",
    ),
    (lambda: traceir.vjp(jnp.sin, 1.0)[1]((1.0,)), "vjp.tree", ValueError, r"\(\*,\)"),
    (
        lambda: traceir.vjp(lambda x: {"s": (x, x)}, 1.0)[1]({"s": [1.0, 1.0]}),
        "vjp.tree",
        ValueError,
        r"cotangent\['s'\] is \[\*, \*\], where the result\['s'\] is \(\*, \*\)",
    ),
    (
        lambda: traceir.vjp(lambda x: {"s": x}, 1.0)[1]({"s": 1}),
        "vjp.cotangent",
        ValueError,
        r"i32\[\] for the result\['s'\]",
    ),
    (lambda: traceir.vjp(jnp.sin, 1.0)[1](V), "vjp.cotangent", ValueError, r"f32\[3\]"),
    (
        lambda: traceir.vjp(lambda x: 3, 1.0)[1](V),
        "vjp.cotangent",
        ValueError,
        "a cotangent of float0",
    ),
    (
        lambda: traceir.vjp(jnp.sin, 1.0)[1](np.zeros((), float0)),
        "vjp.cotangent",
        ValueError,
        "got: float0",
    ),
    (
        lambda: traceir.vjp(jnp.sin, 1.0)[1]("a"),
        "jit.argument",
        TypeError,
        "the result",
    ),
    (
        lambda: traceir.linearize(jnp.sin, 1.0)[1](1.0, 2.0),
        "linearize.tree",
        TypeError,
        r"sin: tangents is \(\*, \*\), where primals is \(\*,\)",
    ),
    (lambda: traceir.linearize(jnp.sin, 1.0)[1](1), "jvp.dtype", TypeError, "int32"),
    (lambda: traceir.linearize(jnp.sin, 1.0)[1](V), "jvp.shape", ValueError, "(3,)"),
    (
        lambda: traceir.linear_transpose(jnp.sin, 1.0)(1.0),
        "derive.nonlinear",
        NotImplementedError,
        "operand 0 of sin",
    ),
    (
        lambda: traceir.linear_transpose(lambda x: 1 / x, 1.0)(1.0),
        "derive.nonlinear",
        NotImplementedError,
        "operand 1 of div",
    ),
    (
        lambda: traceir.linear_transpose(lambda x: x.astype(int), 1.0),
        "linear_transpose.dtype",
        TypeError,
        "float32 to int32",
    ),
    (
        lambda: traceir.linear_transpose(lambda x: 2 * x, 1.0)((1.0,)),
        "linear_transpose.tree",
        TypeError,
        r"the cotangent is \(\*,\), where the result is \*",
    ),
    (
        lambda: traceir.linear_transpose(lambda x: 2 * x, 1.0)(1),
        "linear_transpose.cotangent",
        TypeError,
        r"i32\[\]",
    ),
]


@pytest.mark.parametrize(("call", "rule", "kind", "pattern"), REFUSED)
def test_what_they_refuse(call: Any, rule: str, kind: Any, pattern: str) -> None:
    with raises_rule(rule, kind, pattern):
        call()


def test_a_product_of_what_is_to_be_linear_is_refused() -> None:
    with raises_rule("derive.nonlinear", NotImplementedError, "of mul"):
        traceir.linear_transpose(lambda x: x * x, 1.0)(1.0)


def test_the_rule_of_a_registry_goes_before_the_table() -> None:
    def doubled(cts: Any, operands: Any, params: Any) -> Any:
        return [traceir.tracing.trace.bind("mul", cts[0], np.float32(2))]

    TRANSPOSE["neg"] = doubled
    try:
        assert float(traceir.grad(lambda x: -x)(1.0)) == 2.0
    finally:
        del TRANSPOSE["neg"]


@pytest.mark.parametrize("transform", [traceir.vjp, traceir.linearize])
def test_a_linear_function_is_a_tree_that_jit_may_return(transform: Any) -> None:
    def fun(x: Any) -> Any:
        return jnp.sin(x) * x + jnp.sum(V)

    at_once = transform(fun, 2.0)[1]
    under_jit = traceir.jit(lambda x: transform(fun, x)[1])(2.0)
    assert np.allclose(under_jit(3.0), at_once(3.0), rtol=1e-5)
    assert repr(under_jit) == repr(at_once)
    doubled = traceir.tree.map(lambda v: v * 2, transform(jnp.sin, 2.0)[1])
    assert np.allclose(doubled(1.0), 2 * math.cos(2.0), rtol=1e-5)


@pytest.mark.parametrize("transform", [traceir.vjp, traceir.linearize])
def test_a_linear_function_keeps_what_it_needs_alone(transform: Any) -> None:
    def fun(x: Any) -> Any:
        jnp.sin(jnp.broadcast_to(x, (5, 7, 11)))  # and nothing is done with it
        return x * 1.0

    before = _arrays((5, 7, 11))
    linear = transform(fun, 2.0)[1]
    gc.collect()
    assert _arrays((5, 7, 11)) == before
    assert float(np.ravel(linear(1.0))[0]) == 1.0


def _arrays(shape: tuple[int, ...]) -> int:
    found = [v for v in gc.get_objects() if type(v) is traceir.Array]
    return sum(v.shape == shape for v in found)


@pytest.mark.parametrize("transform", [traceir.vjp, traceir.linearize])
def test_an_array_that_changes_later_is_as_it_was(transform: Any) -> None:
    scale = np.arange(3, dtype="float32")
    linear = transform(lambda x: x * scale, V)[1]
    scale[:] = 100
    assert np.ravel(linear(V * 0 + 1)).tolist() == [0.0, 1.0, 2.0]


def test_the_constants_of_a_program_are_not_given_away() -> None:
    scale = jnp.arange(3.0)
    _, back = traceir.vjp(traceir.jit(lambda x: x * scale), V)
    [leaf] = traceir.tree.leaves(back)
    assert type(leaf) is traceir.Array


@pytest.mark.parametrize("cotangent", [1, 1.0, True, jnp.ones((), bool)])
def test_a_result_of_integers_takes_any_number_for_nothing(
    cotangent: Any,
) -> None:
    _, back = traceir.vjp(lambda x: (x * 2, x > 0), 3.0)
    assert back((1.0, cotangent)) == (2.0,)
