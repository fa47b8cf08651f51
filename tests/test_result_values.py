"""Values of what the tables of result types say may be called: against NumPy's.

Cites face.complex, index.option, dot_general.numeric
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax, nn
from traceir.jit.function import JitFunction, Options
from traceir.scipy import signal, special, stats

M = np.array([[1, -2], [3, 120]], np.int8)
TWO = ("bool", "int8", "uint8", "int32", "float16", "float32", "complex64")


@pytest.mark.parametrize("one", TWO)
@pytest.mark.parametrize("other", TWO)
def test_products_of_two_dtypes(one: str, other: str) -> None:
    x, y = M.astype(one), abs(M.astype("int16")).astype(other)
    found = lax.dot(x, y)
    wide = x.astype("complex128") @ y.astype("complex128")
    if {one, other} <= {"bool"}:
        wide = wide != 0
    elif found.dtype.kind in "iu":
        whole = x.astype("int64") @ y.astype("int64")
        wide = whole.astype(found.dtype)
    np.testing.assert_allclose(np.asarray(found, "complex64"), wide, rtol=1e-3)
    assert lax.dot(y, x).dtype == found.dtype


@pytest.mark.parametrize("asked", ["int32", "uint32", "float32", "complex64"])
def test_products_in_a_dtype_that_holds_them(asked: str) -> None:
    x = np.abs(M.astype("int16")).astype("int8")
    found = lax.dot(x, x, preferred_element_type=asked)
    assert found.dtype == asked
    np.testing.assert_array_equal(found, x.astype("int64") @ x.astype("int64"))


def test_sums_of_truths() -> None:
    x = np.array([[0, 2], [0, 0], [3, 4]])
    np.testing.assert_array_equal(jnp.sum(x, 1, dtype=bool), x.any(1))
    np.testing.assert_array_equal(jnp.prod(x, 1, dtype=bool), x.all(1))
    assert bool(jnp.sum(x[1], dtype=bool, initial=True))


def test_a_number_as_covariance() -> None:
    x, mean = np.array([0.5, -1.0, 2.0], "f"), np.array([0.0, 1.0, 2.5], "f")
    found = stats.multivariate_normal.logpdf(x, mean, 2.0)
    whole = stats.multivariate_normal.logpdf(x, mean, 2 * jnp.eye(3))
    np.testing.assert_allclose(found, whole, rtol=1e-6)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_a_traced_distance_apart(name: str) -> None:
    found = traceir.jit(lambda d: getattr(jnp.fft, name)(5, d))(0.25)
    np.testing.assert_allclose(found, getattr(np.fft, name)(5, 0.25))


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int8"])
def test_places_of_the_dtype_of_what_they_are_of(dtype: str) -> None:
    i = np.array([5, 0, 3], dtype)
    rows, columns = jnp.unravel_index(i, (2, 3))
    assert rows.dtype == columns.dtype == dtype
    np.testing.assert_array_equal(rows, i // 3)
    flat = jnp.ravel_multi_index((rows, columns), (2, 3), mode="clip")
    assert flat.dtype == dtype
    np.testing.assert_array_equal(flat, i)


def test_places_that_their_dtype_does_not_hold() -> None:
    i = np.array([20, 3], "uint8")
    found = jnp.ravel_multi_index((i, i), (100, 30), mode="clip")
    np.testing.assert_array_equal(found, i.astype(int) * 30 + i)


def test_numpys_places_are_wide() -> None:
    def f(x: Any) -> Any:
        row, column = np.unravel_index(x, (3, 4))
        return row, column, np.ravel_multi_index((row, x), (3, 12), mode="clip")

    options = Options(backend="reference", face="numpy", x64=True, numpy_out=True)
    ours, x = JitFunction(f, None, None, options), np.array([3, 4, 5], "uint8")
    for found, wanted in zip(ours(x), f(x), strict=True):
        assert found.dtype == wanted.dtype == "int64"
        np.testing.assert_array_equal(found, wanted)


COMPLEX: list[Any] = [
    lambda z: stats.norm.cdf(z),
    lambda z: stats.beta.pdf(0.5, z, 2.0),
    lambda z: stats.gennorm.logpdf(z, 2.0),
    lambda z: stats.dirichlet.logpdf(jnp.array([0.5]), z),
    lambda z: special.kl_div(z, 2.0),
    lambda z: traceir.random.beta(traceir.random.key(0), z, 1.0),
    lambda z: jnp.var(z, dtype="float32"),
]


@pytest.mark.parametrize("case", range(len(COMPLEX)))
def test_no_imaginary_part_is_lost(case: int) -> None:
    with raises_rule("face.complex"):
        COMPLEX[case](jnp.array([0.5 + 1j, 0.25]))


def test_moments_in_a_complex_dtype() -> None:
    found = jnp.var(jnp.array([1.0, 3.0]), dtype="complex64")
    assert found.dtype == "complex64"
    assert complex(found) == 1


def test_windows_of_another_rank() -> None:
    with raises_rule("conv_general_dilated.rank"):
        lax.conv_general_dilated_patches(np.float32(1), (2,), (1,), "SAME")


@pytest.mark.parametrize(("own", "other"), [("complex64", "f"), ("f", "complex64")])
def test_derivatives_of_parts(own: str, other: str) -> None:
    x = np.array([1, 2, -3, 0.5], own)
    found, slope = traceir.jvp(lambda v: v.view(other), (x,), (2 * x,))
    np.testing.assert_array_equal(found, x.view(other))
    np.testing.assert_array_equal(slope, (2 * x).view(other))
    back = traceir.grad(lambda v: jnp.sum(abs(v.view(other)) ** 2))(x)
    np.testing.assert_array_equal(back, 2 * x.conj())


@pytest.mark.parametrize("dtype", ["int32", "float16", "complex64"])
def test_covariances_of_no_variable(dtype: str) -> None:
    for function in (jnp.cov, jnp.corrcoef):
        found = function(np.zeros((0, 3), dtype))
        assert found.shape == (0, 0)
        assert found.dtype == "float32"


def test_an_integral_of_truths_has_the_dtype_of_its_constant() -> None:
    with traceir.enable_x64(True):
        found = jnp.polyint(np.array([True, False]))
    assert found.dtype == "float64"
    np.testing.assert_array_equal(found, [0.5, 0, 0])


def test_what_counts_may_have_more_dimensions() -> None:
    x, where = np.array([1, 2, 4], "f"), np.array([[1, 0, 1], [0, 1, 1]], bool)
    total = jnp.sum(x, 0, where=where, keepdims=True)
    np.testing.assert_array_equal(total, [[1, 2, 8]])
    total = jnp.sum(1.5, where=where[0], keepdims=True)
    np.testing.assert_array_equal(total, [1.5, 0, 1.5])


@pytest.mark.parametrize(
    "function", [nn.softmax, nn.log_softmax, nn.standardize, jnp.var, jnp.nanvar]
)
def test_what_counts_is_of_the_operands_dimensions(function: Any) -> None:
    x, where = np.array([1, 2], "f"), np.array([[True], [False]])
    with raises_rule("face.broadcast-to"):
        function(x, where=where)


def test_a_condition_number_is_of_some_elements() -> None:
    for p in (None, 1, "fro"):
        with raises_rule("face.reduce-empty"):
            jnp.linalg.cond(np.zeros((0, 0)), p)


@pytest.mark.parametrize(("mode", "expected"), [("full", [2, 4]), ("same", [2])])
def test_a_convolution_with_one_element_is_a_product(mode: str, expected: Any) -> None:
    one, two = np.array([2], "float16"), np.array([1, 2], "float16")
    found = signal.fftconvolve(one, two, mode)
    assert found.dtype == "float16"
    np.testing.assert_array_equal(found, expected)
