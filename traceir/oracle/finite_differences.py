"""Derivatives that rows must have, by differences of their `value`. Serves: derive.jvp

The slope of a value at a point is a quotient of exact differences, on each side and at
two distances. Where both sides agree it is the derivative; at a kink, whatever lies
between the two is a derivative; where they grow without bound it is infinite.

>>> from traceir.exact.reals import Real
>>> derivatives(lambda x: [abs(x)], [Real.of(0.0)], [1])
[Interval(low=-1.0, high=1.0)]
>>> derivatives(lambda x: [x * x * x], [Real.of(2.0)], [1])[0].contains(12.0)
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import kind_of
from traceir.exact.reals import Real
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import sort_params
from traceir.oracle.relations import Elements
from traceir.rules import Prim, Rules, Scope
from traceir.rules.applied import row_scope
from traceir.rules.formulas.helpers import box

# Operands to the elements of results.
Function = Callable[..., Sequence[Real]]
# The steps, relative to the operands: differences of values that are known to 200
# binary digits or more keep 50 of them though operands are as small as 1e-30.
WIDE, NARROW = Fraction(1, 2**50), Fraction(1, 2**60)
# How near a point without a value is approached, and how far out an infinite one.
NEAR, NEARER = Fraction(1, 2**60), Fraction(1, 2**90)
FAR, FARTHER = Fraction(2**300), Fraction(2**600)
SAME = Fraction(1, 2**30)
# A value beyond stands for whatever is too large for every dtype.
BEYOND = Fraction(2**3900)


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers that are derivatives at a point; ends may be infinite."""

    low: float
    high: float

    def contains(self, got: float, relative: float = 1e-6) -> bool:
        """True if a number is one of them, but for its rounding.

        The infinity at a zero may have the sign of that zero.
        """
        if math.isnan(got):
            return self.low == -math.inf and self.high == math.inf
        if math.isinf(self.low) and math.isinf(self.high):
            return self.low != self.high or math.isinf(got)
        size = max(abs(v) for v in (self.low, self.high) if math.isfinite(v))
        loose = relative * size + 1e-12
        return self.low - loose <= got <= self.high + loose


def derivatives(
    function: Function, at: Sequence[Any], along: Sequence[int]
) -> list[Interval | None]:
    """The derivatives of each result along a direction; None where it has none.

    Operands are reals, and whatever else the function takes, which does not move.
    """
    found = []
    for slopes in one_sided(function, at, along):
        known = [slope for slope in slopes if slope is not None]
        if known and any(x.special for x, t in zip(at, along) if t):
            known.append(0.0)  # beyond an infinity nothing changes
        found.append(Interval(min(known), max(known)) if known else None)
    return found


def one_sided(
    function: Function, at: Sequence[Any], along: Sequence[int]
) -> list[tuple[float | None, float | None]]:
    """The slopes of each result before and behind a point; None where it has none."""
    values = function(*at)
    before = _side(function, at, [-t for t in along], values)
    behind = _side(function, at, along, values)
    return [(None if b is None else -b, a) for b, a in zip(before, behind, strict=True)]


def _side(
    function: Function, at: Sequence[Any], along: Sequence[int], values: Sequence[Real]
) -> list[float | None]:
    """The slope of each result on one side: what its quotients tend to."""
    slope = partial(_slope, function, along=along)
    here = partial(slope, at, before=values)
    if any(x.special for x, t in zip(at, along) if t):
        return _at_infinity(slope, at, along, values)
    sizes = (abs(x.value) for x in at if isinstance(x, Real))
    scale = min([Fraction(1), *(size for size in sizes if size)])
    near = here(step=scale * WIDE), here(step=scale * NARROW)
    close = (
        slope(_moved(at, along, scale * d), step=scale * d * NARROW)
        for d in (NEAR, NEARER)
    )
    beside: list[Any] | None = None
    found: list[float | None] = []
    for n, value in enumerate(values):
        if value.nan:  # no derivative where there is no value
            found.append(None)
        elif value.finite:
            found.append(_limit(near[0][n], near[1][n], WIDE / NARROW))
        else:
            beside = beside or list(close)
            found.append(_limit(beside[0][n], beside[1][n]))
    return found


