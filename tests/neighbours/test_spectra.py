"""Spectra of segments beside SciPy's: short-time transforms, their inverse, densities.

Cites: face.choice, face.segments, face.axis, face.argument, face.complex,
face.least-rank, face.broadcast
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.signal
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.scipy import signal
from traceir.scipy.signal.windows import NAMED, named_window

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(2, 3, 29))
Z = X + 1j * Y

CUTS: list[dict[str, Any]] = [
    {"nperseg": 8},
    {"nperseg": 7, "noverlap": 5},
    {"nperseg": 8, "noverlap": 0, "nfft": 16},
    {"nperseg": 6, "nfft": 9, "window": "boxcar"},
    {"nperseg": 8, "window": ("tukey", 0.3), "fs": 10.0},
    {"nperseg": 5, "window": np.arange(1.0, 6.0), "detrend": "linear"},
    {"nperseg": 8, "detrend": "constant", "return_onesided": False},
    {"nperseg": 8, "detrend": lambda x: 2 * x},
]
STFT: list[dict[str, Any]] = [
    {"boundary": "even"},
    {"boundary": "odd", "padded": False},
    {"boundary": "constant"},
    {"boundary": None, "padded": False},
    {"boundary": None},
]
WELCH: list[dict[str, Any]] = [
    {"scaling": "spectrum"},
    {"average": "median"},
    {"average": "median", "scaling": "spectrum", "detrend": False},
]


def beside(name: str, *operands: Any, **given: Any) -> None:
    """Compare the results of a function with SciPy's, in double precision."""
    with traceir.enable_x64(True):
        got = getattr(signal, name)(*operands, **given)
        wanted = getattr(scipy.signal, name)(*operands, **given)
        assert len(got) == len(wanted)
        for mine, theirs in zip(got, wanted, strict=True):
            assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, 1e-9, 1e-12)


@pytest.mark.parametrize("number", range(len(CUTS)))
def test_segments_are_cut_as_scipy_cuts_them(number: int) -> None:
    beside("stft", X, **CUTS[number])
    beside("welch", X, **CUTS[number])
    beside("csd", X, Y, **CUTS[number])


@pytest.mark.parametrize("given", STFT)
def test_signals_go_on_at_their_ends_as_in_scipy(given: dict[str, Any]) -> None:
    for cut in ({"nperseg": 8}, {"nperseg": 7, "noverlap": 2}):
        beside("stft", X, **given, **cut)


@pytest.mark.parametrize("given", WELCH)
def test_densities_are_those_of_scipy(given: dict[str, Any]) -> None:
    for cut in ({"nperseg": 8}, {"nperseg": 9, "noverlap": 1}, {"nperseg": 29}):
        beside("welch", X, **given, **cut)
        beside("csd", X, Y, **given, **cut)
        beside("csd", X, Y[:, :20], **given, **cut)
        beside("csd", Z, Y, return_onesided=False, **given, **cut)


def test_any_axis_may_be_that_of_time() -> None:
    stacked = RNG.normal(size=(2, 12, 3))
    for axis in (1, -2):
        beside("stft", stacked, nperseg=4, axis=axis)
        beside("welch", stacked, nperseg=4, axis=axis)
    beside("csd", stacked, stacked[:, :, :1] ** 2, nperseg=4, axis=1)
    beside("stft", Z, nperseg=6, return_onesided=False, axis=0 - 1)


@pytest.mark.parametrize("number", range(5))
def test_the_inverse_gives_the_signal_back(number: int) -> None:
    given = {k: v for k, v in CUTS[number].items() if k != "detrend"}
    with traceir.enable_x64(True):
        _, _, spectra = signal.stft(X[0], **given)
    if given.get("noverlap") != 0:  # at its ends a window lets nothing through
        beside("istft", np.asarray(spectra), **given)
        with traceir.enable_x64(True):
            times, back = signal.istft(spectra, **given)
        np.testing.assert_allclose(back[:29], X[0], 1e-9)
        np.testing.assert_allclose(times[1] * given.get("fs", 1.0), 1.0)


