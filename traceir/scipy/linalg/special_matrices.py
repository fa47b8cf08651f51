"""Special matrices, and factorizations with SciPy's options.

Serves: linalg.*
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    broadcast_shapes,
    convert,
    operand,
    promoted,
    shape_of,
)
from traceir.numpy import linalg as _linalg
from traceir.numpy.arrays.creation import asarray, broadcast_to, zeros
from traceir.numpy.assembly.padding import pad
from traceir.numpy.elementwise.closeness import conjugate
from traceir.numpy.elementwise.composites import where
from traceir.numpy.indexing.take_put import take
from traceir.numpy.linalg.checks import option
from traceir.numpy.manipulation.rearrange import flip
from traceir.numpy.manipulation.shapes import concatenate
from traceir.numpy.manipulation.split import of_rank
from traceir.numpy.manipulation.stacking import atleast_1d, atleast_2d
from traceir.tracing.trace import typeof


def block_diag(*arrs: Operand) -> Array:
    """Matrices along the diagonal of one that is 0 elsewhere.

    Numbers and vectors are taken for rows. Raises ValueError (linalg.shapes) for more
    than two dimensions.

    >>> block_diag(1, 2)
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    parts = [atleast_2d(x) for x in promoted("block_diag", *(arrs or (zeros((1, 0)),)))]
    for part in parts:
        if len(shape_of(part)) > 2:
            raise rules.error("linalg.shapes", got=f"a block of {shape_of(part)}")
    columns = sum(shape_of(p)[1] for p in parts)
    rows, before = [], 0
    for part in parts:
        width = shape_of(part)[1]
        rows.append(pad(part, ((0, 0), (before, columns - before - width))))
        before += width
    found = concatenate(rows)
    return convert(found, found.dtype)


def toeplitz(c: Operand, r: Operand = None) -> Array:
    """The matrix with constant diagonals, of this first column and first row.

    Without `r` the row is the conjugate of the column. The first element of `r` does
    not count. Shapes (..., m) and (..., n), whose stacks broadcast, to (..., m, n).
    Raises ValueError (face.broadcast-to).

    >>> import traceir.numpy as jnp
    >>> toeplitz(jnp.array([1, 2]), jnp.array([1, 3]))
    Array([[1, 3],
           [2, 1]], dtype=int32)
    """
    if r is None:
        c = operand("toeplitz", c)
        r = conjugate(c)
    column, row = _sides("toeplitz", c, r)
    high, wide = column.shape[-1], row.shape[-1]
    line = concatenate([flip(column, -1), row[..., 1:]], -1)
    return _windows(line, high, wide, high - 1, -1)


def hankel(c: Operand, r: Operand = None) -> Array:
    """The matrix with constant antidiagonals, of this first column and last row.

    Without `r` the row is 0. The first element of `r` does not count. Shapes (..., m)
    and (..., n), whose stacks broadcast, to (..., m, n). Raises ValueError
    (face.least-rank, face.broadcast-to).

    >>> import traceir.numpy as jnp
    >>> hankel(jnp.array([1, 2]), jnp.array([2, 3]))
    Array([[1, 2],
           [2, 3]], dtype=int32)
    """
    first = of_rank("hankel", c, 1)
    column, row = _sides("hankel", first, lax.full_like(first, 0) if r is None else r)
    line = concatenate([column, row[..., 1:]], -1)
    return _windows(line, column.shape[-1], row.shape[-1], 0, 1)


