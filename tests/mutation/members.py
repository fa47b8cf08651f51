"""Members of accuracy sets, and what is none: for each set by the chapter's own words.

Each example has an exact value and how far from it a member may be, as a fraction that
is written out here. The farthest numbers of a dtype that are near enough are members,
the next ones are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from mutation import one_answer
from mutation.one_answer import HALF, INF, NO_NUMBER, PAIR, THIRD, TINY, real

from traceir.exact.complexes import Complex
from traceir.exact.reals import INFINITY, NAN, Real
from traceir.oracle import accuracy
from traceir.oracle.accuracy import Goal

# The largest number of float16, and half a unit in the last place of 1.
TOP, U = Fraction(65504), Fraction(1, 2**11)


def unit(x: Fraction) -> Fraction:
    """The unit in the last place of a number of float16 that is not zero."""
    return Fraction(2) ** (max(math.floor(math.log2(abs(x))), -14) - 10)


def gamma(n: int) -> Fraction:
    """The bound on the relative error of n roundings in a row."""
    return n * U / (1 - n * U)


@dataclass(frozen=True)
class Example:
    """Members of a set, and others, for one goal."""

    name: str
    want: Any
    members: Sequence[Any] = ()
    others: Sequence[Any] = ()
    # How far from the value a member may be; None if that is not asked.
    reach: Fraction | None = None
    dtype: np.dtype = HALF
    ulps: float = 1
    choices: Mapping[str, str] = field(default_factory=dict)

    def wrong(self) -> Iterator[str]:
        """The elements that are judged otherwise."""
        goal = Goal(self.want, self.dtype, self.ulps, self.choices)
        both = [(got, True) for got in self.members]
        both += [(got, False) for got in self.others]
        if self.reach is not None:
            both += edges(self.want.value, self.reach)
        for got, wanted in both:
            if self.dtype == HALF:
                got = self.dtype.type(got)
            if accuracy.member(self.name, goal, got) is not wanted:
                yield f"{self.name} of {self.want}: {got} is {'none' * (not wanted)}"


def edges(want: Fraction, reach: Fraction) -> Iterator[tuple[Any, bool]]:
    """The farthest finite numbers that are near enough, and the next ones."""
    for way, end in ((HALF.type(INF), want + reach), (HALF.type(-INF), want - reach)):
        found = HALF.type(float(end))
        sign = 1 if way > 0 else -1
        if math.isinf(found):
            found = np.nextafter(found, -way)
        while sign * Fraction(float(found)) > sign * end:
            found = np.nextafter(found, -way)
        yield found, True
        after = np.nextafter(found, way)
        if math.isfinite(after):
            yield after, False


def examples() -> Iterator[Example]:
    """The examples, set by set."""
    yield from _alone()
    yield from _near()
    yield from _sums()
    yield from _products()
    yield from _complex()


FLUSH, EITHER, ORDERED = (
    {"choice.subnormal": "flush"},
    {"choice.zero-extremum": "either"},
    {"choice.zero-extremum": "ordered"},
)


def _alone() -> Iterator[Example]:
    """One member, or a zero of each sign, or what is flushed."""
    third = np.float16(1 / 3)
    around = np.nextafter(third, np.float16(1)), np.nextafter(third, np.float16(0))
    small, normal = Fraction(2) ** -20, Fraction(2) ** -14
    for name in ("exact", "rounded", "extremum"):
        yield Example(name, real(THIRD), [third], [*around, NO_NUMBER, INF, 0.0])
        yield Example(name, Real.of(-0.0), [-0.0], choices=ORDERED)
        yield Example(name, NAN, [NO_NUMBER], [INF, 0.0])
        yield Example(name, INFINITY, [INF], [-INF, NO_NUMBER, 65504.0])
        yield Example(name, real(70000), [INF], [65504.0])
        yield Example(name, real(small), [float(small)], [0.0, -0.0])
        yield Example(
            name, real(small), [float(small), 0.0, -0.0], [1], None, choices=FLUSH
        )
        yield Example(name, real(normal), [float(normal)], [0.0], choices=FLUSH)
        yield Example(name, real(-small), [-float(small), 0.0], choices=FLUSH)
        yield Example(name, real(-normal), [], [0.0], choices=FLUSH)
        yield Example(name, INFINITY, [], [0.0], choices=FLUSH)
        yield Example(name, NAN, [], [0.0], choices=FLUSH)
    for want in (Real.of(0.0), Real.of(-0.0)):
        for name in ("exact", "rounded", "ulp"):
            yield Example(name, want, [], [math.copysign(0.0, -(not want.negative))])
        yield Example("extremum", want, [0.0, -0.0], [TINY], choices=EITHER)
        yield Example(
            "extremum", want, [], [-0.0 if not want.negative else 0.0], choices=ORDERED
        )
    yield Example("extremum", real(1), [1], [0.0], choices=EITHER)
    for dtype, value, kept in (("uint8", 300, 44), ("int8", 200, -56), ("bool", 1, 1)):
        it = np.dtype(dtype)
        member = it.type(kept)
        yield Example("exact", value, [member], [it.type(kept ^ 1)], dtype=it)


def _near() -> Iterator[Example]:
    """Units in the last place, and those of operands."""
    for ulps in (1, 2, 3.5):
        for value in (THIRD, -THIRD, Fraction(2, 3) * 2**-16, Fraction(1001, 10)):
            near = Fraction(ulps) * unit(value)
            yield Example("ulp", real(value), [], [NO_NUMBER], near, ulps=ulps)
            wide = Fraction(ulps) * (unit(value) + U * 5)
            long = real(value, magnitude=Fraction(5))
            others = [NO_NUMBER, INF, -INF]
            yield Example("conditioned", long, [], others, wide, ulps=ulps)
        # At the very bound: a unit is 2**-10 here, and so are 2 U.
        even = real(1, magnitude=Fraction(6))
        bound = float(Fraction(ulps) * 2**-8)
        yield Example("conditioned", even, [1 + bound], [1 + bound + 2**-10], ulps=ulps)
    loose = real(THIRD, loose=7)
    yield Example("rounded", loose, [], [], 7 * unit(THIRD))
    yield Example("ulp", loose, [], [], 9 * unit(THIRD), ulps=9)
    for name in ("ulp", "conditioned"):
        yield Example(name, NAN, [NO_NUMBER], [0.0, INF, 1])
        yield Example(name, INFINITY, [INF], [-INF, NO_NUMBER, 65504.0])
        yield Example(name, real(2**-20), [0.0, -0.0], [1], choices=FLUSH)
        # The next place above the largest number is infinity.
        yield Example(
            name, real(TOP), [INF, float(TOP), 65472.0], [-INF, -float(TOP), 65440.0]
        )
        yield Example(
            name, real(-TOP), [-INF, -float(TOP)], [INF, float(TOP), -65440.0]
        )
        yield Example(name, real(TOP - 32), [float(TOP)], [INF, -INF])
        yield Example(name, real(2 * TOP), [INF, float(TOP)], [65440.0, -INF])
        yield Example(name, real(-2 * TOP), [-INF, -float(TOP)], [-65440.0, INF])
    zero = Real.of(0.0)
    yield Example("conditioned", zero, [0.0], [1.0, NO_NUMBER])


def _sums() -> Iterator[Example]:
    """Sums of terms, of products, and of a Fourier transform."""
    for name in ("sum", "dot"):
        for terms in (2, 5, 40):
            for inner in (0, 1):
                want = real(THIRD, magnitude=Fraction(6), terms=terms, inner=inner)
                reach = gamma(terms) * 6 + (terms * TINY if inner else 0)
                yield Example(name, want, [], [NO_NUMBER, INF, -INF], reach)
        # What is far below the least number may be lost, where products are rounded.
        for inner in (0, 1):
            tiny = real(TINY, magnitude=4 * TINY, terms=3, inner=inner)
            bound = gamma(3) * 4 * TINY
            yield Example(name, tiny, [], [], bound + inner * 3 * TINY)
        beyond = real(5, magnitude=TOP + 1, terms=3)
        yield Example(name, beyond, [INF, -INF, NO_NUMBER, 5], [2000])
        at = real(5, magnitude=TOP, terms=3)
        yield Example(name, at, [5], [INF, -INF, NO_NUMBER])
        yield Example(name, replace(INFINITY, terms=3), [INF], [NO_NUMBER, -INF, 1, 0])
        yield Example(name, replace(NAN, terms=3), [NO_NUMBER], [INF, 1, 0])
        # At the very bound, which is 2**-8 here.
        even = real(1, magnitude=4 * (1 - 2 * U), terms=2)
        yield Example(name, even, [1 + 2**-8, 1 - 2**-8], [1 + 2**-7])
    for terms in (2, 3, 8):
        want = real(THIRD, magnitude=Fraction(6), terms=terms)
        reach = gamma(2 * terms + 8) * 6 + terms * TINY
        yield Example("spectrum", want, [], [NO_NUMBER, INF, -INF], reach)
        tiny = real(TINY, magnitude=TINY * 4, terms=terms)
        reach = gamma(2 * terms + 8) * 4 * TINY + terms * TINY
        yield Example("spectrum", tiny, [], [], reach)
        much = TOP / (2 * terms)
        at = real(1, magnitude=much, terms=terms)
        yield Example("spectrum", at, [1], [INF, NO_NUMBER])
        beyond = real(1, magnitude=much + 1, terms=terms)
        yield Example("spectrum", beyond, [1, INF, NO_NUMBER, -300])
    slack = 2 * TINY / gamma(12)
    even = real(1, magnitude=4 * (1 - 12 * U) / 3 - slack, terms=2)
    yield Example("spectrum", even, [1 + 2**-7], [1 + 2**-7 + 2**-10])
    yield Example("spectrum", replace(INFINITY, terms=2), [INF, 3, NO_NUMBER])


def _products() -> Iterator[Example]:
    """Products of factors."""
    most = Fraction(2) ** 13  # which one partial product may be, and the next not
    for inner in (0, 1, 6):
        for value in (THIRD, -THIRD * 100):
            want = real(value, inner=inner, spread=Fraction(200))
            reach = gamma(inner + 1) * abs(value)
            yield Example("product", want, [], [NO_NUMBER, INF, -INF], reach)
    at = real(THIRD, inner=1, spread=most - Fraction(1, 2))
    yield Example("product", at, [], [NO_NUMBER, INF, 3])
    yield Example("product", replace(at, spread=most), [NO_NUMBER, INF, 3])
    yield Example("product", INFINITY, [INF], [-INF, 1, NO_NUMBER, 0])
    yield Example("product", NAN, [NO_NUMBER], [INF, 1, 0])
    yield Example("product", real(0), [0.0], [NO_NUMBER, INF, 1])


def _complex() -> Iterator[Example]:
    """Complex elements, part by part or by their distance."""
    third, near = (
        float(np.float32(1 / 3)),
        float(np.nextafter(np.float32(1 / 3), 1, dtype="f")),
    )

    def pair(re: float, im: float) -> Any:
        return np.complex64(complex(re, im))

    def parted(re: Any, im: Any, **parts: Any) -> Complex:
        return replace(Complex.of(0), re=re, im=im, **parts)

    plain = parted(real(THIRD), real(-2))
    members = [pair(third, -2)]
    others = [pair(near, -2), pair(third, -3), pair(third, 2), pair(near, -3)]
    yield Example("rounded", plain, members, others, dtype=PAIR)
    summed = parted(real(THIRD, magnitude=Fraction(6)), real(-2))
    yield Example("rounded", summed, members, others, dtype=PAIR)
    inner = parted(real(THIRD, terms=2, inner=1), real(-2))
    yield Example(
        "rounded", inner, [pair(third, -2), pair(near, -2)], [pair(0.4, -2)], dtype=PAIR
    )
    yield Example("exact", inner, [pair(third, -2)], [pair(near, -2)], dtype=PAIR)
    both = [pair(a, b) for a in (1, -1) for b in (2, -2)]
    for free, signs in (("re", [0, 2]), ("im", [0, 1]), ("re im", [0, 1, 2, 3])):
        # The sign of a part that is free is not specified.
        some = (
            [both[k] for k in signs],
            [w for k, w in enumerate(both) if k not in signs],
        )
        yield Example("exact", parted(real(1), real(2), free=free), *some, dtype=PAIR)
    nans, ends = complex(NO_NUMBER, NO_NUMBER), complex(INF, 1)
    for free, members, others in (
        ("any", [1 + 1j, nans, ends], []),
        ("nan", [nans], [ends, complex(NO_NUMBER, 1), complex(1, NO_NUMBER), 1 + 1j]),
        ("infinite", [ends, complex(1, -INF), complex(INF, NO_NUMBER)], [nans, 1 + 1j]),
    ):
        some = [np.complex64(m) for m in members], [np.complex64(o) for o in others]
        yield Example("exact", parted(real(1), real(1), free=free), *some, dtype=PAIR)
    yield from _by_distance(pair, parted)


def _by_distance(pair: Any, parted: Any) -> Iterator[Example]:
    """Complex numbers that are measured at their distance from zero, 5 here."""
    last = Fraction(2) ** -21  # the unit in the last place of 5
    # The set, its k, steps inside, factors: the units that are allowed.
    for name, ulps, steps, factors, allowed in (
        ("ulp", 1, 1, 1, 4),
        ("ulp", 1, 2, 1, 8),
        ("ulp", 6, 1, 1, 6),
        ("ulp", 6, 3, 1, 18),
        ("ulp", 1, 1, 3, 12),
        ("ulp", 6, 2, 4, 24),
        ("product", 1, 0, 3, 8),
        ("product", 1, 0, 5, 16),
        ("product", 5, 1, 2, 9),
    ):
        want = parted(real(3), real(-4), ulps=steps, factors=factors)
        reach = float(allowed * last)
        step = float(Fraction(2) ** -22)  # the unit in the last place of 3
        far, next_ = 3 + reach, 3 + reach + step
        members = [pair(far, -4), pair(6 - far, -4), pair(3, -4 - reach)]
        members += [pair(3, -4 + reach), pair(far, -4 - reach)]
        others = [pair(next_, -4), pair(6 - next_, -4), pair(NO_NUMBER, -4)]
        others += [pair(3, -4 - reach - 2 * step), pair(3, NO_NUMBER), pair(3, INF)]
        yield Example(name, want, members, others, dtype=PAIR, ulps=ulps)
    wide = parted(INFINITY, real(1), ulps=1)
    yield Example("ulp", wide, [pair(INF, 1)], [pair(1, 1), pair(INF, 2)], dtype=PAIR)


def wrong() -> list[str]:
    """Every example that is judged otherwise."""
    found: list[str] = []
    for example in examples():
        found += _tried(str(example), example.wrong)
    for name, goal, want in one_answer.single():
        if _tried("", lambda n=name, g=goal: [accuracy.any_order(n, g)]) != [want]:
            found.append(f"{name} of {goal}: not {want}")
    for x, y, want in one_answer.alike():
        if _tried("", lambda x=x, y=y: [accuracy.same(x, y)]) != [want]:
            found.append(f"{x} and {y} the same: not {want}")
    for value, dtype, want in one_answer.rounds():
        got = _tried("", lambda v=value, d=dtype: [accuracy.settle(v, np.dtype(d))])
        if [type(g) for g in got] != [type(want)] or got != [want]:
            found.append(f"{value} settles to {got}, not {want}")
    return found


def _tried(what: str, answers: Any) -> list[Any]:
    """The answers; an exception is one, too."""
    try:
        return list(answers())
    except Exception as error:
        return [f"{what} {type(error).__name__}"]
