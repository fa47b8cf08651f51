"""NaN that goes in comes out, and what is NaN in one part is NaN."""

from __future__ import annotations

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir.scipy.stats as stats

FUNCTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
# Parameters at which each distribution is defined, after the first operand.
SHAPES = {
    "bernoulli": (0.5,),
    "geom": (0.5,),
    "poisson": (2.0,),
    "t": (2.0,),
    "beta": (2.0, 0.5),
    "chi2": (2.0,),
    "gamma": (2.0,),
    "gennorm": (2.0,),
    "betabinom": (3.0, 0.5, 0.5),
    "binom": (3.0, 0.5),
    "nbinom": (2.0, 0.5),
    "pareto": (2.0,),
    "truncnorm": (-1.0, 1.0),
    "vonmises": (2.0,),
    "wrapcauchy": (0.5,),
}
OTHERS = ("cauchy", "expon", "laplace", "logistic", "norm")


def test_a_distribution_at_nan_is_nan() -> None:
    wrong, tried = [], 0
    for name in (*SHAPES, *OTHERS):
        module = getattr(stats, name)
        for function in (f for f in FUNCTIONS if hasattr(module, f)):
            found = getattr(module, function)(jnp.nan, *SHAPES.get(name, ()))
            tried += 1
            if not np.isnan(found):
                wrong.append(f"{name}.{function}")
    assert not wrong and tried > 70


@pytest.mark.parametrize("name", ["min", "max", "sum", "mean", "prod", "std", "var"])
def test_complex_numbers_with_a_part_that_is_nan_are_left_out(name: str) -> None:
    x = np.array([1 + 0.75j, -2.75 + 2.25j, complex(0.5, np.nan)], np.complex64)
    found = getattr(jnp, f"nan{name}")(x)
    np.testing.assert_allclose(found, getattr(jnp, name)(x[:2]), rtol=1e-6)


def test_the_derivative_of_a_spherical_harmonic_is_a_number() -> None:
    def real(theta: traceir.Array) -> traceir.Array:
        place = jnp.array([1])
        return traceir.scipy.special.sph_harm_y(place, place, theta, theta * 0).real[0]

    theta = jnp.array([0.75])
    slope = -0.5 * np.sqrt(1.5 / np.pi) * np.cos(0.75)
    np.testing.assert_allclose(traceir.grad(real)(theta), [slope], rtol=1e-6)


def test_a_coefficient_that_is_nan_is_not_trimmed() -> None:
    found = jnp.polymul(
        jnp.array([jnp.nan, 1.0]), jnp.array([2.0]), trim_leading_zeros=True
    )
    np.testing.assert_array_equal(found, [np.nan, 2])


def test_truths_and_complex_numbers_are_not_lost() -> None:
    none = jnp.zeros(2, bool)
    found = jnp.add.at(none, jnp.array([1, 1]), jnp.array([4, -4]), inplace=False)
    np.testing.assert_array_equal(found, [False, True])
    with raises_rule("face.imaginary", TypeError):
        jnp.dot(jnp.array([1j]), jnp.array([1j]), preferred_element_type="float32")


def test_the_count_of_no_lines_is_an_integer() -> None:
    found = stats.mode(jnp.zeros((0, 3)), axis=1)
    assert found.count.dtype == np.int32 and found.count.shape == (0,)
