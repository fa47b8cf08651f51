"""Stacks of small matrices, which are factorized together."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from traceir.reference.kernels import KERNELS

DTYPES = "float32", "float64"


def stack(dtype: str, *shape: int) -> np.ndarray:
    """Matrices far from singular, the same every time."""
    found = np.random.default_rng(7).standard_normal(shape)
    if shape[-2] == shape[-1]:
        found += 4 * np.eye(shape[-1])
    return found.astype(dtype)


def assert_close(x: np.ndarray, y: np.ndarray) -> None:
    np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("flags", [*product((False, True), repeat=4)])
def test_systems_are_solved(flags: Any, columns: int, dtype: str) -> None:
    names = "left_side", "lower", "transpose_a", "unit_diagonal"
    given = dict(zip(names, flags, strict=True))
    left, lower, transposed, unit = flags
    a = stack(dtype, 10, 9, 5, 5)
    y = stack(dtype, 10, 9, *((5, columns) if left else (columns, 5)))
    x = KERNELS["triangular_solve"](a, y, **given)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.einsum("...ii->...i", triangle)[...] = 1
    if transposed:
        triangle = triangle.swapaxes(-1, -2)
    assert x.dtype == dtype
    assert_close(triangle @ x if left else x @ triangle, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_are_those_of_single_matrices(dtype: str) -> None:
    a = stack(dtype, 80, 5, 5)
    singular = np.zeros((1, 5, 5), dtype)
    a = np.concatenate([a, singular])
    square = a @ a.swapaxes(-1, -2)
    for name, x in {"lu": a, "cholesky": square[:-1]}.items():
        together, one = (
            [np.asarray(part) for part in (found if type(found) is list else [found])]
            for found in (KERNELS[name](x), KERNELS[name](x[:1]))
        )
        for parts, part in zip(together, one, strict=True):
            assert parts.dtype == part.dtype
            assert_close(parts[:1], part)
    vectors, values = KERNELS["eigh"](square, lower=True)
    assert vectors.dtype == values.dtype == dtype
    assert_close(square @ vectors, vectors * values[:, None, :])


def test_only_a_matrix_that_has_no_factor_is_nan() -> None:
    a = np.tile(np.eye(3), (50, 1, 1))
    a[7] *= -1
    a[9, 0, 0] = np.nan
    found = KERNELS["cholesky"](a)
    assert np.flatnonzero(np.isnan(found).any((1, 2))).tolist() == [7, 9]
