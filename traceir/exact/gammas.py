"""Gamma, Bessel and beta functions, and how well conditioned they are.

Serves: accuracy.conditioned, `real` in the rows of special.toml
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from traceir.exact.digits import from_mp, mpmath, to_mp
from traceir.exact.quadrature import area
from traceir.exact.reals import INFINITY, NAN, ONE, ZERO, Real, number

# So small a part of an operand shows what the function does there.
STEP = Fraction(1, 1 << 60)
# Beyond it integrals are computed, since series have too many terms.
SERIES = 1 << 9
# As many as a difference over so short a step needs.
DIGITS = 220
# Integrals take the longest, and need no more than differences show.
FEWER = 120
# Terms that are by so many bits smaller do not count; where few of a formula do.
ENOUGH, FAR = 260, 100
# Below it a function of it is a line.
LEAST = 2.0**-110
Function = Callable[..., Any]
Order = tuple[int, ...]


def conditioned(function: Function, *xs: Real, order: Order = ()) -> Real:
    """A function of finite operands; the magnitude is what a change of them makes.

    It is the sum of the changes of the result for a change of each operand by the
    whole of itself, as the derivatives say. Nothing changes what is in `order`, which
    comes first.
    """
    with mpmath().workprec(DIGITS):
        return _conditioned(function, order, *(x.value for x in xs))


# One takes up to a second, and each implementation is judged by the same.
@lru_cache(maxsize=4096)
def _conditioned(function: Function, order: Order, *points: Fraction) -> Real:
    found = from_mp(function(*order, *map(to_mp, points)))
    change = ZERO
    for k, at in enumerate(points):
        ends = []
        for step in (-STEP, STEP):
            moved = [*points[:k], at * (1 + step), *points[k + 1 :]]
            ends.append(from_mp(function(*order, *map(to_mp, moved))).value)
        change += abs(ends[1] - ends[0]) / (2 * STEP)
    return replace(found, magnitude=change, quantum=None)


def _whole(x: Real) -> bool:
    return x.value.denominator == 1


def _pole(x: Real) -> bool:
    return x.value <= 0 and _whole(x)


def lgamma(x: Real) -> Real:
    """log |gamma(x)|: infinite at poles and at both ends."""
    if x.nan:
        return NAN
    if x.special or _pole(x):
        return INFINITY
    return conditioned(_lgamma, x)


def _lgamma(x: Any) -> Any:
    return mpmath().re(mpmath().loggamma(x))


def digamma(x: Real) -> Real:
    """The derivative of log gamma: NaN at poles."""
    if x.nan or (x.special and x.negative):
        return NAN
    if x.special:
        return INFINITY
    return NAN if _pole(x) else conditioned(mpmath().digamma, x)


def bessel_i0e(x: Real) -> Real:
    """exp(-|x|) I0(x)."""
    if x.nan or x.special:
        return NAN if x.nan else number(ZERO)
    return from_mp(_bessel(0, to_mp(abs(x.value))))


def bessel_i1e(x: Real) -> Real:
    """exp(-|x|) I1(x)."""
    if x.nan or x.zero:
        return x
    if x.special:
        return number(ZERO, x.negative)
    size = from_mp(_bessel(1, to_mp(abs(x.value))))
    return -size if x.negative else size


def _bessel(n: int, x: Any) -> Any:
    mp = mpmath()
    if x > 600:  # the series of terms in 1 / x: the least of them is exp(-2 x)
        total = term = mp.mpf(1)
        for k in range(1, 400):
            term *= -(4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
            total += term
            if abs(term) < mp.eps * abs(total):
                break
        return total / mp.sqrt(2 * mp.pi * x)
    return mp.exp(-x) * mp.besseli(n, x)


def zeta(s: Real, q: Real) -> Real:
    """The sum of (q + k)**-s for k = 0, 1, ...: NaN where no power or sum is a number.

    At a pole it is infinite if all of its sides have one sign.
    """
    if s.nan or q.nan or s < 1 or (q.special and q.negative):
        return NAN
    if s.special:
        if q <= 0:
            return NAN
        return number(ONE) if q == 1 else INFINITY if q < 1 else number(ZERO)
    if q.finite and q.value <= 0:
        if not _whole(s):
            return NAN
        if _whole(q):
            return INFINITY if s.value % 2 == 0 else NAN
    if s.value == 1:
        return INFINITY
    return number(ZERO) if q.special else conditioned(_zeta, s, q)


def _zeta(s: Any, q: Any) -> Any:
    mp = mpmath()
    if q < 0:  # the terms of negative numbers are a difference of two such sums
        size = -q
        first = size - mp.floor(size)
        below = _zeta(s, first) - _zeta(s, size + 1)
        odd = int(mp.nint(s)) % 2
        return _zeta(s, 1 - first) + (-below if odd else below)
    few = int(min(q * (mp.mpf(2) ** (ENOUGH / s) - 1), 1 << 40)) + 2
    first = max(0, int(mp.ceil(min(s, 1 << 40) + FAR - q)))
    if few <= first:
        return sum((q + k) ** -s for k in range(few))
    return sum((q + k) ** -s for k in range(first)) + _zeta_far(s, q + first)


def _zeta_far(s: Any, q: Any) -> Any:
    """Euler's and Maclaurin's sum at once, for q from s + FAR on."""
    mp = mpmath()
    total = q / (s - 1) + mp.mpf(1) / 2
    term = s / q
    for k in range(1, 40):
        total += term * mp.bernoulli(2 * k) / mp.factorial(2 * k)
        term *= (s + 2 * k - 1) * (s + 2 * k) / (q * q)
    return total * q**-s


def polygamma(n: Real, x: Real) -> Real:
    """The derivative of order n of digamma; NaN if n is no whole number from 0 on."""
    if n.nan or x.nan or n.special or n < 0 or not _whole(n):
        return NAN
    if n.zero:
        return digamma(x)
    order = int(n.value)
    down = order % 2 == 0
    if x.special:
        return NAN if x.negative else number(ZERO, down)
    if _pole(x):
        return NAN if down else INFINITY

    found = conditioned(_polygamma, x, order=(order,))
    return replace(found, magnitude=found.magnitude + order * abs(found.value))


def _polygamma(order: int, at: Any) -> Any:
    value = mpmath().factorial(order) * _zeta(mpmath().mpf(order + 1), at)
    return -value if order % 2 == 0 else value


def igamma(a: Real, x: Real) -> Real:
    """The share of gamma(a) that the integral has from 0 to x."""
    return _incomplete(a, x, True)


def igammac(a: Real, x: Real) -> Real:
    """1 less `igamma`."""
    return _incomplete(a, x, False)


def _incomplete(a: Real, x: Real, lower: bool) -> Real:
    none, all_of_it = number(ZERO), number(ONE)
    if not lower:
        none, all_of_it = all_of_it, none
    if a.nan or x.nan or a < 0 or x < 0 or (a.zero and x.zero):
        return NAN
    if a.special or x.special:
        both = a.special and x.special
        return NAN if both else none if a.special else all_of_it
    if x.zero or a.zero:
        return none if x.zero else all_of_it
    which = _lower if lower else _upper
    return conditioned(which, a, x)


def _lower(a: Any, x: Any) -> Any:
    if a < LEAST:
        return 1 - a * mpmath().e1(x)
    if max(a, x) > SERIES:
        near = _share(a, x)
        return near if x <= a else 1 - near
    return mpmath().gammainc(a, 0, x, regularized=True)


def _upper(a: Any, x: Any) -> Any:
    if a < LEAST:
        return a * mpmath().e1(x)
    if max(a, x) > SERIES:
        near = _share(a, x)
        return 1 - near if x <= a else near
    return mpmath().gammainc(a, x, regularized=True)


def _near(a: Any, x: Any) -> bool:
    """True if sums would have too many terms."""
    return bool(4 * min(a, x) > 3 * max(a, x))


def _share(a: Any, x: Any) -> Any:
    """`igamma` where x is at most a, else `igammac`."""
    if _near(a, x):
        return _integral(a, x, False)
    mp = mpmath()
    with mp.workprec(mp.prec + 2 * int(abs(mp.log(max(a, x), 2)))):
        density = mp.exp(a * mp.log(x) - x - mp.loggamma(a))
        return density * (_series(a, x) if x <= a else _fraction(a, x))


def _series(a: Any, x: Any) -> Any:
    """`igamma` over x**a exp(-x) / gamma(a)."""
    total = term = 1 / a
    n = a
    while term > mpmath().eps * total:
        n += 1
        term *= x / n
        total += term
    return total


def _fraction(a: Any, x: Any) -> Any:
    """`igammac` over x**a exp(-x) / gamma(a), by Lentz' method."""
    below = x - a + 1
    found = c = below
    d = n = mpmath().mpf(0)
    while True:
        n, below = n + 1, below + 2
        step = n * (a - n)
        d = 1 / (below + step * d)
        c = below + step / c
        found *= c * d
        if abs(c * d - 1) < mpmath().eps:
            return 1 / found


