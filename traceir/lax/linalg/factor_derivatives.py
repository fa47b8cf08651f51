"""Derivatives of factorizations with several results. Serves: derive.jvp

Each follows from the derivative of the equation that the factors satisfy, as in M. B.
Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), and for `lu` and `qr` from splitting a matrix into triangles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.arrays.array import Array
from traceir.ir.jaxpr import Params
from traceir.lax.checks.operands import convert, like, shape_of
from traceir.lax.elementwise.arithmetic import add, div, eq, ge, mul, sub
from traceir.lax.elementwise.complexes import real
from traceir.lax.elementwise.selection import convert_element_type, integer_pow
from traceir.lax.linalg.matrices import (
    adjoint,
    beside,
    diagonal,
    eye_like,
    lower,
    permuted,
    product,
    real_part,
    solved,
    upper,
)
from traceir.lax.structural.shapes import broadcast_in_dim, broadcasted_iota, full, pad
from traceir.lax.structural.shapes import slice as slice_
from traceir.tracing.trace import Value, bind_all, typeof
from traceir.transforms.rules.registry import JVP, Tangent, Zero

Results = Sequence[Value]
# Operand, its tangent, results, params -> tangents of the results.
Move = Callable[[Value, Value, Results, dict[str, Any]], Sequence[Tangent]]


def derivative(primitive: str) -> Callable[[Move], Move]:
    """Register the function that gives the tangents of a primitive's results."""

    def register(move: Move) -> Move:
        def rule(
            primals: Sequence[Value], tangents: Sequence[Tangent], params: Params
        ) -> tuple[Results, Sequence[Tangent]]:
            outs = list(bind_all(primitive, primals, params))
            if type(tangents[0]) is Zero:
                return outs, [Zero(typeof(out)) for out in outs]
            return outs, move(primals[0], tangents[0], outs, dict(params))

        JVP[primitive] = rule
        return move

    return register


@derivative("lu")
def _lu(x: Value, t: Value, outs: Results, params: dict[str, Any]) -> Sequence[Tangent]:
    """The derivative from P X = L U, both made square."""
    factors, exchanges, order = outs
    *_, rows, columns = shape_of(x)
    least = min(rows, columns)
    left = _widened(lower(_cut(factors, rows, least), -1), rows, rows)
    right = _widened(upper(_cut(factors, least, columns)), columns, columns)
    left = add(left, eye_like(left))
    right = add(right, _ones_from(right, least))
    inner = solved(
        left, permuted(t, order), left_side=True, lower=True, unit_diagonal=True
    )
    inner = solved(right, inner, left_side=False, lower=False)
    moved = add(product(left, lower(inner, -1)), product(upper(inner), right))
    return [moved, Zero(typeof(exchanges)), Zero(typeof(order))]


def _cut(x: Value, rows: int, columns: int) -> Array:
    """The first so many rows and columns of each matrix."""
    *stack, _, _ = shape_of(x)
    return slice_(x, (0,) * len(shape_of(x)), (*stack, rows, columns))


def _widened(x: Value, rows: int, columns: int) -> Array:
    """Each matrix with zeros below and to the right of it, up to this shape."""
    *stack, have, wide = shape_of(x)
    if (have, wide) == (rows, columns):
        return x  # type: ignore[no-any-return]  # a value of a trace is one, too
    config = [(0, 0, 0)] * len(stack) + [(0, rows - have, 0), (0, columns - wide, 0)]
    return pad(x, like(0, x), config)


def _ones_from(x: Value, start: int) -> Array:
    """Ones on the diagonals from row `start` on, where a factor was widened."""
    ones = eye_like(x)
    kept = ge(
        broadcasted_iota("int32", shape_of(x), len(shape_of(x)) - 2),
        full(shape_of(x), start, "int32"),
    )
    return mul(ones, convert_element_type(kept, typeof(x).dtype))


@derivative("qr")
def _qr(x: Value, t: Value, outs: Results, params: dict[str, Any]) -> Sequence[Tangent]:
    """The derivative from X = Q R, where the columns of Q stay orthogonal."""
    q, r = outs
    *_, rows, columns = shape_of(x)
    if params["full_matrices"] and rows > columns:
        raise rules.error("derive.factors", got=typeof(x).str_short())
    if rows < columns:
        # The first columns determine Q, and with it what R is of the others.
        moved, _ = _qr_turned(q, _cut(r, rows, rows), _cut(t, rows, rows))
        rest = sub(t, product(moved, r))
        return [moved, upper(product(adjoint(q), rest))]
    return _qr_turned(q, r, t)


def _qr_turned(q: Value, r: Value, t: Value) -> list[Value]:
    """The tangents of Q and R, for at least as many rows as columns."""
    scaled = solved(r, t, left_side=False, lower=False)
    turned = product(adjoint(q), scaled)
    below = lower(turned, -1)
    spin = sub(below, adjoint(below))
    if typeof(q).dtype.kind == "c":
        # The diagonal of what turns columns is imaginary, as that of R stays real.
        spin = add(spin, mul(eye_like(turned), _imaginary(turned)))
    rest = sub(turned, spin)
    moved = add(product(q, sub(spin, turned)), scaled)
    return [moved, product(rest, r)]


