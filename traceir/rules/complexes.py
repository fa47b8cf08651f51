"""Exact complex numbers: pairs of extended reals. Serves: accuracy.complex"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.records import dataclass
from traceir.rules.reals import NAN, Real, number


@dataclass(frozen=True, slots=True, eq=False)
class Complex:
    """A complex number: two extended reals.

    `ulps` is how many units in the last place of the larger part a function that
    rounds inside may be off, in units of the row's bound; 0 where each part is computed
    by itself. `free` names the parts, "re" and "im", whose sign nothing decides.

    >>> Complex.of(1 + 2j) * Complex.of(1j)
    Complex(Real(-2), Real(1))
    """

    re: Real
    im: Real
    ulps: int = 0
    free: str = ""

    @staticmethod
    def of(x: Any) -> Complex:
        """The element `x`: complex, or a real number, with an imaginary part of 0."""
        if isinstance(x, Complex):
            return x
        if isinstance(x, (complex, np.complexfloating)):
            return Complex(Real.of(x.real), Real.of(x.imag))
        return Complex(Real.of(x), ZERO)

    @property
    def nan(self) -> bool:
        """Whether a part is no number."""
        return self.re.nan or self.im.nan

    @property
    def finite(self) -> bool:
        """Whether both parts are numbers."""
        return self.re.finite and self.im.finite

    @property
    def infinite(self) -> bool:
        """Whether a part is an infinity, whatever the other is."""
        return self.re.special == "inf" or self.im.special == "inf"

    @property
    def zero(self) -> bool:
        """Whether both parts are zeros."""
        return self.re.zero and self.im.zero

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im, self.ulps, self.free)

    def __add__(self, other: Any) -> Complex:
        b = Complex.of(other)
        return Complex(self.re + b.re, self.im + b.im, max(self.ulps, b.ulps))

    def __radd__(self, other: Any) -> Complex:
        # The empty sum, which `sum` starts from, is no term.
        return self if _is_int(other, 0) else Complex.of(other) + self

    def __sub__(self, other: Any) -> Complex:
        return self + -Complex.of(other)

    def __rsub__(self, other: Any) -> Complex:
        return Complex.of(other) + -self

    def __mul__(self, other: Any) -> Complex:
        a, b = self, Complex.of(other)
        return Complex(
            a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, max(a.ulps, b.ulps)
        )

    def __rmul__(self, other: Any) -> Complex:
        # The empty product, which `prod` starts from, is no factor.
        return self if _is_int(other, 1) else Complex.of(other) * self

    def __truediv__(self, other: Any) -> Complex:
        return quotient(self, Complex.of(other))

    def __rtruediv__(self, other: Any) -> Complex:
        return quotient(Complex.of(other), self)

    def __abs__(self) -> Real:
        from traceir.rules.complex_functions import modulus  # which needs this module

        return modulus(self)

    def __eq__(self, other: object) -> bool:
        b = Complex.of(other)
        return self.re == b.re and self.im == b.im

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        """By the real part, and where these are equal by the imaginary one."""
        b = Complex.of(other)
        return self.im < b.im if self.re == b.re else self.re < b.re

    def __le__(self, other: Any) -> bool:
        return self < other or self == other

    def __gt__(self, other: Any) -> bool:
        return Complex.of(other) < self

    def __ge__(self, other: Any) -> bool:
        return Complex.of(other) <= self

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Complex({self.re}, {self.im})"


ZERO = number(Real().value)


def _is_int(x: object, value: int) -> bool:
    return type(x) is int and x == value


def quotient(a: Complex, b: Complex) -> Complex:
    """a / b; by a zero, or with infinities, as C's Annex G has it."""
    if b.zero and not a.nan:
        # The sign of b's real part alone decides.
        unit = -Real(special="inf") if b.re.negative else Real(special="inf")
        return Complex(unit * a.re, unit * a.im)
    if a.nan or b.nan or (a.infinite and b.infinite):
        return _infinite_quotient(a, b)
    if a.infinite:
        return _infinite_quotient(a, b)
    if b.infinite:
        return _toward_zero(a, b)
    size = b.re.value**2 + b.im.value**2
    re = (a.re.value * b.re.value + a.im.value * b.im.value) / size
    im = (a.im.value * b.re.value - a.re.value * b.im.value) / size
    top = a * conjugate(b)
    return Complex(number(re, top.re.negative), number(im, top.im.negative), 1)


def conjugate(x: Complex) -> Complex:
    """The number with the imaginary part's sign changed."""
    return Complex(x.re, -x.im, x.ulps, x.free)


def _sign(x: Real) -> Real:
    """1 for an infinity and 0 for anything else, with its sign."""
    size = number(Real().value + (1 if x.special == "inf" else 0))
    return -size if x.negative and not x.nan else size


def _infinite_quotient(a: Complex, b: Complex) -> Complex:
    if a.infinite and b.finite:
        boxed = Complex(_sign(a.re), _sign(a.im)) * conjugate(b)
        inf = Real(special="inf")
        return Complex(inf * boxed.re, inf * boxed.im)
    if b.infinite and a.finite:
        return _toward_zero(a, b)
    return Complex(NAN, NAN)


def _toward_zero(a: Complex, b: Complex) -> Complex:
    boxed = a * conjugate(Complex(_sign(b.re), _sign(b.im)))
    zero = number(Real().value)
    return Complex(zero * boxed.re, zero * boxed.im)
