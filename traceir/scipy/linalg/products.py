"""Products with factors, and eigenvalues of tridiagonal matrices. Serves: linalg.*"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    operands,
    promoted_inexact,
    shape_of,
)
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.linalg.checks import option, shown
from traceir.numpy.linalg.products import matmul
from traceir.scipy.linalg.special_matrices import qr


def qr_multiply(
    a: Operand,
    c: Operand,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """The product of `c` and the orthogonal factor of `a`, and the triangular one.

    The orthogonal factor is on the left of matrices or a vector, or `c` is, with the
    mode "right"; it is that of `qr` with the mode "economic", which has no pivots.
    Raises ValueError (linalg.option, linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> product, r = qr_multiply(jnp.array([[0.0, 2.0], [3.0, 0.0]]), jnp.ones(2))
    >>> abs(product)
    Array([1., 1.], dtype=float32)
    """
    option("qr_multiply", "mode", mode, ("left", "right"))
    a, c = promoted_inexact("qr_multiply", asarray(a), asarray(c))
    q, *rest = qr(a, mode="economic", pivoting=pivoting)
    factor = lax.conj(q) if conjugate and q.dtype.kind == "c" else q
    shape, left = shape_of(c), mode == "left"
    axis = -2 if left and len(shape) > 1 else -1
    wanted = q.shape[-1 if left else -2]
    if not shape or shape[axis] != wanted:
        got = f"{shown(q)} and {shown(c)} in qr_multiply with mode={mode!r}"
        hint = f"the second has {wanted} along its axis {axis}"
        raise rules.error("linalg.shapes", got=got, hint=hint)
    found = matmul(factor, c) if left else matmul(c, factor)
    return found, *rest


def eigh_tridiagonal(
    d: Operand,
    e: Operand,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    key: Array | None = None,
) -> Array | tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix with `d` on the diagonal, `e` beside it.

    They ascend, and their vectors follow them; with `select="i"` they are those from
    the first place of `select_range` to the last. The matrix is factorized as a whole,
    so `tol` and `key` change nothing. Raises TypeError (eigh.dtype), ValueError
    (linalg.shapes, linalg.option).

    >>> import traceir.numpy as jnp
    >>> eigh_tridiagonal(jnp.array([1.0, 3.0]), jnp.array([0.0]), eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    option("eigh_tridiagonal", "select", select, ("a", "i"))
    x, y = map(as_array, operands("eigh_tridiagonal", (d, e)))
    if x.ndim != 1 or y.shape != (max(x.size - 1, 0),):
        got = f"{shown(x)} on the diagonal and {shown(y)} beside it"
        raise rules.error("linalg.shapes", got=got, hint="vectors, one shorter by 1")
    if select == "i" and (select_range is None or not _within(select_range, x.size)):
        got = f"select_range={select_range!r} of {x.size} eigenvalues"
        raise rules.error("linalg.option", got=got, hint="a first and a last place")
    vectors, values = lax.linalg.eigh(_dense(x, y))
    if select == "i" and select_range is not None:
        first, last = select_range
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return values if eigvals_only else (values, vectors)


def _within(places: tuple[int, int], count: int) -> bool:
    return 0 <= places[0] <= places[1] < count


def _dense(d: Array, e: Array) -> Array:
    """The whole matrix; dtypes that differ have no sum."""
    apart = np.subtract.outer(np.arange(d.size), np.arange(d.size))
    rows = np.minimum(np.arange(d.size), max(e.size - 1, 0))
    whole = lax.broadcast_in_dim(d, apart.shape, (0,))
    main = lax.select(as_array(apart == 0), whole, lax.full_like(whole, 0))
    if not e.size:
        return main
    beside = lax.broadcast_in_dim(e[rows], apart.shape, (1,))
    below = lax.select(as_array(apart == 1), beside, lax.full_like(beside, 0))
    above = lax.transpose(below, (1, 0))
    above = lax.conj(above) if above.dtype.kind == "c" else above
    return lax.add(main, lax.add(below, above))
