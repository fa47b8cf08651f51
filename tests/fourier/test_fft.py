"""Fourier transforms against SciPy's, texts, gradients, mapped and compiled.

Serves: fft, face.fft-length, face.fft-axes
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.base.config import enable_x64
from traceir.oracle.scalar_interpreter import faults
from traceir.reference.kernels import KERNELS

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")
TWO = ("fft2", "ifft2", "rfft2", "irfft2")
NORMS = (None, "backward", "ortho", "forward")
PRIMES = (67, 97, 127, 1009)


def operand(name: str, *shape: int, dtype: str = "complex128") -> np.ndarray:
    """Numbers of the kind that a function takes."""
    rng = np.random.default_rng(len(shape) + sum(shape))
    found = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return found.real if name.startswith(("r", "ih")) else found


def near(got: Any, want: np.ndarray, points: int) -> None:
    """Equal up to what rounding leaves of the largest element."""
    found = np.asarray(got)
    assert (found.shape, found.dtype) == (want.shape, want.dtype)
    size = np.abs(want).max(initial=0)
    steps = 4 + 2 * np.log2(max(points, 1))
    error = np.abs(found - want).max(initial=0)
    assert error <= steps * np.finfo(want.dtype).eps * size


def function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(jnp.fft, name)
    return found


@pytest.mark.parametrize("name", ONE)
def test_all_lengths(name: str) -> None:
    with enable_x64():
        for n in (*range(1, 65), *PRIMES, 1024):
            x = operand(name, n)
            if name in ("irfft", "hfft") and n == 1:
                continue  # a half of length 1 is that of no elements
            near(function(name)(x), getattr(scipy.fft, name)(x), n)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_lengths_axes_and_norms(name: str, dtype: str) -> None:
    x = operand(name, 4, 5, 3, dtype=dtype)
    with enable_x64():
        for n, axis, norm in itertools.product((None, 2, 7), (0, -1, 1), NORMS):
            want = getattr(scipy.fft, name)(x, n, axis, norm)
            near(function(name)(x, n, axis, norm), want, x.size)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
    x = operand(name, 4, 5, 3)
    axes = ((None, None), ((3, 6), None), ((2, 6), (2, 0)), (None, (1,)), ((5,), (1,)))
    with enable_x64():
        for (s, along), norm in itertools.product(axes, NORMS):
            want = getattr(scipy.fft, name)(x, s, along, norm)
            near(function(name)(x, s, along, norm), want, x.size)


@pytest.mark.parametrize("name", TWO)
def test_two_axes(name: str) -> None:
    x = operand(name, 4, 5, 3)
    with enable_x64():
        near(function(name)(x), getattr(scipy.fft, name)(x), x.size)
        want = getattr(scipy.fft, name)(x, (2, 2), (0, 1), "ortho")
        near(function(name)(x, (2, 2), (0, 1), "ortho"), want, x.size)


@pytest.mark.parametrize("name", SEVERAL)
def test_many_axes_are_transformed_in_blocks(name: str) -> None:
    with enable_x64():
        for rank in (4, 5, 6, 7):
            x = operand(name, *([2, 3] * 4)[:rank])
            near(function(name)(x), getattr(scipy.fft, name)(x), x.size)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_dtypes(name: str) -> None:
    kind = "f" if name == "irfft" else "c"
    for dtype, width in (("bool", 4), ("int32", 4), ("uint8", 4), ("float32", 4)):
        found = function(name)(jnp.ones(4, dtype))
        assert found.dtype == np.dtype(f"{kind}{width if kind == 'f' else 2 * width}")
    with enable_x64():
        assert function(name)(jnp.ones(4, "int64")).dtype.itemsize >= 8
    assert jnp.fft.fft(jnp.ones(4, "float16")).dtype == "complex64"
    with raises_rule("fft.real", ValueError):
        jnp.fft.rfft(jnp.ones(4, "float16"))


def test_the_definition() -> None:
    rng = np.random.default_rng(0)
    for dtype, n in itertools.product(("complex64", "complex128"), (1, 3, 8, 11)):
        x = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)
        half = np.ascontiguousarray(x[: n // 2 + 1])
        given = (x, x, np.ascontiguousarray(x.real), half)
        for kind, a in enumerate(given):
            params = {"fft_lengths": (n,), "fft_type": kind}
            got = KERNELS["fft"](a, **params)
            assert not faults("fft", params, [a], [got])
            got[-1] += 64 * n * np.finfo(dtype).eps * np.abs(a).sum()
            assert faults("fft", params, [a], [got])


def test_a_large_sum_may_overflow() -> None:
    x = np.full(4, 3e38 + 0j, "complex64")
    params = {"fft_lengths": (4,), "fft_type": 1}
    assert not faults("fft", params, [x], [np.full(4, np.inf + 0j, "complex64")])
    small = np.ones(4, "complex64")
    assert faults("fft", params, [small], [np.full(4, np.inf + 0j, "complex64")])


def test_nothing() -> None:
    assert jnp.fft.fft(jnp.zeros((3, 0))).shape == (3, 0)
    assert jnp.fft.fft(jnp.zeros((0, 3))).shape == (0, 3)
    assert jnp.fft.rfft(jnp.zeros((0, 4))).shape == (0, 3)
    assert jnp.fft.irfft(jnp.zeros((2, 1), "complex64")).shape == (2, 0)
    assert jnp.fft.fft(jnp.zeros(0), n=3).tolist() == [0, 0, 0]
    assert jnp.fft.fftn(jnp.ones(3), axes=()).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda x: jnp.fft.fft(x, n=0), "face.fft-length"),
        (lambda x: jnp.fft.fft2(x, s=(2, -1)), "face.fft-length"),
        (lambda x: jnp.fft.fft(x, axis=2), "face.axis"),
        (lambda x: jnp.fft.fft(x, norm="none"), "face.choice"),
        (lambda x: jnp.fft.fftn(x, axes=(0, 0)), "face.axis-repeated"),
        (lambda x: jnp.fft.fftn(x, (2, 2), (0,)), "face.fft-axes"),
        (lambda x: jnp.fft.fftn(x, (2, 2, 2)), "face.fft-axes"),
        (lambda x: jnp.fft.fft2(x, axes=(0,)), "face.fft-axes"),
        (lambda x: jnp.fft.rfft(x + 1j), "fft.real"),
        (lambda x: jnp.fft.rfft(x[:, :0]), "fft.empty"),
        (lambda x: lax.fft(x, "dct", (4,)), "face.choice"),
        (lambda x: lax.fft(x, "fft", (3,)), "fft.extents"),
        (lambda x: lax.fft(x, lax.FftType.RFFT, (3, 4, 1)), "fft.rank"),
    ],
)
def test_what_is_refused(call: Callable[[Any], Any], rule: str) -> None:
    with raises_rule(rule, ValueError):
        call(jnp.ones((3, 4)))


TEXTS = {
    "norm": (
        lambda x: jnp.fft.ifft(x, norm="ortho"),
        """{ lambda a:c64[1]; b:c64[6]. let
    c:c64[6] = jit[
      name=fft
      jaxpr={ lambda ; b:c64[6]. let
          c:c64[6] = fft[fft_lengths=(6,) fft_type=1] b
        in (c,) }
    ] b
    d:c64[] = reduce_prod[axes=(0,)] a
    e:c64[] = sqrt d
    f:c64[6] = mul c e
  in (f,) }""",
    ),
    "mirrored": (
        jnp.fft.hfft,
        """{ lambda ; a:c64[6]. let
    b:c64[6] = conj[input_dtype=complex64] a
    c:f32[10] = jit[
      name=fft
      jaxpr={ lambda ; b:c64[6]. let
          c:f32[10] = fft[fft_lengths=(10,) fft_type=3] b
        in (c,) }
    ] b
    d:f32[10] = mul c 10.0:f32[]
  in (d,) }""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_those_of_jax(name: str) -> None:
    call, text = TEXTS[name]
    x = jnp.ones(6, "complex64")
    assert str(traceir.make_jaxpr(call)(x)) == text


