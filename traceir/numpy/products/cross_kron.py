"""Cross products and Kronecker products. Serves: order.cross, face.axis"""

from __future__ import annotations

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, as_array, convert, promoted
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.elementwise.arithmetic import multiply, subtract
from traceir.numpy.manipulation.shapes import moveaxis, stack
from traceir.tracing.trace import typeof


@composite(static_argnames=["axisa", "axisb", "axisc", "axis"])
def cross(
    a: Operand,
    b: Operand,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """Products of vectors of 3 components along an axis; the others broadcast.

    A vector of 2 has 0 as its third component; of two such vectors the result has the
    third component alone. Raises ValueError (order.cross, face.axis).

    >>> import traceir.numpy as jnp
    >>> cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    pair = promoted("cross", a, b)
    x, y = (as_array(convert(v, typeof(v).dtype)) for v in pair)
    x, y = _last(x, axisa), _last(y, axisb)
    (a0, a1, *a2), (b0, b1, *b2) = (
        [lax.index_in_dim(v, k, v.ndim - 1, False) for k in range(v.shape[-1])]
        for v in (x, y)
    )
    third = subtract(multiply(a0, b1), multiply(a1, b0))
    if not a2 and not b2:
        return third
    first = [multiply(a1, z) for z in b2], [multiply(z, b1) for z in a2]
    second = [multiply(z, b0) for z in a2], [multiply(a0, z) for z in b2]
    parts = [_less(*first), _less(*second), third]
    return moveaxis(stack(parts, -1), -1, axis_in(axisc, third.ndim + 1))


def _last(x: Array, axis: int) -> Array:
    found = moveaxis(x, axis_in(axis, x.ndim), -1)
    if found.shape[-1] not in (2, 3):
        raise rules.error("order.cross", got=f"{found.shape[-1]} components")
    return found


def _less(some: list[Array], others: list[Array]) -> Array:
    """The difference of two products, of which one may be missing."""
    if not some:
        return lax.neg(others[0])
    return subtract(some[0], others[0]) if others else some[0]


@composite
def kron(a: Operand, b: Operand) -> Array:
    """The products of each element of `a` with all of `b`, as blocks in its place.

    Extents are those of `a` times those of `b`; the one with fewer dimensions has more
    of extent 1 in front.

    >>> import traceir.numpy as jnp
    >>> kron(jnp.array([1, 10]), jnp.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    x, y = map(as_array, promoted("kron", a, b))
    rank = max(x.ndim, y.ndim)
    left = (1,) * (rank - x.ndim) + x.shape
    right = (1,) * (rank - y.ndim) + y.shape
    wide = lax.reshape(x, [k for n in left for k in (n, 1)])
    tall = lax.reshape(y, [k for n in right for k in (1, n)])
    return lax.reshape(
        multiply(wide, tall), [n * m for n, m in zip(left, right, strict=True)]
    )
