"""Factorizations of small matrices, and triangular systems, as machine code.

A routine of LAPACK takes longer to be called from Python than to factorize a matrix of
some ten rows; here one call takes a whole stack. Gaussian elimination, Cholesky's
factors row by row, Householder's reflections and substitution are as in the textbooks
(Golub and van Loan, "Matrix Computations", 2013), with LAPACK's conventions: the
greatest element of a column is its pivot, a reflection turns the sign of the element
that it keeps, and is none where nothing is below. Each matrix is computed by itself, so
its bits depend on no other and on no number of threads.

Matrices that are large, complex or not finite, and QR of very large or very small
numbers, are left to the kernels of the reference.

Serves: cholesky, lu, qr, triangular_solve
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from traceir_numba import cost_model
from traceir_numba.device_functions import short
from traceir_numba.gemm.blocked import linked_once
from traceir_numba.llvm.lower import lower
from traceir_numba.llvm.symbols import Cast
from traceir_numba.llvm.trampoline import callable_of
from traceir_numba.llvm.types import IRValue, float_text

Found = np.ndarray | list[np.ndarray] | None
DTYPES = ("float32", "float64")

LU = """
def lu(x, a, exchanges, order, line, status, matrices, rows, columns):
    # Row by row, with what is left of a column's greatest element in `line`.
    steps = rows if rows < columns else columns
    odd = 0
    for k in range(matrices * rows * columns):
        a[k] = x[k]
        odd = odd + (0 if abs(x[k]) <= {most} else 1)
    status[0] = odd
    for b in range(matrices if odd == 0 else 0):
        m = row_of(a, b * rows * columns)
        places = row_of(order, b * rows)
        for i in range(rows):
            places[i] = i
        for k in range(steps):
            pivot = k
            greatest = abs(m[k * columns + k])
            for i in range(k + 1, rows):
                size = abs(m[i * columns + k])
                pivot = i if size > greatest else pivot
                greatest = size if size > greatest else greatest
            exchanges[b * steps + k] = pivot
            for j in range(columns):
                line[j] = m[pivot * columns + j]
            if pivot != k:
                for j in range(columns):
                    m[pivot * columns + j] = m[k * columns + j]
                for j in range(columns):
                    m[k * columns + j] = line[j]
                place = places[k]
                places[k] = places[pivot]
                places[pivot] = place
            scale = line[k] if line[k] != {zero} else {one}
            for i in range(k + 1, rows):
                below = row_of(m, i * columns)
                factor = below[k] / scale
                below[k] = factor
                for j in range(k + 1, columns):
                    below[j] = below[j] - factor * line[j]
"""

CHOLESKY = """
def cholesky(x, a, line, status, matrices, n):
    # Column after column; `line` is the one that is taken from the rest.
    odd = 0
    for k in range(matrices * n * n):
        odd = odd + (0 if abs(x[k]) <= {most} else 1)
    status[0] = odd
    for b in range(matrices if odd == 0 else 0):
        given = row_of(x, b * n * n)
        m = row_of(a, b * n * n)
        for i in range(n):
            for j in range(n):
                m[i * n + j] = given[i * n + j] if j <= i else {zero}
        good = 1
        for k in range(n):
            square = m[k * n + k]
            good = good if square > {zero} else 0
            root = math.sqrt(square)
            for i in range(k, n):
                line[i] = m[i * n + k] / root
            line[k] = root
            m[k * n + k] = root
            for i in range(k + 1, n):
                below = row_of(m, i * n)
                factor = line[i]
                below[k] = factor
                for j in range(k + 1, i + 1):
                    below[j] = below[j] - factor * line[j]
        if good == 0:
            for i in range(n):
                for j in range(i + 1):
                    m[i * n + j] = {nan}
