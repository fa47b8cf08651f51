"""The accuracy sets: tests whether an element is near enough.

Serves: accuracy.*, choice.*
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import finfo, is_key, key_of, kind_of, part_dtype
from traceir.exact.complexes import Complex, modulus
from traceir.exact.numerics import largest, rounded, ulp, wrapped
from traceir.exact.reals import Real
from traceir.rules import default


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal for one element: its exact value, dtype, and tolerance.

    `ulps` is the k of the sets `ulp` and `conditioned`; `choices` what the
    implementation declares.
    """

    want: Any
    dtype: np.dtype
    ulps: float
    choices: Mapping[str, str]

    def chosen(self, choice: str) -> str:
        """The value declared of a choice, or that of the reference."""
        return self.choices.get(choice) or default().choices[choice].reference

    @property
    def number(self) -> Real:
        """The wanted value as an extended real."""
        return Real.of(self.want)


def settle(want: Any, dtype: np.dtype) -> Any:
    """The element that an exact value becomes when it is rounded once, or wrapped.

    >>> settle(300, np.dtype("uint8")), settle(1.5, np.dtype("float32"))
    (np.uint8(44), np.float32(1.5))
    """
    if kind_of(dtype) == "f":
        return rounded(Real.of(want), dtype)
    if kind_of(dtype) == "c":
        return _rounded_complex(Complex.of(want), dtype)
    if is_key(dtype):
        return np.array((tuple(want),), key_of(dtype).dtype)[()]
    return wrapped(want, dtype)


def _rounded_complex(want: Complex, dtype: np.dtype) -> Any:
    part = part_dtype(dtype)
    return dtype.type(complex(rounded(want.re, part), rounded(want.im, part)))


def member(name: str, goal: Goal, got: Any) -> bool:
    """True if `got` is in the accuracy set `name`.

    >>> goal = Goal(Real.of(Fraction(1, 3)), np.dtype("float32"), 1, {})
    >>> member("rounded", goal, np.float32(0.33333334)), member("ulp", goal, 0.334)
    (True, False)
    """
    if kind_of(goal.dtype) == "c":
        return _complex(name, goal, got)
    if kind_of(goal.dtype) != "f":
        return bool(got == settle(goal.want, goal.dtype))
    if loose := goal.number.loose:
        return _ulp(replace(goal, ulps=max(goal.ulps, loose)), got)
    return SETS[name](goal, got)


def _complex(name: str, goal: Goal, got: Any) -> bool:
    """True if a complex element is in a set (accuracy.complex)."""
    want = Complex.of(goal.want)
    if want.free in ANSWERS:
        return ANSWERS[want.free](got)
    part = part_dtype(goal.dtype)
    pairs = ("re", want.re, got.real), ("im", want.im, got.imag)
    if want.finite and (want.ulps or name == "product"):
        size = modulus(want)
        ulps = max(goal.ulps, 4) * want.ulps + 4 * (want.factors - 1)
        return all(_near(w, g, size, ulps, part) for _, w, g in pairs)
    for which, w, g in pairs:
        signs = (w, -w) if which in want.free.split() else (w,)
        inner = "dot" if w.inner and name == "rounded" else name
        goals = [replace(goal, want=s, dtype=part) for s in signs]
        if not any(member(inner, one, g) for one in goals):
            return False
    return True


def _near(want: Real, got: Any, size: Real, ulps: float, dtype: np.dtype) -> bool:
    """True if a part is near enough, measured at the distance from zero."""
    if math.isnan(got):
        return False
    bound = Fraction(ulps) * ulp(min(size.value, largest(dtype)), dtype)
    return _apart(want.value, got, dtype)[0] <= bound


def _apart(want: Fraction, got: Any, dtype: np.dtype) -> tuple[Fraction, Fraction]:
    """The distance of an element from the number wanted, and that number.

    An infinity, and what is larger, stand one place above the largest finite number.
    """
    top = largest(dtype)
    beyond = top + ulp(top, dtype)
    want = max(-beyond, min(want, beyond))
    end = beyond if got > 0 else -beyond
    have = end if math.isinf(got) else Fraction(float(got))
    return abs(have - want), want


# What is asked of an element of which the parts are not specified.
ANSWERS: dict[str, Callable[[Any], bool]] = {
    "any": lambda got: True,
    "nan": lambda got: math.isnan(got.real) and math.isnan(got.imag),
    "infinite": lambda got: math.isinf(got.real) or math.isinf(got.imag),
}


def any_order(name: str, goal: Goal) -> bool:
    """True if the set has one member, whatever the order of its operations.

    A sum has when its terms are multiples of a power of 2 so large that no partial sum
    is rounded, a product when it is not rounded itself.
    """
    if kind_of(goal.dtype) == "c":
        return _complex_in_any_order(name, goal)
    if kind_of(goal.dtype) != "f" or name in ("exact", "rounded", "extremum"):
        return True
    x = goal.number
    if name == "product":
        return x.finite and _exactly(x, goal.dtype) and _in_range(x, goal.dtype)
    if name not in ("sum", "dot", "spectrum") or x.special or x.quantum is None:
        return False
    info = finfo(goal.dtype)
    unit = Fraction(2) ** x.quantum
    small = unit >= Fraction(2) ** int(info.minexp - info.nmant)
    return small and x.magnitude <= min(
        unit * 2 ** (info.nmant + 1), largest(goal.dtype)
    )


