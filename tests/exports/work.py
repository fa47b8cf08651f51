"""Functions that other processes find by their names."""

from __future__ import annotations

from functools import partial
from typing import Any

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir_numba.pipeline import kernel_cache


@traceir.jit
def norm(x: Any) -> Any:
    """A jitted function under its own name."""
    return jnp.sqrt(jnp.sum(x * x))


@partial(traceir.jit, static_argnames="n")
def power(x: Any, n: int = 2) -> Any:
    """One with a static argument."""
    return x**n


@traceir_numba.jit
def plain(x: Any) -> Any:
    """A plain function."""
    return x[::-1] * 2


def double(x: Any) -> Any:
    """A function that is jitted under another name."""
    return 2 * x


def raised(x: Any, n: int) -> Any:
    """One of two arguments."""
    return x**n


class Model:
    """A class with a jitted method of its own."""

    @staticmethod
    @traceir.jit
    def apply(x: Any) -> Any:
        """A jitted function under the name of a method."""
        return x + 1


doubled = traceir.jit(double)
powered = traceir.jit(partial(raised, n=3))
donating = traceir.jit(raised, static_argnums=1, donate_argnums=0)
slope = traceir.jit(traceir.grad(norm))
line = traceir.jit(lambda x: 2 * x + 1)


@traceir.jit
def nested(x: Any) -> Any:
    """One that calls others."""
    return norm(x) + power(doubled(x), 3)


def compiled(name: str, x: Any) -> tuple[Any, int]:
    """The result of a function by its name, and the number of kernels made for it."""
    before = kernel_cache.compile_count()
    return globals()[name](x), kernel_cache.compile_count() - before
