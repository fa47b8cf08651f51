"""Three diagonals, reflectors, symmetric products, in both backends and transformed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule
from scipy import linalg as host

import traceir
import traceir.numpy as jnp
from traceir import lax

RNG = np.random.default_rng(0)


def dense(dl: Any, d: Any, du: Any) -> Any:
    """The matrix of three diagonals."""
    return np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_systems_with_three_diagonals(backend: str, dtype: str) -> None:
    with traceir.enable_x64(dtype == "float64"):
        solve = traceir.jit(lax.linalg.tridiagonal_solve, backend=backend)
        for size in (1, 2, 7):
            diagonals = RNG.normal(size=(3, size)).astype(dtype)
            diagonals[1, ::2] /= 100  # rows have to be exchanged
            diagonals[1, 0] += size == 1
            diagonals[0, 0] = diagonals[2, -1] = np.nan  # nobody looks at these
            b = RNG.normal(size=(size, 2)).astype(dtype)
            matrix = dense(*diagonals)
            want = np.linalg.solve(matrix.astype("complex128"), b)
            found = np.asarray(solve(*diagonals, b))
            tight = 1e-10 if dtype == "float64" else 2e-3
            np.testing.assert_allclose(found, want, rtol=tight, atol=tight)
            assert found.dtype == dtype


def test_stacks_of_systems_and_their_derivatives() -> None:
    with traceir.enable_x64():
        d = RNG.normal(size=(2, 3, 4)) + 3
        off, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 3, 4, 2))
        found = lax.linalg.tridiagonal_solve(off, d, off, b)
        mapped = traceir.vmap(traceir.vmap(lax.linalg.tridiagonal_solve))
        np.testing.assert_allclose(found, mapped(off, d, off, b), rtol=1e-12)
        want = np.linalg.solve(dense(off[1, 2], d[1, 2], off[1, 2]), b[1, 2])
        np.testing.assert_allclose(found[1, 2], want, rtol=1e-10)

        def total(d: Any) -> Any:
            return lax.linalg.tridiagonal_solve(off[0, 0], d, off[0, 0], b[0, 0]).sum()

        step = 1e-6 * np.eye(4)
        slopes = [(total(d[0, 0] + e) - total(d[0, 0] - e)) / 2e-6 for e in step]
        np.testing.assert_allclose(traceir.grad(total)(d[0, 0]), slopes, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_products_of_reflectors_are_those_of_a_factorization(
    backend: str, dtype: str
) -> None:
    product = traceir.jit(lax.linalg.householder_product, backend=backend)
    x = RNG.normal(size=(2, 5, 3)) + (1j if dtype == "complex64" else 0)
    raw = [host.qr(m.astype(dtype), mode="raw")[0] for m in x]
    a, taus = (np.stack(parts) for parts in zip(*raw, strict=True))
    found = np.asarray(product(a, taus))
    want = np.stack([host.qr(m, mode="economic")[0] for m in x])
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)
    few = np.asarray(product(a, taus[:, :1]))
    ones = np.broadcast_to(np.eye(3), (2, 3, 3))
    np.testing.assert_allclose(few.conj().swapaxes(1, 2) @ few, ones, atol=1e-5)


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    turn = 1j * RNG.normal(size=shape) if dtype == "complex64" else 0
    return (RNG.normal(size=shape) + turn).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 3), (2, 4)])
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_reflections_are_those_of_lapack(
    backend: str, shape: tuple[int, ...], dtype: str
) -> None:
    x = drawn(shape, dtype)
    packed, taus = traceir.jit(lax.linalg.geqrf, backend=backend)(x)
    for m, a, t in zip(
        *(np.reshape(v, (-1, *v.shape[len(shape) - 2 :])) for v in (x, packed, taus)),
        strict=True,
    ):
        (want, scales), _ = host.qr(m, mode="raw")
        np.testing.assert_allclose(a, want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(t, scales, rtol=1e-4, atol=1e-5)
    h, scales = jnp.linalg.qr(x, mode="raw")
    np.testing.assert_allclose(h, np.swapaxes(packed, -1, -2), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scales, taus, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_products_with_all_reflections(dtype: str) -> None:
    x = drawn((2, 5, 3), dtype)
    q = np.linalg.qr(x, mode="complete")[0]
    c = RNG.normal(size=(2, 5, 4)).astype(dtype)
    given = lax.linalg.geqrf(x)
    for adjoint in (False, True):
        full = q.conj().swapaxes(1, 2) if adjoint else q
        found = lax.linalg.ormqr(*given, c, transpose=adjoint)
        np.testing.assert_allclose(found, full @ c, rtol=1e-3, atol=1e-4)
        d = c.swapaxes(1, 2)
        found = lax.linalg.ormqr(*given, d, left=False, transpose=adjoint)
        np.testing.assert_allclose(found, d @ full, rtol=1e-3, atol=1e-4)


def test_a_reflection_of_zeros_has_a_derivative() -> None:
    x = np.array([[2.0, 1.0], [0.0, 3.0]], "float32")
    packed, taus = lax.linalg.geqrf(x)
    np.testing.assert_array_equal(packed, x)
    np.testing.assert_array_equal(taus, np.zeros(2))
    slope = traceir.grad(lambda x: lax.linalg.geqrf(x)[0][0, 0])(x)
    assert np.isfinite(slope).all()


def test_symmetric_products() -> None:
    a = RNG.normal(size=(2, 3, 4)).astype("float32")
    c = RNG.normal(size=(2, 3, 3)).astype("float32")
    want = 2 * a @ a.swapaxes(1, 2) + 0.5 * c
    found = lax.linalg.symmetric_product(a, c, alpha=2.0, beta=0.5)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
    found = lax.linalg.symmetric_product(
        a, c, alpha=2.0, beta=0.5, symmetrize_output=True
    )
    mirrored = np.tril(want) + np.tril(want, -1).swapaxes(1, 2)
    np.testing.assert_allclose(found, mirrored, rtol=1e-5, atol=1e-5)


def test_what_does_not_fit() -> None:
    ones = np.ones(3, "float32")
    square, few = np.ones((3, 3), "float32"), np.ones((3, 2), "float32")
    with raises_rule("linalg.shapes", ValueError):
        lax.linalg.tridiagonal_solve(ones[1:], ones, ones, few)
    with raises_rule("linalg.shapes", ValueError):
        lax.linalg.tridiagonal_solve(ones, ones, ones, ones)
    with raises_rule("linalg.shapes", ValueError):
        lax.linalg.householder_product(few.T, ones[:2])
    with raises_rule("linalg.shapes", ValueError):
        lax.linalg.householder_product(few, ones)
    with raises_rule("linalg.shapes", ValueError):
        lax.linalg.symmetric_product(few, few)
    with raises_rule("linalg.shapes", ValueError):
        lax.linalg.ormqr(few, ones[:2], few.T)
    with raises_rule("matrices.dtype", TypeError):
        lax.linalg.geqrf(square.astype(int))
    with raises_rule("matrices.dtype", TypeError):
        lax.linalg.symmetric_product(square.astype(int), square.astype(int))
