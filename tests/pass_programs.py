"""Functions of several passes over rows, and of parts that are put side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
from traceir import lax

Function = Callable[..., Any]


def soft(x: Any, axis: int = -1) -> Any:
    """Exponentials that sum to one."""
    e = jnp.exp(x - jnp.max(x, axis=axis, keepdims=True))
    return e / jnp.sum(e, axis=axis, keepdims=True)


def log_soft(x: Any, axis: int = -1) -> Any:
    """Their logarithms."""
    d = x - jnp.max(x, axis=axis, keepdims=True)
    return d - jnp.log(jnp.sum(jnp.exp(d), axis=axis, keepdims=True))


def log_sum(x: Any, axis: int = -1) -> Any:
    """The logarithm of a sum of exponentials."""
    m = jnp.max(x, axis=axis, keepdims=True)
    total = jnp.sum(jnp.exp(x - m), axis=axis, keepdims=True)
    return jnp.squeeze(m + jnp.log(total), axis)


def normal(x: Any, axis: int = -1) -> Any:
    """Mean zero and variance one."""
    m = jnp.mean(x, axis=axis, keepdims=True)
    return (x - m) / jnp.sqrt(jnp.var(x, axis=axis, keepdims=True) + 1e-5)


def moments(x: Any, axis: int = -1) -> Any:
    """Central moments."""
    d = x - jnp.mean(x, axis=axis, keepdims=True)
    return jnp.mean(d * d, axis=axis), jnp.mean(d * d * d, axis=axis)


def entropy(x: Any, axis: int = -1) -> Any:
    """The entropy of the exponentials."""
    q = soft(x, axis)
    return -jnp.sum(q * jnp.log(q), axis=axis)


def scaled(x: Any, axis: int = -1) -> Any:
    """Between zero and one."""
    low = jnp.min(x, axis=axis, keepdims=True)
    return (x - low) / (jnp.max(x, axis=axis, keepdims=True) - low)


FUNCTIONS: dict[str, Function] = {
    f.__name__: f for f in (soft, log_soft, log_sum, normal, moments, entropy, scaled)
}


def difference(x: Any) -> Any:
    """A sum of squares of differences of neighbours."""
    return jnp.sum((x[1:] - x[:-1]) ** 2) + jnp.sum((x[:, 2:] - x[:, :-2]) ** 2)


def ring(x: Any) -> Any:
    """Neighbours on a ring."""
    before = jnp.concatenate([x[-1:], x[:-1]])
    return jnp.concatenate([x[1:], x[:1]]) - 2 * x + before


def bordered(x: Any) -> Any:
    """A mean of neighbours, with zeros around."""
    wide = lax.pad(x, np.float32(0), ((1, 1, 0), (1, 1, 0)))
    across = wide[1:-1, 2:] + wide[1:-1, :-2]
    return across + wide[2:, 1:-1] + wide[:-2, 1:-1]


def joined(x: Any) -> Any:
    """Two halves, and a reduction of both."""
    return jnp.sum(jnp.concatenate([x * 2, abs(x)], 1), axis=1)


def stacked(x: Any) -> Any:
    """Three layers, backwards."""
    return jnp.stack([x, -x, x * x], axis=-1)[:, ::1] * 2


PARTS: dict[str, Function] = {
    "difference": traceir.grad(difference),
    **{f.__name__: f for f in (ring, bordered, joined, stacked)},
}
