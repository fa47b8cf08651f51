"""The polynomials of `traceir_numba.vecmath`: least greatest error, by Remez' exchange.

python tests/ulp/minimax.py [name ...] prints coefficients, lowest power first. Each is
rounded to its dtype and those after it are fitted again to what is left.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
from mpmath import mpf

Real = Callable[[Any], Any]
mpmath.mp.prec = 400
TINY = mpf(2) ** -100


@dataclass(frozen=True)
class Fit:
    """A function on an interval, its weight, and how many powers have how many bits.

    `digits` are the bits of the numbers that the search itself works with. Where the
    error of rounding all coefficients at once does not matter, nothing is fitted again.
    """

    function: Real
    weight: Real
    low: Any
    high: Any
    count: int
    bits: int
    digits: int = 400
    again: bool = True


def exchange(f: Real, fit: Fit, powers: list[int]) -> tuple[list[Any], Any]:
    """Coefficients for some powers, and the greatest weighted error."""
    a, b, n = fit.low, fit.high, len(powers)
    f, weight = cache(f), cache(fit.weight)

    def at(turn: Any) -> Any:
        return (a + b) / 2 - (b - a) / 2 * mpmath.cos(turn)

    nodes = [at(mpmath.pi * (2 * i + 1) / (2 * n + 2)) for i in range(n + 1)]
    size = 60 * (n + 1)
    points = [at(mpmath.pi * i / size) for i in range(size + 1)]
    found: list[Any] = []
    errors = [mpmath.inf]
    for _ in range(12):
        rows = [
            [x**p for p in powers] + [(-1) ** i / weight(x)]
            for i, x in enumerate(nodes)
        ]
        matrix, values = mpmath.matrix(rows), mpmath.matrix([f(x) for x in nodes])
        try:
            found = list(mpmath.lu_solve(matrix, values))[:n]
        except ZeroDivisionError:
            break
        errors = [
            weight(x) * (f(x) - sum(c * x**p for c, p in zip(found, powers)))
            for x in points
        ]
        extrema: list[tuple[Any, Any]] = []
        for x, e in zip(points, errors):
            if not extrema or (e > 0) != (extrema[-1][1] > 0):
                extrema.append((x, e))
            elif abs(e) > abs(extrema[-1][1]):
                extrema[-1] = x, e
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        sizes = [abs(e) for _, e in extrema]
        if len(extrema) < n + 1 or max(sizes) < min(sizes) * 1.0001:
            break
        nodes = [x for x, _ in extrema]
    return found, max(map(abs, errors))


def coefficients(fit: Fit) -> list[float]:
    """Rounded coefficients."""
    with mpmath.workprec(fit.digits):
        return _coefficients(fit)


def _coefficients(fit: Fit) -> list[float]:
    left, powers, result = fit.function, list(range(fit.count)), []
    found, error = exchange(left, fit, powers)
    if not fit.again:
        return [float(c) for c in found]
    while powers:
        with mpmath.workprec(fit.bits):
            c, power = +found[0], powers.pop(0)
        result.append(float(c))
        left = _minus(left, c, power)
        found = found[1:]
        if powers:
            again, least = exchange(left, fit, powers)
            # When rounding is most of the error there is nothing left to fit.
            found, error = (again, least) if least < 4 * error else (found, error)
    return result


def greatest(fit: Fit, found: Sequence[float]) -> float:
    """The binary logarithm of the greatest weighted error of some coefficients."""
    with mpmath.workprec(fit.digits):
        step = (fit.high - fit.low) / 2000
        points = [fit.low + step * i for i in range(2001)]
        sums = (sum(c * x**p for p, c in enumerate(found)) for x in points)
        errors = (fit.function(x) - total for x, total in zip(points, sums))
        most = max(abs(fit.weight(x) * e) for x, e in zip(points, errors))
        return float(mpmath.log(most, 2))


def _minus(f: Real, c: Any, power: int) -> Real:
    return lambda x: f(x) - c * x**power


# -- the functions --------------------------------------------------------------------


def exp_tail(x: Any) -> Any:
    """(e**x - 1 - x) / x**2."""
    return (mpmath.exp(x) - 1 - x) / x**2 if abs(x) > TINY else mpf(1) / 2


def exp2_tail(x: Any) -> Any:
    """(2**x - 1) / x."""
    return (mpf(2) ** x - 1) / x if abs(x) > TINY else mpmath.log(2)


def log_tail(x: Any) -> Any:
    """(log(1 + x) - x + x**2 / 2) / x**3."""
    return (mpmath.log(1 + x) - x + x * x / 2) / x**3 if abs(x) > TINY else mpf(1) / 3


def artanh(z: Any) -> Any:
    """2 artanh(q) / q at z = q**2."""
    q = mpmath.sqrt(z)
    return mpmath.log((1 + q) / (1 - q)) / q


def sinpi(z: Any) -> Any:
    """sin(pi f) / f at z = f**2."""
    f = mpmath.sqrt(z)
    return mpmath.sin(mpmath.pi * f) / f


def sin_tail(z: Any) -> Any:
    """(sin(y) / y - 1) / z at z = y**2."""
    return (mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


def cos_tail(z: Any) -> Any:
    """(cos(y) - 1) / z at z = y**2."""
    return (mpmath.cos(mpmath.sqrt(z)) - 1) / z


def sinh_tail(z: Any) -> Any:
    """(sinh(r) / r - 1) / z at z = r**2."""
    return (mpmath.sinh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


def tanh_tail(z: Any) -> Any:
    """(tanh(h) / h - 1) / z at z = h**2."""
    return (mpmath.tanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


def cosh_tail(z: Any) -> Any:
    """(cosh(r) - 1) / z at z = r**2."""
    return (mpmath.cosh(mpmath.sqrt(z)) - 1) / z


HALF = mpmath.log(2) / 2 * mpf("1.0001")
# Not the mirrored interval, on which some errors have too few extrema.
ABOVE = HALF * mpf("1.0003")
LOW, HIGH = mpmath.sqrt(mpf(1) / 2) - 1, mpmath.sqrt(2) - 1
Q = (HIGH / (HIGH + 2)) ** 2 * mpf("1.0001")
Y = (mpmath.pi / 4 * mpf("1.0001")) ** 2
R = (mpmath.log(2) * mpf("0.7007")) ** 2
H = (mpmath.log(2) * mpf("0.8007")) ** 2 / 4
FITS = {
    "exp_f32": Fit(exp_tail, lambda x: x * x + 1e-9, -HALF, HALF, 5, 24),
    "exp_f64": Fit(exp_tail, lambda x: x * x + 1e-14, -HALF / 64, HALF / 64, 4, 53),
    "exp2_f32": Fit(
        exp2_tail, lambda x: abs(x) + 1e-6, mpf("-0.5001"), mpf("0.5002"), 6, 24
    ),
    "exp2_f64": Fit(
        exp2_tail, lambda x: abs(x) + 1e-12, mpf(-1) / 127, mpf("1.0003") / 127, 5, 53
    ),
    "sinh_f32": Fit(sinh_tail, lambda z: z, mpf(2) ** -40, R, 3, 24),
    "sinh_f64": Fit(sinh_tail, lambda z: z, mpf(2) ** -40, R, 6, 53),
    "cosh_f32": Fit(cosh_tail, lambda z: z, mpf(2) ** -40, R, 3, 24),
    "cosh_f64": Fit(cosh_tail, lambda z: z, mpf(2) ** -40, R, 6, 53),
    "tanh_f32": Fit(tanh_tail, lambda z: z, mpf(2) ** -40, H, 3, 24),
    "tanh_f64": Fit(tanh_tail, lambda z: z, mpf(2) ** -40, H, 8, 53),
    "cbrt": Fit(
        mpmath.cbrt, lambda m: 1 / mpmath.cbrt(m), mpf("0.4999"), mpf("4.0001"), 6, 53
    ),
    "expm1_f32": Fit(exp_tail, lambda x: abs(x) + 1e-9, -HALF, ABOVE, 6, 24),
    "expm1_f64": Fit(exp_tail, lambda x: abs(x) + 1e-12, -HALF / 64, ABOVE / 64, 5, 53),
    "log_f32": Fit(
        log_tail,
        lambda x: x**3 / mpmath.log(1 + x) + 1e-12 if abs(x) > TINY else mpf(1e-12),
        LOW,
        HIGH,
        8,
        24,
    ),
    "log_f64": Fit(lambda z: (artanh(z) - 2) / z, lambda z: z / 2, 2**-40, Q, 7, 53),
    "sin_f32": Fit(sinpi, lambda z: 1 / sinpi(z), TINY, mpf("0.516") ** 2, 6, 53),
    "sin_f64": Fit(sin_tail, lambda z: z, mpf(2) ** -40, Y, 6, 53),
    "cos_f64": Fit(cos_tail, lambda z: z, mpf(2) ** -40, Y, 7, 53),
    "pow_f32_log2": Fit(
        lambda z: artanh(z) / mpmath.log(2), lambda z: 1 / artanh(z), TINY, Q, 6, 53
    ),
    "pow_f32_exp2": Fit(
        exp2_tail,
        lambda x: (abs(x) + 1e-6) * mpf(2) ** -x,
        mpf("-0.5001"),
        mpf("0.5002"),
        6,
        53,
    ),
    "pow_f64_log": Fit(
        log_tail, lambda x: x * x + 1e-14, mpf("-0.00477"), mpf("0.004771"), 6, 53
    ),
}


def show(fits: Mapping[str, Fit], names: Sequence[str]) -> None:
    """Print some polynomials, or all."""
    for name in names or fits:
        found = coefficients(fits[name])
        error = greatest(fits[name], found)
        print(f"{name}: error 2**{error:.1f}", *map(repr, found), sep="\n    ")


def main() -> None:
    """Print the polynomials."""
    show(FITS, sys.argv[1:])


if __name__ == "__main__":
    main()
