"""Loops, derivatives and both, side by side with JAX and with a loop for Numba.

Needs the extra `bench`: `python benchmarks/control_flow.py [name ...]`. Prints medians
of calls that alternate between the two, and the time of the first call. Nothing here
asserts anything but that both give about the same.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import jax
import numba
import numpy as np

import traceir

OURS = SimpleNamespace(
    numpy=traceir.numpy,
    lax=traceir.lax,
    grad=traceir.grad,
    jit=lambda f: traceir.jit(f, backend="numba"),
    vmap=traceir.vmap,
    custom_jvp=traceir.custom_jvp,
)
ROUNDS = 31
RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    """Random float32 of moderate size."""
    return (RNG.normal(size=shape) / 8).astype(np.float32)


def scalar_steps(xp: Any) -> Callable[..., Any]:
    """Ten million steps of scalar arithmetic, as many as the argument says."""

    def run(n: Any) -> Any:
        return xp.lax.fori_loop(0, n, lambda i, x: x * 0.5 + i, 1.0)

    return run


def mlp(xp: Any) -> Callable[..., Any]:
    """The gradient of the loss of three layers."""
    jnp = xp.numpy

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params[:-1]:
            x = jnp.tanh(jnp.dot(x, w) + b)
        w, b = params[-1]
        return jnp.mean((jnp.dot(x, w) + b - y) ** 2)

    return xp.grad(loss)


def rnn(xp: Any) -> Callable[..., Any]:
    """A recurrent network over a sequence."""
    jnp = xp.numpy

    def run(w: Any, u: Any, b: Any, h: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = jnp.tanh(jnp.dot(h, w) + jnp.dot(x, u) + b)
            return h, h

        return xp.lax.scan(step, h, xs)

    return run


def rnn_gradient(xp: Any) -> Callable[..., Any]:
    """The gradient of a recurrent network's loss."""
    run = rnn(xp)

    def loss(*args: Any) -> Any:
        return xp.numpy.sum(run(*args)[1] ** 2)

    return xp.grad(loss, argnums=(0, 1, 2))


def mandelbrot(xp: Any) -> Callable[..., Any]:
    """How long each point of a grid stays, all in one loop."""
    jnp = xp.numpy

    def run(re: Any, im: Any) -> Any:
        def inside(state: Any) -> Any:
            x, y, _, k = state
            return (k < 200) & jnp.any(x * x + y * y < 4.0)

        def step(state: Any) -> Any:
            x, y, n, k = state
            stays = x * x + y * y < 4.0
            x, y = (
                jnp.where(stays, x * x - y * y + re, x),
                jnp.where(stays, 2.0 * x * y + im, y),
            )
            return x, y, n + stays.astype("int32"), k + 1

        zero = jnp.zeros_like(re)
        start = zero, zero, jnp.zeros(re.shape, "int32"), 0
        return xp.lax.while_loop(inside, step, start)[2]

    return run


def point(xp: Any) -> Callable[..., Any]:
    """How long one point stays, mapped over a grid."""

    def stays(a: Any, b: Any) -> Any:
        def inside(state: Any) -> Any:
            x, y, n = state
            return (n < 200) & (x * x + y * y < 4.0)

        def step(state: Any) -> Any:
            x, y, n = state
            return x * x - y * y + a, 2.0 * x * y + b, n + 1

        return xp.lax.while_loop(inside, step, (0.0 * a, 0.0 * b, 0))[2]

    return xp.vmap(stays)


def newton(xp: Any) -> Callable[..., Any]:
    """The derivative of roots found by Newton's method, by a rule of its own."""
    jnp, lax = xp.numpy, xp.lax

    @xp.custom_jvp
    def root(a: Any) -> Any:
        def wrong(state: Any) -> Any:
            x, k = state
            return (k < 40) & jnp.any(abs(x * x * x - a) > 1e-6 * a)

        def step(state: Any) -> Any:
            x, k = state
            return x - (x * x * x - a) / (3.0 * x * x), k + 1

        return lax.while_loop(wrong, step, (jnp.ones_like(a), 0))[0]

    @root.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        x = root(*primals)
        return x, tangents[0] / (3.0 * x * x)

    return xp.grad(lambda a: jnp.sum(root(a)))


def runge_kutta(xp: Any) -> Callable[..., Any]:
    """The Lorenz equations by the classical method of fourth order."""
    jnp = xp.numpy

    def slope(s: Any) -> Any:
        x, y, z = s
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z

    def along(s: Any, d: Any, h: float) -> Any:
        return tuple(a + h * b for a, b in zip(s, d, strict=True))

    def run(x: Any, y: Any, z: Any) -> Any:
        h = 0.001

        def step(_: Any, s: Any) -> Any:
            a = slope(s)
            b = slope(along(s, a, h / 2))
            c = slope(along(s, b, h / 2))
            d = slope(along(s, c, h))
            return tuple(
                v + h / 6 * (p + 2.0 * q + 2.0 * r + t)
                for v, p, q, r, t in zip(s, a, b, c, d, strict=True)
            )

        return jnp.stack(xp.lax.fori_loop(0, 10_000, step, (x, y, z)))

    return run


