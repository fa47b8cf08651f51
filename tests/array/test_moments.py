"""Variances about a mean that is given. Cites: face.broadcast, face.choice"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp

NAMES = ("var", "std", "nanvar", "nanstd")
X = np.random.default_rng(3).normal(size=(3, 4)).astype("float32")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_a_mean_that_is_known(name: str, axis: Any) -> None:
    x = X.copy()
    if name.startswith("nan"):
        x[1, 2] = np.nan
    mean = np.nanmean(x, axis=axis, keepdims=True)
    for about in (mean, mean + 1):
        want = getattr(np, name)(x, axis=axis, mean=about)

        def f(x: Any, m: Any) -> Any:
            return getattr(jnp, name)(x, axis, mean=m)

        for call in (f, *(traceir.jit(f, backend=b) for b in ("reference", "numba"))):
            found = call(jnp.asarray(x), jnp.asarray(about))
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, want, rtol=1e-5)
    own = getattr(jnp, name)(x, axis, ddof=1)
    np.testing.assert_allclose(
        getattr(jnp, name)(x, axis, ddof=1, mean=mean), own, rtol=1e-5
    )


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_those_of_the_array(name: str) -> None:
    function = getattr(jnp, name)
    for dtype, want in (("int32", "float32"), ("float16", "float16")):
        x = jnp.arange(6).astype(dtype)
        assert function(x, mean=2).dtype == np.dtype(want)
        assert function(x, mean=np.float32(2)).dtype == np.dtype(want)
    assert jnp.var(jnp.arange(6), mean=2).item() == pytest.approx(19 / 6)


def test_derivatives_are_of_both() -> None:
    x, m = jnp.asarray(X), jnp.full((3, 1), 0.5)

    def f(x: Any, m: Any) -> Any:
        return jnp.var(x, 1, mean=m).sum()

    by_x, by_m = traceir.grad(f, argnums=(0, 1))(x, m)
    np.testing.assert_allclose(by_x, 2 * (X - 0.5) / 4, rtol=1e-5)
    np.testing.assert_allclose(by_m[:, 0], (-2 * (X - 0.5) / 4).sum(1), rtol=1e-4)
    each = traceir.vmap(lambda x, m: jnp.var(x, mean=m))(x, m)
    np.testing.assert_allclose(each, np.var(X, 1, mean=np.full((3, 1), 0.5)), rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_mean_that_does_not_fit(name: str) -> None:
    function = getattr(jnp, name)
    for mean in (jnp.zeros(3), jnp.zeros((2, 3, 4)), jnp.zeros((3, 4, 1))):
        with raises_rule("face.broadcast", TypeError, "var|std"):
            function(jnp.asarray(X), mean=mean)


def test_one_name_for_what_is_left_out() -> None:
    with raises_rule("face.choice", ValueError, "correction=1"):
        jnp.var(X, ddof=1, correction=1, mean=0.0)


def test_without_a_mean_the_program_is_as_it_was() -> None:
    text = str(traceir.make_jaxpr(lambda x: jnp.var(x, 1))(X))
    with_mean = str(traceir.make_jaxpr(lambda x: jnp.var(x, 1, mean=x[:, :1]))(X))
    assert (text.count("reduce_sum"), with_mean.count("reduce_sum")) == (2, 1)


def test_counts_of_observations_may_be_unsigned() -> None:
    x, counts = np.array([1.0, 2.0, 4.0]), np.array([0, 1, 2], "uint32")
    np.testing.assert_allclose(jnp.cov(x, fweights=counts), np.cov(x, fweights=counts))
