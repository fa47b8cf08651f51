"""Matrices of which NumPy reads one triangle: the other one has other numbers here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba

A = np.array([[9.0, 1.0, 9.5], [2.0, 8.0, -7.0], [0.5, -1.0, 7.0]])
MATRICES = [A, A + 1j * A.T, A.astype(int), np.stack([A, A.T + np.eye(3)]), A[:1, :1]]
FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda a: np.linalg.eigvalsh(a),
    lambda a: np.linalg.eigvalsh(a, "U"),
    lambda a: np.linalg.eigvalsh(a, UPLO="u"),
    lambda a: np.linalg.eigh(a)[0],
    lambda a: np.linalg.svd(a, hermitian=True)[1],
    lambda a: np.linalg.svd(a, True, False, True),
    lambda a: np.linalg.svd(a)[1],
    lambda a: np.linalg.pinv(a, hermitian=True),
    lambda a: np.linalg.pinv(a),
    lambda a: np.linalg.matrix_rank(a - a.T, hermitian=True) if a.ndim == 2 else a,
    lambda a: abs(np.linalg.eigh(a, "U")[1]),
    lambda a: np.linalg.cholesky(a + 30 * np.eye(len(a.T))),
    lambda a: np.linalg.cholesky(a + 30 * np.eye(len(a.T)), upper=True),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
@pytest.mark.parametrize("a", MATRICES, ids=lambda a: f"{a.dtype}{a.shape}")
def test_the_other_triangle_is_not_read(a: Any, number: int) -> None:
    function = FUNCTIONS[number]
    found, right = traceir_numba.jit(lambda a: function(a))(a), function(a)
    assert found.dtype == right.dtype
    np.testing.assert_allclose(found, right, 1e-10, 1e-10)
