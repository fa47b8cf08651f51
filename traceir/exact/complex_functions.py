"""Functions of exact complex numbers. Serves: accuracy.complex

A zero part is given to mpmath as a number of its sign that is smaller than any square
of one of a dtype, so each function is continuous from the side that the sign names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from traceir.exact import complex_limits as limits
from traceir.exact.complexes import (
    NOUGHT,
    UNIT,
    Complex,
    conjugate,
    modulus,
    quotient,
    turned,
    turned_back,
)
from traceir.exact.digits import LIMIT, beyond, from_mp, mpmath, to_mp
from traceir.exact.reals import INFINITY, NAN, Real, number

Function = Callable[[Complex], Complex]
TINY = Fraction(1, 2**20_000)
SMALL = Fraction(1, 2**1500)
FAR = 2**20
# Whatever is smaller becomes a zero of its sign in every dtype.
LEAST = Fraction(1, 2**1200)


def _point(z: Complex, tiny: Fraction = TINY) -> Any:
    parts = [p.value or (-tiny if p.negative else tiny) for p in (z.re, z.im)]
    return mpmath().mpc(*map(to_mp, parts))


def _part(x: Any) -> Real:
    found = from_mp(x)
    small = abs(found.value) < LEAST
    return number(Fraction(0), found.negative) if small else found


def _finite(name: str) -> Function:
    """A function of mpmath's, where all is finite."""

    def function(z: Complex) -> Complex:
        found = mpmath().mpc(getattr(mpmath(), name)(_point(z)))
        return Complex(_part(found.real), _part(found.imag), 1)

    return function


def _mirrored(function: Function, odd: bool = False, even: bool = False) -> Function:
    """A function with real values on the real axis, by its values above the axis."""

    def whole(z: Complex) -> Complex:
        if z.im.negative and not z.im.nan:
            return conjugate(whole(conjugate(z)))
        if (odd or even) and z.re.negative and not z.re.nan:
            # The mirror image in the imaginary axis.
            found = conjugate(function(Complex(-z.re, z.im)))
            return -found if odd else found
        return function(z)

    return whole


def _parted(
    name: str, special: Function, odd: bool = False, even: bool = False
) -> Function:
    """A function by mpmath where its operand is finite, and by its limits elsewhere."""
    finite = _finite(name)

    def function(z: Complex) -> Complex:
        return finite(z) if z.finite else special(z)

    return _mirrored(function, odd, even)


def _bounded(function: Function) -> Function:
    """An exponential function, replaced far out, where no dtype holds its values."""

    def near(z: Complex) -> Complex:
        if z.finite and abs(z.re.value) > LIMIT:
            far = number(Fraction(LIMIT) if z.re.value > 0 else Fraction(-LIMIT))
            return function(Complex(far, z.im))
        return function(z)

    return near


exp = _bounded(_parted("exp", limits.exp))
sinh = _bounded(_parted("sinh", limits.sinh, odd=True))
cosh = _bounded(_parted("cosh", limits.cosh, even=True))
tanh = _bounded(_parted("tanh", limits.tanh, odd=True))
asinh = _parted("asinh", limits.asinh, odd=True)
acos = _parted("acos", limits.acos)
acosh = _parted("acosh", limits.acosh)
sqrt = _parted("sqrt", limits.sqrt)


def log(z: Complex) -> Complex:
    """The logarithm; of a zero, a negative infinity with the zero's angle."""
    if z.zero:
        return Complex(-INFINITY, limits.angle(z))
    return _log(z)


_log = _parted("log", limits.log)


def _digits_of_atanh(z: Complex) -> Complex:
    """`atanh` by as many digits as its smallest part needs; mpmath's are those of 1."""
    if z.zero:
        return z
    if not z.finite:
        return limits.atanh(z)
    context = mpmath()
    with context.workprec(3400):
        found = context.atanh(_point(z, SMALL))
        return Complex(_part(found.real), _part(found.imag), 1)


_atanh = _mirrored(_digits_of_atanh, odd=True)


def atanh(z: Complex) -> Complex:
    """The inverse of the hyperbolic tangent, which has poles at 1 and -1."""
    if z.im.zero and z.finite and abs(z.re.value) == 1:
        return Complex(-INFINITY if z.re.negative else INFINITY, z.im)
    return _atanh(z)


def _sine(hyperbolic: Function) -> Function:
    """-i f(i z): a circular function by its hyperbolic one."""
    return lambda z: turned_back(hyperbolic(turned(z)))


def cos(z: Complex) -> Complex:
    """cosh(i z)."""
    return cosh(turned(z))


def expm1(z: Complex) -> Complex:
    """exp(z) - 1, which is 0 at zero whatever the sign of the real part."""
    if z.finite and z.re.zero and z.im.zero:
        return replace(z, re=UNIT - UNIT)
    if z.finite and abs(z.re.value) <= LIMIT:
        return _mirrored(_finite("expm1"))(z)
    found = exp(z)
    return replace(found, re=found.re - UNIT)


