"""The Array API standard on products and its linear algebra extension."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import standard
from execution_modes import WAYS, runner

import traceir.numpy as jnp
from traceir.base.config import enable_x64

FLOATING = standard.KINDS["floating"]
SHORT = ("float32", "complex64")
COMPLEX = standard.KINDS["complex"]
COMPILED = ("int8", "uint32", "float32", "complex64")
RNG = np.random.default_rng(5)
LEFT = RNG.integers(0, 5, (2, 3, 4))
RIGHT = RNG.integers(0, 5, (2, 4, 3))
Call = Callable[[Any, Any, Any], Any]


def made(x: np.ndarray, dtype: str) -> np.ndarray:
    """Elements in a dtype; complex ones turned by angles that differ."""
    if dtype not in COMPLEX:
        return x.astype(dtype)
    turns = np.arange(x.size).reshape(x.shape) % 4
    return np.asarray(x * 1j**turns, dtype)


def definite(dtype: str) -> np.ndarray:
    """Matrices that are the same when they are turned over, with positive values."""
    x = made(SQUARE, dtype)
    return np.asarray(x @ np.swapaxes(x, -1, -2).conj())


# Products, with all numeric dtypes; the result has that of the operands.
PRODUCTS: dict[str, Call] = {
    "matmul": lambda xp, x, y: xp.matmul(x, y),
    "matmul broadcast": lambda xp, x, y: xp.matmul(x, y[0]),
    "matmul of a vector": lambda xp, x, y: xp.matmul(x, y[0, :, 0]),
    "matmul with a vector": lambda xp, x, y: xp.matmul(y[0, :, 0], y),
    "matmul of vectors": lambda xp, x, y: xp.matmul(x[0, 0], y[0, :, 0]),
    "operator": lambda xp, x, y: x @ y,
    "linalg.matmul": lambda xp, x, y: xp.linalg.matmul(x, y),
    "matrix_transpose": lambda xp, x, y: xp.matrix_transpose(x),
    "linalg.matrix_transpose": lambda xp, x, y: xp.linalg.matrix_transpose(y),
    "tensordot": lambda xp, x, y: xp.tensordot(x[0], y[0], axes=1),
    "tensordot axes": lambda xp, x, y: xp.tensordot(x, y, axes=((0, 2), (0, 1))),
    "tensordot outer": lambda xp, x, y: xp.tensordot(x[0], y[0], axes=0),
    "linalg.tensordot": lambda xp, x, y: xp.linalg.tensordot(x[0], x[0]),
    "vecdot": lambda xp, x, y: xp.vecdot(x, x[:1]),
    "vecdot axis": lambda xp, x, y: xp.vecdot(y, y, axis=-2),
    "linalg.vecdot": lambda xp, x, y: xp.linalg.vecdot(x, x, axis=-1),
    "linalg.outer": lambda xp, x, y: xp.linalg.outer(x[0, 0], y[0, 0]),
    "linalg.cross": lambda xp, x, y: xp.linalg.cross(y, y[:, ::-1]),
    "linalg.cross axis": lambda xp, x, y: xp.linalg.cross(x, x[:1], axis=-2),
    "linalg.diagonal": lambda xp, x, y: xp.linalg.diagonal(x),
    "linalg.diagonal above": lambda xp, x, y: xp.linalg.diagonal(x, offset=1),
    "linalg.diagonal below": lambda xp, x, y: xp.linalg.diagonal(x, offset=-2),
}


@cache
def products(way: str) -> dict[str, dict[str, Any]]:
    """All products with their dtypes, in one program."""
    dtypes = COMPILED if way == "numba" else standard.KINDS["numeric"]

    def f(pairs: dict[str, Any]) -> dict[str, dict[str, Any]]:
        calls = PRODUCTS.items()
        return {n: {d: call(jnp, *p) for d, p in pairs.items()} for n, call in calls}

    with enable_x64():
        pairs = {d: [jnp.asarray(made(x, d)) for x in (LEFT, RIGHT)] for d in dtypes}
        return runner(way)(f, pairs)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, way: str) -> None:
    for dtype, found in products(way)[name].items():
        want = PRODUCTS[name](np, made(LEFT, dtype), made(RIGHT, dtype))
        assert (found.dtype, found.shape) == (dtype, want.shape), dtype
        np.testing.assert_allclose(found, want, rtol=1e-6)


@pytest.mark.parametrize("name", ["linalg.trace", "trace of a dtype"])
@pytest.mark.parametrize("dtype", standard.KINDS["numeric"])
def test_traces(dtype: str, name: str) -> None:
    wide = "complex128" if dtype in COMPLEX else "float64"
    asked = wide if name == "trace of a dtype" else None
    with enable_x64():
        found = jnp.linalg.trace(jnp.asarray(made(LEFT, dtype)), offset=1, dtype=asked)
    wanted = asked or {"i": "int64", "u": "uint64"}.get(dtype[0], dtype)
    assert found.dtype == wanted
    np.testing.assert_array_equal(found, np.linalg.trace(made(LEFT, dtype), offset=1))


SQUARE = RNG.normal(size=(2, 3, 3)) + 4 * np.eye(3)
TALL = RNG.normal(size=(2, 4, 3))
VECTORS = RNG.normal(size=(2, 3))


def _made(x: np.ndarray) -> Callable[[str], np.ndarray]:
    return lambda dtype: made(x, dtype)


OPERANDS = {"POSITIVE": definite, "SQUARE": _made(SQUARE), "TALL": _made(TALL)}
# Of floating operands; the values are NumPy's, where the answer is one.
FLOATS: dict[str, tuple[str, Call]] = {
    "cholesky": ("POSITIVE", lambda xp, x, y: xp.linalg.cholesky(x)),
    "cholesky upper": ("POSITIVE", lambda xp, x, y: xp.linalg.cholesky(x, upper=True)),
    "det": ("SQUARE", lambda xp, x, y: xp.linalg.det(x)),
    "eigvalsh": ("POSITIVE", lambda xp, x, y: xp.linalg.eigvalsh(x)),
    "inv": ("SQUARE", lambda xp, x, y: xp.linalg.inv(x)),
    "matrix_power": ("SQUARE", lambda xp, x, y: xp.linalg.matrix_power(x, 3)),
    "matrix_power 0": ("SQUARE", lambda xp, x, y: xp.linalg.matrix_power(x, 0)),
    "matrix_power -2": ("SQUARE", lambda xp, x, y: xp.linalg.matrix_power(x, -2)),
    "pinv": ("TALL", lambda xp, x, y: xp.linalg.pinv(x)),
    "pinv rtol": ("TALL", lambda xp, x, y: xp.linalg.pinv(x, rtol=1e-3)),
    "solve": ("SQUARE", lambda xp, x, y: xp.linalg.solve(x, y[:, :, None])),
    "solve a vector": ("SQUARE", lambda xp, x, y: xp.linalg.solve(x, y[0])),
    "svdvals": ("TALL", lambda xp, x, y: xp.linalg.svdvals(x)),
    "matrix_norm": ("TALL", lambda xp, x, y: xp.linalg.matrix_norm(x, keepdims=True)),
    "vector_norm axes": (
        "TALL",
        lambda xp, x, y: xp.linalg.vector_norm(x, axis=(0, 2), keepdims=True),
    ),
}


def _of_order(name: str, order: Any) -> Call:
    return lambda xp, x, y: getattr(xp.linalg, name)(x, ord=order)


for _name, _orders in (
    ("matrix_norm", ("fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf)),
    ("vector_norm", (1, 2, 3.5, 0, -1, np.inf, -np.inf)),
):
    FLOATS |= {f"{_name} {o}": ("TALL", _of_order(_name, o)) for o in _orders}


# Their results are real, of complex matrices, too.
REAL_RESULTS = ("eigvalsh", "svdvals", "matrix_norm", "vector_norm")


def operands_of(name: str, dtype: str) -> list[np.ndarray]:
    """Matrices of a kind, and vectors."""
    return [OPERANDS[name](dtype), made(VECTORS, dtype)]


@cache
def floats(way: str) -> dict[str, dict[str, Any]]:
    """All functions of floating operands, in one program."""
    dtypes = ("float32", "complex64") if way == "numba" else FLOATING

    def f(operands: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            name: {d: call(jnp, *operands[name][d]) for d in dtypes}
            for name, (_, call) in FLOATS.items()
        }

    with enable_x64():
        operands = {
            name: {d: list(map(jnp.asarray, operands_of(x, d))) for d in dtypes}
            for name, (x, _) in FLOATS.items()
        }
        return runner(way)(f, operands)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FLOATS)
def test_functions_of_matrices(name: str, way: str) -> None:
    operand, call = FLOATS[name]
    for dtype, found in floats(way)[name].items():
        wide = "complex128" if dtype in COMPLEX else "float64"
        want = call(np, *operands_of(operand, wide))
        kept = standard.part_of(dtype) if name.startswith(REAL_RESULTS) else dtype
        assert (found.dtype, found.shape) == (kept, want.shape)
        digits = 1e-4 if dtype in SHORT else 1e-10
        np.testing.assert_allclose(found, want, digits, digits)


@pytest.mark.parametrize("dtype", FLOATING)
def test_factorizations_have_names_shapes_and_products(dtype: str) -> None:
    digits = 1e-4 if dtype in SHORT else 1e-10
    positive, high = definite(dtype), made(TALL, dtype)
    with enable_x64():
        x, tall = jnp.asarray(positive), jnp.asarray(high)
        values, vectors = eigen = jnp.linalg.eigh(x)
        sign, logarithm = det = jnp.linalg.slogdet(x)
        reduced, complete = jnp.linalg.qr(tall), jnp.linalg.qr(tall, mode="complete")
        whole, thin = jnp.linalg.svd(tall), jnp.linalg.svd(tall, full_matrices=False)
    assert eigen._fields == ("eigenvalues", "eigenvectors")
    assert det._fields == ("sign", "logabsdet")
    assert reduced._fields == ("Q", "R") and whole._fields == ("U", "S", "Vh")
    real = [eigen.eigenvalues, det.logabsdet, whole.S, thin.S]
    assert {part.dtype for part in real} == {np.dtype(standard.part_of(dtype))}
    others = (eigen.eigenvectors, det.sign, *reduced, *complete)
    others += (whole.U, whole.Vh, thin.U, thin.Vh)
    assert {part.dtype for part in others} == {np.dtype(dtype)}
    assert [p.shape for p in (*reduced, *complete)] == [
        (2, 4, 3),
        (2, 3, 3),
        (2, 4, 4),
        (2, 4, 3),
    ]
    assert [p.shape for p in (*whole, *thin)] == [
        (2, 4, 4),
        (2, 3),
        (2, 3, 3),
        (2, 4, 3),
        (2, 3),
        (2, 3, 3),
    ]
    turned = np.swapaxes(np.asarray(vectors), -1, -2).conj()
    product = np.asarray(vectors) * np.asarray(values)[:, None] @ turned
    np.testing.assert_allclose(product, positive, digits, digits * 10)
    for q, r in (reduced, complete):
        np.testing.assert_allclose(np.matmul(q, r), high, digits, digits)
        np.testing.assert_array_equal(r, np.triu(r))
    thinned = np.asarray(thin.U) * np.asarray(thin.S)[:, None] @ np.asarray(thin.Vh)
    np.testing.assert_allclose(thinned, high, digits, digits)
    np.testing.assert_allclose(
        np.asarray(sign) * np.exp(logarithm), np.linalg.det(positive), digits, digits
    )


@pytest.mark.parametrize("dtype", FLOATING)
def test_what_is_singular_and_what_is_empty(dtype: str) -> None:
    with enable_x64():
        sign, logarithm = jnp.linalg.slogdet(jnp.zeros((2, 2), dtype))
        assert (complex(sign), float(logarithm)) == (0.0, -np.inf)
        ranks = jnp.linalg.matrix_rank(jnp.asarray([np.eye(3), np.ones((3, 3))], dtype))
        assert ranks.dtype == "int64" and ranks.tolist() == [3, 1]
        few = jnp.linalg.matrix_rank(jnp.asarray(np.diag([1, 0.1]), dtype), rtol=0.5)
        assert few.tolist() == 1
        nothing = jnp.matmul(jnp.zeros((2, 0), dtype), jnp.zeros((0, 3), dtype))
        assert nothing.tolist() == [[0.0] * 3] * 2
        assert complex(jnp.vecdot(jnp.zeros(0, dtype), jnp.zeros(0, dtype))) == 0


BAD: list[Callable[[], Any]] = [
    lambda: jnp.matmul(np.ones((2, 3)), np.ones((2, 3))),
    lambda: jnp.matmul(np.ones(()), np.ones(3)),
    lambda: jnp.vecdot(np.ones(3), np.ones(4)),
    lambda: jnp.linalg.cross(np.ones((3, 4)), np.ones((3, 4))),
    lambda: jnp.tensordot(np.ones((2, 3)), np.ones((2, 3)), axes=1),
    lambda: jnp.linalg.inv(np.ones((2, 3))),
]


@pytest.mark.parametrize("act", BAD, ids=range(len(BAD)))
def test_extents_that_do_not_fit_are_refused(act: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=r"got: .*\d"):
        act()
