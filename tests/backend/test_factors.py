"""Factorizations of small matrices by code of our own, beside their definitions.

Cites cholesky, lu, qr, triangular_solve
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from traceir.reference.kernels import KERNELS
from traceir_numba import cost_model
from traceir_numba.backend import own_kernel
from traceir_numba.gemm import factors

DTYPES = ("float32", "float64")
STACKS: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (2, 3))
SHAPES = ((1, 1), (2, 2), (3, 3), (5, 5), (8, 8), (17, 17), (64, 64))
WIDE = ((1, 4), (4, 1), (3, 5), (5, 3), (9, 64), (64, 9))
FLAGS = [*product((False, True), repeat=4)]


def drawn(dtype: str, *shape: int) -> np.ndarray:
    """Normal numbers; every third matrix has zeros and equal elements."""
    rng = np.random.default_rng(sum(shape) + len(shape))
    x = rng.normal(size=shape)
    rows = x.reshape(-1, *shape[-2:])
    rows[::3] = np.round(rows[::3])
    return x.astype(dtype)


def near(x: Any, y: Any, dtype: str, scale: Any = 1.0) -> bool:
    """True if two arrays are equal but for the rounding of some terms."""
    bound = 300 * np.finfo(dtype).eps * np.maximum(np.abs(scale), 1)
    return bool((np.abs(np.asarray(x) - y) <= bound).all())


def of(primitive: str, *arrays: np.ndarray, **params: Any) -> Any:
    """The results of the code of our own, which does these."""
    kernel = factors.own_kernel(primitive)
    before = [x.copy() for x in arrays]
    found = kernel(*arrays, **params)
    assert found is not None
    for x, kept in zip(arrays, before, strict=True):
        assert x.tobytes() == kept.tobytes()
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES + WIDE)
def test_factors_below_and_above_the_diagonal(
    dtype: str, shape: tuple[int, int]
) -> None:
    for stack in STACKS:
        x = drawn(dtype, *stack, *shape)
        both, exchanges, order = of("lu", x)
        rows, steps = shape[0], min(shape)
        lower = np.tril(both[..., :steps], -1) + np.eye(rows, steps, dtype=dtype)
        upper = np.triu(both[..., :steps, :])
        moved = np.take_along_axis(x, order[..., None].astype("int64"), -2)
        assert near(lower @ upper, moved, dtype, np.abs(lower) @ np.abs(upper))
        assert (np.abs(lower) <= 1).all()
        assert np.array_equal(
            order,
            KERNELS["lu_pivots_to_permutation"](exchanges, permutation_size=rows),
        )
        assert exchanges.dtype == order.dtype == np.int32
        for place in np.ndindex(stack):  # by itself, and in a stack
            alone = of("lu", x[place])
            for one, every in zip(alone, (both, exchanges, order), strict=True):
                assert one.tobytes() == every[place].tobytes()


def test_a_stack_has_the_bits_of_the_reference() -> None:
    for dtype, n in product(DTYPES, (2, 4, 8)):
        x = drawn(dtype, 100, n, n)
        for own, other in zip(of("lu", x), KERNELS["lu"](x), strict=True):
            assert own.tobytes() == np.ascontiguousarray(other).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 19, 32])
def test_lower_factors_of_definite_matrices(dtype: str, n: int) -> None:
    for stack in STACKS:
        x = drawn(dtype, *stack, n, n)
        x = x @ x.swapaxes(-1, -2) + np.eye(n, dtype=dtype)
        found = of("cholesky", x)
        scale = np.abs(found) @ np.abs(found).swapaxes(-1, -2)
        assert near(found @ found.swapaxes(-1, -2), x, dtype, scale)
        assert not np.triu(found, 1).any()
        # What is above the diagonal is not read.
        assert of("cholesky", np.tril(x)).tobytes() == found.tobytes()


@pytest.mark.parametrize("value", [0.0, -0.0, -1.0, 0.01])
def test_a_matrix_that_is_not_definite_spoils_no_other(value: float) -> None:
    x = np.broadcast_to(np.eye(4, dtype="float32") * 4 + 1, (5, 4, 4)).copy()
    x[2, 2, 2] = value
    found, wanted = of("cholesky", x), KERNELS["cholesky"](x)
    np.testing.assert_allclose(found[[0, 1, 3, 4]], wanted[[0, 1, 3, 4]], 1e-6)
    assert np.array_equal(np.isnan(found[2]), np.isnan(wanted[2]))
    assert not np.triu(found[2], 1).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("n, columns", [(1, 1), (3, 1), (4, 7), (8, 8), (32, 3)])
def test_triangular_systems(
    dtype: str, flags: tuple[bool, ...], n: int, columns: int
) -> None:
    left, lower, transposed, unit = flags
    for stack in STACKS:
        a = drawn(dtype, *stack, n, n) / n
        a += (2 * np.eye(n)).astype(dtype)
        y = drawn(dtype, *stack, *((n, columns) if left else (columns, n)))
        given = {"left_side": left, "lower": lower, "transpose_a": transposed}
        x = of("triangular_solve", a, y, unit_diagonal=unit, **given)
        matrix = np.tril(a) if lower else np.triu(a)
        if unit:
            matrix = matrix - matrix * np.eye(n) + np.eye(n)
        if transposed:
            matrix = matrix.swapaxes(-1, -2)
        again = matrix @ x if left else x @ matrix
        scale = np.abs(matrix) @ np.abs(x) if left else np.abs(x) @ np.abs(matrix)
        assert near(again, y, dtype, scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", SHAPES + WIDE)
def test_orthogonal_columns(dtype: str, full: bool, shape: tuple[int, int]) -> None:
    rows, columns = shape
    for stack in STACKS:
        x = drawn(dtype, *stack, *shape)
        q, r = of("qr", x, full_matrices=full, pivoting=False)
        inner = rows if full else min(shape)
        assert (q.shape[-2:], r.shape[-2:]) == ((rows, inner), (inner, columns))
        assert near(q @ r, x, dtype, np.abs(q) @ np.abs(r))
        assert near(q.swapaxes(-1, -2) @ q, np.eye(inner), dtype, rows)
        assert not np.tril(r, -1).any()
        # The signs are LAPACK's, but where an element is nothing or next to it.
        other = KERNELS["qr"](x, full_matrices=full, pivoting=False)[1]
        signs = (np.sign(part).reshape(-1, inner, columns) for part in (r, other))
        same = np.equal(*signs) | (np.abs(other).reshape(-1, inner, columns) < 1e-3)
        assert same[[k for k in range(len(same)) if k % 3]].all()


@pytest.mark.parametrize("primitive", ["cholesky", "lu", "qr"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_left_to_the_reference(
    primitive: str, value: float
) -> None:
    kernel = factors.own_kernel(primitive)
    params = {"full_matrices": False, "pivoting": False} if primitive == "qr" else {}
    x = drawn("float32", 3, 4, 4)
    x[1, 2, 3] = value
    assert kernel(x, **params) is None


@pytest.mark.parametrize("dtype, power", [("float32", 70), ("float64", 500)])
def test_large_and_small_numbers(dtype: str, power: int) -> None:
    """Powers of two change no bit of factors but by themselves."""
    x = drawn(dtype, 4, 5, 5)
    for scale in (np.ldexp(1.0, power), np.ldexp(1.0, -power)):
        scaled = (x * scale).astype(dtype)
        kernel = factors.own_kernel("qr")
        assert kernel(scaled, full_matrices=False, pivoting=False) is None
        both, *others = of("lu", x)
        again, *rest = of("lu", scaled)
        assert np.array_equal(np.triu(again), np.triu(both) * scale)
        assert np.array_equal(np.tril(again, -1), np.tril(both, -1))
        for one, other in zip(others, rest, strict=True):
            assert np.array_equal(one, other)


def test_what_others_are_left_to_the_reference() -> None:
    most = cost_model.SMALL_MATRIX_ROWS
    square = np.eye(2, dtype="float32")
    assert own_kernel("svd") is None
    kernel = factors.own_kernel("lu")
    for x in (
        np.eye(most + 1, dtype="float32"),
        square.astype("complex64"),
        square.astype("float16"),
        np.zeros((0, 3, 3), "float32"),
        np.zeros((3, 0), "float32"),
        np.asarray([[1.0, 2], [3, 4]], "float32").T,
    ):
        assert kernel(x) is None
    kernel = factors.own_kernel("qr")
    assert kernel(square, full_matrices=False, pivoting=True) is None
