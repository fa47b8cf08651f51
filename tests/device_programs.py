"""Functions for every form of kernel, and what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from compiling import grid

import traceir
import traceir.numpy as jnp
from traceir import lax, nn

Fun = Callable[..., Any]
SMALL, TALL = grid(3, 5), grid(300, 3)
LONG, ROWS = grid(9001), grid(4, 40)


def scale(x: Any) -> Any:
    """A scan with a carried array and stacked scalars."""
    return lax.scan(lambda c, row: (c * 2 + row, c.sum()), jnp.zeros(5), x)


def halved(x: Any) -> Any:
    """A loop whose end the values say."""
    return lax.while_loop(lambda c: c.sum() > 1, lambda c: c / 2, abs(x))


def chosen(x: Any) -> Any:
    """A choice of branches."""
    return lax.switch(1, [jnp.sin, lambda v: v * 3, jnp.cos], x)


def put(x: Any) -> Any:
    """Elements added where several meet."""
    return jnp.zeros(4).at[jnp.array([1, 3, 1, 1, 0])].add(x[0])


def both(x: Any) -> Any:
    """Rows: several passes, and a value that they leave."""
    return nn.softmax(x, axis=-1), jnp.var(x, axis=-1)


# By name: the function, its argument, and whether its sums are exact in any order.
PROGRAMS: dict[str, tuple[Fun, np.ndarray]] = {
    "elementwise": (lambda x: jnp.exp(x) * x + 1, SMALL),
    "transposed": (lambda x: x.T[::-1] + x[0, 0], SMALL),
    "joined": (lambda x: jnp.concatenate([x, x * 2], 1), SMALL),
    "counted": (lambda x: jnp.arange(5) * x, SMALL),
    "wide-rows": (lambda x: jnp.sum(x, 1), ROWS),
    "short-rows": (lambda x: jnp.sum(x, 1), SMALL),
    "columns": (lambda x: jnp.max(x, 0), SMALL),
    "tall-columns": (lambda x: jnp.sum(x * 2, 0), TALL),
    "everything": (lambda x: jnp.sum(x), SMALL),
    "many": (lambda x: (jnp.sum(x), jnp.max(x), jnp.argmin(x)), LONG),
    "first-extreme": (lambda x: jnp.argmax(x, 1), ROWS),
    "truths": (lambda x: (jnp.any(x > 1.9, 1), jnp.all(x > -3)), ROWS),
    "passes": (both, ROWS),
    "running": (lambda x: jnp.cumsum(x, 1), SMALL),
    "running-back": (lambda x: lax.cummax(x, 0, reverse=True), SMALL),
    "product": (lambda x: x[:, :31].T @ x[:, 1:], grid(35, 32)),
    "small-product": (lambda x: x @ x.T, SMALL),
    "gathered": (lambda x: x[jnp.array([2, 0, 9]), 1:4], SMALL),
    "put": (put, SMALL),
    "scan": (scale, SMALL),
    "while": (halved, SMALL),
    "switch": (chosen, SMALL),
    "gradient": (traceir.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)), SMALL),
    "complex": (lambda x: abs((x + 1j) * (x - 2j)), SMALL),
    "halves": (lambda x: (x.astype("bfloat16") * 3).astype("float16"), SMALL),
    "host": (lambda x: jnp.sort(x, 0) + jnp.linalg.qr(x)[1].shape[0], SMALL),
    "random": (lambda x: traceir.random.uniform(traceir.random.key(3), (7,)), SMALL),
    "nothing": (lambda x: jnp.zeros((0, 3)).sum(0) + x[:, :3], SMALL),
    "empty": (lambda x: x[:0], SMALL),
}
