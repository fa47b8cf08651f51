"""Pseudo-inverses, least squares, ranks and condition numbers. Serves: linalg.*"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    convert,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.linalg.matrices import adjoint, product, symmetric
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.elementwise.composites import where
from traceir.numpy.linalg.checks import check_square, matrices, option, shown, square
from traceir.numpy.linalg.factors import svd, svdvals
from traceir.numpy.linalg.norms import norm
from traceir.numpy.linalg.systems import inv
from traceir.numpy.reductions.reductions import any as _any
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp


@custom_jvp
def _pseudo(x: Array, limit: Array) -> Array:
    """The pseudo-inverse, of singular values above `limit` times the greatest."""
    u, s, v = svd(x, full_matrices=False)
    kept = lax.gt(s, _limits(s, limit))
    divisors = lax.select(kept, s, lax.full(shape_of(s), np.inf, typeof(s).dtype))
    rows = adjoint(u)
    divisors = convert(divisors, typeof(x).dtype)
    wide = lax.broadcast_in_dim(divisors, rows.shape, range(len(shape_of(s))))
    return product(adjoint(v), lax.div(rows, wide))


def _real_dtype(x: Operand) -> np.dtype:
    """The dtype of singular values."""
    found: np.dtype = finfo(typeof(x).dtype).dtype
    return found


def _limits(s: Array, limit: Array) -> Array:
    """The least singular values that count, in the shape of all."""
    shape = s.shape
    rank = len(shape)
    greatest = lax.slice(s, (0,) * rank, (*shape[:-1], min(1, shape[-1])))
    wide = lax.broadcast_in_dim(greatest, shape, tuple(range(rank))) if shape[-1] else s
    return lax.mul(wide, broadcast_to(limit[..., None], shape))


@_pseudo.defjvp
def _pseudo_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    """As G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
    nonlinear least squares problems whose variables separate" (1973), have it."""
    (x, limit), (t, _) = primals, tangents
    p = _pseudo(x, limit)
    ahead, behind = product(x, p), product(p, x)
    through = lax.neg(product(product(p, t), p))
    turned = adjoint(t)
    out = product(product(p, adjoint(p)), lax.sub(turned, product(turned, ahead)))
    inside = lax.sub(turned, product(behind, turned))
    return p, lax.add(through, lax.add(out, product(product(inside, adjoint(p)), p)))


