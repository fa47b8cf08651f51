"""Exact extended reals: the floating elements of formulas. Serves: accuracy.*"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """A real number, an infinity or a NaN, with what judging a sum of it needs.

    `value` is the number (0 where `special` is set), `negative` its sign, which zeros
    and infinities have too. `magnitude` is the sum of the absolute terms, `terms` how
    many there are, `inner` how often each was rounded before it was added, `quantum`
    an exponent of 2 that divides every term (None: none does), `spread` how far a
    product of the factors may stray from 1 on the way. `loose` is how many units in the
    last place what stands for a number may be off, whatever the set.

    >>> Real.of(0.5) + Real.of(float("-inf"))
    Real(-inf)
    """

    value: Fraction = ZERO
    special: str = ""
    negative: bool = False
    magnitude: Fraction = ZERO
    terms: int = 1
    inner: int = 0
    quantum: int | None = 0
    spread: Fraction = ONE
    loose: int = 0

    @staticmethod
    def of(x: Any) -> Real:
        """The element `x`: a Python or NumPy float, an int, a Fraction or a Real."""
        if isinstance(x, Real):
            return x
        if isinstance(x, (float, np.floating)) and not np.isfinite(x):
            return NAN if np.isnan(x) else INFINITY if x > 0 else -INFINITY
        if isinstance(x, (float, np.floating)):
            return number(Fraction(float(x)), bool(np.signbit(x)))
        return number(Fraction(x), x < 0)

    @property
    def finite(self) -> bool:
        """Neither an infinity nor a NaN."""
        return not self.special

    @property
    def zero(self) -> bool:
        """A zero of either sign."""
        return self.finite and not self.value

    @property
    def nan(self) -> bool:
        """Not a number."""
        return self.special == "nan"

    def __neg__(self) -> Real:
        if self.nan:
            return self
        return replace(self, value=-self.value, negative=not self.negative)

    def __abs__(self) -> Real:
        return -self if self.negative else self

    def __add__(self, other: Any) -> Real:
        a, b = self, Real.of(other)
        quantum = None
        if a.quantum is not None and b.quantum is not None:
            quantum = min(a.quantum, b.quantum)
        return replace(
            _sum(a, b),
            magnitude=a.magnitude + b.magnitude,
            terms=a.terms + b.terms,
            inner=max(a.inner, b.inner),
            quantum=quantum,
        )

    def __radd__(self, other: Any) -> Real:
        # The empty sum, which `sum` starts from, is no term.
        return self if other == 0 else Real.of(other) + self

    def __sub__(self, other: Any) -> Real:
        return self + -Real.of(other)

    def __rsub__(self, other: Any) -> Real:
        return Real.of(other) + -self

    def __mul__(self, other: Any) -> Real:
        a, b = self, Real.of(other)
        quantum = None
        if a.quantum is not None and b.quantum is not None:
            quantum = a.quantum + b.quantum
        return replace(
            _product(a, b),
            magnitude=a.magnitude * b.magnitude,
            inner=a.terms - 1 + a.inner + b.terms - 1 + b.inner + 1,
            quantum=quantum,
            spread=a.spread * b.spread,
        )

    def __rmul__(self, other: Any) -> Real:
        # The empty product, which `prod` starts from, is no factor.
        return self if other == 1 else Real.of(other) * self

    def __truediv__(self, other: Any) -> Real:
        return _quotient(self, Real.of(other))

    def __rtruediv__(self, other: Any) -> Real:
        return _quotient(Real.of(other), self)

    def __eq__(self, other: object) -> bool:
        try:
            b = Real.of(other)
        except (TypeError, ValueError):
            return NotImplemented
        return not (self.nan or b.nan) and self._key() == b._key()

    def __lt__(self, other: Any) -> bool:
        b = Real.of(other)
        return not (self.nan or b.nan) and self._key() < b._key()

    def __le__(self, other: Any) -> bool:
        b = Real.of(other)
        return self.__lt__(b) or self == b

    def __gt__(self, other: Any) -> bool:
        return Real.of(other).__lt__(self)  # `<` would ask a subclass first

    def __ge__(self, other: Any) -> bool:
        return Real.of(other).__le__(self)

    # Equal elements may differ in the sign of zero: none is a key.
    __hash__ = None  # type: ignore[assignment]  # Python's way to say so

    def _key(self) -> tuple[int, Fraction, bool]:
        if self.special:
            return (-1 if self.negative else 1), ZERO, False
        return 0, self.value, False

    def __repr__(self) -> str:
        sign = "-" if self.negative else ""
        return f"Real({sign}{self.special or abs(self.value)})"


class Ordered(Real):
    """A number of an order in which -0 is less than +0.

    >>> Ordered.of(0.0) == Ordered.of(-0.0), Ordered.of(-0.0) < Ordered.of(0.0)
    (False, True)
    """

    __slots__ = ()

    @staticmethod
    def of(x: Any) -> Ordered:
        """The element `x`, ordered."""
        found = Real.of(x)
        return Ordered(*(getattr(found, f.name) for f in fields(Real)))

    def _key(self) -> tuple[int, Fraction, bool]:
        return *super()._key()[:2], self.zero and not self.negative


def number(value: Fraction, negative: bool | None = None) -> Real:
    """A finite Real; `negative` is the sign of a zero."""
    if negative is None:
        negative = value < 0
    if not value:
        return Real(negative=negative)
    size = abs(value)
    return Real(
        value,
        negative=value < 0,
        magnitude=size,
        quantum=_quantum(value),
        spread=max(size, 1 / size),
    )


def infinity(negative: bool) -> Real:
    """The infinity of that sign."""
    return -INFINITY if negative else INFINITY


NAN = Real(special="nan")
INFINITY = Real(special="inf")


def _quantum(value: Fraction) -> int | None:
    size, shift = value.denominator, value.denominator.bit_length() - 1
    if size != 1 << shift:
        return None
    top = value.numerator
    return (top & -top).bit_length() - 1 - shift


def _sum(a: Real, b: Real) -> Real:
    if a.special or b.special:
        if a.nan or b.nan or (a.special and b.special and a.negative != b.negative):
            return NAN
        return infinity(a.negative if a.special else b.negative)
    value = a.value + b.value
    # An exact cancellation is +0; zeros of one sign keep it.
    return Real(value, negative=value < 0 if value else a.negative and b.negative)


def _product(a: Real, b: Real) -> Real:
    negative = a.negative != b.negative
    if a.special or b.special:
        if a.nan or b.nan or a.zero or b.zero:
            return NAN
        return infinity(negative)
    return Real(a.value * b.value, negative=negative)


def _quotient(a: Real, b: Real) -> Real:
    negative = a.negative != b.negative
    if a.nan or b.nan or (a.special and b.special) or (a.zero and b.zero):
        return NAN
    if a.special or b.zero:
        return infinity(negative)
    if b.special:
        return number(ZERO, negative)
    return number(a.value / b.value, negative)
