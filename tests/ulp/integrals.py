"""Integrals and Bessel functions of `traceir.scipy.special`, as in `faces`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ulp.faces import Grid, Of, Random, _both, _powers, column, of, square


def _dawson(mp: Any, x: Any) -> Any:
    return mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2


def _scaled(mp: Any, x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def _spence(mp: Any, x: Any) -> Any:
    if x > 2:
        return -(mp.log(x) ** 2) / 2 - _spence(mp, 1 / x)
    return mp.re(mp.polylog(2, 1 - x))


def _owen(mp: Any, h: Any, a: Any) -> Any:
    end = mp.sign(a) * min(abs(a), 20 / abs(h))
    points = [end * k / 8 for k in range(9)]

    def at(t: Any) -> Any:
        return mp.exp(-((h * t) ** 2) / 2) / (1 + t * t)

    with mp.workprec(110):
        found = mp.quad(at, points)
    return found * mp.exp(-h * h / 2) / (2 * mp.pi)


def _orders(random: Random) -> Grid:
    """Orders, and points on both sides of 1, where the method changes."""
    points = np.concatenate([_powers(1e-3, 60, 12), np.linspace(0.7, 1.3, 5)])
    return square(np.array([0.0, 1, 2, 3, 5, 12, 40]), points)(random)


def _confluent(mp: Any, a: Any, b: Any, x: Any) -> Any:
    """The sum of the terms, without their signs."""
    return 0 if x > 0 else mp.exp(x) * mp.hyp1f1(abs(b - a), b, -x)


def _gauss(mp: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    """The sum of the terms, without their signs."""
    return 0 if x > 0 else (1 - x) ** -a * mp.hyp2f1(a, abs(c - b), c, x / (x - 1))


def _confluents(random: Random) -> Grid:
    x = np.concatenate([random.uniform(-80, 80, 40), random.uniform(-4, 4, 20)])
    return [random.uniform(0.1, 9, 60), random.uniform(0.1, 9, 60), x]


def _gausses(random: Random) -> Grid:
    ends = 1 - _powers(1e-4, 0.5, 16)
    x = np.concatenate([random.uniform(-5, 0, 20), random.uniform(0, 0.9, 24), ends])
    return [*random.uniform(0.1, 6, (3, 60)), x]


ZERO = np.linspace(0.36, 0.385, 8)
STEPS = np.linspace(0.4, 11.9, 24)
FACES: dict[str, tuple[Of, Callable[[Random], Grid]]] = {
    "expi": (of(lambda mp, x: mp.ei(x)), column(_both(1e-5, 80), ZERO, STEPS, -STEPS)),
    "exp1": (of(lambda mp, x: mp.e1(x)), column(_powers(1e-5, 80), STEPS)),
    "expn": (of(lambda mp, n, x: mp.expint(n, x)), _orders),
    "sici/0": (of(lambda mp, x: mp.si(x)), column(_both(1e-5, 1e5), STEPS)),
    "sici/1": (
        of(lambda mp, x: mp.ci(x), lambda mp, x: abs(mp.log(x)) / (1 + x / 8)),
        column(_powers(1e-5, 1e5), STEPS),
    ),
    "fresnel/0": (of(lambda mp, x: mp.fresnels(x)), column(_both(1e-5, 1e3), STEPS)),
    "fresnel/1": (of(lambda mp, x: mp.fresnelc(x)), column(_both(1e-5, 1e3), STEPS)),
    "dawsn": (of(_dawson), column(_both(1e-5, 30), STEPS)),
    "erfcx": (of(_scaled), column(_powers(1e-5, 30), -_powers(1e-3, 8, 12), STEPS)),
    "spence": (of(_spence), column(_powers(1e-5, 1e5), 1 + _both(1e-4, 0.6))),
    "owens_t": (
        of(_owen),
        square(_both(1e-2, 12, 5), np.array([-30.0, -0.9, 1e-3, 0.5, 1.0, 1.3, 8.0])),
    ),
    "hyp1f1": (of(lambda mp, a, b, x: mp.hyp1f1(a, b, x), _confluent), _confluents),
    "hyp2f1": (of(lambda mp, a, b, c, x: mp.hyp2f1(a, b, c, x), _gauss), _gausses),
    "bessel_jn/2": (
        of(lambda mp, x: mp.besselj(2, x), lambda mp, x: min(1, x * x)),
        column(_powers(1e-5, 50), STEPS, 4 * STEPS),
    ),
}
