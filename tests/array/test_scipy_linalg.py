"""`traceir.scipy.linalg` beside SciPy's own.

Cites linalg.shapes, linalg.option
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir.scipy.linalg as ours

RNG = np.random.default_rng(8)
FULL = RNG.normal(size=(4, 4))
POSITIVE = FULL @ FULL.T + np.eye(4)
SIDES = {"vector": RNG.normal(size=4), "matrix": RNG.normal(size=(4, 2))}
CALLS: dict[str, Callable[[Any, np.ndarray, np.ndarray], Any]] = {
    "cholesky": lambda s, x, _: s.cholesky(POSITIVE),
    "cholesky, lower": lambda s, x, _: s.cholesky(POSITIVE, True),
    "cho_solve": lambda s, x, b: s.cho_solve(s.cho_factor(POSITIVE), b),
    "cho_solve, lower": lambda s, x, b: s.cho_solve(s.cho_factor(POSITIVE, True), b),
    "solve_triangular": lambda s, x, b: s.solve_triangular(x, b),
    "transposed": lambda s, x, b: s.solve_triangular(x, b, "T", lower=True),
    "ones": lambda s, x, b: s.solve_triangular(x, b, 0, unit_diagonal=True),
    "lu_solve": lambda s, x, b: s.lu_solve(s.lu_factor(x), b),
    "lu_solve, transposed": lambda s, x, b: s.lu_solve(s.lu_factor(x), b, 1),
    "lu": lambda s, x, _: s.lu(x),
    "lu of a tall one": lambda s, x, _: s.lu(x[:, :2], permute_l=True),
    "lu of a wide one": lambda s, x, _: s.lu(x[:2]),
    "det": lambda s, x, _: s.det(x),
    "inv": lambda s, x, _: s.inv(x),
    "expm": lambda s, x, _: s.expm(x),
    "expm of a small one": lambda s, x, _: s.expm(x / 100),
    "expm of a large one": lambda s, x, _: s.expm(8 * x),
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_scipys_gives(name: str, side: str) -> None:
    call, b = CALLS[name], SIDES[side]
    want = call(scipy.linalg, FULL, b)
    with traceir.enable_x64(True):
        staged = traceir.jit(lambda x, b: call(ours, x, b), backend="numba")
        for got in (call(ours, jnp.asarray(FULL), b), staged(FULL, b)):
            pairs = zip(*map(traceir.tree.leaves, (got, want)), strict=True)
            for one, other in pairs:
                np.testing.assert_allclose(np.asarray(one), other, 1e-10, 1e-12)


def test_the_exponential_of_a_stack_takes_each_by_itself() -> None:
    with traceir.enable_x64(True):
        found = ours.expm(jnp.asarray([FULL, 20 * FULL, np.zeros((4, 4))]))
        for one, x in zip(found, (FULL, 20 * FULL, np.zeros((4, 4))), strict=True):
            np.testing.assert_allclose(one, scipy.linalg.expm(x), 1e-9)


def test_an_exponential_that_takes_too_many_squares_is_not_a_number() -> None:
    large = jnp.asarray(1000 * np.eye(2, dtype="float32"))
    assert np.isnan(np.asarray(ours.expm(-large, max_squarings=3))).all()
    assert not np.asarray(ours.expm(-large)).any()


def test_the_derivative_of_an_exponential() -> None:
    with traceir.enable_x64(True):
        step, t = 1e-6, RNG.normal(size=(4, 4))
        _, tangent = traceir.jvp(ours.expm, (FULL,), (t,))
        high, low = ours.expm(FULL + step * t), ours.expm(FULL - step * t)
        wanted = (np.asarray(high) - np.asarray(low)) / (2 * step)
        np.testing.assert_allclose(tangent, wanted, 1e-6, 1e-6)


def test_errors_show_both_shapes() -> None:
    with raises_rule("linalg.shapes", ValueError, r"f32\[4,4\] and f32\[3\]"):
        ours.solve_triangular(FULL, np.ones(3))
    with raises_rule("linalg.option", ValueError, "trans='X'"):
        ours.solve_triangular(FULL, np.ones(4), "X")
