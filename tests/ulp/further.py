"""The polynomials of inverse circular functions, of tangents and of error functions.

python tests/ulp/further.py [name ...] prints coefficients, as `minimax` does.
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

from ulp.minimax import HIGH, LOW, Fit, show

SMALL = mpf(2) ** -60
LOG2 = mpmath.log(2)


@cache
def atan(z: Any) -> Any:
    """atan(t) / t at z = t**2."""
    t = mpmath.sqrt(z)
    return mpmath.atan(t) / t if z > SMALL else 1 - z / 3


@cache
def asin(z: Any) -> Any:
    """asin(t) / t at z = t**2."""
    t = mpmath.sqrt(z)
    return mpmath.asin(t) / t if z > SMALL else 1 + z / 6


@cache
def tan(z: Any) -> Any:
    """tan(t) / t at z = t**2."""
    t = mpmath.sqrt(z)
    return mpmath.tan(t) / t if z > SMALL else 1 + z / 3


@cache
def quarter_tan(z: Any) -> Any:
    """tan(pi / 2 f) / f at z = f**2."""
    return tan(z * (mpmath.pi / 2) ** 2) * mpmath.pi / 2


@cache
def log2_erfc(a: Any) -> Any:
    """log2(erfc(a)) / a."""
    first = -2 / mpmath.sqrt(mpmath.pi) / LOG2
    return mpmath.log(mpmath.erfc(a), 2) / a if a > SMALL else first


@cache
def in_erf(a: Any) -> Any:
    """The weight of P for relative errors of 1 - 2**(a P(a)), which is erf(a)."""
    share = a / mpmath.erf(a) if a > SMALL else mpmath.sqrt(mpmath.pi) / 2
    return share * LOG2 * mpmath.erfc(a)


@cache
def log2_ratio(f: Any) -> Any:
    """log2(1 + f) / f."""
    return mpmath.log(1 + f, 2) / f if abs(f) > SMALL else 1 / LOG2


@cache
def scaled_erfc(t: Any, c: int) -> Any:
    """exp(x**2) erfc(x) / t at t = c / (c + x)."""
    x = c / t - c
    return mpmath.erfc(x) * mpmath.exp(x * x) / t


@cache
def erf_inv(w: Any) -> Any:
    """erf_inv(x) / x at w = -log(1 - x**2)."""
    x = mpmath.sqrt(-mpmath.expm1(-w))
    return mpmath.erfinv(x) / x if w > SMALL else mpmath.sqrt(mpmath.pi) / 2


def tail(f: Any, first: Any) -> Any:
    """(f(z) - 1) / z, and its limit at 0."""
    return lambda z: (f(z) - 1) / z if z > SMALL else first


ONE, THIRD, SIXTH = mpf(1), mpf(1) / 3, mpf(1) / 6
ATAN, ASIN, TAN = tail(atan, -THIRD), tail(asin, SIXTH), tail(tan, THIRD)
EIGHTH_TURN = (mpmath.pi / 4 * mpf("1.0001")) ** 2


def relatively(f: Any, low: Any, high: Any, count: int, bits: int = 53) -> Fit:
    """A fit of least relative error, whose coefficients are rounded all at once."""
    return Fit(f, lambda x: 1 / f(x), low, high, count, bits, 160, False)


def behind_one(f: Any) -> Any:
    """The weight of P for relative errors of 1 + z P(z)."""
    return lambda z: (z + mpf(2) ** -30) / f(z)


FITS = {
    "atan_f32": Fit(ATAN, behind_one(atan), mpf(0), ONE, 8, 24),
    "atan_f64": Fit(ATAN, behind_one(atan), mpf(0), ONE, 20, 53, 160, False),
    "asin_f32": Fit(ASIN, behind_one(asin), mpf(0), ONE / 4, 5, 24),
    "asin_f64": Fit(ASIN, behind_one(asin), mpf(0), ONE / 4, 12, 53, 160, False),
    "tan_f32": relatively(quarter_tan, mpf(0), mpf("0.5315") ** 2, 8),
    "tan_f64": Fit(TAN, behind_one(tan), mpf(0), EIGHTH_TURN, 14, 53, 160, False),
    "erf_f32": Fit(log2_erfc, in_erf, mpf(0), mpf("3.93"), 8, 24, 150),
    "erfc_f32": relatively(lambda t: scaled_erfc(t, mpf(3)), 3 / mpf("13.1"), ONE, 11),
    "erfc_f64": relatively(
        lambda v: scaled_erfc(v + mpf("0.3125"), mpf(3)),
        3 / mpf("31.1") - mpf("0.3125"),
        mpf("0.6875"),
        23,
    ),
    "erf_inv_f32_log2": Fit(
        log2_ratio, lambda f: abs(f) + mpf("1e-6"), LOW, HIGH, 8, 24, 120
    ),
    "erf_inv_f32_low": relatively(
        lambda u: erf_inv(u * LOG2), mpf(0), mpf("7.25"), 9, 24
    ),
    "erf_inv_f32_high": relatively(
        lambda v: erf_inv((v + mpf("3.75")) ** 2 * LOG2),
        mpmath.sqrt(mpf("7.2")) - mpf("3.75"),
        mpf("4.8") - mpf("3.75"),
        9,
        24,
    ),
    "erf_inv_f64_low": relatively(
        lambda v: erf_inv(v + mpf("0.5")), mpf("-0.5"), mpf("4.501"), 21
    ),
    "erf_inv_f64_middle": relatively(
        lambda v: erf_inv((v + 3) ** 2), mpmath.sqrt(5) - 3, mpmath.sqrt(14) - 3, 21
    ),
    "erf_inv_f64_high": relatively(
        lambda v: erf_inv((v + mpf("4.9375")) ** 2),
        mpmath.sqrt(14) - mpf("4.9375"),
        mpf("6.07") - mpf("4.9375"),
        21,
    ),
}


def main() -> None:
    """Print the polynomials."""
    show(FITS, sys.argv[1:])


if __name__ == "__main__":
    main()
