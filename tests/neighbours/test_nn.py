"""`traceir.nn`: slopes where functions bend, masks, attention, what is refused.

Cites face.sections, face.choice, linalg.shapes, level.concretize.index
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import nn

# What JAX 0.10.2 gives as the slopes at these places.
PLACES = [-3.0, -1.0, 0.0, 1.0, 3.0, 6.0]
SLOPES = {
    "relu": [0, 0, 0, 1, 1, 1],
    "relu6": [0, 0, 0, 1, 1, 0],
    "leaky_relu": [0.01, 0.01, 1, 1, 1, 1],
    "hard_tanh": [0, 1, 1, 1, 0, 0],
    "hard_sigmoid": [0, 1 / 6, 1 / 6, 1 / 6, 0, 0],
    "hard_silu": [0, 1 / 6, 0.5, 5 / 6, 1, 1],
    "sparse_plus": [0, 0, 0.5, 1, 1, 1],
    "elu": [0.04978704, 0.36787945, 1, 1, 1, 1],
    "celu": [0.04978704, 0.36787945, 1, 1, 1, 1],
    "soft_sign": [0.0625, 0.25, 1, 0.25, 0.0625, 0.02040817],
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_those_of_jax_where_a_function_bends(name: str) -> None:
    slope = traceir.vmap(traceir.grad(getattr(nn, name)))
    for function in (slope, traceir.jit(slope, backend="numba")):
        np.testing.assert_allclose(function(jnp.array(PLACES)), SLOPES[name], 2e-6)


@pytest.mark.parametrize("name", ["elu", "celu", "selu", "softplus", "mish", "gelu"])
def test_nothing_is_unknown_far_out(name: str) -> None:
    function = getattr(nn, name)
    for place in (-500.0, 500.0):
        assert np.isfinite(function(place))
        assert np.isfinite(traceir.grad(function)(place))


def test_a_logarithm_near_one_and_far_from_it() -> None:
    for place in (1e-6, 0.5, 0.7, 30.0):
        wanted = np.log1p(-np.exp(-place)) if place > 0.6 else np.log(-np.expm1(-place))
        np.testing.assert_allclose(nn.log1mexp(place), wanted, 1e-6)
        slope = traceir.grad(nn.log1mexp)(place)
        np.testing.assert_allclose(slope, 1 / np.expm1(place), 1e-6)


ROWS = np.array([[0.5, -1.5, 2.0], [3.0, 1.25, -0.75]], "float32")
MASK = np.array([[True, False, True], [True, True, False]])


def test_what_does_not_count_is_left_out() -> None:
    found = np.asarray(nn.softmax(ROWS, where=MASK))
    logs = np.asarray(nn.log_softmax(ROWS, where=MASK))
    means = np.asarray(nn.logmeanexp(ROWS, axis=1, where=MASK))
    flat = np.asarray(nn.standardize(ROWS, where=MASK, epsilon=0.0))
    for row, mask, *others in zip(ROWS, MASK, found, logs, means, flat, strict=True):
        share, log, mean, even = others
        powers = np.exp(row[mask])
        np.testing.assert_allclose(share[mask], powers / powers.sum(), 1e-6)
        assert share[~mask].tolist() == [0]
        np.testing.assert_allclose(log[mask], np.log(share[mask]), 1e-5)
        assert log[~mask].tolist() == [-np.inf]
        np.testing.assert_allclose(mean, np.log(powers.mean()), 1e-6)
        np.testing.assert_allclose(even[mask].mean(), 0, atol=1e-6)
        np.testing.assert_allclose(even[mask].std(), 1, 1e-5)


def test_slopes_of_shares_are_known_even_where_nothing_counts() -> None:
    def first(x: Any) -> Any:
        return nn.softmax(x, where=jnp.array([True, False, True]))[0]

    slope = traceir.grad(first)(jnp.array([0.0, jnp.inf, 0.0]))
    np.testing.assert_allclose(slope, [0.25, 0, -0.25])


def test_moments_may_be_given() -> None:
    found = nn.standardize(ROWS, mean=1.0, variance=4.0, epsilon=0.0)
    np.testing.assert_allclose(found, (ROWS - 1) / 2, 1e-6)
    near = jnp.array([1e4, 1e4 + 1, 1e4 + 2])
    stable = nn.standardize(near, algorithm="stable", epsilon=0.0)
    np.testing.assert_allclose(stable, [-1.2247449, 0, 1.2247449], 1e-5)
    with raises_rule("face.choice", ValueError, "'stable'"):
        nn.standardize(ROWS, algorithm="slow")


def test_halves_and_places() -> None:
    found = nn.glu(jnp.arange(12.0).reshape(4, 3), axis=0)
    np.testing.assert_allclose(found[0], [0, 0.999089, 1.999329], 1e-6)
    with raises_rule("face.sections", ValueError, "extent of 3"):
        nn.glu(ROWS)
    with raises_rule("face.axis", ValueError):
        nn.one_hot(jnp.arange(3), 4, axis=2)
    with raises_rule("level.concretize.index", TypeError):
        traceir.jit(nn.one_hot)(jnp.arange(3), 4)
    assert nn.one_hot(1, 3).tolist() == [0, 1, 0]
    assert nn.hard_swish is nn.hard_silu
    assert nn.swish is nn.silu


def attention(q: Any, k: Any, v: Any, scale: float, counted: Any) -> Any:
    """Attention of single heads, one after the other, in NumPy."""
    group = q.shape[2] // k.shape[2]
    found = np.zeros(q.shape)
    for b, h in np.ndindex(q.shape[0], q.shape[2]):
        scores = q[b, :, h] @ k[b, :, h // group].T * scale
        scores = np.where(counted[b, h], scores, -1e30)
        powers = np.exp(scores - scores.max(1, keepdims=True))
        found[b, :, h] = powers / powers.sum(1, keepdims=True) @ v[b, :, h // group]
    return found


RNG = np.random.default_rng(3)
Q, K, V = (RNG.normal(size=s) for s in ((2, 5, 4, 3), (2, 6, 2, 3), (2, 6, 2, 3)))
ALL = np.ones((2, 4, 5, 6), bool)
ROW, COLUMN = np.arange(5)[:, None], np.arange(6)
SOME = RNG.random((2, 4, 5, 6)) > 0.3
SETTINGS: dict[str, tuple[dict[str, Any], Any]] = {
    "plain": ({}, ALL),
    "causal": ({"is_causal": True}, ALL & (ROW >= COLUMN)),
    "mask": ({"mask": SOME}, SOME),
    "mask of all heads": ({"mask": SOME[:, :1]}, ALL & SOME[:, :1]),
    "window": ({"local_window_size": 1}, ALL & (abs(ROW - COLUMN) <= 1)),
    "left window": (
        {"local_window_size": (2, 0)},
        ALL & (COLUMN <= ROW) & (ROW - COLUMN <= 2),
    ),
    "keys": (
        {"key_value_seq_lengths": np.array([2, 6])},
        ALL & (np.array([2, 6])[:, None, None, None] > COLUMN),
    ),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_attention(setting: str) -> None:
    options, counted = SETTINGS[setting]
    with traceir.enable_x64(True):
        wanted = attention(Q, K, V, 3**-0.5, counted)

        def call(q: Any, k: Any, v: Any) -> Any:
            return nn.dot_product_attention(q, k, v, **options)

        for function in (call, traceir.jit(call, backend="numba")):
            np.testing.assert_allclose(function(Q, K, V), wanted, 1e-12)
        alone = {n: v for n, v in options.items() if n == "is_causal"}
        one = nn.dot_product_attention(Q[0], K[0], V[0], **alone)
        if options == alone:
            np.testing.assert_allclose(one, wanted[0], 1e-12)


def test_attention_with_a_bias_and_lengths() -> None:
    with traceir.enable_x64(True):
        much = np.where(SOME, 0.0, -1e30)
        found = nn.dot_product_attention(Q, K, V, much, scale=0.5)
        np.testing.assert_allclose(found, attention(Q, K, V, 0.5, SOME), 1e-12)
        lengths = np.array([2, 5])
        found = nn.dot_product_attention(Q, K, V, query_seq_lengths=lengths)
        wanted = attention(Q, K, V, 3**-0.5, ALL)
        np.testing.assert_allclose(found[0, :2], wanted[0, :2], 1e-12)
        assert not np.any(found[0, 2:])
    halves = (jnp.asarray(x, "float16") for x in (Q, K, V))
    half = nn.dot_product_attention(*halves)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, wanted, 1e-2, 1e-2)


def test_attention_of_what_does_not_fit() -> None:
    with raises_rule("linalg.shapes", ValueError, "K divides N"):
        nn.dot_product_attention(Q, K[:, :, :1].repeat(3, 2), V)
    with raises_rule("linalg.shapes", ValueError, "for 4 heads"):
        nn.dot_product_attention(Q, K, V, mask=np.ones((2, 3, 5, 6), bool))


def test_names() -> None:
    assert pickle.loads(pickle.dumps(nn.relu)) is nn.relu
    assert "softmax" in dir(nn)
    with raises_rule("face.missing", AttributeError, "graphics processors"):
        _ = nn.scaled_matmul
    with raises_rule("face.missing", AttributeError, "did you mean softmax"):
        _ = nn.soft_max
