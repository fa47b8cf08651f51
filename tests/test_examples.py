"""The examples of the site: the same results in both backends, and what to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import traceir
from traceir.jit.function import JitFunction

FOLDER = Path(__file__).parents[1] / "docs" / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
Results = list[np.ndarray]
# The short form of each: how large its problem is, and constants of its module.
SHORT: dict[str, tuple[int, dict[str, int]]] = {
    "black_scholes": (100, {}),
    "digits": (64, {"EPOCHS": 1}),
    "gaussian_process": (40, {"STEPS": 5}),
    "heat": (32, {"STEPS": 4}),
    "logistic": (100, {"STEPS": 10}),
    "mandelbrot": (30, {"STEPS": 12}),
    "mcmc": (6, {"STEPS": 100}),
    "n_body": (12, {"STEPS": 10}),
}


@pytest.fixture(params=NAMES)
def module(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    """An example in its short form."""
    name: str = request.param
    found = import_module(f"examples.{name}")
    for constant, value in SHORT[name][1].items():
        monkeypatch.setattr(found, constant, value)
    return found


def solved(module: ModuleType, backend: str) -> tuple[Any, Results]:
    """The arguments of an example's problem, and its results on a backend."""
    arguments = module.problem(SHORT[name_of(module)][0])
    made = module.solve
    options = replace(made._options, backend=backend)
    solve = JitFunction(made.__wrapped__, None, None, options)
    return arguments, [np.asarray(x) for x in traceir.tree.leaves(solve(*arguments))]


def name_of(module: ModuleType) -> str:
    """The name of an example."""
    return module.__name__.rpartition(".")[2]


def test_both_backends_give_the_same_and_it_is_right(module: ModuleType) -> None:
    arguments, expected = solved(module, "reference")
    _, found = solved(module, "numba")
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    for a, b in zip(found, expected, strict=True):
        # A step of a method in float32 leaves some ulps, which the next ones carry on.
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    RIGHT[name_of(module)](module, arguments, found)


def loss_falls(module: ModuleType, arguments: Any, results: Results) -> None:
    """The losses of a fit are less and less."""
    losses = next(x for x in results if x.shape == (module.STEPS,))
    assert (np.diff(losses) < 0).all()


def digits(module: ModuleType, arguments: Any, results: Results) -> None:
    """After an epoch most of the images are read."""
    assert results[-1] > 0.5


def prices(module: ModuleType, arguments: Any, results: Results) -> None:
    """Prices and deltas are those of the formula in float64."""
    spot, volatility, rate, years = (x.astype("float64") for x in arguments)
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / 100) + (rate + volatility**2 / 2) * years) / spread
    later = 100 * np.exp(-rate * years) * stats.norm.cdf(d1 - spread)
    delta, gamma, price = results[:3]
    np.testing.assert_allclose(delta, stats.norm.cdf(d1), atol=1e-5)
    np.testing.assert_allclose(gamma, stats.norm.pdf(d1) / spot / spread, atol=1e-5)
    np.testing.assert_allclose(price, spot * stats.norm.cdf(d1) - later, atol=1e-4)


def heat(module: ModuleType, arguments: Any, results: Results) -> None:
    """NumPy computes the same, to the last bit."""
    np.testing.assert_array_equal(results[0], module.solve.__wrapped__(*arguments))


def orbits(module: ModuleType, arguments: Any, results: Results) -> None:
    """Pixels that stay are those that Python's numbers say."""
    stays = []
    for c in arguments[0].ravel().tolist():
        z = 0j
        for _ in range(module.STEPS):
            z = z * z + c if abs(z) < module.FAR else z
        stays.append(abs(z) < module.FAR)
    assert 0 < sum(stays) < len(stays)
    assert ((results[0].ravel() == 0) == stays).all()


def chains(module: ModuleType, arguments: Any, results: Results) -> None:
    """A step that is not taken stays where it was."""
    places, taken = results
    stays = (places[:, 1:] == places[:, :-1]).all(axis=2)
    assert (stays == ~taken[:, 1:]).all() and 0.2 < taken.mean() < 0.7


def energies(module: ModuleType, arguments: Any, results: Results) -> None:
    """The energy stays; bodies move."""
    paths, found = results
    assert np.ptp(found) < 1e-3 * abs(found[0])
    assert (abs(paths[-1] - paths[0])[1:].max(axis=1) > 0.05).all()


RIGHT: dict[str, Callable[[ModuleType, Any, Results], None]] = {
    "black_scholes": prices,
    "digits": digits,
    "gaussian_process": loss_falls,
    "heat": heat,
    "logistic": loss_falls,
    "mandelbrot": orbits,
    "mcmc": chains,
    "n_body": energies,
}


def test_each_example_has_a_page_a_short_form_and_a_check() -> None:
    pages = {path.stem for path in FOLDER.glob("*.rst")} - {"index"}
    assert pages == set(NAMES) == SHORT.keys() == RIGHT.keys()
