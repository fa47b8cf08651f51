"""Polynomials as vectors of coefficients, the highest power first. Serves: face.vector

Results whose sizes depend on values have no shape: leading zeros stay, unless the
function is asked to trim them, which needs concrete coefficients.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    broadcast_shapes,
    convert,
    is_tracer,
    like,
    operand,
    operands,
    promoted,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.numpy import linalg
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.arithmetic import multiply, sqrt
from traceir.numpy.manipulation.stacking import atleast_1d
from traceir.numpy.ranges.triangles import vander
from traceir.numpy.reductions.reductions import prod, sum
from traceir.tracing.concretization import refusal


def _vectors(name: str, *values: Operand) -> list[Array]:
    """Operands as vectors of the dtype in which they meet."""
    found = [v if shape_of(v) else atleast_1d(v) for v in operands(name, values)]
    for value in found:
        if len(shape_of(value)) > 1:
            got = f"{name} of shape {shape_of(value)}"
            raise rules.error("face.vector", got=got)
    return [as_array(v) for v in promoted(name, *found)]


def _zeros(count: int, like: Array) -> Array:
    return lax.broadcast_in_dim(typed(0, like.dtype, False), (count,), ())


@composite
def polyadd(a1: Operand, a2: Operand) -> Array:
    """The sum of two polynomials. Raises ValueError (face.vector).

    >>> import traceir.numpy as jnp
    >>> polyadd(jnp.array([1, 2, 3]), jnp.array([4, 5]))
    Array([1, 6, 8], dtype=int32)
    """
    x, y = _vectors("polyadd", a1, a2)
    if x.size < y.size:
        x, y = y, x
    return x.at[x.size - y.size :].add(y)


@composite
def polysub(a1: Operand, a2: Operand) -> Array:
    """The difference of two polynomials. Raises ValueError (face.vector).

    >>> import traceir.numpy as jnp
    >>> polysub(jnp.array([1, 2, 3]), jnp.array([4, 5]))
    Array([ 1, -2, -2], dtype=int32)
    """
    x, y = _vectors("polysub", a1, a2)
    return polyadd(x, lax.neg(y))


def polymul(a1: Operand, a2: Operand, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials; floating.

    `trim_leading_zeros` trims those of the operands. Raises ValueError (face.vector),
    ConcretizationTypeError (level.concretize.number) if these are traced.

    >>> import traceir.numpy as jnp
    >>> polymul(jnp.array([1.0, 2.0]), jnp.array([1.0, -2.0]))
    Array([ 1.,  0., -4.], dtype=float32)
    """
    x, y = _vectors("polymul", *promoted_inexact("polymul", a1, a2))
    if trim_leading_zeros:
        x, y = _trimmed("polymul", x), _trimmed("polymul", y)
    return _product(x if x.size else _zeros(1, x), y if y.size else _zeros(1, y))


def _product(x: Array, y: Array) -> Array:
    """Products of all pairs, shifted so that equal powers are in one column."""
    m, n = x.size, y.size
    pairs = lax.mul(
        lax.broadcast_in_dim(x, (m, n), (0,)), lax.broadcast_in_dim(y, (m, n), (1,))
    )
    spread = lax.pad(pairs, typed(0, x.dtype, pairs.weak_type), [(0, 0, 0), (0, m, 0)])
    flat = lax.slice(lax.reshape(spread, (m * (n + m),)), (0,), (m * (n + m - 1),))
    return lax.reduce_sum(lax.reshape(flat, (m, n + m - 1)), (0,))


def _trimmed(name: str, x: Any, least: float = 0.0) -> Array:
    """A vector from its first element above `least` on; one element stays."""
    # What is differentiated has leading zeros that are known.
    size = lax.abs(x)
    kept: Any = lax.bitwise_not(lax.le(size, like(least, size)))  # NaN is not small
    if is_tracer(kept):
        what = f"an argument of jnp.{name} with trim_leading_zeros"
        raise refusal(kept, "level.concretize.number", what)
    above = np.flatnonzero(np.asarray(kept))
    start = int(above[0]) if above.size else max(0, x.size - 1)
    return lax.slice(x, (start,), (x.size,))