"""

SUBSTITUTE = """
def substitute(
    a, y, line, matrices, n, columns, across, a_row, a_column, y_row, y_column, lower,
    unit
):
    # Known unknowns are taken from the equations that are left.
    for b in range(matrices):
        m = row_of(a, b * n * n)
        right = row_of(y, b * n * columns)
        for c in range(columns if across == 0 else 0):
            own = row_of(right, c * y_column)
            for step in range(n):
                j = step if lower != 0 else n - 1 - step
                x = own[j * y_row]
                if unit == 0:
                    x = x / m[j * a_row + j * a_column]
                    own[j * y_row] = x
                first = j + 1 if lower != 0 else 0
                last = n if lower != 0 else j
                column = row_of(m, j * a_column)
                for i in range(first, last):
                    own[i * y_row] = own[i * y_row] - column[i * a_row] * x
        for step in range(n if across != 0 else 0):
            j = step if lower != 0 else n - 1 - step
            known = row_of(right, j * y_row)
            for c in range(columns):
                line[c] = known[c]
            if unit == 0:
                scale = m[j * a_row + j * a_column]
                for c in range(columns):
                    line[c] = line[c] / scale
                for c in range(columns):
                    known[c] = line[c]
            first = j + 1 if lower != 0 else 0
            last = n if lower != 0 else j
            for i in range(first, last):
                factor = m[i * a_row + j * a_column]
                one = row_of(right, i * y_row)
                for c in range(columns):
                    one[c] = one[c] - factor * line[c]
"""

QR = """
def qr(x, q, r, a, column, line, scales, status, matrices, rows, columns, inner):
    # Reflections of one matrix at a time, packed in `a`; then what they make of ones.
    steps = rows if rows < columns else columns
    odd = 0
    for k in range(matrices * rows * columns):
        size = abs(x[k])
        odd = odd + (0 if size <= {large} else 1)
        odd = odd + (1 if (size < {small}) & (size != {zero}) else 0)
    status[0] = odd
    for b in range(matrices if odd == 0 else 0):
        given = row_of(x, b * rows * columns)
        for k in range(rows * columns):
            a[k] = given[k]
        for k in range(steps):
            alpha = a[k * columns + k]
            square = f64(0.0)
            for i in range(k + 1, rows):
                v = f64(a[i * columns + k])
                column[i] = a[i * columns + k]
                square = square + v * v
            scale = {zero}
            if square > 0.0:
                norm = math.sqrt(f64(alpha) * f64(alpha) + square)
                beta = {real}(-math.copysign(norm, f64(alpha)))
                scale = (beta - alpha) / beta
                for i in range(k + 1, rows):
                    column[i] = column[i] / (alpha - beta)
                    a[i * columns + k] = column[i]
                column[k] = {one}
                a[k * columns + k] = beta
                for j in range(k + 1, columns):
                    line[j] = {zero}
                for i in range(k, rows):
                    for j in range(k + 1, columns):
                        line[j] = line[j] + column[i] * a[i * columns + j]
                for i in range(k, rows):
                    factor = scale * column[i]
                    for j in range(k + 1, columns):
                        a[i * columns + j] = a[i * columns + j] - factor * line[j]
            scales[k] = scale
        above = row_of(r, b * inner * columns)
        for i in range(inner):
            for j in range(columns):
                above[i * columns + j] = a[i * columns + j] if j >= i else {zero}
        made = row_of(q, b * rows * inner)
        for i in range(rows):
            for j in range(inner):
                made[i * inner + j] = {one} if i == j else {zero}
        for back in range(steps):
            k = steps - 1 - back
            column[k] = {one}
            for i in range(k + 1, rows):
                column[i] = a[i * columns + k]
            if scales[k] != {zero}:
                for j in range(k, inner):
                    line[j] = {zero}
                for i in range(k, rows):
                    for j in range(k, inner):
                        line[j] = line[j] + column[i] * made[i * inner + j]
                for i in range(k, rows):
                    factor = scales[k] * column[i]
                    for j in range(k, inner):
                        made[i * inner + j] = made[i * inner + j] - factor * line[j]
