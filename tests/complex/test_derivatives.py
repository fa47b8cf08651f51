"""Derivatives of complex functions: against differences. Serves: derive.complex"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.base.config import enable_x64

ANALYTIC: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(jnp, name)
        for name in (
            *("exp", "exp2", "expm1", "log", "log1p", "log2", "sqrt", "square"),
            *("sin", "cos", "tan", "arcsin", "arccos", "arctan"),
            *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
            "reciprocal",
        )
    },
    "rsqrt": lax.rsqrt,
    "logistic": lax.logistic,
    "integer power": lambda z: z**3,
    "power": lambda z: z ** (1.5 + 0.5j),
    "quotient": lambda z: (z + 2) / (z * z - 3j),
}
POINT = 0.4 + 0.7j
STEP = 1e-6


@pytest.mark.parametrize("name", ANALYTIC)
def test_the_derivative_of_an_analytic_function(name: str) -> None:
    fun = ANALYTIC[name]
    with enable_x64():
        ahead, behind = (complex(fun(POINT + h)) for h in (STEP, -STEP))
        want = (ahead - behind) / (2 * STEP)
        for way in (traceir.grad, traceir.jacfwd, traceir.jacrev):
            assert abs(complex(way(fun, holomorphic=True)(POINT)) - want) < 1e-8
        _, tangent = traceir.jvp(fun, (POINT,), (1j,))
        assert abs(complex(tangent) - 1j * want) < 1e-8


REAL_VALUED: dict[str, Callable[[Any], Any]] = {
    "distance": jnp.abs,
    "real part": lambda z: jnp.real(z * z),
    "imaginary part": lambda z: jnp.imag(jnp.exp(z)),
    "angle": jnp.angle,
    "squares": lambda z: jnp.real(z * jnp.conj(z)),
    "parts": lambda z: jnp.abs(lax.complex(z.imag, 2 * z.real)),
    "norm of many": lambda z: jnp.sum(jnp.abs(jnp.stack([z, z * z])) ** 2),
}


@pytest.mark.parametrize("name", REAL_VALUED)
def test_the_gradient_of_a_real_function(name: str) -> None:
    fun = REAL_VALUED[name]
    with enable_x64():
        along, across = (
            float((fun(POINT + h) - fun(POINT - h)) / (2 * STEP))
            for h in (STEP, 1j * STEP)
        )
        found = complex(traceir.grad(fun)(POINT))
        assert abs(found - (along - 1j * across)) < 1e-8


def test_the_distance_from_zero_has_a_gradient_at_zero() -> None:
    assert complex(traceir.grad(jnp.abs)(0j)) == 0


def test_transposes_conjugate_nothing() -> None:
    pairs = (
        (lambda z: z * 2j, 1 + 1j, -2 + 2j),
        (jnp.conj, 1 + 2j, 1 - 2j),
        (lambda z: lax.complex(jnp.imag(z), jnp.real(z)), 1 + 2j, -2 - 1j),
    )
    for fun, cotangent, want in pairs:
        (found,) = traceir.linear_transpose(fun, 1j)(cotangent)
        assert complex(found) == want


def test_mapped_and_whole_derivatives() -> None:
    z = jnp.array([1j, 2.0])
    found = traceir.jacrev(lambda x: x * x, holomorphic=True)(z)
    np.testing.assert_array_equal(found, np.diag([2j, 4]))
    assert complex(traceir.hessian(lambda x: x**3, holomorphic=True)(1j)) == 6j
    each = traceir.vmap(traceir.grad(jnp.abs))(jnp.array([3 + 4j, -2j]))
    np.testing.assert_allclose(each, [0.6 - 0.8j, 1j], rtol=1e-6)
    assert complex(traceir.jacfwd(lambda x: x * 1j)(1.0)) == 1j


@pytest.mark.parametrize(
    ("rule", "ask"),
    [
        ("grad.output-dtype", lambda: traceir.grad(lambda x: x * 1j)(1.0)),
        ("grad.output-dtype", lambda: traceir.grad(jnp.abs, holomorphic=True)(1j)),
        ("grad.output-dtype", lambda: traceir.jacfwd(jnp.abs, holomorphic=True)(1j)),
        ("grad.output-dtype", lambda: traceir.jacrev(lambda x: x)(1j)),
        ("grad.holomorphic", lambda: traceir.grad(jnp.exp, holomorphic=True)(1.0)),
        ("grad.holomorphic", lambda: traceir.jacrev(jnp.exp, holomorphic=True)(1.0)),
        ("grad.holomorphic", lambda: traceir.jacfwd(jnp.exp)(1j)),
    ],
)
def test_what_has_no_such_derivative(rule: str, ask: Callable[[], Any]) -> None:
    with raises_rule(rule, TypeError, "complex64|float32"):
        ask()
