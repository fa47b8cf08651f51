"""Products of matrices, vectors and tensors. Serves: linalg.*, face.axis"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    aligned,
    convert,
    operand,
    promoted,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike, precisely
from traceir.lax.checks.shapes import axes_in, axis_in
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import broadcast_to, eye
from traceir.numpy.linalg.checks import check_square, shown
from traceir.numpy.linalg.systems import inv, solve
from traceir.numpy.manipulation.shapes import moveaxis, reshape, stack
from traceir.numpy.products.dot import dot
from traceir.numpy.products.dot import matmul as _matmul
from traceir.numpy.products.dot import outer as _outer
from traceir.numpy.products.dot import tensordot as _tensordot
from traceir.numpy.reductions.diagonals import diagonal as _diagonal
from traceir.numpy.reductions.diagonals import trace as _trace
from traceir.tracing.trace import typeof


def matmul(
    x1: Operand,
    x2: Operand,
    /,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The matrix product: `traceir.numpy.matmul`.

    >>> import traceir.numpy as jnp
    >>> matmul(jnp.array([[1, 2]]), jnp.array([3, 4]))
    Array([11], dtype=int32)
    """
    return _matmul(
        x1,
        x2,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@takes_out_sharding
def tensordot(
    x1: Operand,
    x2: Operand,
    /,
    *,
    axes: int | Sequence[Sequence[int]] = 2,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Sums of products over pairs of axes: `traceir.numpy.tensordot`.

    >>> import traceir.numpy as jnp
    >>> tensordot(jnp.ones((2, 2)), jnp.ones((2, 2)))
    Array(4., dtype=float32)
    """
    return _tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def outer(x1: Operand, x2: Operand, /) -> Array:
    """Each element of one vector times each of another.

    Raises ValueError (linalg.shapes) for what is no vector.

    >>> import traceir.numpy as jnp
    >>> outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    x, y = promoted("outer", x1, x2)
    if len(shape_of(x)) != 1 or len(shape_of(y)) != 1:
        got = f"{shown(x)} and {shown(y)}"
        raise rules.error("linalg.shapes", got=got, hint="two vectors")
    return _outer(x, y)


def diagonal(x: Operand, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices: the last two axes of `traceir.numpy.diagonal`.

    >>> import traceir.numpy as jnp
    >>> diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return _diagonal(x, offset, -2, -1)


def trace(x: Operand, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """The sums of the diagonals of matrices: (..., m, n) to (...).

    >>> import traceir.numpy as jnp
    >>> trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return _trace(x, offset, -2, -1, dtype)


@composite(static_argnames=["axis"])
def cross(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along an axis.

    Stacks broadcast. Raises ValueError (linalg.shapes, face.axis), TypeError
    (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    x, y = (convert(v, typeof(v).dtype) for v in promoted("cross", x1, x2))
    for v in (x, y):
        if not shape_of(v) or shape_of(v)[axis_in(axis, len(shape_of(v)))] != 3:
            got = f"{shown(x)} and {shown(y)}"
            raise rules.error("linalg.shapes", got=got, hint="three elements in `axis`")
    a, b, c = _components(x, axis)
    d, e, f = _components(y, axis)
    found = [_minor(b, f, c, e), _minor(c, d, a, f), _minor(a, e, b, d)]
    return moveaxis(stack(found, -1), -1, axis)


def _components(x: Operand, axis: int) -> list[Array]:
    last = moveaxis(x, axis, -1)
    rank = last.ndim - 1
    parts = (lax.slice_in_dim(last, k, k + 1, axis=rank) for k in range(3))
    return [lax.squeeze(part, (rank,)) for part in parts]


def _minor(a: Operand, d: Operand, b: Operand, c: Operand) -> Array:
    """a d - b c, of stacks that broadcast."""
    left, right = aligned("cross", [a, d]), aligned("cross", [b, c])
    return lax.sub(lax.mul(*left), lax.mul(*right))


@composite(static_argnames=["n"])
def matrix_power(a: Operand, n: int) -> Array:
    """The product of `n` equal matrices; of their inverses where `n` is negative.

    Shape (..., m, m) to the same. Raises LinAlgError (linalg.matrix, linalg.square),
    TypeError (linalg.exponent).

    >>> import traceir.numpy as jnp
    >>> matrix_power(jnp.array([[1, 1], [0, 1]]), 5)
    Array([[1, 5],
           [0, 1]], dtype=int32)
    """
    x = operand("matrix_power", a)
    if len(shape_of(x)) < 2:
        raise rules.error("linalg.matrix", got=f"matrix_power of {shown(x)}")
    check_square("matrix_power", x)
    try:
        count = index(n)
    except TypeError:
        raise rules.error("linalg.exponent", got=repr(n)) from None
    if not count:
        size = shape_of(x)[-1]
        return broadcast_to(eye(size, dtype=typeof(x).dtype), shape_of(x))
    return _power(inv(x) if count < 0 else x, abs(count))


def _power(x: Operand, count: int) -> Array:
    """The power by squares: the digits of `count` tell which of them are multiplied."""
    if count == 3:
        return _matmul(_matmul(x, x), x)
    square = x
    found: Array | None = None
    while count:
        if count % 2:
            found = square if found is None else _matmul(found, square)
        count //= 2
        square = _matmul(square, square) if count else square
    assert found is not None  # some digit is 1
    return found


def multi_dot(arrays: Sequence[Operand], *, precision: PrecisionLike = None) -> Array:
    """The product of two or more matrices, in the order of the fewest multiplications.

    The first and the last may be vectors. The order is found by dynamic programming
    over the extents (T. H. Cormen et al., "Introduction to Algorithms", 15.2). Raises
    ValueError (linalg.shapes), TypeError (dot_general.contract-size).

    >>> import traceir.numpy as jnp
    >>> multi_dot([jnp.array([1, 2]), jnp.eye(2), jnp.array([3, 4])])
    Array(11., dtype=float32)
    """
    found = promoted("multi_dot", *arrays)
    ranks = [len(shape_of(x)) for x in found]
    ends = all(r in (1, 2) for r in (ranks[0], ranks[-1])) if ranks else False
    if len(found) < 2 or not ends or any(r != 2 for r in ranks[1:-1]):
        got = ", ".join(map(shown, found))
        raise rules.error("linalg.shapes", got=got, hint="two or more matrices")
    left = [
        (1, *shape_of(x))[-2:] if k == 0 else shape_of(x) for k, x in enumerate(found)
    ]
    extents = [left[0][0], *(shape[0] for shape in left[1:])]
    extents.append(left[-1][1] if ranks[-1] == 2 else 1)
    with precisely(precision):
        return _chain(found, _cheapest(extents), 0, len(found) - 1)


def _cheapest(extents: list[int]) -> dict[tuple[int, int], int]:
    """The division of each run of matrices with the fewest multiplications."""
    count = len(extents) - 1
    cost = {(k, k): 0 for k in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ways = {
                k: cost[i, k]
                + cost[k + 1, j]
                + extents[i] * extents[k + 1] * extents[j + 1]
                for k in range(i, j)
            }
            cut[i, j] = min(ways, key=ways.__getitem__)
            cost[i, j] = ways[cut[i, j]]
    return cut


def _chain(
    arrays: Sequence[Operand], cut: dict[tuple[int, int], int], i: int, j: int
) -> Array:
    if i == j:
        return arrays[i]  # type: ignore[no-any-return]  # an operand of the chain
    k = cut[i, j]
    return dot(_chain(arrays, cut, i, k), _chain(arrays, cut, k + 1, j))


def tensorinv(a: Operand, ind: int = 2) -> Array:
    """The inverse of an array as a map from its last axes to its first `ind`.

    Shape s + t to t + s, with as many elements in s as in t. Raises ValueError
    (linalg.option), LinAlgError (linalg.square).

    >>> import traceir.numpy as jnp
    >>> tensorinv(jnp.eye(4).reshape(2, 2, 4), 2).shape
    (4, 2, 2)
    """
    x = operand("tensorinv", a)
    if index(ind) <= 0:
        raise rules.error(
            "linalg.option", got=f"ind={ind} of tensorinv", hint="from 1 on"
        )
    shape = shape_of(x)
    first, last = shape[: index(ind)], shape[index(ind) :]
    square = reshape(x, (prod(first), prod(last)))
    check_square("tensorinv", square)
    return reshape(inv(square), (*last, *first))


def tensorsolve(a: Operand, b: Operand, axes: Sequence[int] | None = None) -> Array:
    """The x with `tensordot(a, x, x.ndim) == b`.

    `axes` of `a` are moved behind the others first. Raises LinAlgError
    (linalg.square), ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> tensorsolve(jnp.eye(4).reshape(2, 2, 2, 2), jnp.ones((2, 2))).shape
    (2, 2)
    """
    x, y = promoted("tensorsolve", a, b)
    if axes is not None:
        moved = axes_in(tuple(axes), len(shape_of(x)))
        x = moveaxis(x, moved, tuple(range(-len(moved), 0)))
    last = shape_of(x)[len(shape_of(y)) :]
    size = prod(shape_of(y))
    square = reshape(x, (size, -1) if size else (0, prod(last)))
    check_square("tensorsolve", square)
    return reshape(solve(square, reshape(y, (size,))), last)
