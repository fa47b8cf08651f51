"""Iterative solutions, and derivatives by equations. Cites: custom_solve.value,
custom_solve.structure, custom_solve.transpose, face.choice"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.scipy.sparse.linalg import bicgstab, cg, gmres

RNG = np.random.default_rng(0)
ANY = RNG.normal(size=(20, 20)).astype("float32") + 10 * np.eye(20, dtype="float32")
DEFINITE = (ANY @ ANY.T).astype("float32")
RIGHT = RNG.normal(size=20).astype("float32")
SOLVERS = [(cg, DEFINITE), (bicgstab, ANY), (gmres, ANY)]


@pytest.mark.parametrize("solver, matrix", SOLVERS)
def test_solutions_and_their_derivatives(solver: Any, matrix: Any) -> None:
    def solved(matrix: Any, right: Any) -> Any:
        return solver(matrix, right, tol=1e-7)[0]

    x = np.linalg.solve(matrix, RIGHT)
    assert np.allclose(solved(matrix, RIGHT), x, atol=1e-5)
    assert np.allclose(traceir.jit(solved)(matrix, RIGHT), x, atol=1e-5)
    both = traceir.vmap(solved, (None, 0))(matrix, np.stack([RIGHT, 2 * RIGHT]))
    assert np.allclose(both, [x, 2 * x], atol=1e-5)
    down = np.linalg.solve(matrix.T, np.ones(20))
    by_matrix, by_right = traceir.grad(
        lambda *args: solved(*args).sum(), argnums=(0, 1)
    )(jnp.asarray(matrix), jnp.asarray(RIGHT))
    assert np.allclose(by_matrix, -np.outer(down, x), atol=1e-5)
    assert np.allclose(by_right, down, atol=1e-5)
    change = np.ones_like(matrix)
    moved = traceir.jvp(lambda m: solved(m, RIGHT), (matrix,), (change,))[1]
    assert np.allclose(moved, -np.linalg.solve(matrix, change @ x), atol=1e-5)


@pytest.mark.parametrize("solver, matrix", SOLVERS)
def test_complex_systems(solver: Any, matrix: Any) -> None:
    skew = ANY - ANY.T
    whole = (matrix + 1j * skew).astype("complex64")
    right = (RIGHT + 1j).astype("complex64")
    found = solver(whole, right, tol=1e-7)[0]
    assert np.allclose(found, np.linalg.solve(whole, right), atol=1e-4)


@pytest.mark.parametrize("solver", [cg, bicgstab, gmres])
def test_trees_guesses_and_inverses(solver: Any) -> None:
    def multiplied(tree: Any) -> Any:
        return {"a": 2 * tree["a"], "b": 4 * tree["b"]}

    right = {"a": jnp.ones(3), "b": jnp.ones(())}
    found, none = solver(multiplied, right)
    assert none is None and found["b"].shape == ()
    assert np.allclose(found["a"], 0.5) and np.allclose(found["b"], 0.25)
    inverse = np.linalg.inv(DEFINITE)
    x = np.linalg.solve(DEFINITE, RIGHT)
    assert np.allclose(solver(DEFINITE, RIGHT, M=inverse, maxiter=2)[0], x, atol=1e-4)
    assert np.allclose(solver(DEFINITE, RIGHT, x, maxiter=0)[0], x)
    assert np.array_equal(solver(np.eye(3), np.zeros(3))[0], np.zeros(3))
    assert solver(np.eye(2, dtype=int), np.array([1, 2]))[0].dtype == "float32"


def test_fewer_steps_than_needed_leave_a_residual() -> None:
    loose = cg(DEFINITE, RIGHT, maxiter=1)[0]
    assert np.linalg.norm(DEFINITE @ loose - RIGHT) > 0.01
    space = gmres(ANY, RIGHT, restart=3, tol=1e-6)[0]
    assert np.allclose(space, np.linalg.solve(ANY, RIGHT), atol=1e-4)


def test_a_system_with_more_results_and_its_second_derivative() -> None:
    def solution(a: Any, right: Any) -> Any:
        def solve(matvec: Any, y: Any) -> Any:
            return y / matvec(jnp.ones(2)), jnp.int32(7)

        return lax.custom_linear_solve(
            lambda x: a * x, right, solve, symmetric=True, has_aux=True
        )

    right = jnp.array([6.0, 8.0])
    x, aux = solution(2.0, right)
    assert x.tolist() == [3, 4] and aux == 7

    def total(a: Any) -> Any:
        return solution(a, right)[0].sum()

    assert traceir.grad(total)(2.0) == -3.5
    assert traceir.grad(traceir.grad(total))(2.0) == 3.5
    rows = traceir.vmap(traceir.grad(total))(jnp.array([1.0, 2.0]))
    assert rows.tolist() == [-14, -3.5]


def test_a_root_moves_with_what_the_function_closes_over() -> None:
    def root(a: Any) -> Any:
        def newton(f: Any, x: Any) -> Any:
            def step(_: Any, x: Any) -> Any:
                return x - f(x) / traceir.grad(f)(x)

            return lax.fori_loop(0, 8, step, x), jnp.arange(2)

        def divide(g: Any, y: Any) -> Any:
            return y / g(1.0)

        def square(x: Any) -> Any:
            return x * x - a

        return lax.custom_root(square, 1.0, newton, divide, has_aux=True)

    def first(a: Any) -> Any:
        return root(a)[0]

    assert first(4.0) == 2 and root(4.0)[1].tolist() == [0, 1]
    assert traceir.grad(first)(4.0) == 0.25
    assert traceir.jit(traceir.grad(traceir.grad(first)))(4.0) == -0.03125
    assert traceir.vmap(traceir.grad(first))(jnp.array([4.0, 16.0])).tolist() == [
        0.25,
        0.125,
    ]

    def fixed(x: Any) -> Any:
        return lax.custom_root(lambda y: y - 3.0, x, lambda f, y: y - f(y), None)

    assert fixed(1.0) == 3 and traceir.grad(fixed)(1.0) == 0


def test_refused() -> None:
    b = jnp.ones(2)

    def keep(matvec: Any, y: Any) -> Any:
        return y

    with raises_rule("custom_solve.structure", TypeError, "matvec"):
        lax.custom_linear_solve(lambda x: x[:1], b, keep)
    with raises_rule("custom_solve.structure", TypeError, "solve"):
        lax.custom_linear_solve(lambda x: x, b, lambda matvec, y: (y, y))
    with raises_rule("custom_solve.structure", TypeError, "no pair"):
        lax.custom_linear_solve(lambda x: x, b, keep, has_aux=True)

    def solve(y: Any) -> Any:
        return lax.custom_linear_solve(lambda x: x, y, keep).sum()

    with raises_rule("custom_solve.transpose", TypeError, "no `transpose_solve`"):
        traceir.grad(solve)(b)
    with raises_rule("custom_solve.structure", TypeError, "a matrix of shape"):
        cg(np.ones((2, 3)), b)
    with raises_rule("custom_solve.structure", TypeError, "f\\(x\\)"):
        lax.custom_root(lambda x: b, 1.0, lambda f, x: x, None)
    with raises_rule("face.choice", ValueError, "solve_method"):
        gmres(np.eye(2), b, solve_method="fast")
