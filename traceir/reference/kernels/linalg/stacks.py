"""Factorizations of stacks of small matrices, all at once.

Called one after another, LAPACK's routines take longer to be called than to compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.base import cost_model


def is_stack(x: np.ndarray) -> bool:
    """True if an array is a stack of small matrices.

    >>> is_stack(np.ones((40, 3, 3))), is_stack(np.ones((3, 3)))
    (True, False)
    """
    least, matrices = max(x.shape[-2:]), math.prod(x.shape[:-2])
    small = 0 < least <= cost_model.STACKED_ROWS
    return bool(small and matrices >= cost_model.STACKED_SYSTEMS * least)


def factorized(function: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
    """The result of a NumPy function for a stack; None if it fails for a matrix.

    >>> factorized(np.linalg.cholesky, np.array([[[4.0]], [[-1.0]]])) is None
    True
    """
    if not np.isfinite(x).all():
        return None
    try:
        return function(x)
    except np.linalg.LinAlgError:
        return None


def eliminate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factors of square matrices below and above the diagonal, exchanges, the order.

    x has the shape (matrices, n, n). Gaussian elimination, the largest element of a
    column first.

    >>> factors, exchanges, order = eliminate(np.array([[[1.0, 2], [2, 2]]]))
    >>> factors[0].tolist(), exchanges[0].tolist(), order[0].tolist()
    ([[2.0, 2.0], [0.5, 1.0]], [1, 1], [1, 0])
    """
    found = np.array(x, order="C")
    matrices, n = found.shape[:2]
    every = np.arange(matrices)
    exchanges = np.empty((matrices, n), np.int32)
    order = np.empty((matrices, n), np.int32)
    order[...] = np.arange(n)
    for k in range(n):
        other = _sizes(found[:, k:, k]).argmax(1) + k
        exchanges[:, k] = other
        for lines in (found, order):
            taken = lines[every, other]
            lines[every, other] = lines[:, k]
            lines[:, k] = taken
        pivots = found[:, k, k]
        found[:, k + 1 :, k] /= np.where(pivots == 0, 1, pivots)[:, None]
        terms = found[:, k + 1 :, k, None] * found[:, None, k, k + 1 :]
        found[:, k + 1 :, k + 1 :] -= terms
    return found, exchanges, order


def _sizes(x: np.ndarray) -> np.ndarray:
    """The size by which LAPACK chooses a pivot: the sum of the magnitudes of a number's
    parts.
    """
    if x.dtype.kind == "c":
        return np.asarray(np.abs(x.real) + np.abs(x.imag))
    return np.asarray(np.abs(x))


def are_systems(a: np.ndarray, y: np.ndarray) -> bool:
    """True if there are so many small systems that they are solved together.

    >>> are_systems(np.ones((100, 3, 3)), np.ones((100, 3, 1)))
    True
    """
    n, matrices = a.shape[-1], math.prod(a.shape[:-2])
    most = cost_model.STACKED_SIDES * cost_model.STACKED_ROWS
    few = y.shape[-1] * y.shape[-2] <= n * most
    return bool(0 < n <= most and matrices >= cost_model.STACKED_SYSTEMS * n and few)


def substitute(
    a: np.ndarray, y: np.ndarray, lower: bool, unit_diagonal: bool
) -> np.ndarray:
    """Solutions x of a x = y for triangles a, one row of all systems after another.

    >>> a = np.array([[[2.0, 7], [1, 4]]])
    >>> substitute(a, np.array([[[2.0], [9]]]), True, False).tolist()
    [[[1.0], [2.0]]]
    """
    found = np.array(y, order="C")
    n = a.shape[-1]
    for i in range(n) if lower else reversed(range(n)):
        known = slice(0, i) if lower else slice(i + 1, n)
        terms = np.einsum("...j,...jm->...m", a[..., i, known], found[..., known, :])
        found[..., i, :] -= terms
        if not unit_diagonal:
            found[..., i, :] /= a[..., i, i, None]
    return found
