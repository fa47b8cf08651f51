"""Fourier transforms by code of our own, beside the library's in more digits.

Cites fft.*
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
import scipy.fft
from hypothesis import assume, given
from hypothesis import strategies as st

import traceir
import traceir_numba
from traceir_numba import cost_model
from traceir_numba.backend import own_kernel
from traceir_numba.fft.plans import factors, twiddles, two_factors
from traceir_numba.fft.transforms import transform

DTYPES = ("complex64", "complex128")
FFT, IFFT, RFFT, IRFFT = range(4)
NAMES = ("fftn", "ifftn", "rfftn", "irfftn")
LENGTHS = [n for n in range(1, 400) if factors(n) is not None]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sizes are computed by our own code, and long ones are short."""
    monkeypatch.setattr(cost_model, "FFT_POINTS", 0)
    monkeypatch.setattr(cost_model, "FFT_PANEL", 100)


def drawn(dtype: str, shape: tuple[int, ...], kind: int, seed: int = 0) -> np.ndarray:
    """Normal numbers, complex ones but for a transform of real elements."""
    rng = np.random.default_rng([seed, *shape])
    x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    if kind == RFFT:
        return x.real.astype(np.empty(0, dtype).real.dtype)
    return x.astype(dtype)


def lengths_of(x: np.ndarray, count: int, kind: int) -> tuple[int, ...]:
    """The lengths of a transform of the last dimensions."""
    *others, last = x.shape[-count:]
    return (*others, 2 * last - 2 if kind == IRFFT else last)


def check(x: np.ndarray, count: int, kind: int) -> np.ndarray:
    """Our result, which is near that of the library in twice as many digits."""
    lengths = lengths_of(x, count, kind)
    before = x.copy()
    got = transform(x, fft_lengths=lengths, fft_type=kind)
    assert got is not None
    assert x.tobytes() == before.tobytes()
    wide = x.astype(np.longdouble if kind == RFFT else np.clongdouble)
    axes = tuple(range(-count, 0))
    want = getattr(scipy.fft, NAMES[kind])(wide, lengths, axes)
    same = getattr(scipy.fft, NAMES[kind])(x, lengths, axes)
    assert got.shape == same.shape
    assert got.dtype == same.dtype
    # In the root of the mean square the error grows with the logarithm at most.
    size = np.sqrt(np.mean(np.abs(want) ** 2))
    error = np.sqrt(np.mean(np.abs(got - want) ** 2))
    digits = float(np.finfo(got.dtype).eps)
    assert error <= 2 * digits * np.log2(4 * prod(lengths)) * size
    return got


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", range(4))
def test_rows_of_every_length(dtype: str, kind: int) -> None:
    """In groups that are whole and not, in one step and in two."""
    for number, n in enumerate(LENGTHS):
        last = {RFFT: 2 * n, IRFFT: n + 1}.get(kind, n)
        if kind < RFFT or n > 1:
            check(drawn(dtype, ((1, 16, 19, 5)[number % 4], last), kind), 1, kind)


