"""Derivatives against finite differences and one another; and at corners.

Rules: derive.jvp, derive.transpose, derive.template
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from equations import Equation
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_errors import raises_rule
from scipy import special
from soak import examples

import traceir
import traceir.numpy as jnp
from tests.transforms.test_derivative_table import (
    SMOOTH,
    floating,
    smooth,
    tangents_of,
)
from traceir import lax
from traceir.dtypes import float0
from traceir.tracing.trace import bind_all

F = np.float32
STEP = 1e-6


def spread(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Numbers between 0.5 and 2, no two alike: away from ties, zeros and poles."""
    random = np.random.default_rng(seed)
    return random.uniform(0.5, 2.0, shape)


def moved(xs: list[np.ndarray], ts: list[np.ndarray], step: float) -> list[Any]:
    return [x if x.dtype.kind not in "fc" else x + step * t for x, t in zip(xs, ts)]


def tangents(xs: list[np.ndarray], seed: int) -> list[np.ndarray]:
    return [
        spread(x.shape, seed + k).astype(x.dtype) if x.dtype.kind in "fc" else x
        for k, x in enumerate(tangents_of(xs))
    ]


def difference(fun: Any, xs: list[np.ndarray], ts: list[np.ndarray]) -> list[Any]:
    """The change of the results along the tangents, by a central difference."""
    above, below = fun(*moved(xs, ts, STEP)), fun(*moved(xs, ts, -STEP))
    pairs = zip(map(np.asarray, above), map(np.asarray, below), strict=True)
    # An infinity that stays where it is, as of an empty window, does not change.
    return [
        np.subtract(a, b, out=np.zeros_like(a), where=a != b) / (2 * STEP)
        for a, b in pairs
    ]


# Derivatives that are no limits of differences, as in JAX: of what goes in steps, that
# of the operand; of a sample, that of the number at its place in the distribution.
STEPPED, SAMPLED = "reduce_precision", "random_gamma"
NUMERIC = [prim for prim in SMOOTH if prim != STEPPED]
# What their derivatives are made of has none itself, in JAX either.
ONCE = ("eig", "random_gamma")
# So they do where the first operand moves.
ONCE_BY_FIRST = ("igamma", "igammac")
# Of their matrices one triangle is read, and the other is taken to mirror it.
SYMMETRIC = ("cholesky", "eigh")


def numbers(equation: Equation, held: int = 0) -> tuple[Any, list[np.ndarray]]:
    """The primitive as a function to its results that are no integers, and operands."""
    fun, arrays = smooth(equation, held)

    def run(*xs: Any) -> Any:
        if equation.prim in SYMMETRIC:
            xs = tuple(map(definite, xs))
        return [out for out in fun(*xs) if out.dtype.kind in "fc"]

    return run, wide(arrays)


def wide(xs: list[np.ndarray]) -> list[np.ndarray]:
    """Operands in double precision, which differences need: some rows mix dtypes."""
    return [x.astype("float64") if x.dtype.kind == "f" else x for x in xs]


def definite(x: Any) -> Any:
    """A symmetric matrix of another, with eigenvalues that lie apart."""
    steps = 3.0 * (1 + np.arange(x.shape[-1]))
    return jnp.matmul(x, jnp.swapaxes(x, -1, -2)) + np.diag(steps)


def near(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(found, wanted, rtol=1e-6, atol=1e-6))


@pytest.mark.parametrize("prim", [prim for prim in NUMERIC if prim != SAMPLED])
@settings(max_examples=examples(4))
@given(data=st.data())
def test_tangents_are_differences(prim: str, data: st.DataObject) -> None:
    equation, seed = data.draw(floating(prim, ("float64",))), 7
    with traceir.enable_x64(True):
        fun, xs = numbers(equation)
        ts = tangents(xs, seed + 50)
        _, found = traceir.jvp(fun, tuple(xs), tuple(ts))
        for tangent, wanted in zip(found, difference(fun, xs, ts), strict=True):
            assert near(tangent, wanted)


@pytest.mark.parametrize("prim", NUMERIC)
@settings(max_examples=examples(4))
@given(data=st.data())
def test_reverse_is_the_transpose_of_forward(prim: str, data: st.DataObject) -> None:
    equation, seed = data.draw(floating(prim, ("float64",))), 7
    with traceir.enable_x64(True):
        fun, xs = numbers(equation)
        ts = tangents(xs, seed + 50)
        outs, pushed = traceir.jvp(fun, tuple(xs), tuple(ts))
        cts = [
            spread(out.shape, seed + 70 + k).astype(out.dtype)
            for k, out in enumerate(outs)
        ]
        pulled = traceir.vjp(fun, *xs)[1](cts)
        forward = sum(np.sum(ct * t) for ct, t in zip(cts, map(np.asarray, pushed)))
        pairs = [(c, t) for c, t in zip(pulled, ts) if t.dtype != float0]
        reverse = sum(np.sum(np.asarray(ct) * t) for ct, t in pairs)
        # What is real takes the real part of what meets it.
        assert near(np.real(forward), np.real(reverse))


