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


def _product(u: Any, s: Any, vh: Any) -> Any:
    """The matrix of singular vectors, whose signs are free."""
    return (u * s) @ vh


def _distance(q: Any, r: Any) -> Any:
    """The matrix of factors, and how far from orthogonal the first is."""
    return q @ r, abs(q.conj().T @ q) < 1e-12


def _squares(values: Any, vectors: Any) -> Any:
    """Eigenvalues, and what is free of the signs of their vectors."""
    return values, vectors**2


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
    "solve": lambda s, x, b: s.solve(x, b),
    "solve, positive": lambda s, x, b: s.solve(POSITIVE, b, assume_a="pos"),
    "solve, lower": lambda s, x, b: s.solve(POSITIVE, b, lower=True, assume_a="pos"),
    "singular values": lambda s, x, _: s.svd(x[:2], compute_uv=False),
    "svd": lambda s, x, _: _product(*s.svd(x[:2], full_matrices=False)),
    "qr": lambda s, x, _: _distance(*s.qr(x[:, :2])),
    "qr, economic": lambda s, x, _: _distance(*s.qr(x[:, :2], mode="economic")),
    "r": lambda s, x, _: abs(s.qr(x, mode="r")[0]),
    "eigenvalues": lambda s, x, _: s.eigh(POSITIVE, eigvals_only=True),
    "eigh": lambda s, x, _: _squares(*s.eigh(POSITIVE)),
    "block_diag": lambda s, x, b: s.block_diag(x, b, x[:1], 2.0),
    "toeplitz": lambda s, x, _: s.toeplitz(x[0]),
    "toeplitz, row": lambda s, x, _: s.toeplitz(x[0], x[1, :3]),
    "hankel": lambda s, x, _: s.hankel(x[0]),
    "hankel, row": lambda s, x, _: s.hankel(x[0], x[1, :3]),
    "circulant": lambda s, x, _: s.circulant(x[0]),
    "hilbert": lambda s, x, _: s.hilbert(4),
    "hadamard": lambda s, x, _: s.hadamard(4),
    "companion": lambda s, x, _: s.companion(x[0]),
    "fiedler": lambda s, x, _: s.fiedler(x[0]),
    "fiedler_companion": lambda s, x, _: s.fiedler_companion(x[0]),
    "fiedler_companion of five": lambda s, x, _: s.fiedler_companion(x.ravel()[:5]),
    "leslie": lambda s, x, _: s.leslie(x[0], x[1, :3]),
    "convolution_matrix": lambda s, x, _: s.convolution_matrix(x[0], 3),
    "convolution_matrix, same": lambda s, x, _: s.convolution_matrix(x[0], 3, "same"),
    "convolution_matrix, wide": lambda s, x, _: s.convolution_matrix(x[0], 7, "same"),
    "convolution_matrix, valid": lambda s, x, _: s.convolution_matrix(x[0], 2, "valid"),
    "dft": lambda s, x, _: s.dft(5, "sqrtn"),
    "helmert": lambda s, x, _: s.helmert(4),
    "helmert, full": lambda s, x, _: s.helmert(4, full=True),
    "invhilbert": lambda s, x, _: s.invhilbert(5),
    "pascal": lambda s, x, _: s.pascal(4) + s.pascal(4, "lower") * s.pascal(4, "upper"),
    "invpascal": lambda s, x, _: s.invpascal(4),
    "invpascal, lower": lambda s, x, _: s.invpascal(4, "lower"),
    "polar": lambda s, x, _: s.polar(x),
    "polar, left": lambda s, x, _: s.polar(x[:2], "left"),
    "expm_frechet": lambda s, x, _: s.expm_frechet(x, x @ x),
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


@pytest.mark.parametrize("name", CALLS)
def test_a_function_of_complex_numbers_gives_what_scipys_gives(name: str) -> None:
    call, x = CALLS[name], FULL + 1j * FULL.T[::-1]
    b = SIDES["matrix"] * (1 - 2j)
    with traceir.enable_x64(True):
        found = traceir.tree.leaves(call(ours, jnp.asarray(x), b))
    wanted = traceir.tree.leaves(call(scipy.linalg, x, b))
    for one, other in zip(found, wanted, strict=True):
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


