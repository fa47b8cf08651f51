"""Linear algebra of complex matrices. Serves: matrices.*, linalg.*, derive.factors"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.oracle.relations import unsatisfied
from traceir.reference.kernels.registry import KERNELS
from traceir.rules import default

SEED = 7
Function = Callable[..., Any]


def matrices(*shape: int, dtype: str = "complex128") -> np.ndarray:
    """A stack of matrices without any symmetry."""
    draw = np.random.default_rng(SEED)
    parts = draw.normal(size=shape), draw.normal(size=shape)
    return np.asarray(parts[0] + 1j * parts[1]).astype(dtype)


def hermitian(*shape: int, dtype: str = "complex128") -> np.ndarray:
    """A stack of positive definite Hermitian matrices."""
    x = matrices(*shape, dtype=dtype)
    return np.asarray(x @ x.conj().swapaxes(-1, -2) + np.eye(shape[-1])).astype(dtype)


# One by one, and all of a stack at once.
SHAPES = [(3, 3), (16, 2, 2)]
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("cholesky", {}),
    ("lu", {}),
    *(("qr", {"full_matrices": f, "pivoting": False}) for f in (True, False)),
    *(("svd", {"full_matrices": f, "compute_uv": True}) for f in (True, False)),
    ("svd", {"full_matrices": False, "compute_uv": False}),
    *(("eigh", {"lower": lower}) for lower in (True, False)),
    *(
        ("eig", {"compute_left_eigenvectors": x, "compute_right_eigenvectors": y})
        for x in (True, False)
        for y in (True, False)
    ),
    *(("schur", {"compute_schur_vectors": x}) for x in (True, False)),
    ("hessenberg", {}),
    *(
        (
            "triangular_solve",
            {
                "left_side": left,
                "lower": lower,
                "transpose_a": turned,
                "conjugate_a": conjugate,
                "unit_diagonal": turned,
            },
        )
        for left in (True, False)
        for lower in (True, False)
        for turned in (True, False)
        for conjugate in (True, False)
    ),
]


@pytest.mark.parametrize("name, params", ROWS, ids=str)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_relations_hold(name: str, params: dict[str, Any], dtype: str) -> None:
    row = default().prims[name]
    known = {**row.defaults, **params}
    for shape in SHAPES:
        if name in ("qr", "svd"):
            shape = (*shape[-2:-1], 2)
        made = hermitian if name == "cholesky" else matrices
        x = made(*shape, dtype=dtype)
        operands = [x, x[..., ::-1, :]] if name == "triangular_solve" else [x]
        got = KERNELS[name](*operands, **known)
        got = got if isinstance(got, list) else [got]
        assert list(unsatisfied(row, known, operands, got, default())) == []


@pytest.mark.parametrize("name, params", ROWS[:16], ids=str)
def test_relations_see_a_wrong_element(name: str, params: dict[str, Any]) -> None:
    row = default().prims[name]
    known = {**row.defaults, **params}
    x = hermitian(3, 3)
    got = KERNELS[name](x, **known)
    for number, part in enumerate(got if isinstance(got, list) else [got]):
        if part.dtype.kind in "fc":
            wrong = [np.array(r) for r in (got if isinstance(got, list) else [got])]
            wrong[number][(-1,) * part.ndim] += 0.01 if part.ndim == 1 else 0.01j
            assert list(unsatisfied(row, known, [x], wrong, default()))


FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "cholesky": (np.linalg.cholesky, jnp.linalg.cholesky),
    "upper": (
        lambda a: np.linalg.cholesky(a, upper=True),
        lambda a: jnp.linalg.cholesky(a, upper=True),
    ),
    "inv": (np.linalg.inv, jnp.linalg.inv),
    "det": (np.linalg.det, jnp.linalg.det),
    "slogdet": (np.linalg.slogdet, jnp.linalg.slogdet),
    "pinv": (np.linalg.pinv, jnp.linalg.pinv),
    "matrix_rank": (np.linalg.matrix_rank, jnp.linalg.matrix_rank),
    "cond": (np.linalg.cond, jnp.linalg.cond),
    "cond1": (lambda a: np.linalg.cond(a, 1), lambda a: jnp.linalg.cond(a, 1)),
    "norm": (np.linalg.norm, jnp.linalg.norm),
    "norm1": (lambda a: np.linalg.norm(a, 1), lambda a: jnp.linalg.norm(a, 1)),
    "nuclear": (
        lambda a: np.linalg.norm(a, "nuc"),
        lambda a: jnp.linalg.norm(a, "nuc"),
    ),
    "vector": (
        lambda a: np.linalg.norm(a[0], 3),
        lambda a: jnp.linalg.norm(a[0], 3),
    ),
    "zeroth": (
        lambda a: np.linalg.norm(a[0], 0),
        lambda a: jnp.linalg.norm(a[0], 0),
    ),
    "eigvalsh": (np.linalg.eigvalsh, jnp.linalg.eigvalsh),
    "svdvals": (np.linalg.svdvals, jnp.linalg.svdvals),
    "eigvals": (
        lambda a: np.sort(np.linalg.eigvals(a @ a.T)),
        lambda a: jnp.sort(jnp.linalg.eigvals(a @ a.T)),
    ),
    "eigvals of a real one": (
        lambda a: np.sort_complex(np.linalg.eigvals(a.real - a.imag)),
        lambda a: jnp.sort(jnp.linalg.eigvals(a.real - a.imag)),
    ),
    "solve": (
        lambda a: np.linalg.solve(a, a[0]),
        lambda a: jnp.linalg.solve(a, a[0]),
    ),
    "lstsq": (
        lambda a: np.linalg.lstsq(a[:, :2], a[:, 2:])[:3],
        lambda a: jnp.linalg.lstsq(a[:, :2], a[:, 2:])[:3],
    ),
    "power": (
        lambda a: np.linalg.matrix_power(a, -2),
        lambda a: jnp.linalg.matrix_power(a, -2),
    ),
    "vecdot": (lambda a: np.linalg.vecdot(a, a.T), lambda a: jnp.vecdot(a, a.T)),
    "vecmat": (lambda a: np.vecmat(a[0], a), lambda a: jnp.vecmat(a[0], a)),
    "vdot": (lambda a: np.vdot(a, a.T), lambda a: jnp.vdot(a, a.T)),
}


def same(got: Any, want: Any) -> None:
    """Compare values and dtypes, of numbers and of tuples of them."""
    got, want = traceir.tree.leaves(got), traceir.tree.leaves(tuple(want))
    for ours, theirs in zip(got, want, strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert theirs.dtype.kind == "i" or ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_functions_are_numpys(name: str, backend: str) -> None:
    theirs, ours = FUNCTIONS[name]
    x = hermitian(3, 3)
    with traceir.enable_x64(True):
        for function in (ours, traceir.jit(ours, backend=backend)):
            same((function(jnp.asarray(x)),), (theirs(x),))


def test_what_is_made_of_complex_factors() -> None:
    x = matrices(4, 3)
    with traceir.enable_x64(True):
        q, r = jnp.linalg.qr(x)
        same((q @ r,), (x,))
        u, s, v = jnp.linalg.svd(x, full_matrices=False)
        same(((u * s) @ v,), (x,))
        h = hermitian(3, 3)
        w, vectors = jnp.linalg.eigh(h)
        same((h @ vectors, w), (vectors * w, np.linalg.eigvalsh(h)))


def _unit(v: Any) -> Any:
    """Vectors as columns, each turned so that its first element is positive."""
    return v * jnp.conj(v[:1]) / jnp.abs(v[:1])


# Functions of which the derivative is unique, as factors are not.
DERIVED: dict[str, Function] = {
    "cholesky": lax.linalg.cholesky,
    "lu": lambda a: lax.linalg.lu(a)[0],
    "qr": lambda a: jnp.linalg.qr(a)[0] @ jnp.tril(jnp.ones((3, 3))),
    "r": lambda a: jnp.linalg.qr(a)[1],
    "tall": lambda a: jnp.linalg.qr(a[:, :2])[0],
    "eigh": lambda a: jnp.linalg.eigh(a)[0],
    "eigenvectors": lambda a: _unit(jnp.linalg.eigh(a)[1]),
    "svd": lambda a: jnp.linalg.svd(a)[1],
    "left": lambda a: _unit(jnp.linalg.svd(a[:, :2], full_matrices=False)[0]),
    "right": lambda a: _unit(jnp.linalg.svd(a[:2], full_matrices=False)[2].T),
    "values": jnp.linalg.svdvals,
    "eigvals": jnp.linalg.eigvals,
    "triangle": lambda a: lax.linalg.triangular_solve(
        a, a.T, left_side=True, lower=True, transpose_a=True, conjugate_a=True
    ),
    "other side": lambda a: lax.linalg.triangular_solve(a, a.T, conjugate_a=True),
    "det": jnp.linalg.det,
    "slogdet": lambda a: jnp.linalg.slogdet(a)[1],
    "direction of det": lambda a: jnp.linalg.slogdet(a + a.T)[0],
    "inv": jnp.linalg.inv,
    "pinv": lambda a: jnp.linalg.pinv(a[:, :2]),
}


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_against_differences(name: str) -> None:
    function, x, t, h = DERIVED[name], matrices(3, 3), matrices(3, 3)[::-1], 1e-6
    with traceir.enable_x64(True):
        if name in ("cholesky", "eigh", "eigenvectors"):
            x, t = hermitian(3, 3), t + t.conj().T
        x, t = jnp.asarray(x), jnp.asarray(t)
        want = (function(x + h * t) - function(x - h * t)) / (2 * h)
        out, got = traceir.jvp(function, (x,), (t,))
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)
        # What goes back is the transposed of what went forward, without conjugates.
        ct = jnp.ones(out.shape) * (1 + (0.5j if out.dtype.kind == "c" else 0))
        (back,) = traceir.vjp(function, x)[1](ct.astype(out.dtype))
        ahead = jnp.sum(got * ct.astype(out.dtype)).real
        np.testing.assert_allclose(jnp.sum(back * t).real, ahead, rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["cholesky", "eigh", "eig", "svd", "lu", "qr", "schur", "hessenberg"]
)
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_stacks_under_vmap(name: str, backend: str) -> None:
    function = getattr(lax.linalg, name)
    x = hermitian(4, 2, 2, dtype="complex64")
    got = traceir.jit(traceir.vmap(function), backend=backend)(x)
    want = [function(jnp.asarray(m)) for m in x]
    for ours, theirs in zip(
        traceir.tree.leaves(got), zip(*map(traceir.tree.leaves, want))
    ):
        np.testing.assert_array_equal(ours, np.stack(theirs))


POLYNOMIALS = [
    [1.0, -3.0, 2.0],
    [0.0, 2.0, 0.0, 2.0],
    [1j, 2.0, 3.0],
    [1.0, 2.0],
    [0.0],
]


@pytest.mark.parametrize("p", POLYNOMIALS, ids=str)
def test_roots_are_numpys(p: list[complex]) -> None:
    found = np.sort_complex(np.asarray(jnp.roots(jnp.array(p))))
    want = np.sort_complex(np.roots(p))
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_roots_in_traces_are_as_many_as_there_may_be(backend: str) -> None:
    function = traceir.jit(lambda p: jnp.roots(p, strip_zeros=False), backend=backend)
    found = np.asarray(function(jnp.array([0.0, 1.0, -3.0, 2.0, 0.0])))
    np.testing.assert_allclose(np.sort_complex(found[:2]), [1, 2], rtol=1e-5)
    # As in JAX, a root that is 0 is among those that are left out.
    assert found[2] == 0 and np.isnan(found[3].real) and np.isnan(found[3].imag)
    with pytest.raises(traceir.errors.ConcretizationTypeError):
        traceir.jit(jnp.roots, backend=backend)(jnp.ones(3))


@pytest.mark.parametrize("dtype", ["int16", "int64", "float16", "float64", "complex64"])
def test_sorted_numbers_are_complex(dtype: str) -> None:
    with traceir.enable_x64(True):
        found = jnp.sort_complex(jnp.array([3, 1, 2], dtype))
    wide = np.dtype(dtype).itemsize == 8 and dtype != "complex64"
    assert found.dtype == ("complex128" if wide else "complex64")
    np.testing.assert_array_equal(found, [1, 2, 3])
