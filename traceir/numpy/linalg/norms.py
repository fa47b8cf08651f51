"""Norms of vectors and of matrices. Serves: linalg.*, face.axis"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import finfo, is_inexact, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    BOOL,
    Operand,
    convert,
    inexact,
    like,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.linalg.checks import matrices, option
from traceir.numpy.linalg.factors import svdvals
from traceir.numpy.manipulation.shapes import expand_dims, moveaxis, ravel, reshape
from traceir.numpy.reductions.reductions import max as _max
from traceir.numpy.reductions.reductions import min as _min
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.numpy.reductions.reductions import sum_dtype
from traceir.tracing.trace import typeof

Order = int | float | str | None
Axes = int | Sequence[int] | None
OF_MATRICES = (None, "f", "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)


@composite(static_argnames=["ord", "axis", "keepdims"])
def norm(
    x: Operand, ord: Order = None, axis: Axes = None, keepdims: bool = False
) -> Array:
    """The norm of all elements, of vectors along an axis, or of matrices in two axes.

    `ord` of vectors: a number, inf, -inf; 0 counts what is not 0. Of matrices: "fro",
    "nuc", 1, -1 (sums of columns), inf, -inf (of rows), 2, -2 (singular values).
    Without `ord`, the root of the sum of squares. Raises ValueError (linalg.option,
    face.axis), TypeError (matrices.dtype).

    >>> import traceir.numpy as jnp
    >>> norm(jnp.array([3, 4])), norm(jnp.array([[1, 2], [3, 4]]), 1)
    (Array(5., dtype=float32), Array(6., dtype=float32))
    """
    [x] = promoted_inexact("norm", x)
    rank = len(shape_of(x))
    if axis is None and ord is None:
        return _root(x, tuple(range(rank)), keepdims)
    axes = axes_in(axis, rank)
    if len(axes) == 1:
        return _of_vectors(x, ord, axes, keepdims)
    option("norm", "axis", len(axes), (1, 2))
    return _of_matrices(x, ord, (axes[0], axes[1]), keepdims)


def _root(x: Operand, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The root of the sum of squares."""
    if typeof(x).dtype.kind == "c":
        x = lax.abs(x)
    return lax.sqrt(_sum(lax.mul(x, x), axis=axes, keepdims=keepdims))


def _of_vectors(
    x: Operand, order: Order, axes: tuple[int, ...], keepdims: bool
) -> Array:
    if isinstance(order, str):
        option("norm", "ord", order, ("a number",))
    if order == 0:
        counted = convert(
            lax.ne(x, lax.full(shape_of(x), 0, typeof(x).dtype)),
            finfo(typeof(x).dtype).dtype,
        )
        return _sum(counted, axis=axes, keepdims=keepdims)
    if order is None or order == 2:
        return _root(x, axes, keepdims)
    sizes = x if kind_of(typeof(x).dtype) == "u" else lax.abs(x)
    if order == 1:
        return _sum(sizes, axis=axes, keepdims=keepdims)
    if order == np.inf:
        # Of no elements it is 0.
        least = None if shape_of(x)[axes[0]] else 0
        return _max(sizes, axis=axes, keepdims=keepdims, initial=least)
    if order == -np.inf:
        return _min(sizes, axis=axes, keepdims=keepdims)
    powers = lax.pow(sizes, like(float(order), sizes))
    total = _sum(powers, axis=axes, keepdims=keepdims)
    return lax.pow(total, like(1 / float(order), total))


def _of_matrices(
    x: Operand, order: Order, axes: tuple[int, int], keepdims: bool
) -> Array:
    option("norm", "ord", order, OF_MATRICES)
    if order in (None, "f", "fro"):
        return _root(x, axes, keepdims)
    if order in (1, -1, np.inf, -np.inf):
        along, over = axes if order in (1, -1) else axes[::-1]
        sums = _sum(lax.abs(x), axis=along, keepdims=keepdims)
        left = over if keepdims or over < along else over - 1
        return _extreme(sums, left, order in (1, np.inf), keepdims)
    s = svdvals(moveaxis(x, axes, (-2, -1)))
    nuclear = order == "nuc"
    found = _sum(s, axis=-1) if nuclear else _extreme(s, -1, order == 2, False)
    return expand_dims(found, axes) if keepdims else found


def _extreme(x: Operand, axis: int, greatest: bool, keepdims: bool) -> Array:
    """The greatest along an axis, 0 of none, or the least."""
    if greatest:
        return _max(x, axis=axis, keepdims=keepdims, initial=0)
    return _min(x, axis=axis, keepdims=keepdims)


def matrix_norm(x: Operand, /, *, keepdims: bool = False, ord: Order = "fro") -> Array:
    """The norm of matrices: (..., m, n) to (...), or (..., 1, 1) with `keepdims`.

    `ord` as for `norm`. Raises LinAlgError (linalg.matrix), ValueError (linalg.option).

    >>> import traceir.numpy as jnp
    >>> matrix_norm(jnp.array([[3, 0], [0, 4]]))
    Array(5., dtype=float32)
    """
    [x] = matrices("matrix_norm", x)
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(
    x: Operand, /, *, axis: Axes = None, keepdims: bool = False, ord: Order = 2
) -> Array:
    """The norm of all elements as one vector, or of those in some axes.

    `ord` as for `norm`. Raises ValueError (linalg.option, face.axis).

    >>> import traceir.numpy as jnp
    >>> vector_norm(jnp.array([[3, 0], [0, 4]]), ord=1)
    Array(7, dtype=int32)
    """
    x = operand("vector_norm", x)
    if not is_inexact(typeof(x).dtype):  # sums and extrema of integers are integers
        dtype = typeof(x).dtype
        extremum = ord in (np.inf, -np.inf)
        total = sum_dtype(dtype) if ord == 1 else inexact(sum_dtype(dtype))
        x = convert(x, dtype if extremum else total)
        if dtype == BOOL and extremum:
            ends = _max if ord == np.inf else _min
            return ends(x, axis, keepdims=keepdims)
    shape = shape_of(x)
    axes = axes_in(axis, len(shape))
    if len(axes) == len(shape):
        found = _of_vectors(ravel(x), ord, (0,), False)
        return reshape(found, (1,) * len(shape)) if keepdims else found
    return _of_vectors(x, ord, axes, keepdims)
