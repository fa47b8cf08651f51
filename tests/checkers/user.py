"""A user's program, for type checkers alone: what it calls is not run.

Lines that end with the word error, in a comment, have a mistake that checkers tell; no
others have. `test_checkers` compares.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import traceir as jax
import traceir_numba
from traceir.jit import JitFunction
from traceir_numba import compat

Floats = NDArray[np.float64]


@traceir_numba.jit
def smooth(x: Floats, times: int = 1, *, wrap: bool = False) -> Floats:
    """A plain function under the drop-in decorator."""
    for _ in range(times):
        x = (x + np.roll(x, 1)) / 2 if wrap else x
    return x


@traceir_numba.jit(fallback="numpy", boundscheck=False, nopython=True)
def scaled(x: Floats, by: float) -> tuple[Floats, float]:
    """The decorator with options."""
    return x * by, by


@jax.jit
def loss(w: jax.Array, x: jax.Array) -> jax.Array:
    """A function of JAX's face."""
    return jax.numpy.sum(w * x)


@jax.jit(static_argnames="n")
def power(x: jax.Array, n: int) -> jax.Array:
    """The decorator with options."""
    return x**n


@functools.partial(jax.jit, static_argnames="n")
def root(x: jax.Array, n: int) -> jax.Array:
    """JAX's usual way to give options, of which mypy keeps nothing."""
    return x ** (1 / n)


@jax.checkpoint(prevent_cse=False)
def kept(x: jax.Array) -> jax.Array:
    """A transform with options."""
    return jax.numpy.sin(x)


@compat.njit
def total(x: Floats) -> float:
    """Numba's name of the decorator."""
    found = 0.0
    for i in compat.prange(len(x)):
        found += float(x[i])
    return found


@compat.njit("f8(f8[:])", parallel=True)
def largest(x: Floats) -> float:
    """One with a signature."""
    return float(x.max())


class Model:
    """Methods under the decorator: their results are known."""

    rate = 0.5

    @traceir_numba.jit
    def step(self, x: Floats) -> Floats:
        """A step of the model."""
        return x * self.rate

    @staticmethod
    @traceir_numba.jit
    def norm(x: Floats) -> float:
        """A function that is no method."""
        return float(np.sqrt((x * x).sum()))


def untyped(x, y=1):  # type: ignore[no-untyped-def]  # as users have them
    """A function without annotations: the names of its parameters are known."""
    return x + y


def plain(x: Floats, model: Model) -> None:
    """Calls of functions of NumPy's arrays."""
    assert_type(smooth(x), Floats)
    assert_type(smooth(x, 2, wrap=True), Floats)
    assert_type(smooth.source(x), str)
    assert_type(smooth.__name__, str)
    smooth("oops", nonsense=1)  # error
    smooth("oops")  # error
    smooth(x, nonsense=1)  # error
    smooth(x, 2, True)  # error
    smooth()  # error
    smooth.sauce(x)  # error
    print(len(smooth(x, times=2)) + smooth(x).shape)  # error
    assert_type(scaled(x, 2.0), tuple[Floats, float])
    scaled(x)  # error
    scaled(x, by="two")  # error
    traceir_numba.jit(fallbock="numpy")  # error
    traceir_numba.jit(smooth, boundscheck="no")  # error
    assert_type(model.step(x), Floats)
    assert_type(model.norm(x) + Model.norm(x), float)
    print(model.step(x).nonsense)  # error
    assert_type(total(x), float)
    total(x, nonsense=1)  # error
    largest("oops")  # error
    anything: Any = traceir_numba.jit(untyped)(x, y=2)
    traceir_numba.jit(untyped)(anything, z=2)  # error


def transformed(w: jax.Array) -> None:
    """Calls of functions of JAX's face, and of what transforms make of them."""
    assert_type(loss(w, w), jax.Array)
    loss(w)  # error
    loss("oops", nonsense=1)  # error
    assert_type(power(w, n=2), jax.Array)
    power(w, m=2)  # error
    root(w, n=2)
    static: Callable[[jax.Array, int], jax.Array] = jax.jit(
        lambda x, n: x**n, static_argnums=1
    )
    again: JitFunction[[jax.Array, jax.Array], jax.Array] = jax.jit(loss, inline=True)
    again(static(w, 2))  # error
    jax.jit(loss, statc_argnums=0)  # error

    jax.grad(loss)(w, x=w)
    jax.grad(loss)(w)  # error
    jax.grad(loss)(w, w, nonsense=1)  # error
    value, _ = jax.value_and_grad(loss, argnums=(0, 1))(w, w)
    assert_type(value, jax.Array)
    jax.value_and_grad(loss)("oops", nonsense=1)  # error
    jax.jit(jax.grad(loss))(w, nonsense=1)  # error
    jax.jacfwd(loss)(w, w, w)  # error
    jax.jacrev(loss)(w)  # error
    jax.hessian(loss)("oops", w)  # error

    batched = jax.vmap(loss, in_axes=(0, None))
    assert_type(batched(w, w), jax.Array)
    batched(w)  # error
    batched("oops", nonsense=1)  # error
    jax.pmap(loss)(w)  # error

    assert_type(jax.checkpoint(loss)(w, w), jax.Array)
    jax.checkpoint(loss)(w)  # error
    kept("oops")  # error
    jax.remat(kept)(w, nonsense=1)  # error
