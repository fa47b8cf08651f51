"""Control flow under chains of transforms, for any library with JAX's names.

Serves: derive.*, batch.*
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Library = Any
Array = Any
X = np.array([0.4, 0.7, 0.2], "float32")
BACKWARDS = ("grad", "vjp")
# Chains of three, the first innermost.
TRIPLES = (
    *("jit vmap grad", "grad vmap jit", "vmap jit grad", "grad jvp vmap"),
    *("checkpoint grad vmap", "grad grad jvp", "vmap vmap grad", "linearize vmap jit"),
    *("jvp vmap grad", "outer grad jit"),
)


def choice(jax: Library, x: Array) -> Array:
    return jax.lax.cond(
        x[0] > 0.3,
        lambda y: jax.numpy.sin(y).sum() * x[1],
        lambda y: (y * y * x[0]).sum(),
        x,
    )


def switch(jax: Library, x: Array) -> Array:
    jnp = jax.numpy
    branches = [
        lambda y: jnp.sum(y * 2.0),
        lambda y: jnp.sum(jnp.exp(y)),
        lambda y: y[2] * x[1],
    ]
    return jax.lax.switch(jnp.floor(x[0] * 3).astype(int), branches, x)


def scan(jax: Library, x: Array) -> Array:
    c, ys = jax.lax.scan(lambda c, a: (jax.numpy.sin(c) * a + x[1], c * a), 0.5, x)
    return c + ys.sum()


def scan_from_the_end(jax: Library, x: Array) -> Array:
    rows = jax.numpy.stack([x, x * 2.0])
    c, ys = jax.lax.scan(lambda c, a: (c * a + x[1] * x[2], c), x, rows, reverse=True)
    return c.sum() + (ys * ys).sum()


def counted(jax: Library, x: Array) -> Array:
    return jax.lax.fori_loop(0, 3, lambda i, c: c * jax.numpy.cos(c) + x * i, x).sum()


def loop(jax: Library, x: Array) -> Array:
    def body(c: Any) -> Any:
        return c[0] + 1.0, c[1] * jax.numpy.sin(c[1]) + x[1]

    return jax.lax.while_loop(lambda c: c[0] < 4.0 * x[0] + 1.0, body, (0.0, x))[
        1
    ].sum()


def mapped(jax: Library, x: Array) -> Array:
    return jax.lax.map(lambda a: jax.numpy.exp(a) * x[0], x).sum()


def scan_in_scan(jax: Library, x: Array) -> Array:
    def inner(c: Array, a: Array) -> Array:
        return jax.lax.scan(lambda d, b: (d * b + a, None), c, x)[0]

    return jax.lax.scan(lambda c, a: (inner(c, a), c), 1.0, x)[1].sum()


def choice_in_scan(jax: Library, x: Array) -> Array:
    def step(c: Array, a: Array) -> Any:
        return jax.lax.cond(a > 0.3, lambda: (c * a, c), lambda: (c + x[0], a))

    return jax.lax.scan(step, 1.0, x)[1].sum()


def scan_in_choice(jax: Library, x: Array) -> Array:
    def scanned() -> Array:
        return jax.lax.scan(lambda c, a: (c * a + 1.0, c), 0.0, x)[1].sum()

    return jax.lax.cond(x[1] > 0.5, scanned, lambda: x[2])


def no_steps(jax: Library, x: Array) -> Array:
    return jax.lax.scan(lambda c, a: (c * a, c), x[0], x[:0])[0] * x[1]


def jit_in_and_around(jax: Library, x: Array) -> Array:
    step = jax.jit(lambda c, a: (c * a + x[0], c))
    return jax.jit(lambda y: jax.lax.scan(step, y[0], y)[1].sum())(x * 2.0)


def trees(jax: Library, x: Array) -> Array:
    found, _ = jax.lax.scan(
        lambda c, a: ({"u": c["v"] * a["k"], "v": c["u"] + 1.0}, None),
        {"u": x[0], "v": 2.0},
        {"k": x},
        unroll=2,
    )
    return found["u"] * found["v"]


def counter(jax: Library, x: Array) -> Array:
    return jax.lax.scan(lambda c, a: ((c[0] + 1, c[1] * a + c[0]), c[0]), (0, 1.0), x)[
        0
    ][1]


def invariant(jax: Library, x: Array) -> Array:
    jnp = jax.numpy
    return jax.lax.scan(
        lambda c, a: (c + jnp.sin(x).sum() * a * jnp.exp(x[0]), None), 0.0, x
    )[0]


def choice_by_the_count(jax: Library, x: Array) -> Array:
    def body(i: Array, c: Array) -> Array:
        return jax.lax.cond(i > 1, lambda d: d * x, lambda d: d + x, c)

    return jax.lax.fori_loop(0, 3, body, x).sum()


def running(jax: Library, x: Array) -> Array:
    return jax.lax.associative_scan(jax.numpy.multiply, x * x[0]).sum()


Base = Callable[[Library, Array], Array]
BASES: tuple[Base, ...] = (
    *(choice, switch, scan, scan_from_the_end, counted, loop, mapped, scan_in_scan),
    *(choice_in_scan, scan_in_choice, no_steps, jit_in_and_around, trees, counter),
    *(invariant, choice_by_the_count, running),
)

Scalar = Callable[[Array], Array]


def _grad(jax: Library, f: Scalar) -> Scalar:
    return lambda x: (jax.grad(f)(x) * jax.numpy.array([1.0, 2.0, 3.0])).sum()


def _vmap(jax: Library, f: Scalar) -> Scalar:
    return lambda x: jax.vmap(f)(jax.numpy.stack([x, x * x, x + 0.25])).sum()


TRANSFORMS: dict[str, Callable[[Library, Scalar], Scalar]] = {
    "jit": lambda jax, f: jax.jit(f),
    "grad": _grad,
    "jvp": lambda jax, f: lambda x: jax.jvp(f, (x,), (x * 0.5,))[1],
    "vmap": _vmap,
    "linearize": lambda jax, f: lambda x: jax.linearize(f, x)[1](x * 0.3),
    "outer": lambda jax, f: lambda x: jax.vmap(lambda a: f(x * a))(x).sum(),
    "checkpoint": lambda jax, f: jax.checkpoint(f),
}


@dataclass(frozen=True)
class Chain:
    """A function under transforms, the first of them innermost."""

    base: Base
    transforms: tuple[str, ...]

    @property
    def name(self) -> str:
        """The base and the transforms."""
        return " ".join((self.base.__name__, *self.transforms))

    def function(self, jax: Library) -> Scalar:
        """The function, for a library."""
        found: Scalar = functools.partial(self.base, jax)
        for name in self.transforms:
            found = TRANSFORMS[name](jax, found)
        return found

    @property
    def refused(self) -> bool:
        """True if a loop whose end is not known would have to run backwards."""
        return self.base is loop and "grad" in self.transforms


def chains() -> Iterator[Chain]:
    """All chains of up to two transforms, and some of three."""
    for base in BASES:
        for depth in range(3):
            for names in itertools.product(TRANSFORMS, repeat=depth):
                yield Chain(base, names)
    for base in (choice_in_scan, loop, scan_in_choice):
        for triple in TRIPLES:
            yield Chain(base, tuple(triple.split()))


def value(jax: Library, chain: Chain) -> float | None:
    """The value of a chain at `X`; None where reverse mode is refused."""
    try:
        return float(np.asarray(chain.function(jax)(jax.numpy.asarray(X))))
    except ValueError as error:
        if not chain.refused or "everse-mode" not in str(error):
            raise
        return None
