"""Forward mode: values, tangents, what they are called with. Rules: derive.*, jvp.*"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.rule_errors import raises_rule
from traceir.dtypes import float0
from traceir.transforms.rules.registry import JVP, LINEARIZE, TRANSPOSE

X, T = 0.7, 2.0


def close(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-6))


@pytest.mark.parametrize(
    ("fun", "slope"),
    [
        (jnp.sin, math.cos(X)),
        (lambda x: x * jnp.sin(x), math.sin(X) + X * math.cos(X)),
        (lambda x: x, 1.0),
        (lambda x: 3.0, 0.0),
        (lambda x: x**3 - 2 * x, 3 * X**2 - 2),
        (traceir.jit(lambda x: jnp.exp(x) / x), math.exp(X) * (X - 1) / X**2),
        (lambda x: x * 2 if x > 0 else -x, 2.0),
        (lambda x: jnp.tanh(x) * float(np.float32(3)), 3 * (1 - math.tanh(X) ** 2)),
    ],
)
def test_the_tangent_is_the_slope_times_the_tangent(fun: Any, slope: float) -> None:
    value, tangent = traceir.jvp(fun, (X,), (T,))
    assert close(value, np.asarray(fun(X)))
    assert close(tangent, T * slope)
    assert isinstance(value, traceir.Array) and isinstance(tangent, traceir.Array)


def test_trees_and_several_arguments() -> None:
    def fun(d: Any, y: Any) -> Any:
        return {"s": d["a"] * y, "t": (d["b"][0], None)}

    primals = {"a": jnp.ones(3), "b": [2.0]}, 4.0
    tangents = {"a": jnp.arange(3.0), "b": [5.0]}, 1.0
    value, tangent = traceir.jvp(fun, primals, tangents)
    assert close(value["s"], [4, 4, 4]) and value["t"][1] is None
    assert close(tangent["s"], [1, 5, 9])
    assert close(tangent["t"][0], 5.0)


def test_what_is_returned_beside_the_result_is_not_differentiated() -> None:
    def fun(x: Any) -> Any:
        return x * x, {"x": x, "name": "square"}

    value, tangent, aux = traceir.jvp(fun, (3.0,), (1.0,), has_aux=True)
    assert (float(value), float(tangent)) == (9.0, 6.0)
    assert aux["name"] == "square" and type(aux["x"]) is traceir.Array


def test_tangents_of_integers_have_the_dtype_float0() -> None:
    zero = np.zeros((), float0)
    value, tangent = traceir.jvp(lambda n, x: (n * 2, n * x), (3, 2.0), (zero, 1.0))
    assert (int(value[0]), float(value[1])) == (6, 6.0)
    assert tangent[0].dtype == float0 and tangent[0].shape == ()
    assert float(tangent[1]) == 3.0


def test_truth_is_known_and_what_no_derivative_could_follow_is_refused() -> None:
    seen = []

    def fun(x: Any) -> Any:
        seen.extend([bool(x > 1), not x, x.shape])
        with raises_rule("level.concretize.number", TypeError, "for jvp"):
            float(x)
        with raises_rule("level.concretize.array", TypeError):
            np.asarray(x)
        return x

    traceir.jvp(fun, (2.0,), (1.0,))
    assert seen == [True, False, ()]


def test_a_tracer_shows_its_level_and_both_values() -> None:
    seen: list[str] = []

    def fun(x: Any) -> Any:
        seen.append(repr(x))
        return x

    traceir.jvp(fun, (2.0,), (1.0,))
    assert seen == [
        "Traced<ShapedArray(float32[], weak_type=True)>with<JVPTrace(level=1/0)> "
        "primal=2.0 tangent=1.0"
    ]


def test_levels_are_kept_apart() -> None:
    def inner(x: Any) -> Any:
        return traceir.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    assert float(traceir.jvp(lambda x: x * inner(x), (1.0,), (1.0,))[1]) == 1.0


def test_a_value_that_escapes_is_refused() -> None:
    kept: list[Any] = []
    traceir.jvp(lambda x: kept.append(x * 2) or x, (1.0,), (1.0,))
    with raises_rule("level.lift", TypeError, "for jvp, made at .*test_jvp.py"):
        kept[0] + 1
    with raises_rule("level.lift", TypeError):
        traceir.jvp(lambda x: x * kept[0], (1.0,), (1.0,))
    with raises_rule("level.lift", TypeError):
        traceir.grad(lambda x: x)(kept[0])


@pytest.mark.parametrize(
    ("call", "rule", "kind", "pattern"),
    [
        (lambda: traceir.jvp(3, (1.0,), (1.0,)), "jit.callable", TypeError, "3"),
        (lambda: traceir.jvp(jnp.sin, 1.0, 1.0), "jvp.sequence", TypeError, "float"),
        (
            lambda: traceir.jvp(jnp.sin, (1.0,), (1.0, 2.0)),
            "jvp.tree",
            TypeError,
            r"tangents is \(\*, \*\), where primals is \(\*,\)",
        ),
        (
            lambda: traceir.jvp(lambda d: d["a"], ({"a": 1.0},), ({"a": (1.0,)},)),
            "jvp.tree",
            TypeError,
            r"tangents\[0\]\['a'\] is \(\*,\), where primals\[0\]\['a'\] is \*",
        ),
        (
            lambda: traceir.jvp(lambda d: d["a"], ({"a": 1.0},), ({"a": 1},)),
            "jvp.dtype",
            TypeError,
            r"int32 at argument d\['a'\]",
        ),
        (lambda: traceir.jvp(jnp.sin, (1,), (1,)), "jvp.dtype", TypeError, "float0"),
        (
            lambda: traceir.jvp(jnp.sin, (jnp.ones(3),), (1.0,)),
            "jvp.shape",
            ValueError,
            r"\(3,\)",
        ),
        (
            lambda: traceir.jvp(jnp.sin, ("a",), ("a",)),
            "jit.argument",
            TypeError,
            "argument x",
        ),
        (
            lambda: traceir.jvp(lambda x: {"r": "a"}, (1.0,), (1.0,)),
            "jit.output",
            TypeError,
            r"str at output component \['r'\]",
        ),
        (
            lambda: traceir.jvp(lambda x: x, (1.0,), (1.0,), has_aux=True),
            "derive.aux",
            TypeError,
            "jvp",
        ),
    ],
)
def test_what_it_refuses(call: Any, rule: str, kind: Any, pattern: str) -> None:
    with raises_rule(rule, kind, pattern):
        call()


def test_a_primitive_without_a_derivative_is_named() -> None:
    row = JVP.pop("jit")
    linearize = LINEARIZE.pop("jit")
    try:
        with raises_rule("derive.missing", NotImplementedError, "jit"):
            traceir.grad(traceir.jit(jnp.sin))(1.0)
    finally:
        JVP["jit"], LINEARIZE["jit"] = row, linearize


def test_the_registries_name_primitives_only() -> None:
    known = traceir.rules.default().prims
    for registry in (JVP, LINEARIZE, TRANSPOSE):
        assert registry.keys() <= known.keys()


def test_constants_that_stay_still_cost_nothing() -> None:
    def fun(x: Any) -> Any:
        return x * jnp.sin(2.0)

    closed = traceir.make_jaxpr(lambda t: traceir.jvp(fun, (1.0,), (t,)))(1.0)
    names = [eqn.primitive for eqn in closed.eqns]
    assert names == ["sin", "mul", "mul"]
