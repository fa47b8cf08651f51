"""Factorizations by LAPACK, through SciPy, matrix by matrix.

LAPACK has columns in a row, NumPy rows: a transposed view is what it works on in place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from traceir.base import cost_model
from traceir.reference.kernels.linalg.single_thread_blas import alone
from traceir.reference.kernels.linalg.stacks import (
    are_systems,
    eliminate,
    factorized,
    is_stack,
    substitute,
)
from traceir.reference.kernels.registry import kernel

Shape = tuple[int, ...]


@cache
def _routine(name: str, dtype: np.dtype) -> Any:
    """A routine of LAPACK or BLAS for a dtype."""
    # Not at the top: it would take most of the time that `import traceir` takes.
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    find = get_blas_funcs if name == "trsm" else get_lapack_funcs
    return find(name, dtype=dtype)


def _matrices(x: np.ndarray) -> Iterator[tuple[Shape, np.ndarray]]:
    """The matrices of a stack that have elements, and where they stand in it."""
    if x.size:
        for place in itertools.product(*map(range, x.shape[:-2])):
            yield place, x[place]


def _finite(matrix: np.ndarray) -> bool:
    return bool(np.isfinite(matrix).all())


def _identities(shape: Shape, dtype: np.dtype) -> np.ndarray:
    """A stack of matrices with ones on their diagonals: the factors of nothing."""
    found = np.zeros(shape, dtype)
    diagonal = np.arange(min(shape[-2:]))
    found[..., diagonal, diagonal] = 1
    return found


@kernel("cholesky")
@alone
def cholesky(x: np.ndarray) -> Any:
    """Lower triangular factors; NaN for a matrix that is not positive definite."""
    if is_stack(x) and (together := factorized(np.linalg.cholesky, x)) is not None:
        return together
    found = np.array(x, order="C")
    factorize = _routine("potrf", x.dtype)
    for _, matrix in _matrices(found):
        # The transpose of a complex matrix is its conjugate, and so is what is left.
        _, failed = factorize(matrix.T, lower=0, clean=1, overwrite_a=1)
        if failed:
            matrix[...] = np.tril(np.full_like(matrix, np.nan))
    return found


@kernel("lu")
@alone
def lu(x: np.ndarray) -> Any:
    """Factors below and above the diagonal, exchanges of rows, and their order."""
    rows, columns = x.shape[-2:]
    stack, steps = x.shape[:-2], min(rows, columns)
    if rows == columns and is_stack(x) and np.isfinite(x).all():
        parts = eliminate(x.reshape(-1, rows, rows))
        return [part.reshape(*stack, *part.shape[1:]) for part in parts]
    # The transposed matrices, in the order of memory that the routine wants.
    turned = np.array(x.swapaxes(-1, -2), order="C")
    exchanges = np.zeros((*stack, steps), np.int32)
    order = np.empty((*stack, rows), np.int32)
    order[...] = np.arange(rows)
    factorize = _routine("getrf", x.dtype)
    for place, matrix in _matrices(turned):
        exchanges[place] = factorize(matrix.T, overwrite_a=1)[1]
    if turned.size:
        _exchange(order, exchanges)
    return [np.ascontiguousarray(turned.swapaxes(-1, -2)), exchanges, order]


@kernel("lu_pivots_to_permutation")
def lu_pivots_to_permutation(x: np.ndarray, *, permutation_size: int) -> Any:
    """The order of rows after exchanges."""
    order = np.empty((*x.shape[:-1], permutation_size), np.int32)
    order[...] = np.arange(permutation_size)
    _exchange(order, x)
    return order


def _exchange(order: np.ndarray, exchanges: np.ndarray) -> None:
    """Change places in each line of `order`, one after the other."""
    if not order.size:
        return
    # Lists, as single elements of arrays are slow.
    lines = order.reshape(-1, order.shape[-1]).tolist()
    for line, others in zip(lines, exchanges.reshape(len(lines), -1).tolist()):
        for k, other in enumerate(others):
            if 0 <= other < len(line):
                line[k], line[other] = line[other], line[k]
    order[...] = np.array(lines, order.dtype).reshape(order.shape)


@kernel("qr")
@alone
def qr(
    x: np.ndarray,
    *,
    full_matrices: bool,
    pivoting: bool,
    use_magma: None = None,
    read: tuple[bool, bool] = (True, True),
) -> Any:
    """Orthogonal columns, and their factors on and above the diagonal.

    Columns that nobody is to `read` are zeros: they take as long as the factors.
    """
    rows, columns = x.shape[-2:]
    inner = rows if full_matrices else min(rows, columns)
    small = max(rows, columns) <= cost_model.STACKED_SIDES * cost_model.STACKED_ROWS
    many = math.prod(x.shape[:-2]) >= cost_model.STACKED_SYSTEMS
    if x.size and small and many and np.isfinite(x).all():
        return [*np.linalg.qr(x, "complete" if full_matrices else "reduced")]
    shape = (*x.shape[:-2], rows, inner)
    q = _identities(shape, x.dtype) if read[0] else np.zeros(shape, x.dtype)
    r = np.zeros((*x.shape[:-2], inner, columns), x.dtype)
    factorize, multiply = _routine("geqrf", x.dtype), _routine("orgqr", x.dtype)
    # With less memory than it asks for LAPACK takes one column after another.
    room = _routine("geqrf_lwork", x.dtype)
    size = int(room(rows, max(columns, inner))[0].real) if x.size else 0
    for place, matrix in _matrices(x):
        packed, scales, _, _ = factorize(matrix, lwork=size)
        r[place] = np.triu(packed[:inner])
        if not read[0]:
            continue
        wide = np.zeros((rows, inner), x.dtype, "F")
        wide[:, : min(inner, columns)] = packed[:, :inner]
        q[place] = multiply(wide, scales, lwork=size, overwrite_a=1)[0]
    return [q, r]


@kernel("eigh")
@alone
def eigh(
    x: np.ndarray,
    *,
    lower: bool,
    sort_eigenvalues: bool = True,
    algorithm: None = None,
    subset_by_index: None = None,
) -> Any:
    """Eigenvectors as columns, and eigenvalues, which ascend."""
    if is_stack(x):
        used = np.tril(x) if lower else np.triu(x)
        function = partial(np.linalg.eigh, UPLO="L" if lower else "U")
        together = factorized(function, used)
        if together is not None:
            return [together.eigenvectors, together.eigenvalues]
    vectors = np.full(x.shape, np.nan, x.dtype)
    values = np.full(x.shape[:-1], np.nan, x.real.dtype)
    solve = _routine("heevd" if x.dtype.kind == "c" else "syevd", x.dtype)
    for place, matrix in _matrices(x):
        half = np.tril(matrix) if lower else np.triu(matrix)
        if _finite(half):
            found, columns, failed = solve(half.T, lower=not lower, overwrite_a=1)
            if not failed:
                # Of a complex matrix the transpose was given, which is its conjugate.
                values[place], vectors[place] = found, np.conjugate(columns)
    return [vectors, values]


@kernel("eig")
def eig(
    x: np.ndarray,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool = False,
    implementation: None = None,
) -> Any:
    """Eigenvalues, and eigenvectors of both sides as columns, where asked for."""
    sides = compute_left_eigenvectors, compute_right_eigenvectors
    whole = np.result_type(x.dtype, np.complex64)
    shapes = [x.shape[:-1], *(x.shape for side in sides if side)]
    found = [np.full(shape, np.nan, whole) for shape in shapes]
    solve = _routine("geev", x.dtype)
    for place, matrix in _matrices(x):
        if not _finite(matrix):
            continue
        power = _power(matrix)
        *parts, left, right, failed = solve(_times(matrix, -power), *sides)
        if failed:
            continue
        values = parts[0]
        if len(parts) == 2:
            values = parts[0] + 1j * parts[1]
            left, right = _paired(values, left), _paired(values, right)
        vectors = [v for v, side in zip((left, right), sides) if side]
        for result, part in zip(found, [_times(values, power), *vectors]):
            result[place] = part
    return found


def _power(matrix: np.ndarray) -> int:
    """The power of two near the largest number, or 0 where LAPACK scales nothing.

    `geev` scales a matrix of large or small numbers, and as SciPy has it does not scale
    the eigenvalues back.
    """
    numbers = np.finfo(matrix.dtype)
    largest = float(max(np.abs(matrix.real).max(), np.abs(matrix.imag).max()))
    least = math.sqrt(numbers.smallest_normal) / float(numbers.eps)
    # A complex number is larger than its parts, but not twice as large.
    return 0 if least <= largest <= 1 / (2 * least) else math.frexp(largest)[1]


def _times(x: np.ndarray, power: int) -> np.ndarray:
    """The product with a power of two: it rounds the smallest numbers alone."""
    if not power:
        return x
    x = np.ascontiguousarray(x)
    scaled: np.ndarray = np.ldexp(x.view(x.real.dtype), power)
    return scaled.view(x.dtype)


def _paired(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Eigenvectors of a real matrix: of two conjugate eigenvalues LAPACK gives the real
    part of the vector and its imaginary part."""
    found = vectors.astype(values.dtype)
    if vectors.size:
        (upper,) = np.nonzero(values.imag > 0)
        found.imag[:, upper] = vectors[:, upper + 1]
        found[:, upper + 1] = found[:, upper].conj()
    return found


