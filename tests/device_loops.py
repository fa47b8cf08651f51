"""Functions with loops and choices, for one block and for the host of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compiling import grid

import traceir
import traceir.numpy as jnp
from traceir import lax, nn

Fun = Callable[..., Any]
MATRIX = grid(4, 3)


def batched(x: Any) -> Any:
    """Loops of several lengths at once."""

    def one(v: Any) -> Any:
        return lax.while_loop(lambda c: c[0] > 1, lambda c: (c[0] / 2, c[1] + 1), v)

    return traceir.vmap(one)((abs(x[0]) * 9, x[1]))


def batched_choice(x: Any) -> Any:
    """Each row has a branch of its own."""

    def one(row: Any) -> Any:
        k = (row[0] > 0).astype("int32")
        return lax.switch(k, [lambda v: -v, lambda v: v * 2], row)

    return traceir.vmap(one)(x)


def backward(x: Any) -> Any:
    """The gradient of a loop: one forward, one in reverse over what that has kept."""

    def total(v: Any) -> Any:
        return jnp.sum(lax.scan(lambda c, r: (c * r, c + r), jnp.ones(3), v)[1])

    return traceir.grad(total)(x)


def parts(x: Any) -> Any:
    """Complex numbers are carried."""
    z = x[0] + 1j * x[1]
    return lax.fori_loop(0, 3, lambda i, c: c * z + i, z)


def indexed(x: Any) -> Any:
    """Elements are read and put at places that change."""

    def step(k: Any, v: Any) -> Any:
        v = v.at[k].set(v[2 - k] * 2)
        return v.at[jnp.array([0, k, 0])].add(v[1])

    return lax.fori_loop(0, 3, step, x[0])


def rows_in_rows(x: Any) -> Any:
    """A loop in a loop, scalars carried by both, and stacks of scalars."""

    def outer(c: Any, row: Any) -> Any:
        c, found = lax.scan(lambda s, e: (s + e, s * e), c, row, reverse=True)
        return c, (found, c)

    return lax.scan(outer, 1.0, x)


def normalised(x: Any) -> Any:
    """Rows are folded in each step, in lanes."""

    def step(_: Any, v: Any) -> Any:
        return nn.softmax(v, axis=-1) + jnp.argmax(v, 1)[:, None] + jnp.cumsum(v, 1)

    return lax.fori_loop(0, 2, step, x)


def keys(x: Any) -> Any:
    """Keys are carried, and random bits are a row each."""

    def step(key: Any, row: Any) -> Any:
        key, own = traceir.random.split(key)
        return key, traceir.random.bits(own, row.shape)

    return lax.scan(step, traceir.random.key(3), x)[1]


def halves(x: Any) -> Any:
    """Numbers of 16 bits are carried, as arrays and as scalars."""

    def step(c: Any, row: Any) -> Any:
        v, s = c
        return (v * row + v[0], (s * 3).astype("float16")), s

    start = x[0].astype("bfloat16"), jnp.float16(0.1)
    return lax.scan(step, start, x.astype("bfloat16"), reverse=True)


def large_choice(x: Any) -> Any:
    """Branches of several steps, scalars among them."""
    k = (x.sum() > 0).astype("int32")
    branches = [
        lambda v: (v.sum(), v),
        lambda v: (v[0, 0] * 2 + 1, v * v.sum()),
    ]
    return lax.switch(k, branches, x)


OWN: dict[str, tuple[Fun, tuple[Any, ...]]] = {
    "batched": (batched, (MATRIX,)),
    "batched choice": (batched_choice, (MATRIX,)),
    "backward": (backward, (MATRIX,)),
    "parts": (parts, (MATRIX,)),
    "indexed": (indexed, (MATRIX,)),
    "rows in rows": (rows_in_rows, (MATRIX,)),
    "keys": (keys, (MATRIX,)),
    "halves": (halves, (MATRIX,)),
    "large choice": (large_choice, (MATRIX,)),
    "large choice, other branch": (large_choice, (-abs(MATRIX),)),
}


def halved(x: Any) -> Any:
    """A loop whose end scalars say."""
    return lax.while_loop(lambda c: c[0] < 9, lambda c: (c[0] * 2, c[1] / 2), (1.0, x))


def product(w: Any, x: Any) -> Any:
    """A product that is worth a call, in each step."""
    return lax.fori_loop(0, 2, lambda _, v: jnp.tanh(w @ v), x)


def choice(x: Any) -> Any:
    """Branches that sum what many blocks must sum, scalars among them."""
    one = [lambda v: (v * 0.5, v[0] + 1), lambda v: (jnp.sin(v) * v.sum(), v.max())]
    return lax.switch((x.sum() > 1).astype("int32"), [*one, lambda v: (v, v[1])], x)


# Sums in lanes, scans by blocks, and products: what has an order that could differ.
ORDERED: dict[str, tuple[Fun, tuple[Any, ...]]] = {
    "folds": (normalised, (grid(3, 80) / 7,)),
    "product": (product, (grid(20, 64) @ grid(64, 20) / 90, grid(20, 100))),
    "parts of a sum": (choice, (grid(9001) / 7,)),
    "parts of another": (choice, (abs(grid(9001)) / 7,)),
}
