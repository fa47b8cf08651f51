"""The polynomials of the logarithm of gamma, its derivative and the Bessel functions.

python tests/ulp/gammas.py [name ...] prints coefficients, as `minimax` does.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mpf

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from ulp.further import relatively
from ulp.minimax import Fit, show

TINY = mpf(2) ** -60


def argument(t: Any) -> Any:
    """The x of t = (x - 2) / (x + 2)."""
    return 2 * (1 + t) / (1 - t)


@cache
def root_of_digamma() -> Any:
    """The only positive zero of the derivative of log gamma."""
    with mpmath.workprec(400):
        return mpmath.findroot(mpmath.digamma, mpf("1.4616321449683622"))


@cache
def log_gamma(t: Any) -> Any:
    """log gamma(x) / ((x - 1) (x - 2)) at t."""
    x = argument(t)
    for zero, limit in ((1, mpmath.euler), (2, 1 - mpmath.euler)):
        if abs(x - zero) < TINY:
            return +limit
    return mpmath.loggamma(x) / ((x - 1) * (x - 2))


@cache
def digamma(t: Any) -> Any:
    """The derivative of log gamma at x, by x less where that is zero."""
    x, root = argument(t), root_of_digamma()
    if abs(x - root) < TINY:
        return mpmath.psi(1, root)
    return mpmath.digamma(x) / (x - root)


@cache
def stirling(z: Any) -> Any:
    """The coefficients s of u log u - u + log(2 pi) / 2 - s / u, at z = 1 / u**2.

    It is log gamma(u + 1/2).
    """
    if z < TINY:
        return mpf(1) / 24
    u = 1 / mpmath.sqrt(z)
    with mpmath.workprec(600):
        rest = u * mpmath.log(u) - u + mpmath.log(2 * mpmath.pi) / 2
        return u * (rest - mpmath.loggamma(u + mpf(0.5)))


@cache
def slope(z: Any) -> Any:
    """(digamma(u + 1/2) - log u) u**2 at z = 1 / u**2."""
    if z < TINY:
        return mpf(1) / 24
    u = 1 / mpmath.sqrt(z)
    with mpmath.workprec(600):
        return (mpmath.digamma(u + mpf(0.5)) - mpmath.log(u)) * u * u


@cache
def bessel(n: int, z: Any) -> Any:
    """I_n(x) / (x / 2)**n at z = x**2."""
    return mpmath.hyp0f1(n + 1, z / 4)


@cache
def bessel_far(n: int, w: Any) -> Any:
    """exp(-x) I_n(x) times the root of x, at w = 8 / x - 1 / 2."""
    v = w + mpf(0.5)
    if v < TINY:
        return 1 / mpmath.sqrt(2 * mpmath.pi)
    x = 8 / v
    with mpmath.workprec(300):
        return mpmath.besseli(n, x) * mpmath.exp(-x) * mpmath.sqrt(x)


@cache
def sin_pi(z: Any) -> Any:
    """sin(pi n) / n at z = n**2."""
    n = mpmath.sqrt(z)
    return mpmath.sin(mpmath.pi * n) / n if z > TINY else +mpmath.pi


@cache
def cos_pi(z: Any) -> Any:
    """cos(pi n) / (1/4 - n**2) at z = n**2."""
    with mpmath.workprec(600):
        n, rest = mpmath.sqrt(z), mpf(0.25) - z
        return mpmath.cos(mpmath.pi * n) / rest if rest > TINY**2 else +mpmath.pi


EDGE, HALF, FAR = mpf("0.6"), mpf("0.5"), 1 / mpf("7.5") ** 2
FITS: dict[str, Fit] = {
    "lgamma_f64": relatively(log_gamma, -EDGE, EDGE, 34),
    "lgamma_f32": relatively(log_gamma, -EDGE, EDGE, 16),
    "lgamma_far": relatively(stirling, mpf(0), FAR, 8),
    "digamma_f64": relatively(digamma, -EDGE, EDGE, 37),
    "digamma_f32": relatively(digamma, -EDGE, EDGE, 18),
    "digamma_far": relatively(slope, mpf(0), FAR, 8),
    "sin_pi": relatively(sin_pi, mpf(0), mpf(0.25), 9),
    "cos_pi": relatively(cos_pi, mpf(0), mpf(0.25), 9),
    "i0e_f64": relatively(lambda z: bessel(0, z), mpf(0), mpf(64), 16),
    "i1e_f64": relatively(lambda z: bessel(1, z), mpf(0), mpf(64), 15),
    "i0e_f32": relatively(lambda z: bessel(0, z), mpf(0), mpf(64), 11),
    "i1e_f32": relatively(lambda z: bessel(1, z), mpf(0), mpf(64), 10),
    "i0e_far_f64": relatively(lambda w: bessel_far(0, w), -HALF, HALF, 24),
    "i1e_far_f64": relatively(lambda w: bessel_far(1, w), -HALF, HALF, 24),
    "i0e_far_f32": relatively(lambda w: bessel_far(0, w), -HALF, HALF, 7),
    "i1e_far_f32": relatively(lambda w: bessel_far(1, w), -HALF, HALF, 7),
}


if __name__ == "__main__":
    show(FITS, sys.argv[1:])
