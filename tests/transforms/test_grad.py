"""Gradients: values, positions, trees, what they refuse. Rules: grad.*, derive.*"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.rule_errors import raises_rule
from traceir.dtypes import float0

V = jnp.arange(4.0) + 1


def test_the_gradient_of_a_scalar() -> None:
    assert float(traceir.grad(jnp.sin)(1.0)) == pytest.approx(math.cos(1.0))
    assert float(traceir.grad(lambda x: x)(1.0)) == 1.0
    assert float(traceir.grad(lambda x: 3.0)(1.0)) == 0.0
    assert traceir.grad(lambda x: 3.0)(V).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("wrap", [lambda f: f, traceir.jit])
def test_derivatives_of_derivatives(wrap: Any) -> None:
    fun = wrap(jnp.sin)
    for n in range(5):
        wanted = math.sin(0.5 + n * math.pi / 2)
        assert float(fun(0.5)) == pytest.approx(wanted, abs=1e-6)
        fun = wrap(traceir.grad(fun))


def test_a_value_used_twice_gets_both_contributions() -> None:
    def fun(v: Any) -> Any:
        w = jnp.sin(v)
        return jnp.sum(w * w + w)

    found = traceir.grad(fun)(V)
    wanted = np.cos(V) * (2 * np.sin(V) + 1)
    assert np.allclose(found, wanted, atol=1e-5)


def test_levels_are_kept_apart() -> None:
    grad = traceir.grad
    assert float(grad(lambda a: a * grad(lambda y: a + y)(1.0))(1.0)) == 1.0
    assert float(grad(lambda x: grad(lambda y: x * y * y)(x))(3.0)) == 12.0
    inner = traceir.jit(lambda x: traceir.jvp(lambda y: x + y, (1.0,), (1.0,))[1])
    assert float(grad(lambda x: x * inner(x))(1.0)) == 1.0


def test_weakness_and_dtype_are_those_of_the_argument() -> None:
    strong = jnp.array(2.0, "float32")
    for fun in (lambda x: x * x, jnp.tanh, lambda x: x * np.float32(2), lambda x: 1.0):
        assert traceir.grad(fun)(2.0).aval.weak_type
        assert not traceir.grad(fun)(strong).aval.weak_type
    half = traceir.grad(lambda x: x * x)(jnp.array(2.0, "float16"))
    assert half.dtype == np.float16
    with traceir.enable_x64(True):
        assert traceir.grad(jnp.sin)(np.float64(1.0)).dtype == np.float64
        assert traceir.grad(jnp.sin)(1.0).dtype == np.float64


def test_positions() -> None:
    def fun(x: Any, y: Any, z: Any = 5.0) -> Any:
        return x * y * y * z

    grad = traceir.grad
    assert float(grad(fun)(2.0, 3.0)) == 45.0
    assert float(grad(fun, argnums=1)(2.0, 3.0)) == 60.0
    assert float(grad(fun, argnums=-1)(2.0, 3.0)) == 60.0
    assert float(grad(fun, argnums=-1)(2.0, 3.0, 1.0)) == 18.0
    found = grad(fun, argnums=(1, 0))(2.0, 3.0)
    assert type(found) is tuple and [float(v) for v in found] == [60.0, 45.0]
    assert float(grad(fun)(2.0, 3.0, z=1.0)) == 9.0
    assert len(grad(fun, argnums=[0])(2.0, 3.0)) == 1


def test_trees() -> None:
    def fun(p: Any, x: Any) -> Any:
        return jnp.sum(p["w"] * x) + p["b"][0]

    found = traceir.grad(fun)({"w": V, "b": (1.0, None)}, V)
    assert found["w"].tolist() == [1, 2, 3, 4]
    assert found["b"][1] is None and float(found["b"][0]) == 1.0


def test_integers_among_the_leaves() -> None:
    found = traceir.grad(lambda d: d["x"] * d["n"], allow_int=True)({"x": 2.0, "n": 3})
    assert float(found["x"]) == 3.0
    assert found["n"].dtype == float0 and found["n"].shape == ()


def test_a_value_beside_the_result() -> None:
    def fun(x: Any) -> Any:
        return x * x, {"twice": 2 * x, "name": "square"}

    found, aux = traceir.grad(fun, has_aux=True)(3.0)
    assert (float(found), float(aux["twice"]), aux["name"]) == (6.0, 6.0, "square")
    (value, aux), found = traceir.value_and_grad(fun, has_aux=True)(3.0)
    assert (float(value), float(found)) == (9.0, 6.0)
    assert type(aux["twice"]) is traceir.Array


def test_python_may_branch_on_values_unless_something_records() -> None:
    def fun(x: Any) -> Any:
        return x * x if x > 0 else -x

    assert float(traceir.grad(fun)(3.0)) == 6.0
    assert float(traceir.grad(fun)(-3.0)) == -1.0
    assert float(traceir.grad(traceir.grad(fun))(3.0)) == 2.0
    assert float(traceir.hessian(fun)(3.0)) == 2.0
    for recorded in (
        traceir.jit(traceir.grad(fun)),
        traceir.grad(traceir.jit(fun)),
        traceir.make_jaxpr(traceir.grad(fun)),
    ):
        with raises_rule("level.concretize.bool", TypeError, "argument x"):
            recorded(3.0)


def test_a_loop_may_depend_on_a_value() -> None:
    def root(a: Any) -> Any:
        x = a
        while abs(x * x - a) > 1e-5:
            x = (x + a / x) / 2
        return x

    assert float(traceir.grad(root)(4.0)) == pytest.approx(0.25, rel=1e-3)


def test_the_function_is_called_once() -> None:
    calls: list[str] = []

    def fun(x: Any) -> Any:
        calls.append(repr(x))
        return x * x

    traceir.grad(fun)(1.0)
    assert len(calls) == 1 and "JVPTrace(level=1/0)" in calls[0]
    traceir.jit(traceir.grad(fun))(1.0)
    assert len(calls) == 2 and "JVPTrace(level=2/0)" in calls[1]


def test_names_and_documentation() -> None:
    def energy(x: Any) -> Any:
        return x

    found = traceir.grad(energy)
    assert found.__name__ == "energy" and "energy" in (found.__doc__ or "")


def test_closures_over_values_of_outer_transforms() -> None:
    def outer(x: Any) -> Any:
        return traceir.grad(traceir.jit(lambda y: x * y * y))(2.0)

    assert float(traceir.grad(outer)(3.0)) == 4.0
    assert float(traceir.jit(traceir.grad(outer))(3.0)) == 4.0
    assert traceir.vmap(outer)(V).tolist() == [4, 8, 12, 16]


def test_a_value_that_escapes_is_refused() -> None:
    kept: list[Any] = []
    traceir.grad(lambda x: (kept.append(x * 2), x)[1])(1.0)
    with raises_rule("level.lift", TypeError, "for grad"):
        kept[0] + 1


def fun_of_two(x: Any, y: Any) -> Any:
    return x * y


REFUSED: list[tuple[Any, str, type[Exception], str]] = [
    (lambda: traceir.grad(3), "jit.callable", TypeError, "3 for grad"),
    (lambda: traceir.grad(jnp.sin)(V), "grad.scalar", TypeError, r"\(4,\)"),
    (
        lambda: traceir.grad(lambda x: (x, x))(1.0),
        "grad.scalar",
        TypeError,
        r"\(\*, \*\)",
    ),
    (lambda: traceir.grad(lambda x: None)(1.0), "grad.scalar", TypeError, "None"),
    (lambda: traceir.grad(jnp.sin)(1), "grad.input-dtype", TypeError, "int32"),
    (
        lambda: traceir.grad(lambda d: d["a"][0])({"a": [True]}),
        "grad.input-dtype",
        TypeError,
        r"bool at argument d\['a'\]\[0\]",
    ),
    (lambda: traceir.grad(lambda x: 3)(1.0), "grad.output-dtype", TypeError, "int32"),
    (lambda: traceir.grad(jnp.sin)("a"), "jit.argument", TypeError, "argument x"),
    (
        lambda: traceir.grad(fun_of_two, argnums=2)(1.0, 2.0),
        "grad.argnums",
        TypeError,
        "argnums=2 of grad, called with 2 positional",
    ),
    (lambda: traceir.grad(jnp.sin)(x=1.0), "grad.argnums", TypeError, "with 0"),
    (
        lambda: traceir.grad(fun_of_two, argnums=-3)(1.0, 2.0),
        "grad.argnums-range",
        ValueError,
        "-3",
    ),
    (
        lambda: traceir.grad(fun_of_two, argnums=(0, -2))(1.0, 2.0),
        "grad.argnums-range",
        ValueError,
        "distinct",
    ),
    (
        lambda: traceir.grad(fun_of_two, argnums=())(1.0, 2.0),
        "grad.argnums-range",
        ValueError,
        "least one",
    ),
    (
        lambda: traceir.grad(fun_of_two, argnums="x")(1.0, 2.0),
        "grad.argnums-type",
        TypeError,
        "'x'",
    ),
    (
        lambda: traceir.grad(jnp.sin, holomorphic=True)(1.0),
        "grad.holomorphic",
        TypeError,
        "float32",
    ),
    (
        lambda: traceir.grad(lambda x: (x, x, x), has_aux=True)(1.0),
        "derive.aux",
        TypeError,
        "tuple of 3",
    ),
    (
        lambda: traceir.grad(lambda x: x, has_aux=True)(1.0),
        "derive.aux",
        TypeError,
        "f32\\[\\] from the function of grad",
    ),
]


@pytest.mark.parametrize(("call", "rule", "kind", "pattern"), REFUSED)
def test_what_it_refuses(call: Any, rule: str, kind: Any, pattern: str) -> None:
    with raises_rule(rule, kind, pattern):
        call()


def test_an_error_names_the_line_of_the_user() -> None:
    with raises_rule("grad.scalar", TypeError, "test_grad.py"):
        traceir.grad(jnp.sin)(V)


SIZED_BY_VALUES = {
    "nonzero": lambda x: x[jnp.nonzero(x)],
    "argwhere": lambda x: x[jnp.argwhere(x)[:, 0]],
    "flatnonzero": lambda x: x[jnp.flatnonzero(x)],
    "where": lambda x: x[jnp.where(x)],
    "trim_zeros": jnp.trim_zeros,
    "a mask": lambda x: x[x != 0],
    "extract": lambda x: jnp.extract(x, x),
}


@pytest.mark.parametrize("name", SIZED_BY_VALUES)
def test_the_values_of_what_has_a_derivative_are_known(name: str) -> None:
    taken = SIZED_BY_VALUES[name]
    slope = traceir.grad(lambda x: (taken(x) ** 2).sum())(jnp.array([0.0, 2.0, 3.0]))
    np.testing.assert_array_equal(slope, [0.0, 4.0, 6.0])


@pytest.mark.parametrize("name", SIZED_BY_VALUES)
def test_what_is_known_is_known_in_every_trace(name: str) -> None:
    taken, x = SIZED_BY_VALUES[name], jnp.array([0.0, 2.0, 3.0])
    if name != "a mask":  # a comparison is recorded
        found = traceir.jit(lambda: taken(x))()
        np.testing.assert_array_equal(found, [2.0, 3.0])