def _at_infinity(
    slope: Callable[..., list[Fraction | None]],
    at: Sequence[Real],
    along: Sequence[int],
    values: Sequence[Real],
) -> list[float | None]:
    """The slopes far out on the way to an infinity, which has one side."""
    if any(x.special and x.negative != (t > 0) for x, t in zip(at, along) if t):
        return [None for _ in values]
    far = (
        [_far_out(x, distance) if t else x for x, t in zip(at, along)]
        for distance in (FAR, FARTHER)
    )
    wide, narrow = (slope(xs, step=_size(xs, along) * NARROW) for xs in far)
    return [None if v.nan else _limit(a, b) for v, a, b in zip(values, wide, narrow)]


def _far_out(x: Real, distance: Fraction) -> Real:
    return Real.of(-distance if x.negative else distance) if x.special else x


def _size(xs: Sequence[Real], along: Sequence[int]) -> Fraction:
    return max(abs(x.value) for x, t in zip(xs, along) if t)


def _moved(at: Sequence[Real], along: Sequence[int], step: Fraction) -> list[Real]:
    return [Real.of(x.value + t * step) if t else x for x, t in zip(at, along)]


def _slope(
    function: Function,
    at: Sequence[Real],
    along: Sequence[int],
    step: Fraction,
    before: Sequence[Real] | None = None,
) -> list[Fraction | None]:
    """The quotients of differences over one step; None where a value is missing.

    `before` are the values where the step begins, if they are known.
    """
    after = function(*_moved(at, along, step))
    if before is None:
        before = function(*at)
    return [
        (b.value - a.value) / step
        if a.finite and b.finite and max(abs(a.value), abs(b.value)) < BEYOND
        else None
        for a, b in zip(before, after, strict=True)
    ]


def _limit(
    wide: Fraction | None, narrow: Fraction | None, jump: Fraction | None = None
) -> float | None:
    """The limit of quotients, by one of them and one over a smaller step.

    Those that grow as the step shrinks are of a jump, at which there is no slope.
    """
    if wide is None or narrow is None:
        return None
    size = max(abs(wide), abs(narrow))
    if abs(wide - narrow) <= SAME * size:
        return _float(narrow)
    if size < SAME:  # the last digits of values that stay the same
        return 0.0
    if abs(narrow) < abs(wide):
        return 0.0 if abs(narrow) < SAME else None
    if jump and abs(narrow - jump * wide) <= SAME * size:
        return None
    return math.inf if narrow > 0 else -math.inf


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def value_of(
    row: Prim,
    params: Mapping[str, Any],
    avals: Sequence[ShapedArray],
    outs: Sequence[ShapedArray],
    rules: Rules,
) -> Function:
    """The elements of the floating results of a row, of those of all its operands.

    Those of operands that are not floating are given as they are.
    """
    assert row.value is not None
    value, places = row.value, [(a, list(box(a.shape))) for a in avals]

    def elements(*given: Real) -> list[Real]:
        left = iter(given)
        operands = [Elements(a, {i: next(left) for i in at}) for a, at in places]
        scope = row_scope(row, tuple(operands), sort_params(params), rules)
        return [
            Real.of(value(Scope({"i": index, "part": part}, row.each, scope)))
            for part, out in enumerate(outs)
            if kind_of(out.dtype) == "f"
            for index in box(out.shape)
        ]

    return elements


def remembered(function: Function) -> Function:
    """The function, which computes each of its values once."""
    known: dict[Any, Sequence[Real]] = {}

    def found(*xs: Any) -> Sequence[Real]:
        key = tuple((x.value, x.special, x.negative) for x in xs)
        if key not in known:
            known[key] = function(*xs)
        return known[key]

    return found
