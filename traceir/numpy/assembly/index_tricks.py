"""Objects that are indexed, not called: `mgrid`, `r_` and others.

Serves: index.option
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import as_array, promoted
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.assembly.tiling import meshgrid
from traceir.numpy.manipulation.shapes import concatenate
from traceir.numpy.ranges.linspace import arange, linspace


def _line(part: slice) -> Array:
    """The numbers of a slice; a complex step tells how many, both ends included."""
    start = 0 if part.start is None else part.start
    if part.stop is None:
        raise rules.error("index.option", got=f"{part} without an end")
    if isinstance(part.step, complex):
        found: Array = linspace(start, part.stop, int(abs(part.step)))
        return found
    return arange(start, part.stop, 1 if part.step is None else part.step)


def _lines(key: Any) -> list[Array]:
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if not isinstance(part, slice):
            raise rules.error("index.option", got=f"{part!r} is no slice")
    return [_line(part) for part in parts]


class MGrid:
    """`mgrid[a:b:c, …]`: the numbers of slices as whole grids, stacked.

    A step that is complex, as `5j`, tells how many numbers there are. Raises ValueError
    (index.option).

    >>> import traceir.numpy as jnp
    >>> jnp.mgrid[0:2, 0:2]
    Array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int32)
    """

    def __getitem__(self, key: Any) -> Array:
        lines = _alike(_lines(key))
        if not isinstance(key, tuple):
            return lines[0]
        return lax.stack(meshgrid(*lines, indexing="ij"), 0)


def _alike(arrays: Sequence[Array]) -> list[Array]:
    """Arrays in the dtype in which they meet."""
    return [as_array(a) for a in promoted("mgrid", *arrays)]


class OGrid:
    """`ogrid[a:b:c, …]`: the numbers of slices, each along its own dimension.

    Raises ValueError (index.option).

    >>> import traceir.numpy as jnp
    >>> [line.shape for line in jnp.ogrid[0:2, 0:3]]
    [(2, 1), (1, 3)]
    """

    def __getitem__(self, key: Any) -> Any:
        lines = _alike(_lines(key))
        if not isinstance(key, tuple):
            return lines[0]
        return list(meshgrid(*lines, indexing="ij", sparse=True))


class IndexExpression:
    """`s_[…]`: the index as it was written; `index_exp[…]`: always as a tuple.

    >>> import traceir.numpy as jnp
    >>> jnp.s_[1:3], jnp.index_exp[0]
    (slice(1, 3, None), (0,))
    """

    def __init__(self, always: bool) -> None:
        self._always = always

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._always and not isinstance(key, tuple) else key


class Rows:
    """`r_[…]`: slices, numbers and arrays, one after another along an axis.

    The first entry may be a text: "r" and "c" ask for a matrix of one row and one
    column, "axis, ndmin, first" for the axis, the least rank, and the dimension of the
    result at which one of less begins. Raises ValueError (index.option).

    >>> import traceir.numpy as jnp
    >>> jnp.r_[0:2, 5, jnp.array([7])]
    Array([0, 1, 5, 7], dtype=int32)
    """

    _usual = (0, 1, -1)

    def __getitem__(self, key: Any) -> Array:
        parts = key if isinstance(key, tuple) else (key,)
        axis, rank, first = self._usual
        matrix = ""
        if isinstance(parts[0], str):
            axis, rank, first, matrix = self._directive(parts[0])
            parts = parts[1:]
        found = concatenate([_ranked(p, rank, first) for p in parts], axis)
        if matrix and found.ndim == 1:
            shape = (1, found.size) if matrix == "r" else (found.size, 1)
            found = lax.reshape(found, shape)
        return found

    def _directive(self, text: str) -> tuple[int, int, int, str]:
        axis, rank, first = self._usual
        if text in ("r", "c"):
            return axis, rank, first, text
        try:
            given = [int(word) for word in text.split(",")]
        except ValueError:
            raise rules.error("index.option", got=repr(text)) from None
        if not 1 <= len(given) <= 3:
            raise rules.error("index.option", got=repr(text))
        axis, rank, first = (*given, *(axis, rank, first)[len(given) :])
        return axis, rank, first, ""


class Columns(Rows):
    """`c_[…]`: as `r_["-1,2,0", …]`: vectors side by side, as columns.

    >>> import traceir.numpy as jnp
    >>> jnp.c_[jnp.array([1, 2]), jnp.array([3, 4])]
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """

    _usual = (-1, 2, 0)


def _ranked(part: Any, rank: int, first: int) -> Array:
    """An entry with so many dimensions: its own begin at `first`, or are the last."""
    x = _line(part) if isinstance(part, slice) else asarray(part)
    missing = rank - x.ndim
    if missing <= 0:
        return x
    if not x.ndim:
        return lax.reshape(x, (1,) * rank)
    at = missing + 1 + first if first < 0 else first
    before = min(max(at, 0), missing)
    return lax.reshape(x, (*(1,) * before, *x.shape, *(1,) * (missing - before)))


mgrid = MGrid()
ogrid = OGrid()
s_ = IndexExpression(False)
index_exp = IndexExpression(True)
r_ = Rows()
c_ = Columns()