def polydiv(
    u: Operand, v: Operand, *, trim_leading_zeros: bool = False
) -> tuple[Array, Array]:
    """Quotient and remainder of two polynomials; floating.

    The remainder has as many coefficients as `u`; `trim_leading_zeros` trims it, which
    needs concrete ones. Raises ValueError (face.vector), ConcretizationTypeError
    (level.concretize.number).

    >>> import traceir.numpy as jnp
    >>> polydiv(jnp.array([3.0, 5.0, 2.0]), jnp.array([2.0, 1.0]))
    (Array([1.5 , 1.75], dtype=float32), Array([0.  , 0.  , 0.25], dtype=float32))
    """
    rest, divisor = _vectors("polydiv", *promoted_inexact("polydiv", u, v))
    count = max(rest.size - divisor.size + 1, 0)
    scale = lax.div(typed(1, divisor.dtype, False), divisor[0])
    found = _zeros(max(count, 1), rest)
    for k in range(count):
        factor = lax.mul(scale, rest[k])
        found = found.at[k].set(factor)
        rest = rest.at[k : k + divisor.size].add(lax.neg(factor) * divisor)
    if trim_leading_zeros:
        rest = _trimmed("polydiv", rest, 1e-14)
    return found, rest


def _order(m: Any) -> int:
    order = index(m)
    if order < 0:
        raise rules.error("face.count", got=f"m={order}")
    return order


@composite(static_argnames=["m"])
def polyder(p: Operand, m: int = 1) -> Array:
    """The `m`-th derivative of a polynomial; floating.

    Raises ValueError (face.vector, face.count).

    >>> import traceir.numpy as jnp
    >>> polyder(jnp.array([1.0, 2.0, 3.0]))
    Array([2., 2.], dtype=float32)
    """
    (x,), order = _vectors("polyder", *promoted_inexact("polyder", p)), _order(m)
    if not order:
        return x
    count = max(0, x.size - order)
    powers = lax.add(typed(order, x.dtype, False), lax.iota(x.dtype, count))
    factors = prod(powers[None, :] - lax.iota(x.dtype, order)[:, None], axis=0)
    return lax.mul(lax.slice(x, (0,), (count,)), lax.rev(factors, (0,)))


@composite(static_argnames=["m"])
def polyint(p: Operand, m: int = 1, k: Operand = None) -> Array:
    """The `m`-th integral of a polynomial; floating.

    `k` has the constants of integration, one for each or one for all, by default 0.
    Raises ValueError (face.vector, face.count, face.broadcast-to).

    >>> import traceir.numpy as jnp
    >>> polyint(jnp.array([6.0, 2.0]))
    Array([3., 2., 0.], dtype=float32)
    """
    x, constants = promoted_inexact("polyint", p, 0 if k is None else k)
    order = _order(m)
    (x,) = _vectors("polyint", x)
    if not order:
        return x
    fixed = atleast_1d(constants)
    if fixed.size == 1:
        fixed = lax.squeeze(fixed, (0,))
    fixed = broadcast_to(fixed, (order,))
    places = lax.iota(x.dtype, x.size + order)
    shifted = places[None, :] - lax.iota(x.dtype, order)[:, None]
    one = typed(1, x.dtype, False)
    factors = lax.rev(prod(lax.max(one, shifted), axis=0), (0,))
    return lax.div(lax.concatenate([x, fixed], 0), factors)