@kernel("schur")
@alone
def schur(
    x: np.ndarray,
    *,
    compute_schur_vectors: bool,
    select_callable: None = None,
    sort_eig_vals: bool = False,
) -> Any:
    """Triangles, or blocks of two rows on the diagonal, and orthogonal columns."""
    form = np.array(x, order="C")
    vectors = np.empty(x.shape, x.dtype)
    # What would choose among eigenvalues is never asked, as they are not sorted.
    solve = partial(_routine("gees", x.dtype), bool, compute_v=compute_schur_vectors)
    room = solve(np.zeros(x.shape[-2:], x.dtype), lwork=-1) if x.size else None
    size = int(room[-2][0].real) if room else 0
    nothing = complex(np.nan, np.nan) if x.dtype.kind == "c" else np.nan
    for place, matrix in _matrices(form):
        triangle, *_, columns, _, failed = solve(matrix, lwork=size)
        form[place] = nothing if failed else triangle
        if compute_schur_vectors:
            vectors[place] = nothing if failed else columns
    return [form, vectors] if compute_schur_vectors else [form]


@kernel("hessenberg")
@alone
def hessenberg(x: np.ndarray) -> Any:
    """The elements from a line under the diagonal up; the reflections are below."""
    packed = np.array(x, order="C")
    scales = np.zeros((*x.shape[:-2], max(x.shape[-1] - 1, 0)), x.dtype)
    reduce, room = _routine("gehrd", x.dtype), _routine("gehrd_lwork", x.dtype)
    size = int(room(x.shape[-1])[0].real) if x.size else 0
    for place, matrix in _matrices(packed):
        packed[place], scales[place], _ = reduce(matrix, lwork=size)
    return [packed, scales]


