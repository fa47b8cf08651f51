"""Schur and Hessenberg forms, and what is made of them, beside SciPy's.

Cites linalg.shapes, linalg.option, linalg.square, derive.missing, schur.sort
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
from traceir import lax

RNG = np.random.default_rng(4)
# Two pairs of conjugate eigenvalues, and a real one.
FULL = RNG.normal(size=(5, 5))
OTHER = RNG.normal(size=(3, 3)) + 6 * np.eye(3)
RIGHT = RNG.normal(size=(5, 3))
COMPLEX = FULL + 1j * FULL[::-1]


def _cube(x: Any) -> Any:
    return x * x * x


CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "schur": lambda s, a, b, c: s.schur(a),
    "schur, complex": lambda s, a, b, c: s.schur(a, "complex"),
    "hessenberg": lambda s, a, b, c: s.hessenberg(a),
    "hessenberg and q": lambda s, a, b, c: s.hessenberg(a, calc_q=True),
    "rsf2csf": lambda s, a, b, c: s.rsf2csf(*s.schur(a)),
    "sqrtm": lambda s, a, b, c: s.sqrtm(a),
    "funm": lambda s, a, b, c: s.funm(a, _cube),
    "solve_sylvester": lambda s, a, b, c: s.solve_sylvester(a, b, c),
}


@pytest.mark.parametrize("matrix", ["real", "complex"])
@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_scipys_gives(name: str, matrix: str) -> None:
    call, x = CALLS[name], FULL if matrix == "real" else COMPLEX
    # Beside a complex matrix SciPy takes the real form of a real one for a triangle.
    other = OTHER.astype(x.dtype)
    want = call(scipy.linalg, x, other, RIGHT)
    with traceir.enable_x64(True):
        staged = traceir.jit(lambda *xs: call(ours, *xs), backend="numba")
        arrays = [jnp.asarray(v) for v in (x, other, RIGHT)]
        for got in (call(ours, *arrays), staged(*arrays)):
            pairs = zip(*map(traceir.tree.leaves, (got, want)), strict=True)
            for one, other in pairs:
                np.testing.assert_allclose(np.asarray(one), other, 1e-9, 1e-11)


@pytest.mark.parametrize("name", CALLS)
def test_each_matrix_of_a_stack_stands_alone(name: str) -> None:
    stack = RNG.normal(size=(3, 3, 3)).astype("float32")

    def of_one(x: Any) -> Any:
        return CALLS[name](ours, x, OTHER, x)

    one_by_one = zip(*(traceir.tree.leaves(of_one(x)) for x in stack))
    mapped = traceir.jit(traceir.vmap(of_one), backend="numba")(stack)
    for got, want in zip(traceir.tree.leaves(mapped), one_by_one, strict=True):
        np.testing.assert_allclose(got, np.stack(want), 2e-4, 2e-4)
    if name not in ("sqrtm", "funm"):
        for got, want in zip(*map(traceir.tree.leaves, (of_one(stack), mapped))):
            np.testing.assert_allclose(got, want, 2e-4, 2e-4)


def test_stacks_of_an_equation_broadcast() -> None:
    with traceir.enable_x64(True):
        found = ours.solve_sylvester(FULL, np.stack([OTHER, OTHER.T]), RIGHT)
        for x, b in zip(found, (OTHER, OTHER.T), strict=True):
            np.testing.assert_allclose(FULL @ x + x @ b, RIGHT, 1e-9, 1e-9)


def test_an_equation_by_eigenvectors() -> None:
    with traceir.enable_x64(True):
        found = ours.solve_sylvester(FULL, OTHER, RIGHT, method="eigen")
        want = scipy.linalg.solve_sylvester(FULL, OTHER, RIGHT)
        np.testing.assert_allclose(found, want, 1e-9, 1e-9)
    assert np.isnan(ours.solve_sylvester(OTHER, -OTHER, OTHER)).all()
    assert np.isnan(ours.solve_sylvester(FULL, OTHER, RIGHT, tol=1e6)).all()


def test_an_equation_has_a_derivative_by_its_right_side() -> None:
    def total(c: Any) -> Any:
        return ours.solve_sylvester(FULL, OTHER, c).sum()

    with traceir.enable_x64(True):
        found = traceir.grad(total)(RIGHT)
        # It is linear, so the gradient solves the transposed equation.
        want = scipy.linalg.solve_sylvester(FULL.T, OTHER.T, np.ones((5, 3)))
        np.testing.assert_allclose(found, want, 1e-9, 1e-9)


def test_a_real_form_has_a_derivative_as_a_complex_one() -> None:
    t, z = scipy.linalg.schur(FULL)

    def turned(x: Any) -> Any:
        form, vectors = ours.rsf2csf(t + x * np.eye(5), z)
        return vectors @ form @ vectors.conj().T

    with traceir.enable_x64(True):
        _, tangent = traceir.jvp(turned, (0.0,), (1.0,))
        np.testing.assert_allclose(tangent, np.eye(5), 1e-9, 1e-9)


def test_a_function_says_how_far_off_it_may_be() -> None:
    apart, near = ([[1.0, 2.0], [0.0, b]] for b in (3.0, 1.0))
    errors = [ours.funm(x, jnp.exp, disp=False)[1] for x in (apart, near)]
    assert errors[0] < 1e-6
    assert errors[1] == 1


def test_roots_of_what_is_singular() -> None:
    zero, still = jnp.zeros((2, 2)), jnp.array([[0.0, 1.0], [0.0, 0.0]])
    assert not np.asarray(ours.sqrtm(zero)).any()
    assert not np.isfinite(np.asarray(ours.sqrtm(still))).all()


@pytest.mark.parametrize("name", CALLS)
def test_a_matrix_without_rows_has_forms(name: str) -> None:
    if name != "funm":  # of which the first eigenvalue counts
        nothing = jnp.zeros((0, 0))
        found = traceir.tree.leaves(CALLS[name](ours, *[nothing] * 3))
        assert {x.shape for x in found} == {(0, 0)}


def test_what_the_forms_refuse() -> None:
    stack = np.ones((2, 3, 3))
    for name in ("sqrtm", "funm"):
        with raises_rule("linalg.shapes", ValueError, rf"{name} of .*\[2,3,3\]"):
            CALLS[name](ours, stack, None, None)
    with raises_rule("linalg.option", NotImplementedError, "blocksize=2"):
        ours.sqrtm(FULL, 2)
    with raises_rule("linalg.option", ValueError, "output='r'"):
        ours.schur(FULL, "r")
    with raises_rule("linalg.option", ValueError, "method='x'"):
        ours.solve_sylvester(FULL, OTHER, RIGHT, method="x")
    with raises_rule("linalg.shapes", ValueError, r"f32\[5,5\] and f32\[5,5\]"):
        ours.solve_sylvester(FULL, FULL, RIGHT)
    with raises_rule("linalg.shapes", ValueError, r"f32\[5,5\] and f32\[3,3\]"):
        ours.rsf2csf(FULL, OTHER)
    with raises_rule("linalg.square", ValueError, r"f32\[5,3\]"):
        ours.rsf2csf(RIGHT, FULL)
    with raises_rule("schur.sort", NotImplementedError):
        lax.linalg.schur(FULL, sort_eig_vals=True)
    for name in ("schur", "hessenberg", "sqrtm", "funm"):
        with raises_rule("derive.missing", NotImplementedError, "schur|hessenberg"):
            traceir.jvp(lambda x, n=name: CALLS[n](ours, x, 0, 0), (FULL,), (FULL,))
