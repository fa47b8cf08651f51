"""Imaginary parts that would be lost: refused, or said; functions without a meaning.

What JAX 0.10.2 refuses and warns of was measured.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.exceptions import ComplexWarning
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax

Z = np.complex64([1.5 + 2j, -3 + 0.5j, 2 - 1j, 0.25j])
ONE = np.complex64(3 + 1j)

WRITTEN: dict[str, Callable[[], Any]] = {
    "full": lambda: jnp.full(2, 1j, "float32"),
    "full of integers": lambda: jnp.full(2, 1j, "int32"),
    "full_like": lambda: jnp.full_like(jnp.ones(2), 1j),
    "lax.full": lambda: lax.full((2,), 1j, "float32"),
    "lax.full_like": lambda: lax.full_like(jnp.ones(2), 1j),
    "array": lambda: jnp.array([1, 2j], "float32"),
    "array of real ones": lambda: jnp.array([1 + 0j], "float32"),
    "array of integers": lambda: jnp.array([1, 2j], "int32"),
    "array of arrays": lambda: jnp.array([jnp.ones(()), 2j], "float32"),
    "asarray": lambda: jnp.asarray(1j, dtype="uint8"),
    "float16": lambda: jnp.float16(1j),
    "bfloat16": lambda: jnp.bfloat16(1j),
    "int32": lambda: jnp.int32(1j),
    "convert": lambda: lax.convert_element_type(1j, "float32"),
    "traced": lambda: traceir.make_jaxpr(lambda x: jnp.array([x, 2j], x.dtype))(1.0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_written_number_has_no_place_among_real_ones(name: str) -> None:
    with raises_rule("face.imaginary", TypeError):
        WRITTEN[name]()


def test_a_written_number_may_become_a_boolean() -> None:
    assert bool(jnp.array(1j, bool)) and jnp.full(1, 0j, bool).tolist() == [False]
    assert jnp.array([1j, 0], bool).tolist() == [True, False]


TOLD: dict[str, Callable[[Any], Any]] = {
    "array": lambda z: jnp.array(z, "float32"),
    "asarray": lambda z: jnp.asarray(z, dtype="int32"),
    "float32": lambda z: jnp.float32(z),
    "full": lambda z: jnp.full(4, z, "float32"),
    "full_like": lambda z: jnp.full_like(jnp.ones(4), z),
    "convert": lambda z: lax.convert_element_type(z, "float32"),
    "sum": lambda z: jnp.sum(z, dtype="float32"),
    "prod": lambda z: jnp.prod(z, dtype="float32"),
    "mean": lambda z: jnp.mean(z, dtype="float32"),
    "cumsum": lambda z: jnp.cumsum(z, dtype="float32"),
    "linspace": lambda z: jnp.linspace(0, z, 3, dtype="float32"),
}


@pytest.mark.parametrize("way", ["array", "numpy", "traced"])
@pytest.mark.parametrize("name", TOLD)
def test_arrays_are_made_real_with_a_word(name: str, way: str) -> None:
    fun = TOLD[name]
    with pytest.warns(ComplexWarning, match="complex64 to") as told:
        if way == "traced":
            found = traceir.jit(fun, backend="reference")(Z)
        else:
            found = fun(Z if way == "numpy" else jnp.array(Z))
    assert {warning.filename for warning in told} == {__file__}
    np.testing.assert_allclose(found, fun(jnp.array(Z.real)), rtol=1e-6)


def test_a_scalar_of_numpys_is_made_real_with_a_word() -> None:
    for make in (jnp.float32, lambda z: jnp.array([z], "float32")[0]):
        with pytest.warns(ComplexWarning, match="complex64 to|complex128 to"):
            assert float(make(ONE)) == 3
    with pytest.warns(ComplexWarning):
        assert float(traceir.jit(lambda: jnp.float32(jnp.asarray(2 + 1j)))()) == 2


def test_astype_says_that_parts_go() -> None:
    for convert in (jnp.astype, lambda z, dtype: z.astype(dtype)):
        with pytest.warns(DeprecationWarning, match="take `.real`"):
            found = convert(jnp.array(Z), "int32")
        np.testing.assert_array_equal(found, Z.real.astype("int32"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jnp.array(Z).astype(bool).all() and Z.real.astype("c8").dtype == "c8"
        traceir.grad(lambda x: jnp.real(x * jnp.array(Z)).sum())(1.0)


def test_an_update_of_real_numbers_says_that_parts_go() -> None:
    with (
        pytest.warns(FutureWarning, match="imaginary part"),
        pytest.warns(ComplexWarning),
    ):
        assert jnp.ones(2).at[0].set(2 + 1j).tolist() == [2, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jnp.array(Z).at[0].set(1.5)[0] == 1.5


REFUSED = (
    *("i0", "isposinf", "isneginf", "fabs", "trunc", "modf", "frexp", "signbit"),
    *("arange",),
)
OF_TWO = ("heaviside", "hypot", "copysign", "clip")


@pytest.mark.parametrize("name", REFUSED)
def test_functions_of_real_numbers_alone(name: str) -> None:
    value = 2j if name == "arange" else jnp.array(Z)
    with raises_rule("face.complex", TypeError):
        getattr(jnp, name)(value)


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_real_numbers_alone(name: str) -> None:
    with raises_rule("face.complex", TypeError):
        getattr(jnp, name)(Z, Z)


def test_powers_and_places_are_real() -> None:
    with raises_rule("face.complex", TypeError):
        jnp.ldexp(Z, 1)
    with raises_rule("face.complex", TypeError):
        jnp.interp(Z, Z.real, Z.real)
    with raises_rule("face.complex", TypeError):
        jnp.interp(Z.real, Z, Z.real)
    assert jnp.interp(0.5, np.arange(4.0), Z).dtype == "complex64"


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize(("name", "base"), [("logaddexp", math.e), ("logaddexp2", 2.0)])
def test_logarithms_of_sums(name: str, base: float, backend: str) -> None:
    fun = getattr(jnp, name)
    z, w = Z[:, None], Z[::-1] + 3j
    found = np.asarray(traceir.jit(fun, backend=backend)(z, w))
    want = np.power(base, z.astype("c16")) + np.power(base, w.astype("c16"))
    np.testing.assert_allclose(np.power(base, found), want, rtol=2e-5, atol=1e-5)
    assert np.abs(found.imag).max() <= math.pi / math.log(base) + 1e-6
    slope = traceir.grad(lambda z: fun(z, 2j), holomorphic=True)(1 + 1j)
    one, two = np.power(base, 1 + 1j), np.power(base, 2j)
    np.testing.assert_allclose(slope, one / (one + two), rtol=1e-5)


# Pairs of dtypes or Python types, and the dtype that JAX finds, whether or not there
# are 64 bits.
MEET = (
    *(("complex64", "float64", "complex128"), ("complex128", "float32", "complex128")),
    *(("float64", "int32", "float64"), (complex, "float16", "complex64")),
    *((int, int, "int64"), (float, "int32", "float64"), (complex, complex, "c16")),
    *((bool, int, "int64"), ("uint64", "int64", "float64"), (complex, "f4", "c8")),
    *((float, "bfloat16", "bfloat16"), ("bfloat16", "c8", "c8"), (int, "i2", "i2")),
)


@pytest.mark.parametrize("x64", [False, True])
def test_the_meeting_of_two_dtypes(x64: bool) -> None:
    with traceir.enable_x64(x64):
        for first, second, want in MEET:
            found = jnp.promote_types(first, second)
            assert found == jnp.dtype(want), (first, second)
            assert jnp.promote_types(second, first) == found
        # Without x64 nothing of 64 bits is made of narrower dtypes.
        met = "int64" if x64 else "int32"
        assert jnp.promote_types("int32", "uint32") == jnp.dtype(met)
    with raises_rule("face.dtype", TypeError):
        jnp.promote_types("U3", "f4")