@pytest.mark.parametrize("prim", [prim for prim in NUMERIC if prim not in ONCE])
@settings(max_examples=examples(4))
@given(data=st.data())
def test_second_derivatives_are_differences_of_first(
    prim: str, data: st.DataObject
) -> None:
    equation, seed = data.draw(floating(prim, ("float64",))), 7
    with traceir.enable_x64(True):
        fun, xs = numbers(equation, prim in ONCE_BY_FIRST)
        ts, us = tangents(xs, seed + 30), tangents(xs, seed + 60)

        def gradient(*at: Any) -> Any:
            cts = [spread(out.shape, seed).astype(out.dtype) for out in fun(*at)]
            found = traceir.vjp(fun, *at)[1](cts)
            return [ct for ct in found if ct.dtype != float0]

        def slope(*at: Any) -> Any:
            return traceir.jvp(fun, at, tuple(us))[1]

        for derivative in (gradient, slope):
            _, found = traceir.jvp(derivative, tuple(xs), tuple(ts))
            wanted = difference(derivative, xs, ts)
            for tangent, change in zip(found, wanted, strict=True):
                assert np.allclose(tangent, change, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("prim", [*ONCE, *ONCE_BY_FIRST])
@settings(max_examples=examples(3))
@given(data=st.data())
def test_there_is_no_second_derivative(prim: str, data: st.DataObject) -> None:
    equation = data.draw(floating(prim, ("float64",)))
    with traceir.enable_x64(True):
        fun, xs = smooth(equation)
        ts = tuple(tangents_of(xs))
        rule = "derive.eigenvectors" if prim == "eig" else "derive.missing"
        with raises_rule(rule, NotImplementedError):
            traceir.jvp(lambda *at: traceir.jvp(fun, at, ts)[1], tuple(xs), ts)


@pytest.mark.parametrize("log_space", [False, True])
@given(form=st.floats(1.0, 20.0), seed=st.integers(0, 99))
def test_a_sample_moves_with_its_place(log_space: bool, form: float, seed: int) -> None:
    with traceir.enable_x64(True):
        params = (("log_space", log_space), ("partitionable", True))
        key = traceir.random.key(seed)
        [x], [t] = traceir.jvp(
            lambda a: bind_all(SAMPLED, [key, a], params), (form,), (1.0,)
        )
        if log_space:
            x, t = np.exp(x), np.exp(x) * t
        ends = [special.gammainc(form + h, x + h * t) for h in (-1e-4, 1e-4)]
        assert np.isclose(*ends, rtol=1e-9, atol=1e-12)


@given(x=st.floats(0.1, 5.0), y=st.floats(-3.0, 3.0))
def test_derivatives_of_powers(x: float, y: float) -> None:
    with traceir.enable_x64(True):
        by_x, by_y = traceir.grad(lax.pow, (0, 1))(x, y)
        assert np.isclose(float(by_x), y * x ** (y - 1), rtol=1e-12)
        assert np.isclose(float(by_y), x**y * np.log(x), rtol=1e-12)


def grads(fun: Any, *args: float) -> list[float]:
    """The gradients by all arguments, in float32."""
    found = traceir.grad(fun, tuple(range(len(args))))(*map(F, args))
    return [float(g) for g in found]


INF, NAN = np.inf, np.nan
CORNERS: dict[str, tuple[Any, tuple[float, ...], list[float]]] = {
    "a tie of max": (lax.max, (1, 1), [0.5, 0.5]),
    "a NaN in max": (lax.max, (NAN, 1), [0, 0]),
    "a tie of min": (lax.min, (1, 1), [0.5, 0.5]),
    "abs at 0": (lax.abs, (0,), [1]),
    "abs at -0": (lax.abs, (-0.0,), [1]),
    "abs below 0": (lax.abs, (-1,), [-1]),
    "sign at 0": (lax.sign, (0,), [0]),
    "floor at 1": (lax.floor, (1,), [0]),
    "pow 0 2": (lax.pow, (0, 2), [0, 0]),
    "pow 0 1": (lax.pow, (0, 1), [1, 0]),
    "pow 0 0": (lax.pow, (0, 0), [NAN, 0]),
    "pow 0 .5": (lax.pow, (0, 0.5), [INF, 0]),
    "pow -2 2": (lax.pow, (-2, 2), [-4, NAN]),
    "an integer power 0": (lambda x: lax.pow(x, np.int32(0)), (0,), [0]),
    "an integer power 1": (lambda x: lax.pow(x, np.int32(1)), (0,), [1]),
    "integer_pow 0": (lambda x: x**0, (0,), [0]),
    "integer_pow 1": (lambda x: x**1, (0,), [1]),
    "integer_pow 2": (lambda x: x**2, (0,), [0]),
    "integer_pow -1": (lambda x: x**-1, (0,), [-INF]),
    "sqrt at 0": (lax.sqrt, (0,), [INF]),
    "rsqrt at 0": (lax.rsqrt, (0,), [-INF]),
    "log at 0": (lax.log, (0,), [INF]),
    "log1p at -1": (lax.log1p, (-1,), [INF]),
    "square at 0": (lax.square, (0,), [0]),
    "div by 0": (lax.div, (1, 0), [INF, -INF]),
    "rem": (lax.rem, (7, 2), [1, -3]),
    "rem below 0": (lax.rem, (-7, 2), [1, 3]),
    "rem of a multiple": (lax.rem, (4, 2), [1, -2]),
    "clamp at the lower bound": (lax.clamp, (0, 0, 1), [0, 0, 0]),
    "clamp at the upper bound": (lax.clamp, (0, 1, 1), [0, 0, 0]),
    "clamp within": (lax.clamp, (0, 0.5, 1), [0, 1, 0]),
    "clamp below": (lax.clamp, (0, -1, 1), [1, 0, 0]),
    "clamp above": (lax.clamp, (0, 2, 1), [0, 0, 1]),
    "clamp of crossed bounds": (lax.clamp, (2, 1, 0), [0, 0, 1]),
    "select_n": (lambda x, y: lax.select_n(True, x, y), (0, 1), [0, 1]),
    "where of a NaN": (lambda x: jnp.where(x > 0, jnp.log(x), 0.0), (0,), [NAN]),
    "tanh at infinity": (lax.tanh, (INF,), [0]),
    "exp at -infinity": (lax.exp, (-INF,), [0]),
    "asin at 1": (lax.asin, (1,), [INF]),
    "acos at -1": (lax.acos, (-1,), [-INF]),
    "acosh at 1": (lax.acosh, (1,), [INF]),
    "atanh at 1": (lax.atanh, (1,), [INF]),
    "atan at infinity": (lax.atan, (INF,), [0]),
    "asinh at infinity": (lax.asinh, (INF,), [0]),
    "atan2 at the origin": (lax.atan2, (0, 0), [NAN, NAN]),
    "atan2": (lax.atan2, (1, -1), [-0.5, -0.5]),
    "cbrt at 0": (lax.cbrt, (0,), [INF]),
    "expm1 at -infinity": (lax.expm1, (-INF,), [0]),
    "logistic at infinity": (lax.logistic, (INF,), [0]),
    "logistic at -infinity": (lax.logistic, (-INF,), [0]),
    "erf at infinity": (lax.erf, (INF,), [0]),
    "erf_inv at 1": (lax.erf_inv, (1,), [INF]),
    "ceil at 1": (lax.ceil, (1,), [0]),
    "a comparison": (lambda x: x * (x == 1).astype(F), (1,), [1]),
    "to integers and back": (lambda x: x.astype("int32").astype(F) * x, (2.5,), [2]),
    "stop_gradient": (lambda x: lax.stop_gradient(x) * x, (3,), [3]),
}


@pytest.mark.parametrize("corner", sorted(CORNERS))
def test_the_derivative_at_a_corner_is_that_of_jax(corner: str) -> None:
    fun, at, wanted = CORNERS[corner]
    assert np.array_equal(grads(fun, *at), wanted, equal_nan=True)


LINES: dict[str, tuple[Any, list[float], list[float]]] = {
    "a tie of reduce_max": (jnp.max, [1, 3, 3, 2], [0, 0.5, 0.5, 0]),
    "a tie of reduce_min": (jnp.min, [1, 3, 1, 2], [0.5, 0, 0.5, 0]),
    "a NaN in reduce_max": (jnp.max, [1, NAN, 1], [NAN, NAN, NAN]),
    "reduce_prod with a zero": (jnp.prod, [1, 0, 3, 2], [0, 6, 0, 0]),
    "reduce_prod with two": (jnp.prod, [1, 0, 0, 2], [0, 0, 0, 0]),
    "reduce_prod of one": (jnp.prod, [5], [1]),
    "reduce_prod of none": (jnp.prod, [], []),
    "a tie of cummax": (lambda x: lax.cummax(x).sum(), [1, 3, 3, 2], [1, 2, 1, 0]),
    "a tie of cummin": (lambda x: lax.cummin(x).sum(), [3, 1, 1, 2], [1, 2, 1, 0]),
    "a NaN in cummax": (lambda x: lax.cummax(x).sum(), [1, NAN, 1], [1, 0, 0]),
    "cumprod with a zero": (lambda x: jnp.cumprod(x).sum(), [2, 0, 3], [1, 8, 0]),
    "cumprod of none": (lambda x: jnp.cumprod(x).sum(), [], []),
    "cumlogsumexp with a zero": (
        lambda x: lax.cumlogsumexp(x).sum(),
        [0, -INF, 0],
        [2.5, 0, 0.5],
    ),
    "cumlogsumexp of zeros": (
        lambda x: lax.cumlogsumexp(x).sum(),
        [-INF, -INF, 0],
        [NAN, NAN, 1],
    ),
    "reduce_sum of none": (jnp.sum, [], []),
    "argmax": (lambda x: x[0] * jnp.argmax(x), [1, 3, 3, 2], [1, 0, 0, 0]),
}


@pytest.mark.parametrize("corner", sorted(LINES))
def test_the_derivative_of_a_reduction(corner: str) -> None:
    fun, at, wanted = LINES[corner]
    found = traceir.grad(fun)(np.array(at, F))
    assert np.array_equal(found, np.array(wanted, F), equal_nan=True)
