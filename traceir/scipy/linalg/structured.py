"""Structured matrices, and matrices of constants.

Serves: linalg.*
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    operand,
    promoted,
    promoted_inexact,
    shape_of,
)
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.arithmetic import absolute
from traceir.numpy.indexing.take_put import take
from traceir.numpy.linalg.checks import option
from traceir.numpy.manipulation.shapes import concatenate
from traceir.numpy.manipulation.stacking import atleast_1d

_KINDS = ("symmetric", "lower", "upper")


def companion(a: Operand) -> Array:
    """Matrices whose eigenvalues are the roots of polynomials of these coefficients.

    Shape (..., n), from the highest power, to (..., n - 1, n - 1). Raises ValueError
    (linalg.shapes) for fewer than two coefficients.

    >>> import traceir.numpy as jnp
    >>> companion(jnp.array([2, 4, 6]))
    Array([[-2., -3.],
           [ 1.,  0.]], dtype=float32)
    """
    parts = _quotients("companion", a, 2)
    count = parts.shape[-1]
    places = np.full((count, count), count)
    places[0] = np.arange(count)
    places[np.arange(1, count), np.arange(count - 1)] = count + 1
    return _arranged([parts], places)


def fiedler_companion(a: Operand) -> Array:
    """As `companion`, with the coefficients beside the diagonal: five diagonals.

    Shape (..., n) to (..., n - 1, n - 1). Raises ValueError (linalg.shapes) without
    coefficients.

    >>> import traceir.numpy as jnp
    >>> fiedler_companion(jnp.array([1, -6, 11, -6]))
    Array([[  6., -11.,   1.],
           [  1.,   0.,   0.],
           [  0.,   6.,   0.]], dtype=float32)
    """
    parts = _quotients("fiedler_companion", a, 1)
    count = parts.shape[-1]
    # A frame of two rows and columns more has room for what the last rows lack.
    places = np.full((count + 2, count + 2), count)
    for row in range(0, count, 2):
        places[row, max(row - 1, 0)] = row
        places[row, row + 1], places[row, row + 2] = row + 1, count + 1
        places[row + 1, max(row - 1, 0)] = count + 1
    return _arranged([parts], places[:count, :count])


def leslie(f: Operand, s: Operand) -> Array:
    """Matrices with `f` in the first row and `s` below the diagonal.

    Shapes (..., n) and (..., n - 1) to (..., n, n). Raises ValueError (linalg.shapes).

    >>> import traceir.numpy as jnp
    >>> leslie(jnp.array([1, 2]), jnp.array([3]))
    Array([[1, 2],
           [3, 0]], dtype=int32)
    """
    first, below = promoted("leslie", f, s)
    first, below = _line("leslie", first, 2), _line("leslie", below, 0)
    (*stack, count), (*other, fewer) = first.shape, below.shape
    if fewer != count - 1:
        got = f"leslie of {shape_of(first)} and {shape_of(below)}"
        raise rules.error("linalg.shapes", got=got)
    lead = lax.broadcast_shapes(stack, other)
    places = np.full((count, count), 2 * count - 1)
    places[0] = np.arange(count)
    places[np.arange(1, count), np.arange(fewer)] = np.arange(count, 2 * count - 1)
    rows = (broadcast_to(first, (*lead, count)), broadcast_to(below, (*lead, fewer)))
    found = _arranged(rows, places)
    return convert(found, found.dtype, rows[0].weak_type)


def convolution_matrix(a: Operand, n: int, mode: str = "full") -> Array:
    """Matrices whose product with a vector of length `n` is its convolution with `a`.

    Shape (..., m) to (..., k, n), where k is the length of such a convolution. Raises
    ValueError (linalg.shapes, linalg.option).

    >>> import traceir.numpy as jnp
    >>> convolution_matrix(jnp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    option("convolution_matrix", "mode", mode, ("full", "same", "valid"))
    if n < 1 or not shape_of(operand("convolution_matrix", a)):
        got = f"{n} columns of {shape_of(operand('convolution_matrix', a))}"
        raise rules.error("linalg.shapes", got=got)
    line = _line("convolution_matrix", a, 1)
    count = line.shape[-1]
    places = np.arange(count + n - 1)[:, None] - np.arange(n)
    places = np.where((places < 0) | (places >= count), count, places)
    rows = {"full": count + n - 1, "same": max(count, n), "valid": abs(count - n) + 1}
    before = (count + n - 1 - rows[mode]) // 2
    return _arranged([line], places[before : before + rows[mode]])


def fiedler(a: Operand) -> Array:
    """The distances of the elements of `a` from one another.

    Shape (..., n) to (..., n, n).

    >>> import traceir.numpy as jnp
    >>> fiedler(jnp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    line = _line("fiedler", a, 0)
    rank = line.ndim
    columns, rows = lax.expand_dims(line, (rank,)), lax.expand_dims(line, (rank - 1,))
    return absolute(columns - rows)


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike = None) -> Array:
    """The matrix of the discrete Fourier transform of `n` elements.

    `scale` divides it by "n" or by its root, "sqrtn". Raises ValueError
    (linalg.option).

    >>> dft(1)
    Array([[1.+0.j]], dtype=complex64)
    """
    option("dft", "scale", scale, (None, "sqrtn", "n"))
    wanted = default_dtype(complex) if dtype is None else dtype_of(dtype, "dft")
    if wanted.kind != "c":
        raise rules.error("linalg.option", got=f"dft of {wanted}", hint="a complex one")
    place = np.arange(n)
    turns = np.outer(place, place) % max(n, 1) / max(n, 1)
    over = {None: 1, "sqrtn": np.sqrt(max(n, 1)), "n": max(n, 1)}[scale]
    return asarray(np.exp(-2j * np.pi * turns) / over, wanted)


def helmert(n: int, full: bool = False) -> Array:
    """Orthonormal rows, each of which compares an element with those before it.

    Shape (n - 1, n); with `full` there is a row of equal elements before them. Raises
    ValueError (linalg.shapes) for fewer than one element.

    >>> helmert(2)
    Array([[ 0.70710677, -0.70710677]], dtype=float32)
    """
    if n < 1:
        raise rules.error("linalg.shapes", got=f"helmert of {n} elements")
    count = int(n)
    rows = np.tril(np.ones((count, count)), -1) - np.diag(np.arange(count))
    rows[0] = 1
    found = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return asarray(found if full else found[1:])


def pascal(n: int, kind: str | None = None) -> Array:
    """The matrix of binomial coefficients, or a triangle of it: "lower", "upper".

    It is of float32, whichever types are on.

    Raises ValueError (linalg.option).

    >>> pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    option("pascal", "kind", kind, (None, *_KINDS))
    lower = _table(n, comb)
    upper = np.swapaxes(lower, 0, 1)
    whole = _table(n, lambda i, j: comb(i + j, i))
    return asarray({"lower": lower, "upper": upper}.get(str(kind), whole), np.float32)


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of `pascal`'s matrix, or of its triangle; raises ValueError as it.

    >>> invpascal(2)
    Array([[ 2., -1.],
           [-1.,  1.]], dtype=float32)
    """
    option("invpascal", "kind", kind, (None, *_KINDS))
    lower = _table(n, lambda i, j: (-1) ** (i + j) * comb(i, j))
    upper = np.swapaxes(lower, 0, 1)
    whole = upper @ lower
    return asarray({"lower": lower, "upper": upper}.get(str(kind), whole), float)


def invhilbert(n: int) -> Array:
    """The inverse of the matrix of `hilbert`: integers, which grow fast.

    >>> invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """

    def element(i: int, j: int) -> int:
        steps: int = (
            comb(n + i, n - j - 1) * comb(n + j, n - i - 1) * comb(i + j, i) ** 2
        )
        return (1 - (i + j) % 2 * 2) * (i + j + 1) * steps

    return asarray(_table(n, element), float)


def _table(n: int, element: Any) -> np.ndarray:
    """A square matrix of exact integers, each of its row and column."""
    count = max(n, 0)
    rows = [[element(i, j) for j in range(count)] for i in range(count)]
    return np.array(rows, float).reshape(count, count)


def _arranged(lines: Any, places: np.ndarray) -> Array:
    """Elements of the lines by place; after the last one come a 0 and a 1."""
    ends = np.broadcast_to([0, 1], (*shape_of(lines[0])[:-1], 2))
    line = concatenate([*lines, asarray(ends, lines[0].dtype)], axis=-1)
    return take(line, places, axis=-1, mode="clip")


def _quotients(name: str, a: Operand, least: int) -> Array:
    """Coefficients but for the first, divided by the negated first."""
    line = _line(name, promoted_inexact(name, a)[0], least)
    lead = lax.slice_in_dim(line, 0, 1, axis=-1)
    return -lax.slice_in_dim(line, 1, None, axis=-1) / lead


def _line(name: str, a: Operand, least: int) -> Array:
    """A vector, or vectors; ValueError (linalg.shapes) if they are too short."""
    line: Array = atleast_1d(operand(name, a))
    if line.shape[-1] < least:
        hint = f"the last dimension has {least} elements at least"
        raise rules.error("linalg.shapes", got=f"{name} of {shape_of(line)}", hint=hint)
    return line