@composite(static_argnames=["unroll"])
def polyval(p: Operand, x: Operand, *, unroll: int = 16) -> Array:
    """The values of a polynomial at `x`, by Horner's rule.

    The first dimension of `p` is that of coefficients; the others broadcast against
    `x`. `unroll` is how many steps of the loop are written out in a traced program.
    Raises TypeError (face.argument, face.broadcast), ValueError (face.vector).

    >>> import traceir.numpy as jnp
    >>> polyval(jnp.array([1, 0, 2]), jnp.array([1, 2]))
    Array([3, 6], dtype=int32)
    """
    coefficients, at = promoted("polyval", p, x)
    coefficients, at = as_array(coefficients), as_array(at)
    if not coefficients.ndim:
        got = f"polyval of shape {coefficients.shape}"
        raise rules.error("face.vector", got=got)
    zero = typed(0, at.dtype, False)
    shape = broadcast_shapes("polyval", [coefficients.shape[1:], at.shape])
    start = lax.broadcast_in_dim(zero, shape, ())

    def step(total: Array, c: Array) -> tuple[Array, None]:
        product = multiply(total, at)
        return product + c, None

    found, _ = lax.scan(step, start, coefficients, unroll=unroll)
    return as_array(found)


def poly(seq_of_zeros: Operand) -> Array:
    """The polynomial with these roots, its first coefficient 1; floating.

    Of a square matrix it is the characteristic polynomial, which is complex; of no
    roots the number 1. Raises ValueError (face.vector) for any other matrix.

    >>> import traceir.numpy as jnp
    >>> poly(jnp.array([1.0, -2.0]))
    Array([ 1.,  1., -2.], dtype=float32)
    """
    (given,) = promoted_inexact("poly", seq_of_zeros)
    shape = shape_of(given)
    if len(shape) == 2 and shape[0] == shape[1] > 0:
        given = linalg.eigvals(given)
    (roots,) = _vectors("poly", given)
    if not roots.size:
        return lax.full((), 1, roots.dtype)
    found = lax.broadcast_in_dim(typed(1, roots.dtype, False), (1,), ())
    for k in range(roots.size):
        moved = _product(found, lax.reshape(lax.neg(roots[k]), (1,)))
        zero = _zeros(1, roots)
        one, other = (lax.concatenate(p, 0) for p in ([found, zero], [zero, moved]))
        found = lax.add(one, other)
    return found


def polyfit(
    x: Operand,
    y: Operand,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Operand = None,
    cov: bool | str = False,
) -> Any:
    """The polynomial of degree `deg` that is nearest to points, by least squares.

    `y` is a vector, or a matrix of one column for each polynomial. `w` weighs the
    distances. With `full` the result is the coefficients, sums of squares, rank,
    singular values and `rcond`; with `cov` coefficients and their covariance, not
    scaled by the distances where it is "unscaled". Floating.

    Raises ValueError (face.vector, face.count), TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> polyfit(jnp.array([0.0, 1.0, 2.0]), jnp.array([1.0, 3.0, 5.0]), 1).round(4)
    Array([2., 1.], dtype=float32)
    """
    places, values = map(as_array, promoted_inexact("polyfit", x, y))
    terms = _order(deg) + 1
    if places.ndim != 1 or not places.size:
        raise rules.error("face.vector", got=f"polyfit of shape {places.shape}")
    if values.ndim not in (1, 2) or values.shape[0] != places.size:
        got = f"polyfit of {places.shape} and {values.shape}"
        raise rules.error("face.broadcast", got=got)
    cut = places.size * float(finfo(places.dtype).eps) if rcond is None else rcond
    left, right = vander(places, terms), values
    if w is not None:
        weights = as_array(convert(operand("polyfit", w), places.dtype))
        left = left * weights[:, None]
        right = right * (weights[:, None] if right.ndim == 2 else weights)
    scale = sqrt(sum(left * left, axis=0))
    left = left / scale
    found, squares, rank, singular = linalg.lstsq(left, right, cut)
    found = (found.T / scale).T
    if full:
        return found, squares, rank, singular, asarray(cut)
    if not cov:
        return found
    base = linalg.inv(left.T @ left) / (scale[:, None] * scale[None, :])
    if cov == "unscaled":
        return found, base
    if places.size <= terms:
        raise rules.error("face.count", got=f"{places.size} points, {terms} terms")
    factor = squares / (places.size - terms)
    return found, base * factor if right.ndim == 1 else base[:, :, None] * factor