def log1p(z: Complex) -> Complex:
    """log(1 + z)."""
    if z.finite:
        if z.im.zero and z.re.value == -1:
            return Complex(-INFINITY, z.im)
        return _mirrored(_finite("log1p"))(z)
    return log(z)


def exp2(z: Complex) -> Complex:
    """exp(z log 2)."""
    two = mpmath().log(2)
    parts = [from_mp(to_mp(p.value) * two) if p.value else p for p in (z.re, z.im)]
    found = exp(Complex(parts[0], parts[1]))
    if z.finite:
        return replace(found, ulps=_steps(parts))
    # The angle of a large number is not known once it has been rounded.
    return replace(found, free="any") if abs(parts[1].value) > FAR else found


def _steps(parts: list[Real]) -> int:
    """Roundings of an exponent, in units in the last place of the exponential."""
    return 1 + int(sum(abs(p.value) for p in parts))


def rsqrt(z: Complex) -> Complex:
    """1 / sqrt(z)."""
    return quotient(Complex.of(1), sqrt(z))


def logistic(z: Complex) -> Complex:
    """1 / (1 + exp(-z))."""
    if not z.finite:
        return replace(quotient(Complex.of(1), 1 + exp(-z)), free="any")
    below = Complex.of(1) + exp(-z)
    if below.zero:
        return Complex(INFINITY, INFINITY, free="any")
    # What is added to 1 is rounded before, which counts for more near -1.
    size = modulus(below).value
    return replace(quotient(Complex.of(1), below), ulps=2 + int(2 / size))


def sign(z: Complex) -> Complex:
    """z over its distance from zero, and zero of zero."""
    if z.zero:
        return z
    if not z.finite:
        return Complex(NAN, NAN, free="nan" if z.nan else "any")
    return quotient(z, Complex(modulus(z), NOUGHT))


def power(a: Complex, b: Complex) -> Complex:
    """a to the power b; of what is not finite that to 0 and 1 alone is said."""
    if b.zero:
        return Complex.of(1)
    if not a.zero and b.im.zero and b.finite and b.re.value == 1:
        return a
    if not (a.finite and b.finite):
        return Complex(NAN, NAN, free="any")
    if a.zero:
        above = b.re.value > 0
        return Complex(NOUGHT, NOUGHT, free="re im" if above else "any")
    whole = b.im.zero and b.re.value.denominator == 1 and abs(b.re.value) <= 64
    if whole:
        return _repeated(a, int(b.re.value))
    context = mpmath()
    exponent = _point(b) * context.log(_point(a))
    if abs(exponent.real) > LIMIT:
        return Complex(beyond(exponent.real > 0, False), NOUGHT, free="any")
    found = context.exp(exponent)
    steps = 2 + int(abs(exponent.real)) + int(abs(exponent.imag))
    return Complex(_part(found.real), _part(found.imag), steps)


def _repeated(a: Complex, n: int) -> Complex:
    """A power to a whole number, by multiplication."""
    found = Complex.of(1)
    for _ in range(abs(n)):
        product = found * a
        found = Complex(number(product.re.value), number(product.im.value))
    if n < 0:
        found = quotient(Complex.of(1), found)
    return replace(found, ulps=2 + 2 * abs(n), factors=abs(n) + (n < 0), free="re im")


def turn(place: Real, count: Real) -> Complex:
    """The number of length 1 at so many parts of a whole turn.

    Each part counts as a term of magnitude 1, since both may come of others where they
    are computed; it is exact only where all that there are have parts 0, 1 and -1.

    >>> turn(number(Fraction(1)), number(Fraction(4)))
    Complex(Real(0), Real(1))
    """
    return _turn(int(place.value) % int(count.value), int(count.value))


@cache
def _turn(place: int, count: int) -> Complex:
    quantum = 0 if count in (1, 2, 4) else None
    angle = to_mp(Fraction(2 * place, count))
    found = []
    for share in (mpmath().cospi(angle), mpmath().sinpi(angle)):
        # At quarters of a turn nothing but the sign of zero is left.
        part = number(Fraction(0)) if not share else from_mp(share)
        found.append(replace(part, magnitude=Fraction(1), quantum=quantum))
    re, im = found
    return Complex(re, im)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "re": lambda z: z.re,
    "im": lambda z: z.im,
    "conj": conjugate,
    "mirror": conjugate,
    "abs": modulus,
    "sign": sign,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "logistic": logistic,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "sin": _sine(sinh),
    "cos": cos,
    "tan": _sine(tanh),
    "asin": _sine(asinh),
    "acos": acos,
    "atan": _sine(atanh),
    "pow": power,
}