def _imaginary(x: Value) -> Array:
    """The numbers without their real parts."""
    return sub(x, convert(real(x), typeof(x).dtype))


@derivative("eigh")
def _eigh(
    x: Value, t: Value, outs: Results, params: dict[str, Any]
) -> Sequence[Tangent]:
    """The derivative from X V = V diag(w), if no two eigenvalues are equal."""
    vectors, values = outs
    turned = product(product(adjoint(vectors), t), vectors)
    ones = eye_like(turned)
    known = convert(values, typeof(x).dtype)
    gaps = sub(_stretched(beside(known), turned), _columns(known, turned))
    apart = sub(integer_pow(add(gaps, ones), -1), ones)
    return [product(vectors, mul(apart, turned)), real_part(diagonal(turned))]


def _stretched(row: Value, x: Value) -> Array:
    """A matrix of one row, as high as `x`."""
    shape = shape_of(x)
    return broadcast_in_dim(row, shape, tuple(range(len(shape))))


def _columns(values: Value, x: Value) -> Array:
    """Vectors as columns, each beside itself, in the shape of `x`."""
    rank = len(shape_of(x))
    return broadcast_in_dim(values, shape_of(x), tuple(range(rank - 1)))


@derivative("eig")
def _eig(
    x: Value, t: Value, outs: Results, params: dict[str, Any]
) -> Sequence[Tangent]:
    """The derivative from X V = V diag(w), if no two eigenvalues are equal."""
    if params["compute_left_eigenvectors"] or params["compute_right_eigenvectors"]:
        raise rules.error("derive.eigenvectors", got=f"eig of {typeof(x).str_short()}")
    known = {**params, "compute_right_eigenvectors": True}
    values, vectors = bind_all("eig", [x], tuple(sorted(known.items())))
    right = product(convert(t, typeof(values).dtype), vectors)
    factors, _, order = bind_all("lu", [vectors], ())
    inner = solved(
        factors, permuted(right, order), left_side=True, lower=True, unit_diagonal=True
    )
    return [diagonal(solved(factors, inner, left_side=True, lower=False))]


@derivative("svd")
def _svd(
    x: Value, t: Value, outs: Results, params: dict[str, Any]
) -> Sequence[Tangent]:
    """The derivative from X = U diag(s) V^H, if no two singular values are equal."""
    if not params["compute_uv"]:
        known = {**params, "compute_uv": True, "full_matrices": False}
        outs = bind_all("svd", [x], tuple(sorted(known.items())))
    values, left, right = outs
    turned = product(product(adjoint(left), t), adjoint(right))
    moved = real_part(diagonal(_square(turned, values)))
    if not params["compute_uv"]:
        return [moved]
    *_, rows, columns = shape_of(x)
    if params["full_matrices"] and rows != columns:
        raise rules.error("derive.factors", got=typeof(x).str_short())
    values = convert(values, typeof(x).dtype)
    return [moved, *_turns(t, values, left, right, turned)]


def _square(x: Value, values: Value) -> Value:
    least = shape_of(values)[-1]
    return x if shape_of(x)[-2:] == (least, least) else _cut(x, least, least)


def _turns(
    t: Value, values: Value, left: Value, right: Value, turned: Value
) -> list[Array]:
    """The tangents of the singular vectors: what turns them among themselves, and
    what turns them out of the space that they span."""
    ones = eye_like(turned)
    across, down = _stretched(beside(values), turned), _columns(values, turned)
    squares = mul(add(across, down), sub(across, down))
    apart = sub(integer_pow(add(squares, ones), -1), ones)
    ahead, behind = mul(turned, across), mul(down, turned)
    by_left = mul(apart, add(ahead, adjoint(ahead)))
    by_right = mul(apart, add(behind, adjoint(behind)))
    if typeof(t).dtype.kind == "c":
        by_left = add(by_left, _on_diagonal(turned, values))
    v = adjoint(right)
    out_left = _outside(left, product(t, v))
    out_right = _outside(v, product(adjoint(t), left))
    moved = add(product(left, by_left), _divided(out_left, values))
    other = add(product(v, by_right), _divided(out_right, values))
    return [moved, adjoint(other)]


def _outside(vectors: Value, x: Value) -> Array:
    """The part of the columns of `x` that is orthogonal to these vectors."""
    return sub(x, product(vectors, product(adjoint(vectors), x)))


def _on_diagonal(x: Value, values: Value) -> Array:
    """The turn of each singular vector by itself: the imaginary part of the diagonal of
    `x`, divided by its singular values.
    """
    return mul(eye_like(x), _divided(_imaginary(x), values))


def _divided(x: Value, values: Value) -> Array:
    """The columns of `x`, each divided by its singular value; left where that is 0."""
    none = eq(values, full(shape_of(values), 0, typeof(values).dtype))
    ones = convert_element_type(none, typeof(values).dtype)
    return div(x, _stretched(beside(add(values, ones)), x))
