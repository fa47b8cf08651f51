"""Layers of windows beside sums written out.

Rules: face.shape
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir.as_jax.modules.example_libraries import stax

KEY = traceir.random.PRNGKey(0)
X = np.arange(2 * 6 * 6 * 3, dtype="f4").reshape(2, 6, 6, 3) % 7 - 3


def made(layer: Any, x: Any = X) -> Any:
    """The result of a layer, whose shape is as it says, and its parameters."""
    shape, params = layer[0](KEY, (-1, *x.shape[1:]))
    found = layer[1](params, x)
    assert shape == (-1, *found.shape[1:])
    return np.asarray(found), params


@pytest.mark.parametrize(("padding", "extent"), [("VALID", 5), ("SAME", 6)])
def test_a_convolution(padding: str, extent: int) -> None:
    found, (weights, bias) = made(stax.Conv(4, (2, 2), padding=padding))
    assert found.shape == (2, extent, extent, 4) and weights.shape == (2, 2, 3, 4)
    assert bias.shape == (1, 1, 1, 4) and float(jnp.abs(bias).max()) < 1e-4
    wanted = np.einsum("hwi,hwio->o", X[0, :2, :2], np.asarray(weights))
    np.testing.assert_allclose(found[0, 0, 0], wanted + bias[0, 0, 0], rtol=1e-4)


def test_transposed_convolutions_and_other_layouts() -> None:
    assert made(stax.ConvTranspose(4, (3, 3), (2, 2)))[0].shape == (2, 13, 13, 4)
    assert made(stax.Conv1DTranspose(4, (3,)), X[:, 0])[0].shape == (2, 8, 4)
    layer = stax.GeneralConv(("NHC", "HIO", "NCH"), 4, (2,))
    assert made(layer, X[:, 0])[0].shape == (2, 4, 5)


def test_windows() -> None:
    for layer, reduce in (
        (stax.MaxPool, np.max),
        (stax.SumPool, np.sum),
        (stax.AvgPool, np.mean),
    ):
        found, params = made(layer((2, 3), (2, 3)))
        wanted = reduce(X.reshape(2, 3, 2, 2, 3, 3), axis=(2, 4))
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert params == ()
    # At an end a mean is of what is inside.
    found, _ = made(stax.AvgPool((2, 2), padding="SAME"))
    np.testing.assert_allclose(found[:, -1, -1], X[:, -1, -1])
    assert made(stax.MaxPool((2,), spec="NCH"), X[0])[0].shape == (6, 6, 2)


def test_normalized_batches() -> None:
    found, (beta, gamma) = made(stax.BatchNorm())
    np.testing.assert_allclose(found.mean((0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(found.std((0, 1, 2)), 1, atol=1e-4)
    assert beta.shape == gamma.shape == (3,)
    params = made(stax.BatchNorm(0, center=False, scale=False))[1]
    assert params == ((), ())


def test_a_network_learns() -> None:
    init, apply = stax.serial(
        stax.Conv(4, (3, 3)),
        stax.BatchNorm(),
        stax.Relu,
        stax.AvgPool((2, 2)),
        stax.Flatten,
        stax.Dense(2),
        stax.LogSoftmax,
    )
    _, params = init(KEY, (-1, 6, 6, 3))

    @traceir.jit
    def loss(params: Any) -> Any:
        return -apply(params, X)[jnp.arange(2), jnp.arange(2)].mean()

    slopes = traceir.grad(loss)(params)
    after = traceir.tree.map(lambda p, g: p - 0.1 * g, params, slopes)
    assert float(loss(after)) < float(loss(params))
