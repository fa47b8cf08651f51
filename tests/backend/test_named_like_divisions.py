"""Programs with the names of divisions that are no divisions of two integers.

Cites: backend.compile, index.bounds
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax

THREE = jnp.arange(3)
Function = Callable[..., Any]


def looped(step: Function, x: Any) -> Any:
    """A loop, jitted, that adds to its carry what a jitted step makes of it."""
    inner = traceir.jit(step)
    return traceir.jit(
        lambda x: lax.fori_loop(0, 3, lambda i, c: c + inner(c, i).sum(), x)
    )(x)


def unlooped(step: Function, x: Any) -> Any:
    """As `looped`, by Python."""
    for i in range(3):
        x = x + jnp.sum(step(x, i))
    return x


def remainder(c: Any, i: Any) -> Any:
    """The step of a user's that has a division's name."""
    return c * 2 + i


def test_derivatives_of_divisions_beside_loops() -> None:
    @traceir.jit
    def f(x: Any) -> Any:
        last, _ = lax.scan(lambda c, _: (jnp.mod(c * 1.5, 2.0), c), x, None, 3)
        return last + jnp.mod(x, 2.0) + x // 2.0

    value, slope = traceir.jvp(f, (5.0,), (1.0,))
    assert (float(value), float(slope)) == (3.375, 1.5**3 + 1)
    assert float(traceir.jacfwd(f)(5.0)) == float(traceir.grad(f)(5.0)) == 4.375


def test_a_function_of_two_integers() -> None:
    assert looped(remainder, 3) == unlooped(remainder, 3)
    assert looped(remainder, THREE).tolist() == unlooped(remainder, THREE).tolist()


@pytest.mark.parametrize(
    "step",
    [
        lambda c, i: c[:2].sum() + jnp.float32(0.5) * i,
        lambda c, i: c.astype("int8") + i,
        lambda c, i: jnp.outer(c[:2], c),
    ],
)
def test_operands_that_no_division_has(step: Function) -> None:
    def division(c: Any, i: Any) -> Any:
        return step(c, i).sum().astype(int)

    division.__name__ = "floor_divide"
    assert looped(division, THREE).tolist() == unlooped(division, THREE).tolist()


def test_operands_of_shapes_that_do_not_meet_and_of_other_counts() -> None:
    @traceir.jit
    def floor_divide(x: Any, y: Any) -> Any:
        return x.sum() + y.sum()

    @traceir.jit
    def remainder(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, c: c + i, x)

    def both(x: Any) -> Any:
        return lax.fori_loop(
            0, 3, lambda i, c: remainder(c + floor_divide(x, x[:2])), x
        )

    assert traceir.jit(both)(THREE).tolist() == [21, 22, 23]
