"""Functions that formulas may call, each defined in `notation.rst`.

A helper is total on what the clauses before it let through. There are at most twenty.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from traceir.exact.numerics import limits
from traceir.exact.threefry import threefry

Shape = tuple[int, ...]


def take(shape: Sequence[int], axes: Sequence[int]) -> Shape:
    """The extents at `axes`, in their order."""
    return tuple(shape[a] for a in axes)


def drop(shape: Sequence[int], axes: Sequence[int]) -> Shape:
    """The extents that are not at `axes`."""
    return tuple(n for a, n in enumerate(shape) if a not in axes)


def box(shape: Sequence[int]) -> Iterator[Shape]:
    """Every index into an array of this shape, the last position fastest."""
    return itertools.product(*map(range, shape))


def place(axes: Sequence[int], chosen: Sequence[int], rest: Sequence[int]) -> Shape:
    """The index that has `chosen` at `axes` and `rest`, in order, elsewhere."""
    at_axes = dict(zip(axes, chosen))
    others = iter(rest)
    total = len(rest) + len(at_axes)
    return tuple(at_axes[a] if a in at_axes else next(others) for a in range(total))


def renumber(index: Sequence[int], shape: Shape, other: Shape) -> Shape:
    """The index into `other` of the element that `index` counts off in `shape`."""
    position = 0
    for i, n in zip(index, shape):
        position = position * n + i
    found: list[int] = []
    for n in reversed(other):
        position, i = divmod(position, n)
        found.append(i)
    return tuple(reversed(found))


def distinct(items: Sequence[Any]) -> bool:
    """True if no item occurs twice."""
    return len(set(items)) == len(items)


def prod(factors: Iterable[Any]) -> Any:
    """The product of the factors; 1 if there are none."""
    return math.prod(factors)


def broadcastable(*shapes: Shape) -> bool:
    """True if the shapes that are not () agree in rank and, up to 1, in extent."""
    full = [s for s in shapes if s]
    return len({len(s) for s in full}) <= 1 and all(
        len(set(extents) - {1}) <= 1 for extents in zip(*full)
    )


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that broadcastable shapes have in common."""
    full = [s for s in shapes if s]
    return tuple(next((n for n in ns if n != 1), 1) for ns in zip(*full))


def at(x: Any, index: Shape) -> Any:
    """The element of `x` for a result's index: a 1 stretches, () is everywhere."""
    pairs = zip(x.shape, index, strict=x.shape != ())
    return x[tuple(0 if n == 1 else i for n, i in pairs)]


def positions(axes: Sequence[Any]) -> Shape:
    """The axes that are numbers, not names."""
    return tuple(a for a in axes if isinstance(a, int))


def types(avals: Iterable[Any]) -> tuple[tuple[Shape, Any], ...]:
    """The shape and dtype of each abstract value; weakness is not part of them."""
    return tuple((a.shape, a.dtype) for a in avals)


def resized(
    aval: Any, shape: Shape, dtype: Any = None, vma: Sequence[Any] | None = None
) -> Any:
    """The type of an array like this one, of another shape, and of another dtype.

    Devices along the axes `vma` may have arrays of their own.
    """
    told = {} if vma is None else {"vma": vma}
    own = aval.dtype if dtype is None else dtype
    return aval.update(shape=shape, dtype=own, **told)


def pivots(entries: Sequence[Any], size: int) -> tuple[Any, ...]:
    """The pivots by which a square matrix, given row by row, is eliminated.

    Rows stay in their order; where a pivot is 0, nothing is taken off the rows below.
    """
    rows = [list(entries[k * size : (k + 1) * size]) for k in range(size)]
    for k, top in enumerate(rows):
        for row in rows[k + 1 :] if top[k] != 0 else ():
            factor = row[k] / top[k]
            row[k:] = [v - factor * w for v, w in zip(row[k:], top[k:])]
    return tuple(row[k] for k, row in enumerate(rows))


def exchanged(places: Sequence[int], size: int) -> Shape:
    """The numbers below `size` after each has changed places with the one named.

    A place that there is none of changes nothing.
    """
    found = list(range(size))
    for k, place in enumerate(places):
        if 0 <= place < size:
            found[k], found[place] = found[place], found[k]
    return tuple(found)


def reflections(
    vectors: Sequence[Sequence[Any]], factors: Sequence[Any], size: int
) -> tuple[Any, ...]:
    """The product of reflections, row by row: each is 1 less a factor times v v^H."""
    rows = [[int(j == k) for k in range(size)] for j in range(size)]
    for vector, factor in reversed(list(zip(vectors, factors, strict=True))):
        mirrored = [v if type(v) is int else real("mirror", v) for v in vector]
        along = [sum(v * w for v, w in zip(mirrored, column)) for column in zip(*rows)]
        for row, v in zip(rows, vector):
            row[:] = [w - factor * v * s for w, s in zip(row, along)]
    return tuple(w for row in rows for w in row)


def real(name: str, *xs: Any) -> Any:
    """The function `name` at exact points, real ones or complex ones."""
    # Not at the top: only an oracle computes, and what it needs is much.
    from traceir.exact import functions

    return functions.real(name, *xs)


def gamma(*xs: Any) -> Any:
    """A number of the gamma distribution."""
    from traceir.exact import draws

    return draws.gamma(*xs)


HELPERS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        take,
        drop,
        box,
        place,
        renumber,
        distinct,
        prod,
        broadcastable,
        broadcast_shapes,
        at,
        positions,
        types,
        resized,
        pivots,
        exchanged,
        reflections,
        limits,
        real,
        threefry,
        gamma,
    )
}