def test_a_tridiagonal_matrix_has_eigenvalues() -> None:
    d, e = FULL[0], FULL[1, :3]
    wanted = scipy.linalg.eigh_tridiagonal(d, e)
    with traceir.enable_x64(True):
        found = ours.eigh_tridiagonal(d, e)
        some = ours.eigh_tridiagonal(
            d, e, eigvals_only=True, select="i", select_range=(1, 2)
        )
        turned = ours.eigh_tridiagonal(d + 0j, 1j * e, eigvals_only=True)
        for one, other in zip(_squares(*found), _squares(*wanted), strict=True):
            np.testing.assert_allclose(one, other, 1e-12, 1e-12)
    np.testing.assert_allclose(some, wanted[0][1:3], 1e-12)
    np.testing.assert_allclose(turned, wanted[0], 1e-12)
    with raises_rule("linalg.shapes", TypeError):
        ours.eigh_tridiagonal(d, d)
    for options in ({"select": "v"}, {"select": "i", "select_range": (0, 4)}):
        with raises_rule("linalg.option", ValueError):
            ours.eigh_tridiagonal(d, e, **options)


@pytest.mark.parametrize("mode", ["left", "right"])
def test_a_product_with_the_orthogonal_factor(mode: Any) -> None:
    a, c = FULL[:, :3], (FULL[:3, :2] if mode == "left" else FULL[:2])
    wanted = scipy.linalg.qr_multiply(a, c, mode)
    with traceir.enable_x64(True):
        found = ours.qr_multiply(a, c, mode)
        line = ours.qr_multiply(a, c[:, 0] if mode == "left" else c[0], mode)[0]
    signs = np.sign(np.diag(found[1]) * np.diag(wanted[1]))
    factor = scipy.linalg.qr(a, mode="economic")[0] * signs
    product = factor @ c if mode == "left" else c @ factor
    np.testing.assert_allclose(found[0], product, 1e-12, 1e-12)
    assert line.shape == (product[:, 0] if mode == "left" else product[0]).shape
    np.testing.assert_allclose(found[1], wanted[1] * signs[:, None], 1e-12, 1e-12)
    with raises_rule("linalg.shapes", ValueError):
        ours.qr_multiply(a, FULL[:2, :2], mode)


def test_errors_show_both_shapes() -> None:
    with raises_rule("linalg.shapes", ValueError, r"f32\[4,4\] and f32\[3\]"):
        ours.solve_triangular(FULL, np.ones(3))
    with raises_rule("linalg.option", ValueError, "trans='X'"):
        ours.solve_triangular(FULL, np.ones(4), "X")


def test_what_further_matrices_refuse() -> None:
    with raises_rule("linalg.option", ValueError, "power of 2"):
        ours.hadamard(3)
    with raises_rule("linalg.option", ValueError, "mode='raw'"):
        ours.qr(FULL, mode="raw")
    with raises_rule("linalg.option", ValueError, "assume_a"):
        ours.solve(FULL, FULL, assume_a="banded")
    with raises_rule("linalg.shapes", ValueError, "a block of"):
        ours.block_diag(np.ones((2, 2, 2)))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("name", ["cholesky", "cho_factor", "solve"])
def test_one_triangle_of_a_symmetric_matrix_is_read(name: str, lower: bool) -> None:
    part = np.tril(POSITIVE) if lower else np.triu(POSITIVE)
    other = part + (np.triu(FULL, 1) if lower else np.tril(FULL, -1))
    keep = np.tril if lower else np.triu
    with traceir.enable_x64(True):
        for x in (part, other):
            if name == "solve":
                found = ours.solve(x, SIDES["vector"], lower=lower, assume_a="pos")
                want = np.linalg.solve(POSITIVE, SIDES["vector"])
            else:
                found = getattr(ours, name)(x, lower=lower)
                found = keep(found[0] if name == "cho_factor" else found)
                want = scipy.linalg.cholesky(POSITIVE, lower=lower)
            np.testing.assert_allclose(found, want, 1e-9, 1e-11)


def test_a_hadamard_matrix_has_opposites() -> None:
    found = ours.hadamard(2, "uint8")
    np.testing.assert_array_equal(found, [[1, 1], [1, 255]])
    with raises_rule("neg.numeric", TypeError):
        ours.hadamard(2, bool)


def test_leading_zeros_of_what_is_differentiated_are_known() -> None:
    def largest(p: traceir.Array) -> traceir.Array:
        return jnp.abs(jnp.roots(p)).max()

    slope = traceir.grad(largest)(jnp.array([0.0, 1.0, -3.0]))
    np.testing.assert_allclose(slope, [0, -3, -1], rtol=1e-6)

    def product(p: traceir.Array) -> traceir.Array:
        return jnp.polymul(p, p, trim_leading_zeros=True).sum()

    slope = traceir.grad(product)(jnp.array([0.0, 1.0, -3.0]))
    np.testing.assert_allclose(slope, [0, -4, -4], rtol=1e-6)