def runge_kutta_arrays(xp: Any) -> Callable[..., Any]:
    """A chain of coupled oscillators by the same method, its state one array."""
    jnp = xp.numpy

    def slope(s: Any) -> Any:
        x, v = s[0], s[1]
        left = jnp.concatenate([x[1:], x[:1]])
        right = jnp.concatenate([x[-1:], x[:-1]])
        return jnp.stack([v, left + right - 2.0 * x])

    def run(s: Any) -> Any:
        h = 0.01

        def step(_: Any, s: Any) -> Any:
            a = slope(s)
            b = slope(s + h / 2 * a)
            c = slope(s + h / 2 * b)
            d = slope(s + h * c)
            return s + h / 6 * (a + 2.0 * b + 2.0 * c + d)

        return xp.lax.fori_loop(0, 1000, step, s)

    return run


@dataclass(frozen=True)
class Row:
    """A function for either array module, and its arguments."""

    make: Callable[[Any], Callable[..., Any]]
    args: tuple[Any, ...]


def layers(*sizes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases between layers of these sizes."""
    return [(normal(n, m), normal(m)) for n, m in pairwise(sizes)]


def sequence(steps: int, batch: int, n: int) -> tuple[np.ndarray, ...]:
    """The arguments of a recurrent network."""
    start, xs = normal(batch, n), normal(steps, batch, n)
    return normal(n, n), normal(n, n), normal(n), start, xs


def plane(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The real and imaginary parts of a grid's points."""
    re, im = np.meshgrid(np.linspace(-2, 0.5, n), np.linspace(-1.2, 1.2, n))
    return re.ravel().astype(np.float32), im.ravel().astype(np.float32)


ROWS = {
    "10^7 scalar steps": Row(scalar_steps, (10_000_000,)),
    "MLP gradient, 64x(32-64-64-10)": Row(
        mlp, (layers(32, 64, 64, 10), normal(64, 32), normal(64, 10))
    ),
    "MLP gradient, 256x(784-256-128-10)": Row(
        mlp, (layers(784, 256, 128, 10), normal(256, 784), normal(256, 10))
    ),
    "RNN, 100 steps of 1x32": Row(rnn, sequence(100, 1, 32)),
    "RNN, 100 steps of 32x64": Row(rnn, sequence(100, 32, 64)),
    "RNN gradient, 100 steps of 1x32": Row(rnn_gradient, sequence(100, 1, 32)),
    "RNN gradient, 100 steps of 32x64": Row(rnn_gradient, sequence(100, 32, 64)),
    "Mandelbrot, arrays of 10^4": Row(mandelbrot, plane(100)),
    "Mandelbrot, vmap of 10^4": Row(point, plane(100)),
    "Newton by custom_jvp, 10^4": Row(
        newton, (np.linspace(1, 9, 10_000, dtype=np.float32),)
    ),
    "RK4, 10^4 steps of 3 scalars": Row(runge_kutta, (1.0, 1.0, 1.0)),
    "RK4, 10^3 steps of 2x64": Row(runge_kutta_arrays, (normal(2, 64),)),
    "RK4, 10^3 steps of 2x4096": Row(runge_kutta_arrays, (normal(2, 4096),)),
}


@numba.njit
def by_hand(n: int) -> Any:
    """What `scalar_steps` does, written for Numba."""
    x = np.float32(1.0)
    for i in range(n):
        x = x * np.float32(0.5) + np.float32(i)
    return x


def seconds(run: Callable[[], Any]) -> float:
    """How long a call takes, its results waited for."""
    start = time.perf_counter()
    jax.block_until_ready(run())
    return time.perf_counter() - start


def compare(name: str, row: Row) -> None:
    """Medians of calls that alternate, and first calls."""
    f, g = OURS.jit(row.make(OURS)), jax.jit(row.make(jax))
    mine = traceir.tree.map(traceir.numpy.asarray, row.args)
    theirs = jax.tree.map(jax.numpy.asarray, row.args)
    first = seconds(lambda: f(*mine)), seconds(lambda: g(*theirs))
    pairs = zip(traceir.tree.leaves(f(*mine)), jax.tree.leaves(g(*theirs)), strict=True)
    for ours, other in pairs:
        near = np.isclose(np.asarray(ours), np.asarray(other), rtol=2e-2, atol=1e-3)
        assert near.mean() > 0.99, name  # orbits at the edge of a set are chaotic
    times = [
        (seconds(lambda: f(*mine)), seconds(lambda: g(*theirs))) for _ in range(ROUNDS)
    ]
    a, b = (statistics.median(t) * 1e6 for t in zip(*times, strict=True))
    print(
        f"{name:36}{a:10.1f} us, JAX {b:10.1f} us, {b / a:6.2f}; "
        f"first call {first[0] * 1e3:7.1f} ms, JAX {first[1] * 1e3:7.1f} ms",
        flush=True,
    )


def compare_by_hand() -> None:
    """A loop of scalar steps against the same written for Numba."""
    f, n = OURS.jit(scalar_steps(OURS)), 10_000_000
    f(n), by_hand(n)
    times = [(seconds(lambda: f(n)), seconds(lambda: by_hand(n))) for _ in range(9)]
    a, b = (statistics.median(t) * 1e6 for t in zip(*times, strict=True))
    print(f"{'10^7 scalar steps':36}{a:10.1f} us, njit {b:9.1f} us, {b / a:6.2f}")


def main() -> None:
    """Print the rows whose names contain one of the arguments, or all."""
    wanted = sys.argv[1:] or [""]
    compare_by_hand()
    for name, row in ROWS.items():
        if any(word in name for word in wanted):
            compare(name, row)


if __name__ == "__main__":
    main()