def pinv(
    a: Operand,
    rtol: Operand = None,
    hermitian: bool = False,
    *,
    rcond: Operand = None,
) -> Array:
    """The pseudo-inverse: (..., m, n) to (..., n, m).

    Singular values up to `rtol` (or `rcond`) times the greatest count as 0; by default
    10 max(m, n) units in the last place of 1. With `hermitian` the mean with the
    conjugate transpose is taken. Raises LinAlgError (linalg.matrix), TypeError
    (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> pinv(jnp.array([[2, 0], [0, 0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    x = symmetric(square("pinv", a)) if hermitian else matrices("pinv", a)[0]
    given = rcond if rtol is None else rtol
    *stack, rows, columns = shape_of(x)
    dtype = _real_dtype(x)
    if given is None:
        given = 10.0 * max(rows, columns) * float(finfo(dtype).eps)
    limit = broadcast_to(lax.convert_element_type(given, dtype), tuple(stack))
    return _pseudo(x, limit)  # type: ignore[no-any-return]  # it gives what it wraps


@composite(static_argnames=["hermitian"])
def matrix_rank(
    M: Operand,
    rtol: Operand = None,
    *,
    hermitian: bool = False,
    tol: Operand = None,
) -> Array:
    """The number of singular values that count: (..., m, n) to integers (...).

    Those above `tol`, or above `rtol` times the greatest, by default max(m, n) units in
    the last place of 1. Of a vector, whether it has an element that is not 0. With
    `hermitian`, those of `eigh` are taken. Raises TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> matrix_rank(jnp.array([[1, 2], [2, 4]]))
    Array(1, dtype=int32)
    """
    [x] = promoted_inexact("matrix_rank", M)
    if len(shape_of(x)) < 2:
        return _sum(_any(lax.ne(x, lax.full(shape_of(x), 0, typeof(x).dtype))))
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is None:
        share = max(shape_of(x)[-2:]) * float(finfo(typeof(x).dtype).eps)
        dtype = s.dtype
        limit = convert(operand("matrix_rank", share if rtol is None else rtol), dtype)
        limits = _limits(s, broadcast_to(limit, s.shape[:-1]))
    else:
        level = convert(operand("matrix_rank", tol), s.dtype)
        limits = broadcast_to(broadcast_to(level, s.shape[:-1])[..., None], s.shape)
    return _sum(lax.gt(s, limits), axis=-1)


@composite(static_argnames=["p"])
def cond(x: Operand, p: int | float | str | None = None) -> Array:
    """The condition number: the norm of a matrix times that of its inverse.

    Shape (..., m, n) to (...). `p` is an order of `norm`; without one, or with 2 or -2,
    it is the quotient of the greatest and the least singular value, and matrices need
    not be square. Raises LinAlgError (linalg.matrix, linalg.square), ValueError
    (linalg.option, face.reduce-empty), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> cond(jnp.array([[4, 0], [0, 2]]))
    Array(2., dtype=float32)
    """
    [x] = matrices("cond", x)
    option("cond", "p", p, (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"))
    if 0 in x.shape[-2:]:
        raise rules.error("face.reduce-empty", got=f"cond of shape {x.shape}")
    if p in (None, 2, -2):
        s = svdvals(x)
        greatest, least = s[..., 0], s[..., -1]
        return lax.div(least, greatest) if p == -2 else lax.div(greatest, least)
    check_square("cond", x)
    return lax.mul(norm(x, p, axis=(-2, -1)), norm(inv(x), p, axis=(-2, -1)))


def lstsq(
    a: Operand, b: Operand, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The x of least norm for which `a @ x - b` has the least norm.

    Shapes (m, n), and (m,) or (m, k), to x of (n,) or (n, k), the sums of squares of
    the rest, (1,) or (k,), the rank as an integer, and the singular values. Those up to
    `rcond` times the greatest count as 0, by default max(m, n) units in the last place
    of 1. With `numpy_resid`, the sums are empty where the rank is less than n or the
    columns are as many as the rows, as NumPy has it; the values must be known then.
    Raises LinAlgError (linalg.matrix), ValueError (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> x, rest, rank, s = lstsq(jnp.array([[1], [1]]), jnp.array([1, 3]))
    >>> jnp.round(x, 4), jnp.round(rest, 4), rank
    (Array([2.], dtype=float32), Array([2.], dtype=float32), Array(1, dtype=int32))
    """
    a, b = promoted_inexact("lstsq", a, b)
    [a] = matrices("lstsq", a)
    if len(shape_of(a)) != 2 or shape_of(b)[:1] != shape_of(a)[:1] or b.ndim > 2:
        got = f"{shown(a)} and {shown(b)}"
        raise rules.error("linalg.shapes", got=got, hint="(m, n) and (m,) or (m, k)")
    x, rest, rank, s = _lstsq(a, b, rcond=rcond)
    rows, columns = shape_of(a)
    if numpy_resid and (rows <= columns or int(rank) < columns):
        rest = lax.full((0,), 0, rest.dtype)
    return x, rest, rank, s


@composite(static_argnames=["rcond"])
def _lstsq(
    a: Operand, b: Operand, *, rcond: float | None
) -> tuple[Array, Array, Array, Array]:
    rows, columns = shape_of(a)
    dtype = _real_dtype(a)
    share = max(rows, columns) * float(finfo(dtype).eps) if rcond is None else rcond
    right = lax.expand_dims(b, (1,)) if len(shape_of(b)) == 1 else b
    u, s, v = svd(a, full_matrices=False)
    zeros = lax.full(shape_of(s), 0, dtype)
    limits = _limits(s, lax.full((), max(share, 0.0), dtype))
    kept = lax.bitwise_and(lax.gt(s, zeros), lax.ge(s, limits))
    rank = _sum(kept)
    inverse = where(
        kept, lax.div(lax.full(shape_of(s), 1, dtype), where(kept, s, 1)), 0
    )
    turned = product(adjoint(u), right)
    factors = convert(inverse, typeof(a).dtype)
    scaled = lax.mul(broadcast_to(factors[:, None], turned.shape), turned)
    x = product(adjoint(v), scaled)
    rest = lax.square(norm(lax.sub(right, product(a, x)), axis=0))
    return (lax.squeeze(x, (1,)) if len(shape_of(b)) == 1 else x), rest, rank, s