def test_the_inverse_knows_its_axes_and_both_sides() -> None:
    with traceir.enable_x64(True):
        spectra = np.asarray(signal.stft(Z, nperseg=8, return_onesided=False)[2])
        times, back = signal.istft(spectra, input_onesided=False)
        assert times.shape == (32,) and back.dtype == "complex128"
        np.testing.assert_allclose(back[:, :29], Z, 1e-9)
        turned = np.moveaxis(spectra, 0, -1)
        _, same = signal.istft(turned, input_onesided=False, time_axis=1, freq_axis=0)
        np.testing.assert_allclose(same.T, back, 1e-12)
        _, odd = signal.istft(signal.stft(X, nperseg=7)[2], nperseg=7)
        np.testing.assert_allclose(odd[:, :29], X, 1e-9)
        _, inner = signal.istft(
            signal.stft(X, nperseg=8, boundary=None)[2], boundary=False
        )
        np.testing.assert_allclose(inner[:, 1:28], X[:, 1:28], 1e-9)


def test_without_segments_there_are_256_elements_or_all() -> None:
    _, density = signal.welch(X)
    assert density.shape == (3, 15) and density.dtype == "float32"
    assert signal.welch(np.ones(300, "f4"))[0].shape == (129,)
    assert signal.welch(X, window=np.ones(10))[1].shape == (3, 6)
    with pytest.warns(UserWarning, match="cut to all 29"):
        assert signal.stft(X)[2].shape == (3, 15, 3)


def test_complex_signals_have_two_sides() -> None:
    with pytest.warns(UserWarning, match="two sides"):
        _, density = signal.welch(Z, nperseg=8)
    assert density.shape == (3, 8) and density.dtype == "float32"
    assert signal.csd(Z, None, nperseg=8, return_onesided=False)[1].dtype == "float32"


def test_a_signal_of_nothing_has_no_spectrum() -> None:
    found = [part.shape for part in signal.stft(jnp.zeros((2, 0)))]
    assert found == [(2, 0)] * 3
    assert signal.csd(jnp.zeros(4), jnp.zeros(0))[1].shape == (0,)
    assert signal.welch(jnp.zeros(0))[1].dtype == "float32"


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "stft": lambda x: jnp.abs(signal.stft(x, nperseg=8, boundary="odd")[2]) ** 2,
    "istft": lambda x: signal.istft(signal.stft(x, nperseg=8)[2])[1] ** 2,
    "welch": lambda x: signal.welch(x, nperseg=8, average="median")[1],
    "csd": lambda x: jnp.real(signal.csd(x, x[::-1], nperseg=8)[1]),
}


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_compile_and_are_mapped_and_differentiated(
    name: str, backend: str
) -> None:
    f, x = FUNCTIONS[name], X.astype("float32")
    each = np.stack([np.asarray(f(row)) for row in x])
    got = traceir.jit(traceir.vmap(f), backend=backend)(x)
    np.testing.assert_allclose(got, each, 1e-4, 1e-5)
    slope = traceir.jit(traceir.grad(lambda v: jnp.sum(f(v))), backend=backend)(x[0])
    with traceir.enable_x64(True):
        step = 1e-6 * np.eye(29)
        wanted = [(jnp.sum(f(X[0] + s)) - jnp.sum(f(X[0] - s))) / 2e-6 for s in step]
    np.testing.assert_allclose(slope, wanted, 1e-3, 1e-3)


def test_the_rate_may_be_traced() -> None:
    f = traceir.jit(lambda fs: signal.stft(X, fs, nperseg=8)[:2])
    parts, times = f(4.0)
    np.testing.assert_allclose(parts, np.arange(5) / 2)
    np.testing.assert_allclose(times, np.arange(len(times)))
    slope = traceir.grad(lambda fs: jnp.sum(signal.welch(X, fs, nperseg=8)[1]))(2.0)
    total = jnp.sum(signal.welch(X, 1.0, nperseg=8)[1])
    np.testing.assert_allclose(slope, -total / 4, 1e-5)


