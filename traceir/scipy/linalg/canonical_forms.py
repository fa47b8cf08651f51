"""Schur and Hessenberg forms as `scipy.linalg` has them. Serves: linalg.*"""

from __future__ import annotations

from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    complex_dtype,
    convert,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.linalg import matrices
from traceir.numpy.arrays.creation import array, asarray
from traceir.numpy.elementwise.composites import where
from traceir.numpy.functional.vectorize import vectorize
from traceir.numpy.linalg import eigvals, norm
from traceir.numpy.linalg.checks import check_square, option, shown
from traceir.numpy.linalg.checks import matrices as checked
from traceir.numpy.ranges.linspace import arange
from traceir.numpy.ranges.triangles import triu
from traceir.tracing.trace import typeof

# A triangle, and the vectors that belong to it.
Pair = tuple[Array, Array]


def schur(a: Operand, output: str = "real") -> list[Array]:
    """Triangular matrices `t` and unitary ones `z`: `z @ t @ z.conj().T` is `a`.

    Shape (..., n, n) to the same, twice. Of a real matrix, and where `output` is not
    "complex", `t` has a block of two rows on its diagonal for each pair of conjugate
    eigenvalues. Raises TypeError (matrices.rank, matrices.dtype), ValueError
    (square_matrices.extents, linalg.option), NotImplementedError (derive.missing).

    >>> import traceir.numpy as jnp
    >>> schur(jnp.array([[1, 2], [0, 3]]), output="complex")[0]
    Array([[1.+0.j, 2.+0.j],
           [0.+0.j, 3.+0.j]], dtype=complex64)
    """
    option("schur", "output", output, ("real", "complex"))
    return _schur(a, output)


@composite(static_argnames=["output"])
def _schur(a: Operand, output: str) -> list[Array]:
    x = operand("schur", a)
    if output == "complex":
        x = convert(x, complex_dtype(typeof(x).dtype))
    return lax.linalg.schur(x)


@composite(static_argnames=["calc_q", "overwrite_a", "check_finite"])
def hessenberg(
    a: Operand,
    *,
    calc_q: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
) -> Any:
    """Matrices `h` that are zero two lines below the diagonal and further down.

    Shape (..., n, n) to the same; with `calc_q` twice, for unitary matrices `q`, too:
    `q @ h @ q.conj().T` is `a`. Raises TypeError (matrices.rank, matrices.dtype),
    ValueError (square_matrices.extents), NotImplementedError (derive.missing).

    >>> import traceir.numpy as jnp
    >>> hessenberg(jnp.array([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [6.0, 7.0, 8.0]]))
    Array([[ 1., -3., -2.],
           [-6.,  8.,  7.],
           [ 0.,  5.,  4.]], dtype=float32)
    """
    packed, scales = lax.linalg.hessenberg(a)
    form = triu(packed, -1)
    if not calc_q:
        return form
    turned = lax.linalg.householder_product(packed[..., 1:, :-1], scales)
    return form, matrices.eye_like(packed).at[..., 1:, 1:].set(turned)


@composite(static_argnames=["check_finite"])
def rsf2csf(T: Operand, Z: Operand, check_finite: bool = True) -> Pair:
    """Triangles of complex numbers for those that have blocks, as `schur` gives them.

    Shapes (..., n, n), whose stacks broadcast, to the same in complex numbers: blocks
    are turned one after the other, from the last one up, and so are the columns of `Z`.
    Raises LinAlgError (linalg.matrix, linalg.square), ValueError (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> rsf2csf(jnp.array([[0, 2], [-2, 0]]), jnp.eye(2))[0].imag.round(3)
    Array([[ 2.,  0.],
           [ 0., -2.]], dtype=float32)
    """
    pair = promoted_inexact("rsf2csf", asarray(T), asarray(Z))
    for x in checked("rsf2csf", *pair):
        check_square("rsf2csf", x)
    if shape_of(pair[0])[-1] != shape_of(pair[1])[-1]:
        raise rules.error("linalg.shapes", got=f"{shown(pair[0])} and {shown(pair[1])}")
    dtype = complex_dtype(typeof(pair[0]).dtype)
    whole = [convert(x, dtype, typeof(x).weak_type) for x in pair]
    signature = "(n,n),(n,n)->(n,n),(n,n)"
    found: Pair = vectorize(_triangular, signature=signature)(*whole)
    return found


def _triangular(t: Array, z: Array) -> Pair:
    """One matrix without blocks, by rotations of two rows and two columns."""
    size, tiny = t.shape[0], finfo(t.dtype).eps
    if size < 2:
        return t, z

    def step(pair: Pair, row: Array) -> tuple[Pair, None]:
        t, _ = pair
        near = abs(t[row - 1, row - 1]) + abs(t[row, row])
        block = abs(t[row, row - 1]) > tiny * near
        t, z = lax.cond(block, _rotated, lambda _, t, z: (t, z), row, *pair)
        return (t.at[row, row - 1].set(0.0), z), None

    found: Pair = lax.scan(step, (t, z), arange(size - 1, 0, -1))[0]
    return found


def _rotated(row: Array, t: Array, z: Array) -> Pair:
    """Both after the rotation that makes the element before the diagonal 0."""
    first, places = row - 1, arange(t.shape[0])
    corner, below = t[row, row], t[row, first]
    value = eigvals(lax.dynamic_slice(t, (first, first), (2, 2)))[0] - corner
    length = norm(array([value, below])).astype(t.dtype)
    c, s = value / length, below / length
    turn = array([[c.conj(), s], [-s, c]])
    back = turn.conj().T

    rows = lax.dynamic_slice_in_dim(t, first, 2, axis=0)
    inside = places >= first
    rows = where(inside, turn @ where(inside, rows, 0), rows)
    t = lax.dynamic_update_slice_in_dim(t, rows, first, axis=0)

    columns = lax.dynamic_slice_in_dim(t, first, 2, axis=1)
    inside = (places <= row)[:, None]
    columns = where(inside, where(inside, columns, 0) @ back, columns)
    t = lax.dynamic_update_slice_in_dim(t, columns, first, axis=1)

    columns = lax.dynamic_slice_in_dim(z, first, 2, axis=1)
    return t, lax.dynamic_update_slice_in_dim(z, columns @ back, first, axis=1)
