"""Hard arguments of the special functions, and what mpmath says of them.

python tests/ulp/hard.py [name ...] writes `records/special.txt.xz` anew: a block for
each function and dtype, in each line the operands, the exact value as 72 bits and an
exponent, and what operands times derivatives add up to. That takes some minutes; tests
read the file.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from recorded import Record
from ulp import faces, integrals

from traceir.exact import gammas
from traceir.exact.reals import NAN, Real, number

FILE = Record("special.txt.xz")
BITS = 72
DTYPES = ("float32", "float64")
Grid = list[np.ndarray]


def _powers(random: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """Numbers of all sizes between."""
    return np.exp(random.uniform(math.log(low), math.log(high), n))


def _near(random: np.random.Generator, n: int) -> np.ndarray:
    """Numbers of both signs, of all sizes from a rounding on up to 1."""
    return random.choice([-1.0, 1.0], n) * 2.0 ** -random.uniform(0, 53, n)


def line(r: np.random.Generator) -> Grid:
    """Of both signs; near poles, and zeros, and where methods change."""
    edges = [0.5, 8.0, -0.5, 7.5, 20.0, 16.0, 0.75, 1.25, 2.75, 1.4616321449683622]
    zeros = [1.0, 2.0, -2.4570247382208005, -2.747682646727413, -0.504083008264455]
    parts = [
        *(r.uniform(-30, 30, 12), r.uniform(-3, 4, 16), _powers(r, 1e-320, 1e308, 12)),
        *(-_powers(r, 1e-320, 1e15, 8), r.integers(-30, 12, 12) + _near(r, 12)),
        *(r.integers(-9, 4, 8) + 0.5 + _near(r, 8), np.linspace(-2.95, -2.05, 12)),
        *(r.choice(edges, 12) * (1 + 0.1 * _near(r, 12)), np.array(edges)),
        *(np.array(zeros), np.repeat(zeros, 2) * (1 + _near(r, 10) / 64)),
    ]
    return [np.concatenate(parts)]


def forms(r: np.random.Generator) -> Grid:
    """Forms and points of incomplete gamma functions."""
    edges = [0.5, 0.9, 1.0, 1.5, 8.0, 12.0, 16.0, 20.0, 120.0, 1e4]
    large, near = _powers(r, 10, 1e9, 12), _powers(r, 1e-2, 1e3, 16)
    a = [
        _powers(r, 1e-3, 1e3, 16),
        near,
        _powers(r, 1e-300, 1e300, 10),
        large,
        _powers(r, 1e-8, 2, 12),
        r.choice(edges, 16) * (1 + _near(r, 16) / 8),
        _powers(r, 1e-3, 300, 12),
        _powers(r, 50, 200, 6),
    ]
    x = [
        _powers(r, 1e-3, 1e3, 16),
        near * _powers(r, 0.3, 3, 16),
        _powers(r, 1e-300, 1e300, 10),
        large + np.sqrt(large) * r.normal(0, 3, 12),
        _powers(r, 1e-12, 5, 12),
        r.choice(edges, 16) * _powers(r, 0.7, 1.5, 16),
        r.uniform(0.9, 1.6, 12),
        _powers(r, 1e-3, 1, 6),
    ]
    return [np.concatenate(a), np.concatenate(x)]


def orders(r: np.random.Generator) -> Grid:
    """Orders and points of polygamma functions."""
    n = [r.integers(1, 12, 24), r.integers(1, 180, 24), r.integers(90, 3000, 16)]
    x = [_powers(r, 1e-3, 1e3, 12), r.uniform(-20, 5, 12), _powers(r, 1e-2, 1e3, 12)]
    x += [r.uniform(-12, 2, 12), _powers(r, 1, 2e3, 16)]
    return [np.concatenate(n).astype(float), np.concatenate(x)]


def exponents(r: np.random.Generator) -> Grid:
    """Exponents and first numbers of sums of powers."""
    s = [1 + _powers(r, 1e-15, 1e3, 20), _powers(r, 1.01, 3e3, 20)]
    s += [r.integers(2, 30, 12), r.integers(2, 800, 12), _powers(r, 1.1, 30, 12)]
    q = [_powers(r, 1e-3, 1e3, 20), _powers(r, 1e-2, 4e2, 20), r.uniform(-20, 5, 24)]
    return [np.concatenate(s), np.concatenate([*q, _powers(r, 1e-30, 1e200, 12)])]


def uneven(r: np.random.Generator) -> Grid:
    """Parameters and ends of incomplete beta functions."""
    edges = [0.4999, 0.5, 1.0, 2.0, 8.0, 12.0, 200.0]
    a = [_powers(r, 1e-2, 1e2, 24), _powers(r, 1e-10, 1e10, 16), _powers(r, 1, 1e6, 16)]
    a += [r.choice(edges, 16) * (1 + _near(r, 16) / 8), _powers(r, 1e-200, 1e200, 8)]
    b = [_powers(r, 1e-2, 1e2, 24), _powers(r, 1e-10, 1e10, 16), _powers(r, 1, 1e6, 16)]
    b += [_powers(r, 1e-2, 1e3, 16), _powers(r, 1e-200, 1e200, 8)]
    first, other = np.concatenate(a), np.concatenate(b)
    mean = first / (first + other)
    ends = np.where(r.random(80) < 0.5, mean * (1 + _near(r, 80)), r.uniform(0, 1, 80))
    return [first, other, np.clip(ends, 0, 1)]


Of = Callable[..., Real]
Gridded = tuple[Of, Callable[[np.random.Generator], Grid]]
PRIMITIVES: dict[str, Gridded] = {
    **{name: (gammas.FUNCTIONS[name], line) for name in ("lgamma", "digamma")},
    **{name: (gammas.FUNCTIONS[name], line) for name in ("bessel_i0e", "bessel_i1e")},
    "igamma": (gammas.igamma, forms),
    "igammac": (gammas.igammac, forms),
    "igamma_grad_a": (gammas.igamma_grad_a, forms),
    "random_gamma_grad": (gammas.random_gamma_grad, forms),
    "polygamma": (gammas.polygamma, orders),
    "zeta": (gammas.zeta, exponents),
    "regularized_incomplete_beta": (gammas.betainc, uneven),
}
OWN = faces.FACES | integrals.FACES
FUNCTIONS: dict[str, Gridded] = PRIMITIVES | OWN | faces.SLOPES


def grid(name: str, dtype: str) -> Grid:
    """The operands of a function, a column each, in float64."""
    columns = FUNCTIONS[name][1](np.random.default_rng(sum(map(ord, name))))
    with np.errstate(all="ignore"):
        rounded = [x.astype(dtype).astype(float) for x in columns]
    some = np.all([np.isfinite(x) for x in rounded], axis=0)
    return [x[some][:: 2 if dtype == "float32" else 1] for x in rounded]


def shown(x: Real) -> str:
    """A value in a line of the file; an exact one, or 72 bits of it."""
    if x.nan or x.special or x.zero:
        size = "nan" if x.nan else "inf" if x.special else "0"
        return "-" + size if x.negative and not x.nan else size
    exponent = _exponent(abs(x.value)) - BITS
    return f"{round(x.value / Fraction(2) ** exponent):x}p{exponent}"


def _exponent(size: Fraction) -> int:
    return size.numerator.bit_length() - size.denominator.bit_length()


def told(text: str, magnitude: str) -> Real:
    """The value that a line tells, with how well conditioned it is."""
    if text.lstrip("-") in ("nan", "inf", "0"):
        return NAN if "nan" in text else Real.of(float(text))
    mantissa, _, exponent = text.partition("p")
    found = number(int(mantissa, 16) * Fraction(2) ** int(exponent))
    conditioned, _, power = magnitude.partition("p")
    size = Fraction(int(conditioned, 16)) * Fraction(2) ** int(power or 0)
    return Real(found.value, negative=found.negative, magnitude=size, quantum=None)


def lines(name: str, dtype: str) -> Iterator[str]:
    """A block of the file."""
    yield f"{name} {dtype}"
    for row in zip(*grid(name, dtype), strict=True):
        value = FUNCTIONS[name][0](*(Real.of(float(x)) for x in row))
        size = value.magnitude
        rest = "0"
        if size and not value.special:
            power = _exponent(size) - 16
            rest = f"{round(size / Fraction(2) ** power):x}p{power}"
        operands = " ".join(repr(float(x)).removesuffix(".0") for x in row)
        yield f"  {operands} {shown(value)} {rest}"


@cache
def blocks() -> dict[tuple[str, str], list[list[str]]]:
    """The words of the lines, by function and dtype."""
    found: dict[tuple[str, str], list[list[str]]] = {}
    last = ("", "")
    for text in FILE.read_text().splitlines():
        words = text.split()
        if text.startswith(" "):
            found[last].append(words)
        else:
            last = (words[0], words[1])
            found[last] = []
    return found


def read(name: str, dtype: str) -> tuple[list[np.ndarray], list[Real]]:
    """Operands, a column each, and exact values."""
    rows = blocks()[name, dtype]
    columns: list[Any] = list(zip(*(row[:-2] for row in rows), strict=True))
    operands = [np.array(column, float).astype(dtype) for column in columns]
    return operands, [told(*row[-2:]) for row in rows]


def main() -> None:
    """Write the blocks of some functions, of all if none is named."""
    wanted = sys.argv[1:] or list(FUNCTIONS)
    kept = blocks() if FILE.path.exists() else {}
    text = []
    for name in FUNCTIONS:
        for dtype in DTYPES:
            if name in wanted:
                text += lines(name, dtype)
            else:
                rows = kept.get((name, dtype), [])
                text += [f"{name} {dtype}", *("  " + " ".join(row) for row in rows)]
        print(name, len(text), flush=True)
    FILE.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
