"""The Array API standard on complex operands, special ones and others."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import standard_complex as standard
from execution_modes import WAYS, runner

import traceir.numpy as jnp
from traceir.base.config import enable_x64

GRID = np.array(standard.GRID)
PLACES = {str(z): k for k, z in enumerate(standard.GRID)}
DTYPES = ("complex64", "complex128")
NAMES = standard.names()
TURN = {name: standard.mirrors(name)[1:] for name in NAMES}


@cache
def found(way: str, dtype: str) -> dict[str, np.ndarray]:
    """The functions of all points, in one program."""

    def f(z: Any) -> dict[str, Any]:
        return {name: getattr(jnp, name)(z) for name in NAMES}

    with enable_x64(), np.errstate(all="ignore"):
        results = runner(way)(f, jnp.asarray(GRID.astype(dtype)))
    return {name: np.asarray(w, "complex128") for name, w in results.items()}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_special_operands(way: str, dtype: str) -> None:
    error = 2 * float(np.finfo(dtype).eps)
    results, wrong = found(way, dtype), set()
    for case in standard.specials():
        points = [(z, rounded(z, dtype)) for z in case.points()]
        for relation in standard.relations(case.name):
            values = results[relation.name]
            for z, near in points:
                got = complex(values[PLACES[str(relation.there(z))]])
                if not case.admits(relation.undo(got), near, error):
                    wrong.add(f"{relation.name} {relation.there(z)}: {got}, {case}")
    assert not wrong, "\n".join(sorted(wrong))


def rounded(z: complex, dtype: str) -> complex:
    """The number of a dtype that is nearest."""
    return complex(np.dtype(dtype).type(z))


def alike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """True where numbers are the same, the signs of their zeros, too; NaN is NaN."""
    parts = [(a.real, b.real), (a.imag, b.imag)]
    first, second = (
        (np.isnan(x) & np.isnan(y)) | ((x == y) & (np.signbit(x) == np.signbit(y)))
        for x, y in parts
    )
    found: np.ndarray = first & second
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_a_function_of_a_mirror_image(way: str, dtype: str) -> None:
    finite = np.isfinite(GRID)
    error = 4 * float(np.finfo(dtype).eps)
    wrong = []
    for name, values in found(way, dtype).items():
        for relation in standard.mirrors(name)[1:]:
            places = [PLACES[str(relation.there(z))] for z in standard.GRID]
            images = np.array([relation.undo(complex(w)) for w in values[places]])
            with np.errstate(invalid="ignore"):
                near = np.abs(values - images) <= error * np.abs(values)
            off = finite & ~alike(values, images) & ~(near & one_side(values, images))
            wrong += [f"{name} {z}" for z in GRID[off]]
    assert wrong == []


def one_side(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """True where the parts of numbers have the same signs, those of zeros, too."""
    sides = (np.signbit(a.real), np.signbit(a.imag))
    others = (np.signbit(b.real), np.signbit(b.imag))
    found: np.ndarray = (sides[0] == others[0]) & (sides[1] == others[1])
    return found


def test_the_functions_of_which_something_is_said() -> None:
    said = {case.name for case in standard.specials()}
    assert said < set(NAMES) and len(NAMES) == 21
    assert all(standard.relations(name) for name in said)


# Arithmetic, comparisons and parts ---------------------------------------------------

# Beyond this a power's angle has too few digits left.
MODERATE = 50
LEFT, RIGHT = (a.ravel() for a in np.meshgrid(GRID[::-7], GRID[::-5]))


def _parts(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return z.real, z.imag


def _each(function: Callable[..., np.ndarray], *zs: np.ndarray) -> np.ndarray:
    """A function of real numbers, of the real parts and of the imaginary ones."""
    made = np.empty(zs[0].shape, zs[0].dtype)
    made.real, made.imag = (function(*p) for p in zip(*map(_parts, zs), strict=True))
    return made


# Said of the parts; results are the same in all bits.
OF_PARTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "add": lambda z, w: _each(np.add, z, w),
    "subtract": lambda z, w: _each(np.subtract, z, w),
    "negative": lambda z, w: _each(np.negative, z),
    "positive": lambda z, w: z,
    "conj": lambda z, w: _joined(z.real, -z.imag),
    "real": lambda z, w: z.real,
    "imag": lambda z, w: z.imag,
    "equal": lambda z, w: (z.real == w.real) & (z.imag == w.imag),
    "not_equal": lambda z, w: (z.real != w.real) | (z.imag != w.imag),
    "isfinite": lambda z, w: np.isfinite(z.real) & np.isfinite(z.imag),
    "isinf": lambda z, w: np.isinf(z.real) | np.isinf(z.imag),
    "isnan": lambda z, w: np.isnan(z.real) | np.isnan(z.imag),
    "round": lambda z, w: _each(np.rint, z),
}


def _joined(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    made = np.empty(re.shape, f"c{2 * re.itemsize}")
    made.real, made.imag = re, im
    return made


@cache
def arithmetic(way: str, dtype: str) -> dict[str, dict[str, Any]]:
    """The demands on parts, and those by other functions, in one program."""

    def f(z: Any, w: Any) -> dict[str, Any]:
        two = {"add", "subtract", "equal", "not_equal"}
        said = {
            name: getattr(jnp, name)(*((z, w) if name in two else (z,)))
            for name in OF_PARTS
        }
        others = {"multiply": z * w, "divide": z / w, "pow": jnp.pow(z, w)}
        as_if = {
            "square": (jnp.square(z), jnp.multiply(z, z)),
            "reciprocal": (jnp.reciprocal(z), jnp.divide(1, z)),
            "add commutes": (jnp.add(z, w), jnp.add(w, z)),
        }
        return {"said": said, "others": others, "as_if": as_if}

    with enable_x64(), np.errstate(all="ignore"):
        z, w = (jnp.asarray(x.astype(dtype)) for x in (LEFT, RIGHT))
        results: dict[str, dict[str, Any]] = runner(way)(f, z, w)
    return results


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_said_of_parts(way: str, dtype: str) -> None:
    results = arithmetic(way, dtype)["said"]
    z, w = (x.astype(dtype) for x in (LEFT, RIGHT))
    for name, call in OF_PARTS.items():
        with np.errstate(all="ignore"):
            want = call(z, w)
        got = np.asarray(results[name])
        assert got.dtype == want.dtype, name
        assert alike(got, want).all(), name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_a_function_is_as_if_it_were_another(way: str, dtype: str) -> None:
    for name, (one, other) in arithmetic(way, dtype)["as_if"].items():
        one, other = np.asarray(one), np.asarray(other)
        differ = ~(np.isnan(one) & np.isnan(other)) & (one != other)
        assert not differ.any(), (name, LEFT[differ], one[differ], other[differ])


def _product(z: complex, w: complex) -> complex:
    """The number nearest to the product."""
    a, b, c, d = (Fraction(x) for x in (z.real, z.imag, w.real, w.imag))
    return complex(float(a * c - b * d), float(a * d + b * c))


def _quotient(z: complex, w: complex) -> complex:
    """The number nearest to the quotient."""
    a, b, c, d = (Fraction(x) for x in (z.real, z.imag, w.real, w.imag))
    size = c * c + d * d
    return complex(float((a * c + b * d) / size), float((b * c - a * d) / size))


def _power(z: complex, w: complex) -> complex:
    return cmath.exp(w * cmath.log(z))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_products_quotients_and_powers(way: str, dtype: str) -> None:
    results = arithmetic(way, dtype)["others"]
    info = np.finfo(dtype)
    eps, least, most = (float(x) for x in (info.eps, info.tiny, info.max))
    wrong, tried = [], 0
    for k, pair in enumerate(zip(LEFT.astype(dtype), RIGHT.astype(dtype), strict=True)):
        z, w = map(complex, pair)
        if not (cmath.isfinite(z) and cmath.isfinite(w)):
            continue
        calls = {"multiply": (_product, 4.0)}
        if w:
            calls["divide"] = (_quotient, 4.0)
        if z and abs(exponent := w * cmath.log(z)) < MODERATE:
            calls["pow"] = (_power, 8 + 8 * abs(exponent))
        for name, (call, digits) in calls.items():
            try:
                want = call(z, w)
            except OverflowError:
                continue
            got = complex(results[name][k])
            if max(abs(want.real), abs(want.imag)) < most:
                error = abs(got - want)
                tried += 1
                if not error <= digits * (eps * abs(want) + least):
                    wrong.append((name, z, w, got, want))
    assert tried > len(LEFT) and wrong == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_of_nothing_but_nans(way: str, dtype: str) -> None:
    results = arithmetic(way, dtype)["others"]
    nothing = [k for k, (z, w) in enumerate(zip(LEFT, RIGHT)) if _void(z) and _void(w)]
    assert nothing
    for name, found in results.items():
        assert all(_void(complex(w)) for w in np.asarray(found)[nothing]), name


def _void(z: complex) -> bool:
    """True if both parts are NaN."""
    return bool(np.isnan(z.real) and np.isnan(z.imag))
