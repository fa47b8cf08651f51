"""Loops with carries: scalars, networks, orbits, differential equations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from benchmarks.workload import Function, Workload, small


def scalar_steps(xp: Any) -> Function:
    """Ten million steps of scalar arithmetic, as many as the argument says."""

    def run(n: Any) -> Any:
        return xp.lax.fori_loop(0, n, lambda i, x: x * 0.5 + i, 1.0)

    return run


def rnn(xp: Any) -> Function:
    """A recurrent network over a sequence."""
    jnp = xp.numpy

    def run(w: Any, u: Any, b: Any, h: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = jnp.tanh(jnp.dot(h, w) + jnp.dot(x, u) + b)
            return h, h

        return xp.lax.scan(step, h, xs)

    return run


def mandelbrot(xp: Any) -> Function:
    """The time that each point of a grid stays, all in one loop."""
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


def point(xp: Any) -> Function:
    """The time that one point stays, mapped over a grid."""

    def stays(a: Any, b: Any) -> Any:
        def inside(state: Any) -> Any:
            x, y, n = state
            return (n < 200) & (x * x + y * y < 4.0)

        def step(state: Any) -> Any:
            x, y, n = state
            return x * x - y * y + a, 2.0 * x * y + b, n + 1

        return xp.lax.while_loop(inside, step, (0.0 * a, 0.0 * b, 0))[2]

    return xp.vmap(stays)


def newton(xp: Any) -> Function:
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


def runge_kutta(xp: Any) -> Function:
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


def runge_kutta_arrays(xp: Any) -> Function:
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


def sequence(steps: int, batch: int, n: int) -> tuple[np.ndarray, ...]:
    """The arguments of a recurrent network."""
    start, xs = small(batch, n), small(steps, batch, n)
    return small(n, n), small(n, n), small(n), start, xs


def plane(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The real and imaginary parts of a grid's points."""
    re, im = np.meshgrid(np.linspace(-2, 0.5, n), np.linspace(-1.2, 1.2, n))
    return re.ravel().astype(np.float32), im.ravel().astype(np.float32)


def steps_by_hand() -> Function:
    """The work of `scalar_steps`, written for Numba."""

    @numba.njit
    def run(n: Any) -> Any:
        x = np.float32(1.0)
        for i in range(n):
            x = x * np.float32(0.5) + np.float32(i)
        return x

    return run


def workloads() -> Iterator[Workload]:
    """Each a loop of the Numba backend, and of XLA."""

    def row(name: str, make: Any, args: tuple[Any, ...], **more: Any) -> Workload:
        return Workload(name, make, args, in_numpy=False, **more)

    yield row("10^7 scalar steps", scalar_steps, (10_000_000,), by_hand=steps_by_hand)
    yield row("RNN, 100 steps of 1 x 32", rnn, sequence(100, 1, 32))
    yield row("RNN, 100 steps of 32 x 64", rnn, sequence(100, 32, 64))
    grid = plane(100)
    yield row("Mandelbrot, 10^4 points", mandelbrot, grid, near=0.99)
    yield row("Mandelbrot by vmap, 10^4", point, grid, near=0.99)
    cubes = np.linspace(1, 9, 10_000, dtype=np.float32)
    yield row("Newton by custom_jvp, 10^4", newton, (cubes,))
    yield row("RK4, 10^4 steps of 3 scalars", runge_kutta, (1.0, 1.0, 1.0), near=0.0)
    for n in (64, 4096):
        yield row(f"RK4, 10^3 steps of 2 x {n}", runge_kutta_arrays, (small(2, n),))
