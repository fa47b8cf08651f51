"""Functions of `traceir.scipy.special` and derivatives, in mpmath's terms.

Each with its grid and, where it is made of larger terms or is the exponential of a sum
of logarithms, with what roundings of these make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from traceir.exact import gammas
from traceir.exact.digits import from_mp, mpmath, to_mp
from traceir.exact.reals import Real

Grid = list[np.ndarray]
Of = Callable[..., Real]
Random = np.random.Generator


def of(function: Callable[..., Any], terms: Callable[..., Any] | None = None) -> Of:
    """A function of mpmath's numbers as one of reals; `terms` is what it is made of."""

    def at(*xs: Real) -> Real:
        found = gammas.conditioned(lambda *values: function(mpmath(), *values), *xs)
        if terms is None:
            return found
        with mpmath().workprec(gammas.DIGITS):
            made = terms(mpmath(), *(to_mp(x.value) for x in xs))
            more = from_mp(mpmath().mpf(made)).value
        return replace(found, magnitude=found.magnitude + abs(more))

    return at


def exponential(signed: Callable[..., Any], *logs: Callable[..., Any]) -> Of:
    """The exponential of a sum of these logarithms."""

    def terms(mp: Any, *xs: Any) -> Any:
        return signed(mp, *xs) * sum(abs(log(mp, *xs)) for log in logs)

    return of(signed, terms)


def _lg(mp: Any, x: Any) -> Any:
    return mp.re(mp.loggamma(x))


def _thirds(mp: Any, a: Any) -> list[Any]:
    return [_lg(mp, a - mp.mpf(k) / 2) for k in range(3)]


def _powers(low: float, high: float, n: int = 24) -> np.ndarray:
    return np.logspace(np.log10(low), np.log10(high), n)


def _both(low: float, high: float, n: int = 16) -> np.ndarray:
    return np.concatenate([-_powers(low, high, n), _powers(low, high, n)])


def column(*parts: np.ndarray) -> Callable[[Random], Grid]:
    """A grid of one operand."""
    return lambda random: [np.concatenate(parts)]


def square(first: np.ndarray, other: np.ndarray) -> Callable[[Random], Grid]:
    """All pairs."""
    return lambda random: [np.repeat(first, len(other)), np.tile(other, len(first))]


SOME, FORMS = _powers(1e-3, 1e3, 7), _powers(1e-2, 200, 7)
SHARES = np.concatenate([_powers(1e-30, 0.1, 16), np.linspace(0.12, 0.999, 16)])
EXPONENTS = np.array([1.01, 1.5, 2.0, 4.5, 12.0, 40.0])
GAMMAS = np.concatenate([_powers(1e-6, 30), -np.linspace(0.1, 6.9, 20)])


def _log_ndtr(mp: Any, x: Any) -> Any:
    if x > 0:
        return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def _ndtri(mp: Any, p: Any) -> Any:
    if p > 0.5:
        return -_ndtri(mp, 1 - p)
    wanted = mp.log(p)
    z = -mp.sqrt(-2 * wanted) if p < 0.1 else 2.5 * (p - 0.5)
    for _ in range(60):
        now = _log_ndtr(mp, z)
        step = (now - wanted) * mp.exp(now + z * z / 2) * mp.sqrt(2 * mp.pi)
        z -= step
        if abs(step) < mp.eps * abs(z):
            break
    return z


def _beta(mp: Any, a: Any, b: Any) -> Any:
    return mp.exp(_log_beta(mp, a, b))


def _log_beta(mp: Any, a: Any, b: Any) -> Any:
    return _lg(mp, a) + _lg(mp, b) - _lg(mp, a + b)


def _comb(mp: Any, n: Any, k: Any) -> Any:
    return mp.exp(_lg(mp, n + 1) - _lg(mp, k + 1) - _lg(mp, n - k + 1))


def _choices(random: Random) -> Grid:
    n = np.repeat(np.array([1.0, 2.0, 5.0, 10.0, 34.5, 60.0]), 6)
    return [n, np.floor(n * np.tile(np.linspace(0, 1, 6), 6))]


