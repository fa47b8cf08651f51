"""Derivatives of determinants and of solutions: by minors, and at singular matrices."""

from __future__ import annotations

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp

SINGULAR = {
    "the last pivot is 0": np.diag([1.0, 2.0, 3.0, 0.0]),
    "a pivot inside is 0": np.diag([1.0, 0.0, 3.0, 4.0]),
    "the first column is 0": np.array(
        [[0, 1, 2, 1], [0, 3, 1, 1], [0, 1, 1, 5], [0, 2, 2, 3]], float
    ),
    "two columns are one": np.array(
        [[1, 1, 2, 1], [2, 2, 1, 1], [4, 4, 1, 5], [1, 1, 2, 3]], float
    ),
    "two pivots are 0": np.diag([1.0, 0.0, 0.0, 4.0]),
    "all are 0": np.zeros((4, 4)),
    "rows repeat in the second half": np.array(
        [[1, 2, 3, 4, 5], [0, 1, 1, 1, 2], [1, 0, 2, 0, 1], [1, 2, 3, 4, 5], [2] * 5],
        float,
    ),
}


def cofactors(a: np.ndarray) -> np.ndarray:
    """The slope of the determinant by each element: its minor, with its sign."""
    n = len(a)
    out = np.empty_like(a)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(a, i, 0), j, 1)
            out[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return out


@pytest.mark.parametrize("name", SINGULAR)
def test_determinants_have_their_slopes_where_they_are_zero(name: str) -> None:
    a = np.float32(SINGULAR[name])
    wanted = cofactors(np.float64(a))
    for grad in (
        traceir.grad(jnp.linalg.det),
        traceir.jit(traceir.jacfwd(jnp.linalg.det)),
    ):
        np.testing.assert_allclose(grad(a), wanted, rtol=1e-5, atol=1e-5)


def test_stacks_of_regular_and_singular_matrices_have_each_its_slopes() -> None:
    rng = np.random.default_rng(0)
    own = [m for m in SINGULAR.values() if len(m) == 4]
    stack = np.float32([*own, rng.normal(size=(4, 4))])
    wanted = np.stack([cofactors(np.float64(m)) for m in stack])
    whole = traceir.grad(lambda s: jnp.linalg.det(s).sum())(stack)
    mapped = traceir.jit(traceir.vmap(traceir.grad(jnp.linalg.det)))(stack)
    np.testing.assert_allclose(whole, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mapped, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_second_derivatives_of_logarithms_of_determinants(dtype: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=(4, 4)).astype(dtype)
    if dtype == "complex64":
        a = a + 1j * rng.normal(size=(4, 4)).astype("f4")
    inverse = np.linalg.inv(a.astype("complex128" if dtype == "complex64" else "f8"))
    # Of the derivative by a[j, i], inverse[i, j], by a[k, l].
    wanted = -np.einsum("ik,lj->jikl", inverse, inverse)

    def slope(x: jnp.ndarray) -> jnp.ndarray:
        return traceir.grad(lambda y: jnp.linalg.slogdet(y)[1])(x)

    if dtype == "float32":
        for outer in (traceir.jacfwd, traceir.jacrev):
            np.testing.assert_allclose(outer(slope)(a), wanted, rtol=2e-3, atol=1e-4)
    else:
        np.testing.assert_allclose(slope(a), inverse.T, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
@pytest.mark.parametrize("inner", ["jacfwd", "jacrev"])
def test_second_derivatives_of_solutions(outer: str, inner: str) -> None:
    rng = np.random.default_rng(2)
    a, b = (np.float32(rng.normal(size=s)) for s in ((3, 3), (3,)))
    inverse = np.linalg.inv(np.float64(a))
    x = inverse @ b
    first = -np.einsum("ij,k->ijk", inverse, x)
    once = getattr(traceir, inner)(jnp.linalg.solve)
    np.testing.assert_allclose(once(a, b), first, rtol=1e-3, atol=1e-4)
    twice = traceir.jit(getattr(traceir, outer)(once))(a, b)
    # The derivatives of the inverse, and of the solution in it.
    wanted = np.einsum("il,mj,k->ijklm", inverse, inverse, x)
    wanted += np.einsum("ij,kl,m->ijklm", inverse, inverse, x)
    np.testing.assert_allclose(twice, wanted, rtol=2e-3, atol=1e-3)


def test_one_matrix_and_a_stack_of_right_sides() -> None:
    rng = np.random.default_rng(3)
    a, b = (np.float32(rng.normal(size=s)) for s in ((3, 3), (5, 3, 2)))
    inverse = np.linalg.inv(np.float64(a))
    slopes = traceir.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1))(a, b)
    down = np.broadcast_to(inverse.T @ np.ones((3, 2)), b.shape)
    np.testing.assert_allclose(slopes[1], down, rtol=1e-3, atol=1e-4)
    wanted = -np.einsum("nik,njk->ij", down, inverse @ b)
    np.testing.assert_allclose(slopes[0], wanted, rtol=1e-3, atol=1e-3)


def test_the_matrix_is_factorized_once_for_value_and_slopes() -> None:
    def density(c: jnp.ndarray, y: jnp.ndarray) -> jnp.ndarray:
        return y @ jnp.linalg.solve(c, y) + jnp.linalg.slogdet(c)[1]

    c, y = jnp.eye(5) * 2, jnp.ones(5)
    step = traceir.jit(traceir.value_and_grad(density, (0, 1)))
    text = step.explain(c, y, what="speed")
    assert str(text).count("lu: a library's function") == 1
