"""Factorizations of matrices whose numbers are far from 1: scaled, they are the same.

Rules: accuracy.relation
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax

DTYPES = ("float32", "float64", "complex64", "complex128")

Factor = Callable[[Any], traceir.Array]

# Of each what grows with the matrix, or with the root of its scale.
FACTORS: dict[str, tuple[Factor, float]] = {
    "cholesky": (lax.linalg.cholesky, 0.5),
    "eig": (lambda x: jnp.sort(lax.linalg.eig(x)[0]), 1.0),
    "eigh": (lambda x: lax.linalg.eigh(x)[1], 1.0),
    "hessenberg": (lambda x: jnp.triu(lax.linalg.hessenberg(x)[0], -1), 1.0),
    "lu": (lambda x: jnp.triu(lax.linalg.lu(x)[0]), 1.0),
    "qr": (lambda x: lax.linalg.qr(x)[1], 1.0),
    "schur": (lambda x: jnp.sort(jnp.diagonal(lax.linalg.schur(x)[0])), 1.0),
    "svd": (lambda x: lax.linalg.svd(x, compute_uv=False), 1.0),
}


def matrix(dtype: str) -> np.ndarray:
    """A positive definite matrix with eigenvalues that differ."""
    random = np.random.default_rng(0)
    parts = random.normal(size=(2, 4, 4))
    half = parts[0] + 1j * parts[1] if dtype.startswith("complex") else parts[0]
    return (half @ half.conj().T + np.diag(np.arange(1.0, 5.0))).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FACTORS)
def test_a_scaled_matrix_has_scaled_factors(name: str, dtype: str) -> None:
    factor, growth = FACTORS[name]
    information = np.finfo(dtype)
    most = int(np.log2(information.max)) - 10
    with traceir.enable_x64(True):
        x = matrix(dtype)
        plain = np.asarray(factor(jnp.asarray(x)))
        near = 200 * float(information.eps) * float(abs(plain).max())
        for power in range(-(most // 2) * 2 + 40, most, most // 10 * 2):
            scaled = np.asarray(factor(jnp.asarray(x * x.real.dtype.type(2.0**power))))
            found = scaled * scaled.real.dtype.type(2.0 ** -(power * growth))
            np.testing.assert_allclose(found, plain, rtol=0, atol=near)