def circulant(c: Operand) -> Array:
    """The square matrix whose columns are `c`, each moved down by one place more.

    Shape (..., n) to (..., n, n). Raises ValueError (face.least-rank).

    >>> import traceir.numpy as jnp
    >>> circulant(jnp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    column = atleast_1d(c)
    count = column.shape[-1]
    line = flip(concatenate([column[..., 1:], column], -1), -1)
    return _windows(line, count, count, count - 1, -1)


def _sides(name: str, column: Operand, row: Operand) -> tuple[Array, Array]:
    """Two stacks of vectors in one dtype, the one as long as the other."""
    pair = promoted(name, column, row)
    parts = [as_array(convert(x, typeof(x).dtype)) for x in pair]
    lines = [lax.expand_dims(x, (0,)) if not x.ndim else x for x in parts]
    stack = broadcast_shapes(name, [x.shape[:-1] for x in lines])
    first, second = (broadcast_to(x, (*stack, x.shape[-1])) for x in lines)
    return first, second


def _windows(lines: Array, rows: int, columns: int, first: int, step: int) -> Array:
    """Rows that are pieces of a line, each beginning a step after the one above."""
    starts = first + step * np.arange(rows)[:, None]
    return take(lines, starts + np.arange(columns), axis=-1, mode="clip")


def hilbert(n: int) -> Array:
    """The matrix of `1 / (i + j + 1)`.

    >>> hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    place = np.arange(n)
    return asarray(1.0 / (place[:, None] + place + 1))


def hadamard(n: int, dtype: Any = int) -> Array:
    """The matrix of 1 and -1 with orthogonal rows, for a power of 2.

    Raises ValueError (linalg.option) for another number, TypeError (neg.numeric)
    for booleans.

    >>> hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    if n < 1 or n & (n - 1):
        raise rules.error("linalg.option", got=f"hadamard of {n}", hint="a power of 2")
    two: Any = np.array([[1, 1], [1, -1]])
    signs = reduce(np.kron, [two] * (n.bit_length() - 1), np.ones((1, 1), int))
    one = asarray(1, dtype)  # which has no opposite if it is a boolean
    return where(signs < 0, -one, one) if n > 1 else one.reshape(1, 1)


def svd(
    a: Operand,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Singular values, and their vectors: `traceir.numpy.linalg.svd`.

    >>> import traceir.numpy as jnp
    >>> svd(jnp.array([[3.0]]), compute_uv=False)
    Array([3.], dtype=float32)
    """
    found = _linalg.svd(asarray(a), full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if compute_uv else found


def qr(
    a: Operand,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """An orthogonal factor and a triangular one; the latter alone in mode "r".

    Shape (..., m, n) to (..., m, m) and (..., m, n), or, in mode "economic", as
    `traceir.numpy.linalg.qr` has them. Raises ValueError (linalg.option).

    >>> import traceir.numpy as jnp
    >>> [x.shape for x in qr(jnp.ones((3, 2)))]
    [(3, 3), (3, 2)]
    """
    option("qr", "mode", mode, ("full", "r", "economic"))
    option("qr", "pivoting", pivoting, (False,))
    a = asarray(a)
    if mode == "r":
        return (_linalg.qr(a, mode="complete")[1],)
    return tuple(_linalg.qr(a, mode="complete" if mode == "full" else "reduced"))


def eigh(
    a: Operand,
    b: None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues of symmetric matrices, and their vectors.

    The mean of the matrix and its transpose is taken, whatever `lower` says, as in
    `traceir.numpy.linalg.eigh`. Raises ValueError (linalg.option) for `b`, `eigvals`
    and other types than 1.

    >>> import traceir.numpy as jnp
    >>> eigh(jnp.array([[2.0, 0.0], [0.0, 3.0]]), eigvals_only=True)
    Array([2., 3.], dtype=float32)
    """
    unread: dict[str, Any] = {"b": b, "eigvals": eigvals}
    for key, value in unread.items():
        if value is not None:
            got, hint = f"{key} of eigh", "leave it out"
            raise rules.error("linalg.option", got=got, hint=hint)
    option("eigh", "type", type, (1,))
    a, triangle = asarray(a), "L" if lower else "U"
    if eigvals_only:
        return _linalg.eigvalsh(a, UPLO=triangle)
    return tuple(_linalg.eigh(a, UPLO=triangle))