def _complex_in_any_order(name: str, goal: Goal) -> bool:
    """True if both parts are known whatever the order; what rounds inside is not."""
    want = Complex.of(goal.want)
    if want.ulps or want.free or name == "product":
        return False
    part = part_dtype(goal.dtype)
    return all(
        any_order("dot" if p.inner else name, replace(goal, want=p, dtype=part))
        for p in (want.re, want.im)
    )


def same(a: Any, b: Any) -> bool:
    """Equal elements: any NaN is any other, zeros have a sign."""
    if isinstance(a, np.void) or isinstance(b, np.void):
        return bool(a == b)
    if isinstance(a, (complex, np.complexfloating)):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return bool(a == b) and math.copysign(1.0, a) == math.copysign(1.0, b)


def _exact(goal: Goal, got: Any) -> bool:
    if same(got, settle(goal.want, goal.dtype)):
        return True
    return _flushed(goal, got)


def _extremum(goal: Goal, got: Any) -> bool:
    either = goal.chosen("choice.zero-extremum") == "either"
    if either and goal.number.zero and got == 0:
        return True
    return _exact(goal, got)


def _ulp(goal: Goal, got: Any) -> bool:
    """True if a number is within the ulps allowed; infinity is next to the largest."""
    x = goal.number
    if x.special or x.zero or math.isnan(got):
        return _exact(goal, got)
    apart, want = _apart(x.value, got, goal.dtype)
    near = apart <= Fraction(goal.ulps) * ulp(want, goal.dtype)
    return near or _flushed(goal, got)


def _conditioned(goal: Goal, got: Any) -> bool:
    if _ulp(goal, got):
        return True
    x = goal.number
    if x.special or not math.isfinite(got):
        return False
    u = Fraction(1, 2 ** (finfo(goal.dtype).nmant + 1))
    bound = Fraction(goal.ulps) * (ulp(x.value, goal.dtype) + u * x.magnitude)
    return abs(Fraction(float(got)) - x.value) <= bound


def _sum(goal: Goal, got: Any) -> bool:
    x = goal.number
    if x.magnitude > largest(goal.dtype) and not math.isfinite(got):
        return True
    if x.special or not math.isfinite(got):
        return _exact(goal, got)
    tiny = x.terms * _least(goal.dtype) if x.inner else 0
    bound = gamma(x.terms, goal.dtype) * x.magnitude + tiny
    return abs(Fraction(float(got)) - x.value) <= bound


def _spectrum(goal: Goal, got: Any) -> bool:
    x = goal.number
    if x.special or x.magnitude * 2 * x.terms > largest(goal.dtype):
        return True
    if not math.isfinite(got):
        return False
    # Both parts of each element are terms.
    roundings = 2 * x.terms + 8
    bound = gamma(roundings, goal.dtype) * x.magnitude + x.terms * _least(goal.dtype)
    return abs(Fraction(float(got)) - x.value) <= bound


def _product(goal: Goal, got: Any) -> bool:
    x = goal.number
    if not _in_range(x, goal.dtype):
        return True
    if x.special or not math.isfinite(got):
        return _exact(goal, got)
    bound = gamma(x.inner + 1, goal.dtype) * abs(x.value)
    return abs(Fraction(float(got)) - x.value) <= bound


def gamma(n: int, dtype: np.dtype) -> Fraction:
    """The bound on the relative error of n roundings in a row."""
    error = n * Fraction(1, 2 ** (finfo(dtype).nmant + 1))
    return error / (1 - error)


def _least(dtype: np.dtype) -> Fraction:
    info = finfo(dtype)
    return Fraction(2) ** int(info.minexp - info.nmant)


def _in_range(x: Real, dtype: np.dtype) -> bool:
    info = finfo(dtype)
    return x.spread < Fraction(2) ** int(min(info.maxexp, -info.minexp) - 1)


def _exactly(x: Real, dtype: np.dtype) -> bool:
    nearest = rounded(x, dtype)
    return math.isfinite(nearest) and Fraction(float(nearest)) == x.value


def _flushed(goal: Goal, got: Any) -> bool:
    if goal.chosen("choice.subnormal") != "flush" or got != 0:
        return False
    normal = Fraction(2) ** int(finfo(goal.dtype).minexp)
    return goal.number.finite and abs(goal.number.value) < normal


SETS: dict[str, Callable[[Goal, Any], bool]] = {
    "exact": _exact,
    "rounded": _exact,
    "extremum": _extremum,
    "ulp": _ulp,
    "conditioned": _conditioned,
    "sum": _sum,
    "dot": _sum,
    "spectrum": _spectrum,
    "product": _product,
}
