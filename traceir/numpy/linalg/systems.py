"""Systems of linear equations, and inverses. Serves: linalg.*"""

from __future__ import annotations

from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    broadcast_shapes,
    promoted_inexact,
    shape_of,
)
from traceir.lax.linalg.matrices import eye_like, permuted, product, put_back, solved
from traceir.numpy.arrays.creation import broadcast_to
from traceir.numpy.linalg.checks import check_square, matrices, shown, square
from traceir.tracing.trace import current_trace
from traceir.transforms.custom.custom_calls import consulted
from traceir.transforms.custom.linear_solve import custom_linear_solve


@composite
def solve(a: Operand, b: Operand) -> Array:
    """The solution x of `a @ x == b`: of vectors if `b` has one dimension.

    Shapes (..., n, n) and (n,), or (..., n, k), to (..., n), or (..., n, k). A singular
    matrix gives infinities or NaN. Raises LinAlgError (linalg.matrix, linalg.square),
    ValueError (linalg.shapes), TypeError (face.broadcast, matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> solve(jnp.array([[2, 0], [0, 4]]), jnp.array([2, 8]))
    Array([1., 2.], dtype=float32)
    """
    a, b = _pair("solve", a, b)
    vector = len(shape_of(b)) == 1
    columns = lax.expand_dims(b, (1,)) if vector else b
    if shape_of(columns)[-2] != shape_of(a)[-1]:
        got = f"{shown(a)} and {shown(b)}"
        hint = "the second has as many rows as the first"
        raise rules.error("linalg.shapes", got=got, hint=hint)
    found = _by_lu(a, columns)
    return lax.squeeze(found, (found.ndim - 1,)) if vector else found


def _pair(name: str, a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """A square matrix and a right side of one floating dtype."""
    a, b = promoted_inexact(name, a, b)
    [a] = matrices(name, a)
    check_square(name, a)
    if not shape_of(b):
        raise rules.error("linalg.shapes", got=f"{shown(a)} and {shown(b)}")
    return a, b


def _by_lu(a: Operand, b: Operand) -> Array:
    """Solutions by triangular factors; stacks are broadcast."""
    stack = broadcast_shapes("solve", [shape_of(a)[:-2], shape_of(b)[:-2]])
    factors, _, order = lax.linalg.lu(lax.stop_gradient(a))
    factors = broadcast_to(factors, (*stack, *shape_of(factors)[-2:]))
    order = broadcast_to(order, (*stack, shape_of(a)[-1]))
    a = broadcast_to(a, (*stack, *shape_of(a)[-2:]))
    b = broadcast_to(b, (*stack, *shape_of(b)[-2:]))
    found: Array = solution(a, factors, order, b)
    return found


def solution(a: Array, factors: Array, order: Array, b: Array) -> Array:
    """The solutions x of `a @ x == b` by the factors of `lu(a)`, which count as
    constant; of operands of one stack."""
    if not consulted(current_trace()):
        return _by_factors(factors, order, b)

    def multiply(x: Array) -> Array:
        return product(a, x)

    def solve(_: Any, y: Array) -> Array:
        return _by_factors(factors, order, y)

    def solve_transposed(_: Any, y: Array) -> Array:
        inner = solved(factors, y, left_side=True, lower=False, transpose_a=True)
        inner = solved(
            factors,
            inner,
            left_side=True,
            lower=True,
            transpose_a=True,
            unit_diagonal=True,
        )
        return put_back(inner, order)

    found: Array = custom_linear_solve(multiply, b, solve, solve_transposed)
    return found


def _by_factors(factors: Array, order: Array, b: Array) -> Array:
    inner = solved(
        factors, permuted(b, order), left_side=True, lower=True, unit_diagonal=True
    )
    return solved(factors, inner, left_side=True, lower=False)


@composite
def inv(a: Operand) -> Array:
    """The inverse: (..., n, n) to the same; infinities or NaN if there is none.

    Raises LinAlgError (linalg.matrix, linalg.square), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> inv(jnp.array([[2, 0], [0, 4]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x = square("inv", a)
    return solve(x, eye_like(x))
