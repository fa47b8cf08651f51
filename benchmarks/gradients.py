"""Steps of training: gradients of losses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.loops import rnn, sequence
from benchmarks.workload import Function, Workload, normal, small, whole


def mlp(xp: Any) -> Function:
    """The gradient of the loss of three layers."""
    jnp = xp.numpy

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params[:-1]:
            x = jnp.tanh(jnp.dot(x, w) + b)
        w, b = params[-1]
        return jnp.mean((jnp.dot(x, w) + b - y) ** 2)

    return xp.grad(loss)


def rnn_gradient(xp: Any) -> Function:
    """The gradient of a recurrent network's loss."""
    run = rnn(xp)

    def loss(*args: Any) -> Any:
        return xp.numpy.sum(run(*args)[1] ** 2)

    return xp.grad(loss, argnums=(0, 1, 2))


def layers(*sizes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases between layers of these sizes."""
    return [(small(n, m), small(m)) for n, m in pairwise(sizes)]


def logistic(xp: Any) -> Function:
    """The gradient of a logistic regression's loss."""
    jnp = xp.numpy

    def loss(w: Any, x: Any, y: Any) -> Any:
        z = jnp.dot(x, w)
        return jnp.mean(jnp.log1p(jnp.exp(-abs(z))) + jnp.maximum(z, 0) - y * z)

    return xp.grad(loss)


def cross_entropy(xp: Any) -> Function:
    """The gradient of the loss of a softmax, with respect to its argument."""
    jnp = xp.numpy

    def loss(z: Any, labels: Any) -> Any:
        z = z - jnp.max(z, axis=1, keepdims=True)
        scores = z - jnp.log(jnp.sum(jnp.exp(z), axis=1, keepdims=True))
        chosen = labels[:, None] == jnp.arange(z.shape[1])
        return -jnp.mean(jnp.sum(jnp.where(chosen, scores, 0.0), axis=1))

    return xp.grad(loss)


def pointwise(xp: Any) -> Function:
    """The gradient of a sum over elements."""
    jnp = xp.numpy
    return xp.grad(lambda x: jnp.sum(jnp.tanh(x) * jnp.exp(-x * x)))


def workloads() -> Iterator[Workload]:
    """Small and larger ones."""

    def row(name: str, make: Any, args: tuple[Any, ...]) -> Workload:
        return Workload(name, make, args, in_numpy=False)

    network = layers(32, 64, 64, 10), small(64, 32), small(64, 10)
    yield row("MLP, 64 x (32-64-64-10)", mlp, network)
    network = layers(784, 256, 128, 10), small(256, 784), small(256, 10)
    yield row("MLP, 256 x (784-256-128-10)", mlp, network)
    yield row("RNN, 100 steps of 1 x 32", rnn_gradient, sequence(100, 1, 32))
    yield row("RNN, 100 steps of 32 x 64", rnn_gradient, sequence(100, 32, 64))
    points = normal(10_000, 100), np.float32(normal(10_000) > 0)
    yield row("logistic regression, 10^4 x 100", logistic, (small(100), *points))
    labels = whole(1000, most=1000)
    yield row("cross entropy, 1000 x 1000", cross_entropy, (normal(1000, 1000), labels))
    yield row("sum of tanh(x) exp(-x^2), 10^6", pointwise, (normal(1_000_000),))
