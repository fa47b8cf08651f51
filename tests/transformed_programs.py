"""Derivatives and maps of functions with loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from compiling import grid

import traceir
import traceir.numpy as jnp
from traceir import lax

Function = Callable[..., Any]


def layers(w: Any, v: Any, x: Any, y: Any) -> Any:
    """The loss of a network."""
    hidden = jnp.tanh(jnp.dot(x, w))
    return jnp.mean((jnp.dot(hidden, v) - y) ** 2)


def recurrent(w: Any, u: Any, h: Any, xs: Any) -> Any:
    """The loss of a recurrent network."""

    def step(h: Any, x: Any) -> Any:
        h = jnp.tanh(jnp.dot(h, w) + jnp.dot(x, u))
        return h, jnp.sum(h * h)

    return jnp.sum(lax.scan(step, h, xs)[1])


def escape(a: Any, b: Any) -> Any:
    """The time that a point stays in the Mandelbrot set's circle."""

    def inside(s: Any) -> Any:
        return (s[2] < 50) & (s[0] * s[0] + s[1] * s[1] < 4.0)

    def step(s: Any) -> Any:
        x, y, n = s
        return x * x - y * y + a, 2.0 * x * y + b, n + 1

    return lax.while_loop(inside, step, (0.0 * a, 0.0 * b, 0))[2]


@traceir.custom_jvp
def cube_root(a: Any) -> Any:
    """By Newton's method, its derivative by a rule of its own."""
    return lax.while_loop(
        lambda s: (s[1] < 40) & jnp.any(abs(s[0] * s[0] * s[0] - a) > 1e-6 * a),
        lambda s: (s[0] - (s[0] * s[0] * s[0] - a) / (3.0 * s[0] * s[0]), s[1] + 1),
        (jnp.ones_like(a), 0),
    )[0]


@cube_root.defjvp
def rule(primals: Any, tangents: Any) -> Any:
    """The derivative of an inverse function."""
    x = cube_root(*primals)
    return x, tangents[0] / (3.0 * x * x)


def orbit(x: Any, y: Any) -> Any:
    """A pendulum by the classical method of Runge and Kutta."""

    def slope(x: Any, y: Any) -> Any:
        return y, -jnp.sin(x)

    def step(_: Any, s: Any) -> Any:
        x, y = s
        h = 0.0625
        a, b = slope(x, y)
        c, d = slope(x + h / 2 * a, y + h / 2 * b)
        e, f = slope(x + h / 2 * c, y + h / 2 * d)
        g, k = slope(x + h * e, y + h * f)
        return x + h / 6 * (a + 2 * c + 2 * e + g), y + h / 6 * (b + 2 * d + 2 * f + k)

    return lax.fori_loop(0, 20, step, (x, y))


def doubling(x: Any, k: Any) -> Any:
    """A choice in a loop."""

    def step(s: Any, i: Any) -> Any:
        s = lax.cond(i < k, lambda v: v * 2.0, lambda v: jnp.sin(v), s)
        return s, s * s

    return jnp.sum(lax.scan(step, x, jnp.arange(6))[1])


HERE = grid(5), grid(5, seed=1)


SEQUENCE = grid(4, 4), grid(3, 4, seed=1), grid(4, seed=2), grid(7, 3, seed=3)


NETWORK = grid(6, 5), grid(5, 2, seed=1), grid(8, 6, seed=2), grid(8, 2, seed=3)


FUNCTIONS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "network": (traceir.grad(layers, argnums=(0, 1)), NETWORK),
    "recurrent": (traceir.value_and_grad(recurrent, argnums=(0, 1, 2)), SEQUENCE),
    "recurrent, forward": (traceir.jacfwd(recurrent, argnums=2), SEQUENCE),
    "recurrent, each start": (
        traceir.vmap(traceir.grad(recurrent), in_axes=(None, None, 0, None)),
        (*SEQUENCE[:2], grid(3, 4), SEQUENCE[3]),
    ),
    "escape": (traceir.vmap(escape), HERE),
    "root": (traceir.vmap(traceir.grad(cube_root)), (np.float32([1, 3, 8]),)),
    "orbit": (orbit, (np.float32(0.5), np.float32(0))),
    "orbit, derivative": (
        traceir.vmap(traceir.jacrev(lambda x, y: orbit(x, y)[0], argnums=(0, 1))),
        HERE,
    ),
    "orbit, second derivative": (
        traceir.grad(traceir.grad(lambda x: orbit(x, 0.5 * x)[1])),
        (np.float32(0.5),),
    ),
    "choice": (traceir.grad(doubling), (np.float32(0.5), np.int32(3))),
    "choices": (traceir.vmap(traceir.grad(doubling)), (HERE[0], np.arange(5))),
}
