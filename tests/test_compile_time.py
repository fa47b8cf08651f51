"""`ensure_compile_time_eval`: what is computed from constants is known while tracing.

The texts are those of JAX 0.10.2. Cites: level.compile-time
"""

from __future__ import annotations

from typing import Any

import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp


def branching(x: Any) -> Any:
    """Branches on a constant, and computes with a tracer beside it."""
    with traceir.ensure_compile_time_eval():
        y = jnp.sin(2.0)
        r = 1 if y > 0 else 2
        z = x * 2
    return x + y + r + z


def calling(x: Any) -> Any:
    """Calls a jitted function of a constant."""
    with traceir.ensure_compile_time_eval():
        return traceir.jit(lambda a: a + 1)(2.0) + x


def transforming(x: Any) -> Any:
    """Applies transforms to constants."""
    with traceir.ensure_compile_time_eval():
        slope = traceir.grad(jnp.sin)(2.0) * x
        return slope, traceir.vmap(jnp.sin)(jnp.arange(2.0)), jnp.arange(3)


def capturing(x: Any) -> Any:
    """Calls a jitted function that reads a tracer."""
    with traceir.ensure_compile_time_eval():
        return traceir.jit(lambda y: y * x)(2.0)


TEXTS = [
    (
        branching,
        """\
{ lambda a:f32[]; b:f32[]. let
    c:f32[] = mul b 2.0:f32[]
    d:f32[] = add b a
    e:f32[] = add d 1.0:f32[]
    f:f32[] = add e c
  in (f,) }""",
    ),
    (calling, "{ lambda a:f32[]; b:f32[]. let c:f32[] = add a b in (c,) }"),
    (
        transforming,
        """\
{ lambda a:f32[] b:f32[2] c:i32[3]; d:f32[]. let
    e:f32[] = mul a d
  in (e, b, c) }""",
    ),
    (
        capturing,
        """\
{ lambda ; a:f32[]. let
    b:f32[] = jit[
      name=<lambda>
      jaxpr={ lambda ; a:f32[] c:f32[]. let b:f32[] = mul c a in (b,) }
    ] a 2.0:f32[]
  in (b,) }""",
    ),
]


@pytest.mark.parametrize(("function", "text"), TEXTS)
def test_the_program_is_that_of_jax(function: Any, text: str) -> None:
    assert str(traceir.make_jaxpr(function)(1.0)) == text


def test_a_derivative_goes_through_it() -> None:
    assert float(traceir.grad(branching)(1.0)) == 3
    assert float(traceir.jit(traceir.grad(branching))(1.0)) == 3
    assert traceir.vmap(branching)(jnp.arange(2.0)).shape == (2,)


def test_a_tracer_is_known_no_better_for_it() -> None:
    def f(x: Any) -> Any:
        with traceir.ensure_compile_time_eval():
            return x if x > 0 else -x

    with raises_rule("level.concretize.bool", TypeError):
        traceir.jit(f)(1.0)


def test_outside_every_trace_it_changes_nothing() -> None:
    assert float(branching(1.0)) == pytest.approx(float(traceir.jit(branching)(1.0)))


def test_its_values_do_not_leak() -> None:
    kept: list[Any] = []

    @traceir.jit
    def f(x: Any) -> Any:
        with traceir.ensure_compile_time_eval():
            kept.append(jnp.sin(2.0) * 2.0)
        return x

    with traceir.checking_leaks():
        f(1.0)
    assert float(kept[0]) == pytest.approx(1.8185949)


def test_levels_count_traces_alone() -> None:
    seen: list[str] = []

    def f(x: Any) -> Any:
        with traceir.ensure_compile_time_eval():
            traceir.jit(lambda y: seen.append(repr(y)) or y)(x)
        return x

    traceir.make_jaxpr(f)(1.0)
    assert "level=2/0" in seen[0]
