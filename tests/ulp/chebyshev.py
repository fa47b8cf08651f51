"""The polynomials of `traceir.scipy.special`: series of Chebyshev, cut off.

python tests/ulp/chebyshev.py writes `traceir/scipy/special/fits.py` anew. A function is
divided by its growth and taken as one of `u`, so that it is smooth and near a constant;
the ends of the interval are those of `u`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp, mpf

FILE = Path(__file__).parents[2] / "traceir" / "scipy" / "special" / "fits.py"
NODES = 48
# What is left out is below so many parts of the least value, by dtype.
ROUNDING = {"float32": mpf(2) ** -27, "float64": mpf(2) ** -56}
Real = Callable[[Any], Any]
HEAD = '''"""Polynomials of special functions, written by `tests/ulp/chebyshev.py`.

Each has the ends of its interval, which is stretched to that from -1 to 1, and for each
dtype the coefficients, the lowest power first.
"""

from __future__ import annotations
'''


@dataclass(frozen=True)
class Interval:
    """A function of `u`, and between which ends."""

    function: Real
    low: Any
    high: Any


def far(function: Real, low: float, high: float | None = None) -> Interval:
    """A function of x from `low` on, as one of `1 / x`."""
    return Interval(lambda u: function(1 / u), 1 / mpf(high or 1e40), 1 / mpf(low))


def squared(function: Real, low: float, high: float | None = None) -> Interval:
    """A function of x from `low` on, as one of `1 / x**2`."""
    ends = mpf(high or 1e20) ** -2, mpf(low) ** -2
    return Interval(lambda u: function(1 / mp.sqrt(u)), *ends)


def fourth(function: Real, low: float, high: float | None = None) -> Interval:
    """A function of x from `low` on, as one of `1 / x**4`."""
    ends = mpf(high or 1e4) ** -4, mpf(low) ** -4
    return Interval(lambda u: function(mp.root(1 / u, 4)), *ends)


def near(function: Real, high: float, power: int = 2) -> Interval:
    """An even function of x up to `high`, as one of a power of x."""
    return Interval(lambda u: function(mp.root(u, power)), mpf(0), mpf(high) ** power)


def _sines(x: Any) -> tuple[Any, Any]:
    """The auxiliary functions of the sine and cosine integrals, times x and x**2."""
    c, s = mp.ci(x), mp.pi / 2 - mp.si(x)
    return x * (c * mp.sin(x) + s * mp.cos(x)), x**2 * (s * mp.sin(x) - c * mp.cos(x))


def _waves(x: Any) -> tuple[Any, Any]:
    """The auxiliary functions of Fresnel's integrals, times x and x**3; 1 far on."""
    s, c, turn = mpf(0.5) - mp.fresnels(x), mpf(0.5) - mp.fresnelc(x), mp.pi * x**2 / 2
    f = s * mp.cos(turn) - c * mp.sin(turn)
    g = s * mp.sin(turn) + c * mp.cos(turn)
    return mp.pi * x * f, mp.pi**2 * x**3 * g


def _dawson(x: Any) -> Any:
    if x > 20:
        return mp.hyp2f0(1, mpf(0.5), 1 / x**2) / (2 * x)
    return mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2


def _near_dawson(x: Any) -> Any:
    if x == 0:
        return mpf(4) / 3
    return (_dawson(x) * (1 + 2 * x**2) / x - 1) / x**2


@cache
def fits() -> Mapping[str, Interval]:
    """The functions, whose ends are as exact as the work that `written` does."""
    return {
        **{
            f"ei_{k}": far(lambda x: mp.ei(x) * mp.exp(-x) * x, *ends)
            for k, ends in enumerate([(6, 10), (10, 20), (20,)])
        },
        **{
            f"e1_{k}": far(lambda x: mp.e1(x) * mp.exp(x) * x, *ends)
            for k, ends in enumerate([(1, 4), (4,)])
        },
        "si": near(lambda x: mp.si(x) / x, 4),
        "ci": near(lambda x: (mp.ci(x) - mp.euler - mp.log(x)) / x**2, 4),
        "si_f_0": squared(lambda x: _sines(x)[0], 4, 8),
        "si_g_0": squared(lambda x: _sines(x)[1], 4, 8),
        "si_f_1": squared(lambda x: _sines(x)[0], 8),
        "si_g_1": squared(lambda x: _sines(x)[1], 8),
        "fresnel_s": near(lambda x: mp.fresnels(x) / x**3, 1.625, 4),
        "fresnel_c": near(lambda x: mp.fresnelc(x) / x, 1.625, 4),
        "fresnel_f_0": fourth(lambda x: _waves(x)[0], 1.625, 3),
        "fresnel_g_0": fourth(lambda x: _waves(x)[1], 1.625, 3),
        "fresnel_f_1": fourth(lambda x: _waves(x)[0], 3),
        "fresnel_g_1": fourth(lambda x: _waves(x)[1], 3),
        "dawsn_0": near(_near_dawson, 3),
        "dawsn_1": squared(lambda x: _dawson(x) * 2 * x, 3, 6),
        "dawsn_2": squared(lambda x: _dawson(x) * 2 * x, 6),
    }


def series(fit: Interval) -> tuple[list[Any], Any]:
    """Chebyshev's coefficients, and the least magnitude at the nodes."""
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    turns = [mp.pi * (k + mpf(0.5)) / NODES for k in range(NODES)]
    values = [fit.function(middle + half * mp.cos(turn)) for turn in turns]
    found = [
        2 * mp.fsum(v * mp.cos(n * turn) for v, turn in zip(values, turns)) / NODES
        for n in range(NODES)
    ]
    return [found[0] / 2, *found[1:]], min(map(abs, values))


def powers(coefficients: Sequence[Any]) -> list[Any]:
    """The coefficients of powers in a series of Chebyshev's polynomials."""
    now, following = [mpf(1)], [mpf(0), mpf(1)]
    found = [mpf(0)] * len(coefficients)
    for coefficient in coefficients:
        for k, a in enumerate(now):
            found[k] += coefficient * a
        doubled = [mpf(0), *(2 * a for a in following)]
        padded = [*now, *[mpf(0)] * (len(doubled) - len(now))]
        now, following = following, [a - b for a, b in zip(doubled, padded)]
    return found


def cut(coefficients: Sequence[Any], bound: Any) -> Sequence[Any]:
    """The series without an end that adds up to less than the bound."""
    left = mpf(0)
    for k in reversed(range(len(coefficients))):
        left += abs(coefficients[k])
        if left > bound:
            return coefficients[: k + 1]
    return ()


def numbers(name: str, dtype: str) -> Iterator[str]:
    """The lines of the coefficients that a dtype needs."""
    coefficients, least = series(fits()[name])
    kept = powers(cut(coefficients, ROUNDING[dtype] * least))
    texts = [str(np.dtype(dtype).type(number)) for number in kept]
    yield f'    "{name}": ('
    for k in range(0, len(texts), 3):
        row = texts[k : k + 3]
        yield f"        *({', '.join(row)})," if len(row) > 1 else f"        {row[0]},"
    yield "    ),"


def lines() -> Iterator[str]:
    """The lines of the file."""
    yield from (HEAD, "ENDS = {")
    for name, fit in fits().items():
        yield f'    "{name}": ({float(fit.low)!r}, {float(fit.high)!r}),'
    yield "}"
    for dtype in ROUNDING:
        yield f"{dtype.upper()} = {{"
        for name in fits():
            yield from numbers(name, dtype)
        yield "}"


def written() -> str:
    """The whole file."""
    with mp.workprec(160):
        return "".join(f"{line}\n" for line in lines())


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
