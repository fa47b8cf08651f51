"""Hypothesis strategies: operands and params of factorizations, for `operands`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from traceir.ir.avals import ShapedArray

Draw = Callable[[st.SearchStrategy[Any]], Any]
Built = tuple[list[ShapedArray], dict[str, Any]]

EXTENTS = st.sampled_from([0, 1, 2, 3])
STACKS = st.sampled_from([(), (), (2,), (0,)])


def _matrix(draw: Draw, dtype: np.dtype, square: bool = False) -> ShapedArray:
    rows = draw(EXTENTS)
    columns = rows if square else draw(EXTENTS)
    return ShapedArray((*draw(STACKS), rows, columns), dtype)


def _any(draw: Draw, dtype: np.dtype) -> Built:
    return [_matrix(draw, dtype)], {}


def _square(draw: Draw, dtype: np.dtype) -> Built:
    return [_matrix(draw, dtype, square=True)], {}


def _qr(draw: Draw, dtype: np.dtype) -> Built:
    flags = {"full_matrices": draw(st.booleans()), "pivoting": False}
    return [_matrix(draw, dtype)], flags


def _eigh(draw: Draw, dtype: np.dtype) -> Built:
    return [_matrix(draw, dtype, square=True)], {"lower": draw(st.booleans())}


def _eig(draw: Draw, dtype: np.dtype) -> Built:
    names = ("compute_left_eigenvectors", "compute_right_eigenvectors")
    flags = {name: draw(st.booleans()) for name in names}
    return [_matrix(draw, dtype, square=True)], flags


def _schur(draw: Draw, dtype: np.dtype) -> Built:
    flags = {"compute_schur_vectors": draw(st.booleans())}
    return [_matrix(draw, dtype, square=True)], flags


def _svd(draw: Draw, dtype: np.dtype) -> Built:
    flags = {name: draw(st.booleans()) for name in ("compute_uv", "full_matrices")}
    return [_matrix(draw, dtype)], flags


def _exchanges(draw: Draw, dtype: np.dtype) -> Built:
    steps = draw(EXTENTS)
    size = steps + draw(EXTENTS)
    return [ShapedArray((*draw(STACKS), steps), dtype)], {"permutation_size": size}


def _triangular_solve(draw: Draw, dtype: np.dtype) -> Built:
    names = ("left_side", "lower", "transpose_a", "unit_diagonal")
    flags = {name: draw(st.booleans()) for name in names}
    a = _matrix(draw, dtype, square=True)
    *stack, size, _ = a.shape
    sides = (size, draw(EXTENTS)) if flags["left_side"] else (draw(EXTENTS), size)
    return [a, ShapedArray((*stack, *sides), dtype)], flags


BUILDERS: dict[str, Callable[[Draw, np.dtype], Built]] = {
    "matrices": _any,
    "square_matrices": _square,
    "qr": _qr,
    "eigh": _eigh,
    "eig": _eig,
    "schur": _schur,
    "svd": _svd,
    "lu_pivots_to_permutation": _exchanges,
    "triangular_solve": _triangular_solve,
}