def _integral(a: Any, x: Any, weighted: bool) -> Any:
    """x**a exp(-x) / gamma(a) times the integral of exp(-a t - x (exp(-t) - 1)).

    Over the t > 0 where x is at most a, which is `igamma`, and else over the t < 0,
    which is `igammac`; `weighted` by |t|.
    """
    mp = mpmath()
    sign = 1 if x <= a else -1
    with mp.workprec(FEWER + 2 * int(mp.log(a + x, 2) + 1)):
        c = abs(a - x)
        width = 2 / (c + mp.sqrt(c * c + 2 * x))
        ends = [width * k for k in (0, 1, 3, 8, 20, 60, 160)]

        def height(t: Any) -> Any:
            t = sign * t
            value = mp.exp(-(a * t + x * mp.expm1(-t)))
            return value * abs(t) if weighted else value

        return area(height, ends) * mp.exp(a * mp.log(x) - x - mp.loggamma(a))


def igamma_grad_a(a: Real, x: Real) -> Real:
    """The derivative of `igamma` by its first operand."""
    if a.nan or x.nan or a <= 0 or x < 0 or (a.special and x.special):
        return NAN
    if x.zero or x.special or a.special:
        return number(ZERO)
    return conditioned(_by_a, a, x)


def _by_a(a: Any, x: Any) -> Any:
    mp = mpmath()
    if a < LEAST:
        return -mp.e1(x)
    if max(a, x) > SERIES and _near(a, x):
        change = mp.log(x) - mp.digamma(a)
        share, moment = _integral(a, x, False), _integral(a, x, True)
        return share * change - moment if x <= a else -(share * change + moment)
    with mp.workprec(3 * mp.prec + 2 * int(abs(mp.log(max(a, x, 1), 2)))):
        # A central difference, whose error is the square of the step.
        step = min(a, 1) * mp.ldexp(1, -400)
        if x <= a:
            low, high = (_lower(at, x) for at in (a - step, a + step))
        else:
            high, low = (_upper(at, x) for at in (a - step, a + step))
        return (high - low) / (2 * step)