PARAMETERS = {"kaiser": (4.0,), "gaussian": (2.0,), "general_gaussian": (1.5, 2.0)}
PARAMETERS |= {"general_hamming": (0.6,), "general_cosine": ([1, 0.5, 0.2],)}
ALIKE = {"ksr": "kaiser", "gauss": "gaussian", "gss": "gaussian"}
ALIKE |= {"general gauss": "general_gaussian", "ggs": "general_gaussian"}


def test_windows_are_those_of_scipy() -> None:
    for name in NAMED:
        long = ALIKE.get(name, name.replace(" ", "_"))
        window = (name, *PARAMETERS.get(long, ()))
        for length in (1, 2, 3, 8, 9):
            wanted = scipy.signal.get_window(window, length)
            found = named_window(window, length)
            np.testing.assert_allclose(found, wanted, 0, 1e-14, err_msg=name)
    for window in (("tukey", 0), ("tukey", 2.0), ("exponential", 1.0, 2.0)):
        wanted = scipy.signal.get_window(window, 9)
        np.testing.assert_allclose(named_window(window, 9), wanted, 0, 1e-14)


S = jnp.arange(12.0)
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("face.segments", lambda: signal.stft(S, nperseg=0)),
    ("face.segments", lambda: signal.stft(S, nperseg=4, noverlap=4)),
    ("face.segments", lambda: signal.stft(S, nperseg=4, nfft=3)),
    ("face.segments", lambda: signal.stft(S, window=np.ones(4), nperseg=3)),
    ("face.segments", lambda: signal.welch(S, window=np.ones(13))),
    ("face.segments", lambda: signal.welch(S, window=np.ones((2, 2)))),
    ("face.segments", lambda: signal.istft(jnp.ones((3, 4)), nperseg=6)),
    ("face.segments", lambda: signal.istft(jnp.ones((1, 4)))),
    ("face.segments", lambda: signal.istft(jnp.ones((3, 0)))),
    ("face.choice", lambda: signal.istft(jnp.ones((3, 4)), time_axis=0)),
    ("face.least-rank", lambda: signal.istft(jnp.ones(3))),
    ("face.choice", lambda: signal.stft(S, nperseg=2.5)),  # type: ignore[arg-type]  # bad
    ("face.choice", lambda: signal.stft(S, fs=0)),
    ("face.complex", lambda: signal.stft(S, fs=1j)),
    ("face.choice", lambda: signal.stft(S, nperseg=4, boundary="wrap")),
    ("face.choice", lambda: signal.stft(S, nperseg=4, detrend=True)),
    ("face.choice", lambda: signal.stft(S, nperseg=4, detrend="square")),
    ("face.choice", lambda: signal.stft(S, nperseg=4, window="square")),
    ("face.choice", lambda: signal.stft(S, nperseg=4, window="kaiser")),
    ("face.choice", lambda: signal.stft(S, nperseg=4, window=(1.0, 2.0))),
    ("face.choice", lambda: signal.welch(S, scaling="power")),
    ("face.choice", lambda: signal.welch(S, average="mode")),
    ("face.axis", lambda: signal.welch(S, axis=1)),
    ("face.argument", lambda: signal.welch([1.0, 2.0])),
    ("face.least-rank", lambda: signal.csd(S, S[None])),
    ("face.broadcast", lambda: signal.csd(jnp.ones((2, 8)), jnp.ones((3, 8)))),
]


@pytest.mark.parametrize(("rule", "call"), REFUSED)
def test_what_makes_no_sense_is_refused(rule: str, call: Callable[[], Any]) -> None:
    with raises_rule(rule):
        call()
