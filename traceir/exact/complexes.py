"""Exact complex numbers: pairs of extended reals. Serves: accuracy.complex"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.exact.digits import from_mp, mpmath, to_mp
from traceir.exact.reals import INFINITY, NAN, Real, number

NOUGHT = number(Fraction(0))
UNIT = number(Fraction(1))


@dataclass(frozen=True, slots=True, eq=False)
class Complex:
    """A complex number: two extended reals.

    `ulps` is how often the row's bound an element may be off that is rounded inside,
    in units in the last place of the larger part; 0 where each part stands by itself.
    `factors` is how many factors it is a product of. `free` names the parts, "re" and
    "im", whose sign nothing decides; of "any" nothing is said at all.

    >>> Complex.of(1 + 2j) * Complex.of(1j)
    Complex(Real(-2), Real(1))
    """

    re: Real
    im: Real
    ulps: int = 0
    factors: int = 1
    free: str = ""

    @staticmethod
    def of(x: Any) -> Complex:
        """The element `x`: complex, or a real number with an imaginary part of 0."""
        if isinstance(x, Complex):
            return x
        if isinstance(x, (complex, np.complexfloating)):
            return Complex(Real.of(x.real), Real.of(x.imag))
        return Complex(Real.of(x), NOUGHT)

    @property
    def nan(self) -> bool:
        """True if a part is no number."""
        return self.re.nan or self.im.nan

    @property
    def finite(self) -> bool:
        """True if both parts are numbers."""
        return self.re.finite and self.im.finite

    @property
    def infinite(self) -> bool:
        """True if a part is an infinity, whatever the other is."""
        return "inf" in (self.re.special, self.im.special)

    @property
    def zero(self) -> bool:
        """True if both parts are zeros."""
        return self.re.zero and self.im.zero

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im, self.ulps, self.factors, self.free)

    def __add__(self, other: Any) -> Complex:
        b = Complex.of(other)
        return Complex(self.re + b.re, self.im + b.im, max(self.ulps, b.ulps))

    def __radd__(self, other: Any) -> Complex:
        # The empty sum, which `sum` starts from, is no term.
        return self if type(other) is int and not other else Complex.of(other) + self

    def __sub__(self, other: Any) -> Complex:
        return self + -Complex.of(other)

    def __rsub__(self, other: Any) -> Complex:
        return Complex.of(other) + -self

    def __mul__(self, other: Any) -> Complex:
        a, b = self, Complex.of(other)
        re, im = a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re
        return Complex(re, im, max(a.ulps, b.ulps), a.factors + b.factors)

    def __rmul__(self, other: Any) -> Complex:
        # The empty product, which `prod` starts from, is no factor.
        return self if type(other) is int and other == 1 else Complex.of(other) * self

    def __truediv__(self, other: Any) -> Complex:
        return quotient(self, Complex.of(other))

    def __rtruediv__(self, other: Any) -> Complex:
        return quotient(Complex.of(other), self)

    def __abs__(self) -> Real:
        return modulus(self)

    def __eq__(self, other: object) -> bool:
        try:
            b = Complex.of(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self.re == b.re and self.im == b.im

    def __lt__(self, other: Any) -> bool:
        """Compare the real parts, and if these are equal the imaginary ones."""
        b = Complex.of(other)
        if self.nan or b.nan:
            return False
        return self.im < b.im if self.re == b.re else self.re < b.re

    def __le__(self, other: Any) -> bool:
        return self.__lt__(other) or self.__eq__(other)

    def __gt__(self, other: Any) -> bool:
        return Complex.of(other) < self

    def __ge__(self, other: Any) -> bool:
        return Complex.of(other) <= self

    # Equal elements may differ in the sign of zero: none is a key.
    __hash__ = None  # type: ignore[assignment]  # Python's way to say so

    def __repr__(self) -> str:
        return f"Complex({self.re}, {self.im})"


def modulus(z: Complex) -> Real:
    """The distance from zero: an infinity if a part is one."""
    if z.infinite:
        return INFINITY
    if z.nan:
        return NAN
    if z.zero:
        return NOUGHT
    size = z.re.value**2 + z.im.value**2
    return replace(from_mp(mpmath().sqrt(to_mp(size))), loose=2)


def conjugate(x: Complex) -> Complex:
    """The number with the imaginary part's sign changed."""
    return Complex(x.re, -x.im, x.ulps, x.factors, x.free)


def turned(x: Complex) -> Complex:
    """i x: the parts exchanged, and the sign of one changed."""
    return Complex(-x.im, x.re, x.ulps, x.factors, _exchanged(x.free))


def turned_back(x: Complex) -> Complex:
    """-i x."""
    return Complex(x.im, -x.re, x.ulps, x.factors, _exchanged(x.free))


def _exchanged(free: str) -> str:
    return {"re": "im", "im": "re"}.get(free, free)


def quotient(a: Complex, b: Complex) -> Complex:
    """a / b, with infinities and zeros as Annex G of the C standard has them.

    A number that is not zero over zero is an infinity, an infinity over a finite number
    is one, and a finite number over an infinity is zero; signs and NaNs inside are not
    specified. All else is NaN.
    """
    if a.finite and b.finite and not b.zero:
        return _finite_quotient(a, b)
    large = (a.infinite and b.finite) or (b.zero and not a.nan and not a.zero)
    if large:
        return Complex(INFINITY, INFINITY, free="infinite")
    if a.finite and b.infinite:
        return Complex(NOUGHT, NOUGHT, free="re im")
    return Complex(NAN, NAN, free="any" if a.nan and b.zero else "nan")


def _finite_quotient(a: Complex, b: Complex) -> Complex:
    size = b.re.value**2 + b.im.value**2
    top = a * conjugate(b)
    re = number(top.re.value / size, top.re.negative)
    im = number(top.im.value / size, top.im.negative)
    # The sign of a part that is zero depends on the formula that is used.
    free = " ".join(n for n, p in (("re", re), ("im", im)) if p.zero)
    return Complex(re, im, 1, free=free)