def random_gamma_grad(a: Real, x: Real) -> Real:
    """The derivative of a sample x of the gamma distribution by its a."""
    if a.nan or x.nan or a <= 0 or x < 0 or a.special or x.special:
        return NAN
    if x.zero:
        return number(ZERO)
    return conditioned(_by_a_of_samples, a, x)


def _by_a_of_samples(a: Any, x: Any) -> Any:
    mp = mpmath()
    # The exponent has as many more digits before its point.
    with mp.workprec(mp.prec + 2 * int(abs(mp.log(max(a, x), 2)))):
        height = mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
    return -_by_a(a, x) / height


def betainc(a: Real, b: Real, x: Real) -> Real:
    """The share of beta(a, b) that the integral has from 0 to x."""
    if a.nan or b.nan or x.nan or a < 0 or b < 0 or x < 0 or x > 1:
        return NAN
    if (a.zero and b.zero) or (a.special and b.special):
        return NAN
    if x.zero or x == 1:
        return number(ZERO if x.zero else ONE)
    if a.zero or b.special:
        return number(ONE)
    if b.zero or a.special:
        return number(ZERO)
    return conditioned(_betainc, a, b, x)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    mp = mpmath()
    x = min(x, mp.one)  # nothing changes beyond, where a difference may reach
    if max(a, b) <= SERIES:
        return mp.betainc(a, b, 0, x, regularized=True)
    lower = x * (a + b + 2) <= a + 1
    with mp.workprec(mp.prec + 3 * int(mp.log(a + b, 2) + 1)):
        if not lower:
            a, b, x = b, a, 1 - x
        scale = mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b)
        term = mp.exp(scale + a * mp.log(x) + b * mp.log1p(-x))
        share = mp.mpf(0)
        while a < 8:  # with a large one the integrand has no corners
            share += term
            term *= x * (a + b) / (a + 1)
            a += 1
        c = abs(a * (1 - x) - b * x)
        width = 2 / (c + mp.sqrt(c * c + 2 * (a + b) * x * (1 - x)))

        def height(t: Any) -> Any:
            fall = mp.log1p(x * mp.expm1(-t))
            return mp.exp(-a * (t + fall) - b * fall)

        ends = [width * k for k in (0, 1, 3, 8, 20, 60, 160, 500)]
        share += area(height, ends) * term * a
        return share if lower else 1 - share


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lgamma": lgamma,
    "digamma": digamma,
    "bessel_i0e": bessel_i0e,
    "bessel_i1e": bessel_i1e,
    "zeta": zeta,
    "polygamma": polygamma,
    "igamma": igamma,
    "igammac": igammac,
    "igamma_grad_a": igamma_grad_a,
    "random_gamma_grad": random_gamma_grad,
    "betainc": betainc,
}