CALLS: dict[str, tuple[Callable[[Any], Any], str, tuple[int, ...]]] = {
    "fft": (jnp.fft.fft, "r", (6,)),
    "ifft": (lambda x: jnp.fft.ifft(x, norm="ortho"), "c", (5,)),
    "rfft": (jnp.fft.rfft, "r", (6,)),
    "odd rfft": (jnp.fft.rfft, "r", (5,)),
    "irfft": (jnp.fft.irfft, "c", (4,)),
    "odd irfft": (lambda x: jnp.fft.irfft(x, 5), "c", (3,)),
    "cut and padded": (lambda x: jnp.fft.rfft2(x, (2, 7)), "r", (3, 4)),
    "irfft2": (jnp.fft.irfft2, "c", (3, 4)),
    "hfft": (jnp.fft.hfft, "c", (4,)),
    "across": (lambda x: jnp.fft.fft(x, axis=0), "c", (3, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_differences(name: str) -> None:
    call, kind, shape = CALLS[name]
    with enable_x64():
        x = operand(kind, *shape)
        like = operand("c", *np.shape(call(x)))

        def energy(x: Any) -> Any:
            """A quadratic function, so that differences are exact."""
            return jnp.sum(jnp.abs(call(x) - like) ** 2)

        grad = np.asarray(traceir.grad(energy)(jnp.asarray(x)))
        for step in (1, 1j) if kind == "c" else (1,):
            for place in np.ndindex(shape):
                move = np.zeros(shape, x.dtype)
                move[place] = step
                want = (energy(x + move) - energy(x - move)) / 2
                # The gradient is the conjugate of the direction of growth.
                np.testing.assert_allclose((grad * move).sum().real, want, atol=1e-9)


@pytest.mark.parametrize("name", CALLS)
def test_mapped_compiled_and_as_it_is(name: str) -> None:
    call, kind, shape = CALLS[name]
    xs = operand(kind, *shape, 3, dtype="complex64")

    def power(x: Any) -> Any:
        return jnp.abs(call(x * 2)) ** 2

    each = np.stack([np.asarray(power(xs[..., k])) for k in range(3)])
    mapped = traceir.vmap(power, in_axes=len(shape))
    for found in (mapped(xs), traceir.jit(mapped, backend="numba")(xs)):
        np.testing.assert_allclose(found, each, rtol=1e-4, atol=1e-4)


def test_in_a_loop_in_both_backends() -> None:
    x = operand("fft", 8, dtype="complex64")

    def turn(x: Any) -> Any:
        def step(_: Any, z: Any) -> Any:
            return jnp.fft.ifft(jnp.fft.fft(z) * 1j)

        return lax.fori_loop(0, 4, step, x)

    for backend in ("reference", "numba"):
        found = traceir.jit(turn, backend=backend)(x)
        np.testing.assert_allclose(found, x, rtol=1e-5, atol=1e-5)


def test_a_transform_along_no_axis_is_complex_all_the_same() -> None:
    for x in (2, 2.5, np.float16(2), np.ones((2, 3), "int8")):
        for function in (jnp.fft.fftn, jnp.fft.ifftn):
            found = function(x, axes=())
            assert found.dtype == "complex64"
            np.testing.assert_array_equal(found, x)
    assert jnp.fft.rfftn(2).dtype == "float32"


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_no_axis_is_all_axes(name: str) -> None:
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    found = getattr(jnp.fft, name)(x, axis=None)
    np.testing.assert_allclose(found, getattr(np.fft, f"{name}n")(x), atol=1e-5)
    last = getattr(jnp.fft, name)(x, n=2, axis=None)
    np.testing.assert_allclose(last, getattr(np.fft, name)(x, 2), atol=1e-5)