@kernel("svd")
@alone
def svd(
    x: np.ndarray,
    *,
    compute_uv: bool,
    full_matrices: bool,
    algorithm: None = None,
    subset_by_index: None = None,
) -> Any:
    """Singular values, which descend; left vectors as columns, right ones as rows."""
    rows, columns = x.shape[-2:]
    least, stack = min(rows, columns), x.shape[:-2]
    values = np.full((*stack, least), np.nan, x.real.dtype)
    left = _identities((*stack, rows, rows if full_matrices else least), x.dtype)
    right = _identities((*stack, columns if full_matrices else least, columns), x.dtype)
    solve = _routine("gesdd", x.dtype)
    for place, matrix in _matrices(x):
        left[place] = right[place] = np.nan
        if not _finite(matrix):
            continue
        u, s, v, failed = solve(matrix, compute_uv, full_matrices)
        if not failed:
            values[place] = s
            if compute_uv:
                left[place], right[place] = u, v
    return [values, left, right] if compute_uv else [values]


@kernel("triangular_solve")
@alone
def triangular_solve(
    a: np.ndarray,
    y: np.ndarray,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool = False,
    unit_diagonal: bool = False,
    conjugate_a: bool = False,
) -> Any:
    """Solutions of triangular systems."""
    found = np.array(y, order="C")
    if conjugate_a:
        a = np.conjugate(a)
    if not math.prod(a.shape[-2:]):
        return found
    if are_systems(a, y):
        # x a = y is the transposed equation of another system.
        turned = transpose_a == left_side
        if turned:
            a = a.swapaxes(-1, -2)
        if left_side:
            return substitute(a, found, lower != turned, unit_diagonal)
        x = substitute(a, y.swapaxes(-1, -2), lower != turned, unit_diagonal)
        return np.ascontiguousarray(x.swapaxes(-1, -2))
    solve = _routine("trsm", y.dtype)
    a = np.ascontiguousarray(a)
    # The transposed equation: what stood on the left stands on the right.
    flags = {
        "side": left_side,
        "lower": not lower,
        "trans_a": transpose_a,
        "diag": unit_diagonal,
    }
    for place, right in _matrices(found):
        solve(1.0, a[place].T, right.T, overwrite_b=1, **flags)
    return found
