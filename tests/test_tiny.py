"""One page that shows that the whole system lives, in less than two seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
from rule_errors import raises_rule

import traceir as jax
import traceir.numpy as jnp
from traceir.conform import judge, load_cases
from traceir.conform.systems.implementations import Oracle, Reference

TEXT = "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = add a b in (c,) }"


def selu(x: Any, alpha: float = 1.67, lambda_: float = 1.05) -> Any:
    return lambda_ * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def test_text_parses_checks_prints_and_runs() -> None:
    program = jax.parse(TEXT)
    jax.check(program)
    assert str(program) == TEXT
    (result,) = jax.eval_jaxpr(program.jaxpr, program.consts, np.zeros(3))
    assert result.tolist() == [0, 0, 0]


def test_a_function_is_traced_once_and_runs() -> None:
    seen: list[str] = []

    @jax.jit
    def f(x: Any) -> Any:
        seen.append(str(x))
        return selu(x)

    for _ in range(2):
        assert str(f(1.5)) == "1.5749999"
    assert seen == [
        "Traced<ShapedArray(float32[], weak_type=True)>"
        "with<DynamicJaxprTrace(level=1/0)>"
    ]
    assert f.cache_info()[:2] == (1, 1)


def test_backends_agree_bit_for_bit_on_the_dyadic_grid() -> None:
    def f(x: Any, y: Any) -> Any:
        return jnp.where(x > y, x * y - 1.5, x + y).sum(axis=0)

    x = jnp.arange(12.0).reshape(3, 4) / 8
    y = x[::-1].max(axis=1, keepdims=True) - x
    reference = jax.jit(f, backend="reference")(x, y)
    assert np.array_equal(jax.jit(f)(x, y), reference)
    assert np.array_equal(f(x, y), reference)


def test_an_error_is_a_clause() -> None:
    with raises_rule("level.concretize.bool", TypeError, "the argument x"):
        jax.jit(lambda x: 1 if x > 0 else 2)(1.0)
    with raises_rule("pointwise2.dtype", TypeError):
        jax.check(
            jax.parse("{ lambda ; a:f32[] b:i32[]. let c:f32[] = add a b in () }")
        )


def test_a_few_cases() -> None:
    cases = [c for c in load_cases() if c.name.split("/")[0] in ("add", "cache")]
    assert len(cases) > 10
    for implementation in (Oracle(), Reference()):
        for case in cases:
            assert judge(implementation, case), case.name
