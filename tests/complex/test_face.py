"""Functions of arrays of complex numbers, against NumPy's; texts of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.text import parse

Z = np.complex64([1.5 + 2j, -3 + 0.5j, 2 - 1j, 0.25j])
W = np.complex64([2 - 1j, 1 + 1j, -1j, 3])
M = np.complex64([[1 + 1j, 2], [3j, 4 - 2j]])
ONE = (
    *("real", "imag", "conj", "angle", "abs", "sign", "square", "sqrt", "exp", "log"),
    *("log2", "log10", "reciprocal", "negative", "positive", "isreal", "iscomplex"),
    *("isnan", "isinf", "isfinite", "sum", "mean", "var", "std", "prod", "max", "min"),
    *("cumsum", "cumprod", "sort", "argsort", "round", "rint", "nan_to_num", "diff"),
    *("all", "any", "iscomplexobj", "isrealobj", "flip", "ravel", "sinc", "ptp"),
    *("tan", "arcsin", "arctan", "tanh", "arcsinh", "arctanh", "log1p", "expm1"),
)
TWO = (
    *("add", "subtract", "multiply", "divide", "power", "equal", "not_equal", "less"),
    *("less_equal", "greater", "greater_equal", "maximum", "minimum", "dot", "vdot"),
    *("inner", "outer", "isclose", "allclose", "array_equal", "convolve", "kron"),
)


@pytest.mark.parametrize("name", ONE)
def test_a_function_of_an_array(name: str) -> None:
    want = getattr(np, name)(Z)
    found = getattr(jnp, name)(Z)
    np.testing.assert_allclose(found, want, rtol=3e-6, atol=1e-6)
    if name not in ("argsort", "iscomplexobj", "isrealobj"):
        assert found.dtype == want.dtype


@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_arrays(name: str) -> None:
    want = getattr(np, name)(Z, W)
    found = getattr(jnp, name)(Z, W)
    np.testing.assert_allclose(found, want, rtol=3e-6, atol=1e-6)
    assert found.dtype == np.asarray(want).dtype


OF_CONJUGATES = {
    "cov": lambda xp: xp.cov(M, rowvar=False),
    "corrcoef": lambda xp: xp.corrcoef(Z, W),
    "correlate": lambda xp: xp.correlate(Z, W[:2], "full"),
    "correlate-shorter": lambda xp: xp.correlate(W[:2], Z, "same"),
    "linspace": lambda xp: xp.linspace(Z, 2j, 3),
}


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("name", OF_CONJUGATES)
def test_what_is_made_of_conjugates(name: str, backend: str) -> None:
    fun = OF_CONJUGATES[name]
    found = traceir.jit(lambda: fun(jnp), backend=backend)()
    np.testing.assert_allclose(found, fun(np), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_the_logarithm_of_a_sum_of_exponentials(backend: str) -> None:
    found = traceir.jit(traceir.nn.logsumexp, backend=backend)(Z + 100)
    np.testing.assert_allclose(found, np.log(np.exp(Z).sum()) + 100, rtol=1e-6)


def test_attributes_and_methods() -> None:
    z = jnp.array(M)
    np.testing.assert_array_equal(z.real, M.real)
    np.testing.assert_array_equal(z.imag, M.imag)
    np.testing.assert_array_equal(z.conj(), M.conj())
    np.testing.assert_array_equal(abs(z), np.abs(M))
    np.testing.assert_allclose(z @ z.conj().T, M @ M.conj().T, rtol=1e-6)
    np.testing.assert_array_equal(jnp.arange(2).imag, [0, 0])
    more = np.array([[2j, 0], [0, 0]])
    np.testing.assert_array_equal(z.at[0, 0].add(2j), M + more)
    assert complex(z[1, 0]) == 3j and bool(z[1, 0])
    for number in (int, float):
        with pytest.raises(TypeError):
            number(z[0, 0])


def test_the_norm_is_that_of_distances() -> None:
    for order in (None, 1, np.inf):
        found = jnp.linalg.norm(M[0], order)
        np.testing.assert_allclose(found, np.linalg.norm(M[0], order), rtol=1e-6)


def test_dtypes() -> None:
    assert jnp.finfo(jnp.complex64).bits == 32
    assert jnp.isdtype(jnp.complex64, "complex floating")
    assert jnp.result_type(jnp.complex64, jnp.float32) == jnp.complex64
    assert not jnp.can_cast(jnp.complex64, jnp.float32)
    assert jnp.zeros(2, complex).dtype == jnp.complex64
    with traceir.base.config.enable_x64():
        assert jnp.zeros(2, complex).dtype == jnp.complex128
        assert (jnp.ones(2) * 1j).dtype == jnp.complex128


def test_functions_in_jit_are_those_outside() -> None:
    def fun(z: Any, w: Any) -> Any:
        return jnp.sum(jnp.exp(z) * jnp.conj(w)) / jnp.abs(w), z.real @ w.imag

    found = traceir.jit(fun, backend="reference")(Z, W)
    for a, b in zip(found, fun(jnp.array(Z), jnp.array(W)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_angle_of_complex_coordinates_is_by_their_logarithm() -> None:
    want = -1j * np.log((W + 1j * Z) / np.sqrt(Z * Z + W * W))
    np.testing.assert_allclose(jnp.arctan2(Z, W), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.tan(jnp.arctan2(Z, W)), Z / W, rtol=1e-4)
    assert np.isnan(jnp.arctan2(1.0, 1j))  # a point of length 0


NUMBERS = (
    *(2j, -2j, 1 + 2j, complex(-0.0, -0.0), complex(0.0, -0.0), complex("nan-infj")),
    *(complex("infj"), 1.1j, 1e30 + 1e-30j, 1 + 0j),
)


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_a_number_is_read_as_it_was_written(number: complex) -> None:
    text = str(traceir.make_jaxpr(lambda z: z * number)(Z))
    assert f"mul a {complex(np.complex64(number))}:c64[]" in text
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("floor.floating", "floor"),
        ("index_reduction.ordered", "argmax"),
        ("rem.numeric", "fmod"),
        ("face.complex", "hypot"),
        ("face.complex", "copysign"),
        ("face.complex", "signbit"),
        ("face.complex", "clip"),
    ],
)
def test_what_has_no_meaning_is_refused(rule: str, name: str) -> None:
    xs = (Z,) if name in ("floor", "argmax", "signbit") else (Z, Z)
    with raises_rule(rule, TypeError, "complex64"):
        getattr(jnp, name)(*xs)
