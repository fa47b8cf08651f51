"""Rules of complex reductions, gathers and prefix scans.

The first numbers decide which value is the larger, and where they are equal the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

from traceir.dtypes import is_key, word_count
from traceir.ir.jaxpr import Atom, Eqn, sort_params
from traceir_numba.emitters.pairs.arithmetic import Atoms, product
from traceir_numba.emitters.pairs.operators import Num
from traceir_numba.emitters.pairs.values import (
    REFERENCE_CALLS,
    Pair,
    PairRewriter,
    Value,
    rule,
)

Join = Callable[[PairRewriter, Atoms, Atoms], Atoms]


@rule(*sorted(REFERENCE_CALLS))
def reference_call(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Call the reference's kernel, as a library's function."""
    return w.reference_call(eqn)


@rule("gather")
def gather(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """Each number; the fill value has two, too."""
    value, dtype = eqn.param("fill_value"), eqn.inputs[0].aval.dtype
    if value is None:
        return w.each(eqn)
    if is_key(dtype):
        # A part of a key is one word, or two that are alike.
        fills: tuple[Any, ...] = (value | value << 32 * (word_count(dtype) // 4),) * 2
    else:
        fills = complex(value).real, complex(value).imag
    found = []
    for number, fill in enumerate(fills):
        changed = replace(
            eqn, params=sort_params({**dict(eqn.params), "fill_value": fill})
        )
        (one,) = w.each(changed)
        assert isinstance(one, Pair)
        found.append((one.first, one.second)[number])
    return [Pair(*found)]


def _extremum(sign: str) -> Join:
    """The larger or the smaller of two numbers; one with a NaN where there is one."""

    def join(w: PairRewriter, x: Atoms, y: Atoms) -> Atoms:
        (a, b), (c, d) = (tuple(Num(w, one) for one in pair) for pair in (x, y))
        beyond = a.with_(sign, c) | (a.is_(c) & b.with_(sign, d))
        lost = (c.is_nan | d.is_nan) & ~(a.is_nan | b.is_nan)
        first = (beyond | a.is_nan | b.is_nan) & ~lost
        return first.where(a, c).atom, first.where(b, d).atom

    return join


JOINS: dict[str, Join] = {
    "reduce_prod": product,
    "max": _extremum("gt"),
    "min": _extremum("lt"),
}
# What they make of nothing.
NOTHING = {"reduce_prod": 1.0, "reduce_max": -inf, "reduce_min": inf}


@rule("max", "min")
def extremum(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """One of two."""
    x, y = map(w.pair, eqn.inputs)
    return [Pair(*JOINS[eqn.primitive](w, x, y))]


@rule("reduce_prod", "reduce_max", "reduce_min")
def fold(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """One half joined with the other, until one row is left."""
    join = JOINS.get(eqn.primitive) or JOINS[eqn.primitive.removeprefix("reduce_")]
    found = w.pair(eqn.inputs[0])
    for axis in sorted(eqn.param("axes"), reverse=True):
        if eqn.inputs[0].aval.shape[axis] == 0:
            found = _nothing(w, found, axis, NOTHING[eqn.primitive])
        else:
            found = _folded(w, found, axis, join)
    return [Pair(*found)]


def _nothing(w: PairRewriter, x: Atoms, axis: int, value: float) -> Atoms:
    """A number in place of each row along an axis."""
    shape = x[0].aval.shape
    rest = *shape[:axis], *shape[axis + 1 :]
    real, imaginary = (w.number(part, x[0]) for part in (value, 0.0))
    return (
        w.bind("broadcast_in_dim", real, shape=rest),
        w.bind("broadcast_in_dim", imaginary, shape=rest),
    )


def _folded(w: PairRewriter, x: Atoms, axis: int, join: Join) -> Atoms:
    """All along an axis in one."""
    shape = x[0].aval.shape
    rest, n = (*shape[:axis], *shape[axis + 1 :]), shape[axis]
    while n > 1:
        half, left = divmod(n, 2)
        parts = [(0, half), (half, 2 * half), (2 * half, n)]
        low, high, last = (
            (_cut(w, x[0], axis, i, j), _cut(w, x[1], axis, i, j)) for i, j in parts
        )
        x = join(w, low, high)
        n = half + left
        if left:
            x = (
                _behind(w, x[0], last[0], axis, n),
                _behind(w, x[1], last[1], axis, n),
            )
    return (
        w.bind("squeeze", x[0], shape=rest, dimensions=(axis,)),
        w.bind("squeeze", x[1], shape=rest, dimensions=(axis,)),
    )


def _behind(w: PairRewriter, x: Atom, y: Atom, axis: int, n: int) -> Atom:
    """One array and another behind it."""
    return w.bind("concatenate", x, y, shape=_with(x, axis, n), dimension=axis)


def _with(x: Atom, axis: int, extent: int) -> tuple[int, ...]:
    return (*x.aval.shape[:axis], extent, *x.aval.shape[axis + 1 :])


def _cut(w: PairRewriter, x: Atom, axis: int, start: int, stop: int) -> Atom:
    """A part along an axis."""
    shape = x.aval.shape
    starts = tuple(start if d == axis else 0 for d in range(len(shape)))
    stops = tuple(stop if d == axis else n for d, n in enumerate(shape))
    params = {"start_indices": starts, "limit_indices": stops}
    return w.bind("slice", x, shape=_with(x, axis, stop - start), **params)
