"""Functions of numbers of 16 bits, exact ones and others, and such numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
from traceir import lax

HALVES = ("float16", "bfloat16")


Function = Callable[..., Any]


def numbers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Ordinary and extraordinary numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
    x.flat[:: max(3, x.size // 4)] = [0.0, np.inf, np.nan, -0.0, 1.0][seed % 5]
    return jnp.asarray(x, dtype)


EXACT: dict[str, Function] = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x / y, lax.rem(x, y)),
    "order": lambda x, y: (jnp.maximum(x, y), jnp.minimum(x, y), x < y, x == y),
    "signs": lambda x, y: (-x, abs(x), jnp.sign(x), lax.is_finite(x)),
    "rounding": lambda x, y: (jnp.floor(x), jnp.ceil(x), lax.round(x)),
    "roots": lambda x, y: (lax.sqrt(abs(x)), lax.square(x), lax.integer_pow(x, 2)),
    "neighbours": lambda x, y: (lax.nextafter(x, y), lax.nextafter(y, x)),
    "choices": lambda x, y: (jnp.where(x < y, x, y), lax.clamp(y, x, x)),
    "moves": lambda x, y: (x.T, x[1:, ::-1], jnp.concatenate([x, y]), x.reshape(-1)),
    "numbers": lambda x, y: (x * 3 + 1, 0.1 - x, x**2, jnp.full(3, 0.1, x.dtype)),
    "chains": lambda x, y: ((x + y) * x - y / 3,),
    "folds": lambda x, y: (x.max(0), x.min(), jnp.argmax(x, 1), jnp.argmin(x)),
    "searches": lambda x, y: (lax.sort(x),),
    "counts": lambda x, y: (lax.iota(x.dtype, 5), jnp.arange(4, dtype=x.dtype)),
    "inputs": lambda x, y: (x, y, x),
}


NEAR: dict[str, Function] = {
    "sum": lambda x: jnp.sum(x, axis=0),
    "mean": lambda x: (jnp.mean(x), jnp.var(x, axis=1)),
    "running": lambda x: (jnp.cumsum(x, axis=1), lax.cumlogsumexp(x)),
    "real": lambda x: (jnp.exp(x), jnp.sin(x), jnp.tanh(x), lax.logistic(x)),
    "products": lambda x: (x @ x.T, jnp.dot(x[0], x[1])),
    "gradient": traceir.grad(lambda x: jnp.sum(jnp.sin(x) * x).astype("float32")),
    "lanes": traceir.vmap(lambda x: x * jnp.max(x)),
    "loop": lambda x: lax.fori_loop(0, 5, lambda k, a: a * x + k, x),
    "scan": lambda x: lax.scan(lambda a, r: (a + r, a * r), x[0], x),
    "choice": lambda x: lax.cond(x[0, 0] > 0, lambda: x + 1, lambda: -x),
    "while": lambda x: lax.while_loop(lambda a: a[0, 0] < 50, lambda a: a + 5, abs(x)),
}
