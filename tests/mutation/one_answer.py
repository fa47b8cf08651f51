"""Goals that have one answer in any order, elements that are the same, and roundings.

Apart from sets of which the members are judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.dtypes import KEY
from traceir.exact.complexes import Complex
from traceir.exact.reals import INFINITY, NAN, Real, number
from traceir.oracle.accuracy import Goal

HALF, PAIR = np.dtype("float16"), np.dtype("complex64")
INF, NO_NUMBER = float("inf"), float("nan")
THIRD, TINY = Fraction(1, 3), Fraction(1, 2**24)


def real(value: Any, **parts: Any) -> Real:
    """An exact number, the sum of terms of this magnitude."""
    found = number(Fraction(value))
    return replace(found, **{"magnitude": abs(found.value), **parts})


def single() -> Iterator[tuple[str, Goal, bool]]:
    """Sets and goals, and whether they have one member in any order of operations."""

    def goal(want: Any, dtype: Any = HALF) -> Goal:
        return Goal(want, np.dtype(dtype), 1, {})

    for name in ("exact", "rounded", "extremum"):
        yield name, goal(real(THIRD)), True
        yield name, goal(INFINITY), True
    for name in ("ulp", "conditioned", "relation"):
        yield name, goal(real(1, quantum=0)), False
    for name in ("sum", "dot", "spectrum", "product", "ulp", "conditioned"):
        yield name, goal(7, "int32"), True
    for name in ("sum", "dot", "spectrum"):
        whole = real(3, magnitude=Fraction(9), terms=4, quantum=0)
        yield name, goal(whole), True
        yield name, goal(replace(whole, quantum=None)), False
        yield name, goal(replace(INFINITY, quantum=0)), False
        yield name, goal(replace(NAN, quantum=0)), False
        # Sums of so many units are not rounded: 2**11 of float16, and no more.
        yield name, goal(replace(whole, magnitude=Fraction(2**11))), True
        yield name, goal(replace(whole, magnitude=Fraction(2**11 + 1))), False
        half = replace(whole, quantum=-1)
        yield name, goal(replace(half, magnitude=Fraction(2**10))), True
        yield name, goal(replace(half, magnitude=Fraction(2**10 + 1))), False
        # Nor beyond the largest number.
        large = replace(whole, quantum=6)
        yield name, goal(replace(large, magnitude=Fraction(65504))), True
        yield name, goal(replace(large, magnitude=Fraction(65505))), False
        # Nor below the least.
        tiny = replace(whole, value=TINY, magnitude=TINY)
        yield name, goal(replace(tiny, quantum=-24)), True
        yield name, goal(replace(tiny, quantum=-25)), False
    yield "product", goal(real(3)), True
    yield "product", goal(real(THIRD)), False
    yield "product", goal(real(70000)), False
    yield "product", goal(INFINITY), False
    yield "product", goal(real(3, spread=Fraction(2) ** 13)), False
    yield "product", goal(real(3, spread=Fraction(2) ** 13 - 1)), True
    yield from _complex_single(goal)


def _complex_single(goal: Any) -> Iterator[tuple[str, Goal, bool]]:
    one = real(1)

    def parted(re: Any, im: Any = one, **parts: Any) -> Goal:
        found = replace(Complex.of(0), re=re, im=im, **parts)
        made: Goal = goal(found, PAIR)
        return made

    rounds = real(THIRD, quantum=None)
    for name in ("rounded", "sum", "dot"):
        yield name, parted(real(1)), True
        yield name, parted(real(1), ulps=1), False
        yield name, parted(real(1), free="re"), False
        yield name, parted(real(1), free="any"), False
        yield name, parted(replace(rounds, inner=1)), False
        yield name, parted(real(1), replace(rounds, inner=1)), False
        yield name, parted(real(1, inner=1), real(1, inner=1)), True
    yield "rounded", parted(rounds, rounds), True
    yield "dot", parted(rounds, rounds), False
    yield "dot", parted(real(1), rounds), False
    yield "product", parted(real(1)), False


def alike() -> Iterator[tuple[Any, Any, bool]]:
    """Elements, and whether they are the same."""
    one, other = np.complex64(1 + 0j), np.complex64(complex(1, -0.0))
    nan = np.complex64(complex(1, NO_NUMBER))
    keys = [np.array((words,), KEY.dtype)[()] for words in ((1, 2), (1, 3))]
    yield from ((x, x, True) for x in (1.0, -0.0, INF, 1j, one, nan, NO_NUMBER, *keys))
    for x, y in ((0.0, -0.0), (1.0, 2.0), (INF, -INF), (INF, NO_NUMBER), (one, other)):
        yield x, y, False
        yield y, x, False
    yield one, nan, False
    yield one, np.complex64(2 + 0j), False
    yield keys[0], keys[1], False


def rounds() -> Iterator[tuple[Any, str, Any]]:
    """Exact values, dtypes, and the element that each becomes."""
    yield THIRD, "float16", np.float16(1 / 3)
    yield 300, "uint8", np.uint8(44)
    yield Complex.of(complex(0.1, -2)), "complex64", np.complex64(complex(0.1, -2))
