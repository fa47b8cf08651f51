"""Derivatives that compute again, and captures made arguments.

Rules: checkpoint.*, remat2.*, name, stop_gradient
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.rule_errors import raises_rule
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr


def twice(x: Any) -> Any:
    return jnp.sin(jnp.sin(x))


h = traceir.checkpoint(twice)


def close(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.asarray(found), wanted, rtol=1e-5))


def program_in(closed: ClosedJaxpr, primitive: str) -> ClosedJaxpr:
    """The program of the only equation of that primitive."""
    [eqn] = [e for e in closed.eqns if e.primitive == primitive]
    found: ClosedJaxpr = eqn.param("jaxpr")
    return found


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        traceir.jit,
        traceir.grad,
        lambda f: traceir.grad(traceir.grad(f)),
        lambda f: traceir.grad(traceir.jit(f)),
        lambda f: traceir.jit(traceir.grad(f)),
        lambda f: lambda x: traceir.jvp(f, (x,), (2.0,))[1],
        lambda f: lambda x: traceir.linearize(f, x)[1](2.0),
        lambda f: lambda x: traceir.vmap(traceir.grad(f))(jnp.array([x, 2 * x])),
        lambda f: (
            lambda x: traceir.grad(lambda x: traceir.vmap(f)(x).sum())(
                jnp.array([x, 2 * x])
            )
        ),
        traceir.hessian,
        lambda f: traceir.grad(
            lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0]
        ),
        lambda f: traceir.grad(traceir.checkpoint(f)),
    ],
)
def test_a_checkpoint_changes_no_value(transform: Any) -> None:
    assert close(transform(h)(0.7), transform(twice)(0.7))


def test_the_arguments_alone_are_saved() -> None:
    closed = traceir.make_jaxpr(traceir.grad(h))(1.0)
    assert (
        str(closed)
        == """\
{ lambda ; a:f32[]. let
    b:f32[] = sin a
    _:f32[] = sin b
    c:f32[] = remat2[
      differentiated=True
      jaxpr={ lambda ; d:f32[] e:f32[]. let
          f:f32[] = sin d
          g:f32[] = cos d
          h:f32[] = cos f
          i:f32[] = mul e h
          j:f32[] = mul i g
        in (j,) }
      policy=None
      prevent_cse=True
    ] a 1.0:f32[]
  in (c,) }"""
    )
    traceir.check(closed)
    assert str(traceir.parse(str(closed))) == str(closed)


def test_what_no_tangent_needs_is_not_computed_again() -> None:
    def fun(a: Any, x: Any) -> Any:
        return traceir.checkpoint(lambda a, x: (jnp.sin(a) * jnp.cos(x), a))(a, x)[0]

    again = program_in(traceir.make_jaxpr(traceir.grad(fun))(1.0, 2.0), "remat2")
    assert [e.primitive for e in again.eqns] == ["cos", "cos", "mul", "mul"]


def test_captures_become_operands() -> None:
    def fun(a: Any, x: Any) -> Any:
        scale = jnp.array([1.0, 2.0])
        return traceir.checkpoint(lambda x: scale * jnp.sin(a * x))(x).sum()

    closed = traceir.make_jaxpr(fun)(2.0, 3.0)
    assert program_in(closed, "remat2").consts == ()
    by_a, by_x = traceir.grad(fun, (0, 1))(2.0, 3.0)
    assert close(by_a, 9 * np.cos(6.0)) and close(by_x, 6 * np.cos(6.0))


def test_static_arguments_and_options() -> None:
    @traceir.checkpoint(prevent_cse=False, static_argnums=(1,))
    def fun(x: Any, n: int) -> Any:
        return x * n if n > 2 else x

    assert float(fun(1.0, 3)) == 3.0 and float(traceir.grad(fun)(1.0, 3)) == 3.0
    [eqn] = traceir.make_jaxpr(lambda x: fun(x, n=3))(1.0).eqns
    assert eqn.param("prevent_cse") is False and fun.__name__ == "fun"
    with raises_rule("level.concretize.bool", pattern="checkpoint"):
        traceir.checkpoint(lambda x: x if x > 0 else -x)(1.0)


def test_older_names_are_read() -> None:
    text = str(traceir.make_jaxpr(h)(1.0))
    for name in ("checkpoint", "remat"):
        assert traceir.parse(text.replace("remat2", name)) == traceir.parse(text)


def test_a_checkpointed_function_runs_in_both_backends() -> None:
    x = np.linspace(0, 1, 5, dtype="f4")
    gradient = lambda x: traceir.grad(lambda x: h(x).sum())(x)  # noqa: E731
    found = [traceir.jit(gradient, backend=b)(x) for b in ("reference", "numba")]
    assert close(found[0], found[1]) and close(found[0], gradient(x))


def test_closure_convert_makes_arguments_of_what_varies() -> None:
    def fun(x: Any, n: Any, y: Any) -> Any:
        call, captured = traceir.closure_convert(lambda z: jnp.sin(x) * z * n, 1.0)
        assert [t.aval.dtype for t in captured] == ["float32"]
        return call(y, *captured)

    assert close(traceir.jit(traceir.grad(fun))(1.0, 3, 2.0), np.cos(1.0) * 6)
    call, captured = traceir.closure_convert(lambda z: {"r": z + 1}, 1.0)
    assert captured == [] and float(call(2.0)["r"]) == 3.0
    with raises_rule("jit.argument", TypeError):
        call("a")


def test_stop_gradient_stops_every_derivative() -> None:
    def fun(x: Any) -> Any:
        return lax.stop_gradient({"a": x * x})["a"] * x

    for transform in (lambda f: f, traceir.jit):
        assert float(transform(traceir.grad(fun))(3.0)) == 9.0
        assert float(traceir.grad(transform(fun))(3.0)) == 9.0
        assert float(traceir.jvp(transform(fun), (3.0,), (2.0,))[1]) == 18.0
    tree = traceir.make_jaxpr(lambda x: lax.stop_gradient((x, 1)))(1.0)
    assert [e.primitive for e in tree.eqns] == ["stop_gradient"] * 2
    assert lax.stop_gradient(3).dtype == "int32"


def test_stop_gradient_costs_nothing() -> None:
    x = np.ones(4, "f4")
    lowered = traceir.jit(lambda x: lax.stop_gradient(x) + 1, backend="numba").lower(x)
    # The program itself stands in the text that the source begins with.
    assert "stop" not in lowered.as_text().split('"""')[2]
