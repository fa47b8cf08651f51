"""Products of stacks of vectors and matrices. Serves: linalg.shapes, face.broadcast"""

from __future__ import annotations

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, operands, promoted, shape_of
from traceir.lax.checks.precision import PrecisionLike
from traceir.numpy.manipulation.shapes import expand_dims, moveaxis, squeeze
from traceir.numpy.products.dot import matmul
from traceir.tracing.trace import typeof


def vecdot(
    x1: Operand,
    x2: Operand,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """Sums of products along an axis that both have; stacks broadcast.

    Shapes (..., n) to (...); complex elements of `x1` are conjugated. Raises ValueError
    (linalg.shapes, face.axis), TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = _conjugated("vecdot", x1, x2)
    _ranks("vecdot", x, 1, y, 1)
    left, right = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    _extents("vecdot", left, -1, right, -1)
    row, column = expand_dims(left, -2), expand_dims(right, -1)
    found = matmul(
        row,
        column,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    return squeeze(found, (-2, -1))


@composite
def matvec(x1: Operand, x2: Operand, /) -> Array:
    """Matrices by vectors: (..., m, n) and (..., n) to (..., m); stacks broadcast.

    Raises ValueError (linalg.shapes), TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = promoted("matvec", x1, x2)
    _ranks("matvec", x, 2, y, 1)
    _extents("matvec", x, -1, y, -1)
    if len(shape_of(y)) == 1:
        return matmul(x, y)
    return squeeze(matmul(x, expand_dims(y, -1)), -1)


@composite
def vecmat(x1: Operand, x2: Operand, /) -> Array:
    """Vectors by matrices: (..., m) and (..., m, n) to (..., n); stacks broadcast.

    Complex elements of `x1` are conjugated. Raises ValueError (linalg.shapes),
    TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> vecmat(jnp.array([1, 1]), jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    x, y = _conjugated("vecmat", x1, x2)
    _ranks("vecmat", x, 1, y, 2)
    _extents("vecmat", x, -1, y, -2)
    if len(shape_of(x)) == 1:
        return matmul(x, y)
    return squeeze(matmul(expand_dims(x, -2), y), -2)


def _conjugated(name: str, first: Operand, second: Operand) -> list[Operand]:
    """Two operands of one dtype, the first conjugated if it is complex."""
    x, y = operands(name, (first, second))
    if typeof(x).dtype.kind == "c":
        x = lax.conj(x)
    return promoted(name, x, y)


def _ranks(name: str, x: Operand, least: int, y: Operand, other: int) -> None:
    """Raise ValueError (linalg.shapes) for too few dimensions."""
    if len(shape_of(x)) < least or len(shape_of(y)) < other:
        raise _unfit(name, x, y)


def _extents(name: str, x: Operand, own: int, y: Operand, other: int) -> None:
    """Raise ValueError (linalg.shapes) unless the extents that are summed agree."""
    if shape_of(x)[own] != shape_of(y)[other]:
        raise _unfit(name, x, y)


def _unfit(name: str, x: Operand, y: Operand) -> Exception:
    got = f"{name} of {typeof(x).str_short()} and {typeof(y).str_short()}"
    return rules.error("linalg.shapes", got=got)