def _entropy(mp: Any, p: Any, q: Any) -> Any:
    return p * mp.log(p / q)


def _box(mp: Any, x: Any, power: Any) -> Any:
    return (x**power - 1) / power


def _density(mp: Any, a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _density_logs(mp: Any, a: Any, x: Any) -> Any:
    return abs((a - 1) * mp.log(x)) + x + abs(mp.loggamma(a))


def _made(mp: Any, a: Any, x: Any) -> Any:
    return _density(mp, a, x) * _density_logs(mp, a, x)


def _beta_density(mp: Any, a: Any, b: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - _log_beta(mp, a, b))


def _beta_logs(mp: Any, a: Any, b: Any, x: Any) -> Any:
    logs = abs((a - 1) * mp.log(x)) + abs((b - 1) * mp.log1p(-x))
    return logs + sum(abs(_lg(mp, v)) for v in (a, b, a + b))


def _zeta(mp: Any, x: Any, q: Any, order: int = 0) -> Any:
    with mp.workprec(900):  # it is exact in digits after the point
        return mp.zeta(x, q, order)


def _bessel(mp: Any, n: int, x: Any) -> Any:
    return mp.besseli(n, x) * mp.exp(-abs(x))


FACES: dict[str, tuple[Of, Callable[[Random], Grid]]] = {
    "i0": (of(lambda mp, x: mp.besseli(0, x)), column(_both(1e-3, 80))),
    "i1": (of(lambda mp, x: mp.besseli(1, x)), column(_both(1e-3, 80))),
    "gamma": (exponential(lambda mp, x: mp.gamma(x), _lg), column(GAMMAS)),
    "factorial": (
        exponential(
            lambda mp, n: mp.gamma(n + 1),
            lambda mp, n: _lg(mp, n + 1),
        ),
        column(np.arange(0.0, 30), np.linspace(0.1, 9.9, 12)),
    ),
    "multigammaln": (
        of(
            lambda mp, a: sum(_thirds(mp, a)) + 3 * mp.log(mp.pi) / 2,
            lambda mp, a: sum(map(abs, _thirds(mp, a))) + 3 * mp.log(mp.pi) / 2,
        ),
        column(np.linspace(1.01, 6, 16), _powers(6, 1e5, 8)),
    ),
    "ndtr": (of(lambda mp, x: mp.ncdf(x)), column(_both(1e-3, 11), np.array([-1.0]))),
    "log_ndtr": (of(_log_ndtr), column(-_powers(1e-3, 400), _powers(1e-3, 10, 16))),
    "ndtri": (of(_ndtri), column(SHARES)),
    "logit": (of(lambda mp, p: mp.log(p / (1 - p))), column(SHARES)),
    "entr": (of(lambda mp, x: -x * mp.log(x)), column(_powers(1e-5, 1e3, 40))),
    "beta": (
        exponential(
            _beta,
            lambda mp, a, b: _lg(mp, a),
            lambda mp, a, b: _lg(mp, b),
            lambda mp, a, b: _lg(mp, a + b),
        ),
        square(_powers(1e-2, 20, 6), _powers(1e-2, 20, 6)),
    ),
    "betaln": (
        of(_log_beta, lambda mp, a, b: abs(_lg(mp, min(a, b))) + 1),
        square(FORMS, _powers(1e-2, 1e5, 7)),
    ),
    "comb": (
        exponential(
            _comb,
            lambda mp, n, k: _lg(mp, n + 1),
            lambda mp, n, k: _lg(mp, k + 1),
            lambda mp, n, k: _lg(mp, n - k + 1),
        ),
        _choices,
    ),
    "poch": (
        exponential(
            lambda mp, z, m: mp.rf(z, m),
            lambda mp, z, m: _lg(mp, z),
            lambda mp, z, m: _lg(mp, z + m),
        ),
        square(_powers(1e-2, 15, 6), _powers(1e-2, 10, 6)),
    ),
    "xlogy": (of(lambda mp, x, y: x * mp.log(y)), square(SOME, SOME)),
    "xlog1py": (of(lambda mp, x, y: x * mp.log1p(y)), square(SOME, _powers(1e-9, 9))),
    "boxcox": (of(_box), square(SOME, np.array([-2.0, -0.3, 1e-9, 0.5, 3.0]))),
    "boxcox1p": (
        of(lambda mp, x, power: mp.expm1(power * mp.log1p(x)) / power),
        square(_powers(1e-9, 1e3, 8), np.array([-2.0, -0.3, 1e-9, 0.5, 3.0])),
    ),
    "rel_entr": (
        of(_entropy, lambda mp, p, q: p * (abs(mp.log(p)) + abs(mp.log(q)))),
        square(SOME, SOME * 1.25),
    ),
    "kl_div": (
        of(
            lambda mp, p, q: _entropy(mp, p, q) - p + q,
            lambda mp, p, q: p * (abs(mp.log(p)) + abs(mp.log(q)) + 1) + q,
        ),
        square(SOME, SOME * 1.25),
    ),
    "logsumexp": (
        of(lambda mp, x, y: mp.log(mp.exp(x) + mp.exp(y)), lambda mp, x, y: 1),
        square(_both(1e-3, 80, 4), _both(1e-2, 60, 4)),
    ),
    "log_softmax": (
        of(lambda mp, x, y: -mp.log1p(mp.exp(y - x)), lambda mp, x, y: 1),
        square(_both(1e-3, 80, 4), _both(1e-2, 60, 4)),
    ),
    "softmax": (
        of(lambda mp, x, y: 1 / (1 + mp.exp(y - x))),
        square(_both(1e-3, 30, 4), _both(1e-2, 20, 4)),
    ),
}

# Derivatives, by the name of the function and which operand they are by.
DENSITY = exponential(_density, _density_logs)
SLOPES: dict[str, tuple[Of, Callable[[Random], Grid]]] = {
    "gammaln/0": (gammas.digamma, column(GAMMAS)),
    "digamma/0": (of(lambda mp, x: mp.psi(1, x)), column(GAMMAS)),
    "zeta/0": (
        of(lambda mp, x, q: _zeta(mp, x, q, 1)),
        square(EXPONENTS, _powers(1e-2, 200, 7)),
    ),
    "zeta/1": (
        of(lambda mp, x, q: -x * _zeta(mp, x + 1, q)),
        square(EXPONENTS, _powers(1e-2, 200, 7)),
    ),
    "polygamma/1": (
        lambda n, x: gammas.polygamma(n + Real.of(1.0), x),
        square(np.arange(1.0, 6), _powers(1e-2, 1e2, 8)),
    ),
    "i0e/0": (
        of(
            lambda mp, x: _bessel(mp, 1, x) - mp.sign(x) * _bessel(mp, 0, x),
            lambda mp, x: _bessel(mp, 0, x),
        ),
        column(_both(1e-3, 80)),
    ),
    "i1e/0": (
        of(
            lambda mp, x: _bessel(mp, 0, x) - _bessel(mp, 1, x) * (mp.sign(x) + 1 / x),
            lambda mp, x: _bessel(mp, 0, x),
        ),
        column(_both(1e-3, 80)),
    ),
    "gammainc/0": (gammas.igamma_grad_a, square(FORMS, FORMS)),
    "gammainc/1": (DENSITY, square(FORMS, FORMS)),
    "gammaincc/1": (
        of(lambda mp, a, x: -_density(mp, a, x), lambda mp, a, x: _made(mp, a, x)),
        square(FORMS, FORMS),
    ),
    "betainc/2": (
        exponential(_beta_density, _beta_logs),
        lambda random: [
            np.repeat(FORMS, 28),
            np.tile(np.repeat(FORMS, 4), 7),
            np.tile(np.array([1e-3, 0.25, 0.5, 0.9375]), 49),
        ],
    ),
}