"""

# The texts by name, and the kinds of their arguments: elements (a), numbers of 32 bits
# (p), a number that tells how it went (s), sizes (i).
_TEXTS = {
    "lu": (LU, "aappasiii"),
    "cholesky": (CHOLESKY, "aaasii"),
    "substitute": (SUBSTITUTE, "aaaiiiiiiiiii"),
    "qr": (QR, "aaaaaaasiiii"),
}
_TYPES = {"p": "int32*", "s": "int64*", "i": "int64"}
# Numbers whose squares, and sums of these, are no less exact for their size.
_ORDINARY = {"float32": (1e-18, 1e18), "float64": (1e-120, 1e120)}


def own_kernel(primitive: str) -> Callable[..., Found]:
    """The function that computes a primitive of small matrices, or gives None."""
    return _KERNELS[primitive]


def _text(name: str, dtype: str) -> str:
    text, kinds = _TEXTS[name]
    real = short(dtype)
    small, large = _ORDINARY[dtype]
    words = {
        "real": real,
        "most": f"{real}({float(np.finfo(dtype).max)!r})",
        **{word: f"{real}({number}.0)" for word, number in (("zero", 0), ("one", 1))},
        "small": f"{real}({small!r})",
        "large": f"{real}({large!r})",
        "nan": f"{real}(nan)",
    }
    args = [_TYPES.get(kind, f"{dtype}*") for kind in kinds]
    known = {
        **{short(t): Cast(t) for t in DTYPES},
        "nan": IRValue(float_text(math.nan), "float64", math.nan),
    }
    filled = text.strip().format(**words)
    return lower(filled, _symbol(name, dtype), args, None, known)


def _symbol(name: str, dtype: str) -> str:
    return f"traceir_factors_{name}_{short(dtype)}"


@cache
def _entry(name: str, char: str) -> Callable[..., None]:
    """The call of a function of a dtype, by its letter, which is compiled once."""
    dtype = np.dtype(char).name
    symbol, (_, kinds) = _symbol(name, dtype), _TEXTS[name]
    code = linked_once([symbol], lambda dtype: [_text(name, dtype)], dtype)
    sizes = kinds.count("i")
    address = code.addresses[symbol]
    return callable_of(address, len(kinds) - sizes, sizes, True, code.unit)


def _is_small(x: np.ndarray) -> bool:
    """True for real matrices with elements, of few rows and columns."""
    *_, rows, columns = x.shape
    most = cost_model.SMALL_MATRIX_ROWS
    few = rows <= most and columns <= most and x.size > 0
    return few and x.dtype.char in _CHARS and x.flags.c_contiguous


# The letters of the dtypes: their names take as long as a small system.
_CHARS = "fd"


def _lu(x: np.ndarray) -> Found:
    if not _is_small(x):
        return None
    *stack, rows, columns = x.shape
    found, dtype = np.empty_like(x), x.dtype
    exchanges = np.empty((*stack, min(rows, columns)), np.int32)
    order = np.empty((*stack, rows), np.int32)
    line, status = np.empty(columns, dtype), np.empty(1, np.int64)
    matrices = x.size // (rows * columns)
    _entry("lu", dtype.char)(
        x, found, exchanges, order, line, status, matrices, rows, columns
    )
    return None if status[0] else [found, exchanges, order]


def _cholesky(x: np.ndarray) -> Found:
    if not _is_small(x):
        return None
    n, found = x.shape[-1], np.empty_like(x)
    line, status = np.empty(n, x.dtype), np.empty(1, np.int64)
    _entry("cholesky", x.dtype.char)(x, found, line, status, x.size // (n * n), n)
    return None if status[0] else found


def _triangular_solve(
    a: np.ndarray,
    y: np.ndarray,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool = False,
    unit_diagonal: bool = False,
    conjugate_a: bool = False,
) -> Found:
    dtype = a.dtype
    if not _is_small(a) or y.dtype != dtype or not y.flags.c_contiguous:
        return None
    n, found = a.shape[-1], y.copy()
    columns = y.shape[-1] if left_side else y.shape[-2]
    # x a = y is the transposed equation of another system.
    turned = transpose_a == left_side
    a_row, a_column = (1, n) if turned else (n, 1)
    y_row, y_column = (columns, 1) if left_side else (1, n)
    across = left_side and columns > 1
    line = np.empty(columns, dtype) if across else found
    _entry("substitute", dtype.char)(
        *(a, found, line, a.size // (n * n), n, columns, int(across)),
        *(a_row, a_column, y_row, y_column, int(lower != turned), int(unit_diagonal)),
    )
    return found


def _qr(
    x: np.ndarray,
    *,
    full_matrices: bool,
    pivoting: bool,
    use_magma: None = None,
    read: tuple[bool, bool] = (True, True),
) -> Found:
    if pivoting or not _is_small(x):
        return None
    *stack, rows, columns = x.shape
    dtype = x.dtype
    inner = rows if full_matrices else min(rows, columns)
    q = np.empty((*stack, rows, inner), dtype)
    r = np.empty((*stack, inner, columns), dtype)
    most = max(rows, columns)
    work = [np.empty(size, dtype) for size in (rows * columns, rows, most, most)]
    status, matrices = np.empty(1, np.int64), x.size // (rows * columns)
    _entry("qr", dtype.char)(x, q, r, *work, status, matrices, rows, columns, inner)
    return None if status[0] else [q, r]


_KERNELS: dict[str, Callable[..., Any]] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "qr": _qr,
    "triangular_solve": _triangular_solve,
}