@given(st.data())
def test_several_dimensions(data: st.DataObject) -> None:
    kind = data.draw(st.integers(0, 3))
    count = data.draw(st.integers(1, 3))
    length = st.sampled_from(LENGTHS[:60])
    stack = data.draw(st.lists(st.integers(1, 3), max_size=2))
    *others, last = data.draw(st.lists(length, min_size=count, max_size=count))
    last = {RFFT: 2 * last + 2, IRFFT: last + 2}.get(kind, last)
    shape = (*stack, *others, last)
    x = drawn(data.draw(st.sampled_from(DTYPES)), shape, kind)
    halved = lengths_of(x, 1, kind)[0] // (2 if kind >= RFFT else 1)
    assume(factors(halved) is not None)
    check(x, count, kind)


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(dtype: str) -> None:
    x = drawn(dtype, (3, 12, 250), FFT)
    there = transform(x, fft_lengths=(12, 250), fft_type=FFT)
    assert there is not None
    back = transform(there, fft_lengths=(12, 250), fft_type=IFFT)
    assert back is not None
    np.testing.assert_allclose(back, x, atol=50 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("n", [64, 1000])
def test_bits_depend_on_no_number_of_threads(
    kind: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_model, "THREADED_FFT_POINTS", 0)
    x = drawn("complex64", (37, 10, n + (kind == IRFFT)), kind)
    before = traceir_numba.threads()
    found = []
    try:
        for threads in (1, 2, 3, 8):
            traceir_numba.set_threads(threads)
            found.append(check(x, 2, kind).tobytes())
    finally:
        traceir_numba.set_threads(before)
    assert len(set(found)) == 1


@pytest.mark.parametrize("n", [60, 1000])
def test_each_transform_is_computed_by_itself(n: int) -> None:
    """Its bits do not depend on its neighbours, which may be NaN or infinite."""
    x = drawn("complex64", (35, n), FFT)
    alone = check(x, 1, FFT)
    for row in (0, 17, 34):
        spoilt = x.copy()
        spoilt[np.arange(35) != row] = [np.nan, np.inf][row % 2]
        with np.errstate(all="ignore"):
            got = transform(spoilt, fft_lengths=(n,), fft_type=FFT)
        assert got is not None
        assert got[row].tobytes() == alone[row].tobytes()
        one = transform(x[row], fft_lengths=(n,), fft_type=FFT)
        assert one is not None
        assert one.tobytes() == alone[row].tobytes()


@pytest.mark.parametrize("n", [40, 1000])
def test_imaginary_parts_of_the_ends_of_a_half_are_not_read(n: int) -> None:
    x = drawn("complex128", (3, n + 1), IRFFT)
    spoilt = x.copy()
    spoilt[:, [0, -1]] += 3j
    assert check(spoilt, 1, IRFFT).tobytes() == check(x, 1, IRFFT).tobytes()


def test_operands_that_lie_otherwise() -> None:
    x = drawn("complex64", (30, 64), FFT)
    got = transform(x.T, fft_lengths=(30,), fft_type=FFT)
    assert got is not None
    np.testing.assert_allclose(got, np.fft.fft(x.T), rtol=1e-4, atol=1e-4)


def test_what_is_left_to_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    assert own_kernel("sort") is None
    kernel = own_kernel("fft")
    assert kernel is not None
    x = np.zeros((40, 34), "complex64")
    assert kernel(x, fft_lengths=(34,), fft_type=FFT) is None
    real = np.zeros((40, 15), "float32")
    assert kernel(real, fft_lengths=(15,), fft_type=RFFT) is None
    assert kernel(real[:, :2], fft_lengths=(2,), fft_type=RFFT) is None
    monkeypatch.setattr(cost_model, "FFT_POINTS", 1000)
    x = np.zeros((10, 100), "complex64")
    assert kernel(x, fft_lengths=(100,), fft_type=FFT) is not None
    assert kernel(x[1:], fft_lengths=(100,), fft_type=FFT) is None


def test_twiddle_factors_of_quarters_are_exact() -> None:
    quarters = twiddles(np.arange(9) * 25, 100)
    want = [[1, 0], [0, -1], [-1, 0], [0, 1]] * 2 + [[1, 0]]
    np.testing.assert_array_equal(quarters, want)
    k = np.arange(-50, 3000)
    angles = (2 * np.pi * k / np.longdouble(1000)).astype(np.longdouble)
    got = twiddles(k, 1000)
    near = np.stack([np.cos(angles), -np.sin(angles)], -1)
    np.testing.assert_allclose(got, near.astype(float), atol=1e-15 * 20)


def test_factors_are_those_of_the_length() -> None:
    for n in LENGTHS:
        radices = factors(n)
        assert radices is not None
        assert prod(radices) == n
        small, large = two_factors(n)
        assert small * large == n
        assert small <= large


def test_functions_that_are_compiled() -> None:
    """Plain ones, those of JAX's names, and derivatives give the same bits."""
    x = drawn("complex64", (30, 240), FFT)
    want = check(x, 1, FFT)
    plain = traceir_numba.jit(lambda x: np.fft.fft(x))
    assert np.asarray(plain(x)).tobytes() == want.tobytes()
    jitted: Any = traceir.jit(traceir.numpy.fft.fft, backend="numba")
    assert np.asarray(jitted(x)).tobytes() == want.tobytes()

    def power(x: Any) -> Any:
        return (traceir.numpy.abs(traceir.numpy.fft.rfft(x)) ** 2).sum()

    real = drawn("complex64", (30, 240), RFFT)
    slope: Any = traceir.jit(traceir.grad(power), backend="numba")
    spectrum = np.fft.rfft(real.astype(float))
    spectrum[:, 1:-1] /= 2
    wanted = np.fft.irfft(2 * spectrum) * 240
    np.testing.assert_allclose(np.asarray(slope(real)), wanted, rtol=1e-3, atol=1e-2)
