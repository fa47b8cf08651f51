"""Quantiles of elements that count by weights, beside NumPy's.

Rules: face.choice, face.shape
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp

NAMES = ("quantile", "nanquantile", "percentile", "nanpercentile")


def weighted(
    module: Any, name: str, a: Any, q: Any, weights: Any, **options: Any
) -> Any:
    q = np.float32(q) * (100 if "percentile" in name else 1)
    quantile = getattr(module, name)
    return quantile(a, q, method="inverted_cdf", weights=weights, **options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 1)])
def test_weights_beside_numpy(name: str, axis: Any) -> None:
    rng = np.random.default_rng(7)
    a = rng.integers(-4, 5, (3, 4, 2)).astype("f4")
    for shape in {a.shape, taken(a.shape, axis)}:
        weights = rng.integers(1, 4, shape).astype("f4")
        weights.flat[0] = 0
        given, counts = a.copy(), weights
        if name.startswith("nan") and shape == a.shape:
            given[1, 2, 0] = np.nan  # which is as if it had no weight
            counts = np.where(np.isnan(given), 0, weights)
        for q in (0.5, [0.0, 0.3, 1.0]):
            for keepdims in (False, True):
                options = {"axis": axis, "keepdims": keepdims}
                plain = name.removeprefix("nan")
                wanted = weighted(np, plain, a, q, counts, **options)
                found = weighted(jnp, name, given, q, weights, **options)
                np.testing.assert_array_equal(found, wanted)


def taken(shape: Any, axis: Any) -> Any:
    if axis is None:
        return shape
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(shape[k] for k in axes)


def test_traced_weights_and_those_of_other_dtypes() -> None:
    a = jnp.array([1, 2, 3, 4, 5])
    weights = jnp.array([1, 1, 2, 1, 1])
    found = traceir.jit(lambda w: weighted(jnp, "quantile", a, 0.5, w))(weights)
    assert float(found) == 3 and found.dtype == "float32"
    strange = jnp.array([1.0, jnp.nan])
    assert np.isnan(weighted(jnp, "quantile", strange, 0.5, jnp.ones(2)))
    assert float(weighted(jnp, "nanquantile", strange, 0.5, jnp.ones(2))) == 1


def test_weights_that_do_not_fit() -> None:
    a = jnp.ones((2, 3))
    with raises_rule("face.choice", NotImplementedError, "inverted_cdf"):
        jnp.quantile(a, 0.5, weights=a)
    with raises_rule("face.shape", TypeError, "weights of shape"):
        weighted(jnp, "quantile", a, 0.5, jnp.ones(2), axis=1)
