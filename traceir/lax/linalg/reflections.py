"""Reflections: the factorization that keeps them, and products with them.

Reflection i of a matrix and its scales is I - taus[i] v v^H; its v has zeros, a 1 in
row i and below it what stands in column i of the matrix. All is made of other
primitives, so it is differentiated and mapped as these are.

Serves: linalg.shapes, matrices.*
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, operands, shape_of
from traceir.lax.control.scans import scan
from traceir.lax.derived import full_like
from traceir.lax.elementwise.arithmetic import (
    add,
    bitwise_and,
    div,
    eq,
    ge,
    gt,
    mul,
    neg,
    sqrt,
    sub,
)
from traceir.lax.elementwise.complexes import conj, imag
from traceir.lax.elementwise.selection import convert_element_type, select
from traceir.lax.linalg import matrices
from traceir.lax.linalg.systems import check_fit
from traceir.lax.reductions.reductions import reduce_sum
from traceir.lax.structural.shapes import (
    broadcast_in_dim,
    broadcasted_iota,
    expand_dims,
    iota,
)
from traceir.lax.structural.shapes import (
    transpose as permuted,
)
from traceir.tracing.trace import typeof


def geqrf(a: Operand) -> tuple[Array, Array]:
    """The factor `R` of `qr`, below it the reflections that make `Q`, and their scales.

    Shape (..., m, n) to (..., m, n) and (..., min(m, n)). Raises TypeError
    (matrices.rank, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> packed, taus = geqrf(jnp.array([[3.0], [4.0]]))
    >>> packed, taus
    (Array([[-5. ],
           [ 0.5]], dtype=float32), Array([1.6], dtype=float32))
    """
    [a] = operands("geqrf", (a,))
    check_fit("geqrf", True, a)
    x = as_array(a)
    shape = shape_of(x)
    count, rank = min(shape[-2:]), len(shape)
    rows, columns = matrices.places(shape)
    down = rows[..., :1]
    numbers = broadcasted_iota("int32", (*shape[:-2], count), rank - 2)
    zeros = full_like(convert_element_type(numbers, typeof(x).dtype), 0)

    def step(carry: tuple[Array, Array], k: Array) -> tuple[tuple[Array, Array], None]:
        packed, taus = carry
        here, on, below = eq(columns, k), eq(down, k), gt(down, k)
        alone = select(here, packed, full_like(packed, 0))
        column = expand_dims(reduce_sum(alone, (rank - 1,)), (rank - 1,))
        v, tau, end = _reflection(column, on, below)
        turned = reflected(packed, v, conjugate(tau))
        line = select(below, v, select(on, stretched(end, column), column))
        after = select(here, stretched(line, packed), packed)
        tau = stretched(tau[..., 0], taus)
        taus = select(eq(numbers, k), tau, taus)
        return (select(gt(columns, k), turned, after), taus), None

    found: tuple[Array, Array] = scan(step, (x, zeros), iota("int32", count))[0]
    return found


def _reflection(column: Array, on: Array, below: Array) -> tuple[Array, Array, Array]:
    """The reflection that has a column end at a row, its scale, and what is there."""
    zeros, last = full_like(column, 0), (len(shape_of(column)) - 2,)
    first = reduce_sum(select(on, column, zeros), last)
    first = expand_dims(first, last)
    rest = select(below, column, zeros)
    square = matrices.real_part(matrices.product(matrices.adjoint(rest), rest))
    still = eq(square, full_like(square, 0))
    if typeof(first).dtype.kind == "c":
        still = bitwise_and(still, eq(imag(first), full_like(square, 0)))
    whole = add(square, matrices.real_part(mul(first, conjugate(first))))
    length = sqrt(select(still, full_like(whole, 1), whole))
    positive = ge(matrices.real_part(first), full_like(length, 0))
    end = select(positive, neg(length), length)
    end = convert_element_type(end, typeof(first).dtype)
    tau = select(still, full_like(first, 0), div(sub(end, first), end))
    scale = select(still, full_like(first, 1), sub(first, end))
    v = select(on, full_like(column, 1), div(rest, stretched(scale, rest)))
    return v, tau, select(still, first, end)


def conjugate(x: Array) -> Array:
    """The complex conjugate: of a real value the value."""
    return conj(x) if typeof(x).dtype.kind == "c" else x


def stretched(x: Array, onto: Array) -> Array:
    """A value whose extents are 1 or those of another, as large as the other."""
    axes = tuple(range(len(shape_of(onto))))
    return broadcast_in_dim(x, shape_of(onto), axes)


def reflected(x: Array, v: Array, tau: Array) -> Array:
    """Matrices behind a reflection: x - tau v v^H x."""
    moved = matrices.product(v, matrices.product(matrices.adjoint(v), x))
    return sub(x, mul(stretched(tau, x), moved))


def _product(a: Operand, taus: Operand, x: Array, adjoint: bool) -> Array:
    """The product of the reflections, or its adjoint, by matrices `x`."""
    rank, count = len(shape_of(a)), shape_of(taus)[-1]
    below = matrices.lower(a, -1)
    vectors = add(below, matrices.eye_like(a))[..., :count]
    columns = permuted(vectors, (rank - 1, *range(rank - 1)))
    scales = permuted(taus, (rank - 2, *range(rank - 2)))
    scales = conjugate(scales) if adjoint else scales

    def reflect(found: Array, part: tuple[Array, Array]) -> tuple[Array, None]:
        v = expand_dims(part[0], (rank - 1,))
        tau = expand_dims(part[1], (rank - 2, rank - 1))
        return reflected(found, v, tau), None

    found: Array = scan(reflect, x, (columns, scales), reverse=not adjoint)[0]
    return found


def householder_product(a: Operand, taus: Operand) -> Array:
    """The first columns of the product of the reflections that `geqrf` packs.

    Shapes (..., m, n), with no more columns than rows, and (..., k) to (..., m, n).
    Raises ValueError (linalg.shapes), TypeError (matrices.rank, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> householder_product(jnp.array([[0.0], [1.0]]), jnp.array([1.0]))
    Array([[ 0.],
           [-1.]], dtype=float32)
    """
    a, taus = operands("householder_product", (a, taus))
    shape, counts = shape_of(a), shape_of(taus)
    fit = len(shape) > 1 and counts[:-1] == shape[:-2] and len(counts) > 0
    fit = fit and counts[-1] <= shape[-1] <= shape[-2]
    check_fit("householder_product", fit, taus, a)
    return _product(a, taus, matrices.eye_like(a), adjoint=False)


def ormqr(
    a: Operand, taus: Operand, c: Operand, *, left: bool = True, transpose: bool = False
) -> Array:
    """`q @ c` for the `q` of all the reflections that `geqrf` packs, square.

    With `transpose`, its conjugate transpose; `c @ q` unless `left`. Shapes (..., m, n)
    and (..., k) and (..., m, p), or (..., p, m), to that of `c`. Raises ValueError
    (linalg.shapes), TypeError (matrices.rank, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([[3.0], [4.0]])
    >>> ormqr(*geqrf(x), x, transpose=True)
    Array([[-5.],
           [ 0.]], dtype=float32)
    """
    a, taus, c = operands("ormqr", (a, taus, c))
    shape, counts, other = shape_of(a), shape_of(taus), shape_of(c)
    fit = len(shape) > 1 and counts[:-1] == shape[:-2] == other[:-2] and len(other) > 1
    fit = fit and len(counts) > 0 and counts[-1] <= min(shape[-2:])
    check_fit("ormqr", fit and other[-2 if left else -1] == shape[-2], taus, c, a)
    if left:
        return _product(a, taus, as_array(c), transpose)
    return matrices.adjoint(_product(a, taus, matrices.adjoint(c), not transpose))
