"""Random operands of the real functions, from strata where their errors differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def _keep(x: np.ndarray) -> np.ndarray:
    return x


def _above_minus_one(x: np.ndarray) -> np.ndarray:
    return np.where(x <= -1, -x, x)


def _from_one(x: np.ndarray) -> np.ndarray:
    return np.abs(np.where(np.abs(x) < 1, 1 / x, x))


def _within_one(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) > 1, 1 / x, x)


@dataclass(frozen=True)
class Domain:
    """A range where most happens, and a place near to which errors are special.

    `fold` brings any number to where the function is defined.
    """

    low: float
    high: float
    near: float = 0.0
    fold: Callable[[np.ndarray], np.ndarray] = _keep


DOMAINS = {
    "exp": Domain(-745.0, 710.0),
    "exp2": Domain(-1080.0, 1030.0),
    "expm1": Domain(-40.0, 100.0),
    "log": Domain(0.0, 4.0, 1.0, np.abs),
    "log1p": Domain(-1.0, 8.0, 0.0, _above_minus_one),
    "sin": Domain(-1000.0, 1000.0),
    "cos": Domain(-1000.0, 1000.0),
    "tanh": Domain(-20.0, 20.0),
    "sinh": Domain(-712.0, 712.0),
    "cosh": Domain(-712.0, 712.0),
    "logistic": Domain(-750.0, 40.0),
    "asinh": Domain(-20.0, 20.0),
    "acosh": Domain(1.0, 20.0, 1.0, _from_one),
    "atanh": Domain(-1.0, 1.0, 1.0, _within_one),
    "cbrt": Domain(-8.0, 8.0),
    "tan": Domain(-1000.0, 1000.0),
    "asin": Domain(-1.0, 1.0, 1.0, _within_one),
    "acos": Domain(-1.0, 1.0, 1.0, _within_one),
    "atan": Domain(-8.0, 8.0, 1.0),
    "erf": Domain(-6.0, 6.0),
    "erfc": Domain(-6.0, 27.3),
    "erf_inv": Domain(-1.0, 1.0, 1.0, _within_one),
    "bessel_i0e": Domain(-30.0, 30.0),
    "bessel_i1e": Domain(-30.0, 30.0),
}


def samples(name: str, count: int, seed: int) -> tuple[np.ndarray, ...]:
    """Operands of a function, from its range, nearer to 0, anywhere, near its place."""
    rng = np.random.default_rng(seed)
    base, _, short = name.rpartition("_")
    dtype = np.float32 if short == "f32" else np.float64
    if base == "pow":
        return _powers(rng, count, dtype)
    if base == "atan2":
        return _points(rng, count, dtype)
    domain, part = DOMAINS[base], count // 4
    rest = count - 3 * part
    near = rng.uniform(-1, 1, rest) * 2.0 ** -rng.uniform(0, 52, rest)
    strata = [
        rng.uniform(domain.low, domain.high, part).astype(dtype),
        rng.uniform(domain.low, domain.high, part).astype(dtype) / dtype(64),
        any_number(rng, part, dtype),
        (near + domain.near).astype(dtype),
    ]
    with np.errstate(all="ignore"):
        x = domain.fold(np.concatenate(strata))
    return (np.where(np.isfinite(x), x, dtype(1)),)


def any_number(rng: np.random.Generator, count: int, dtype: Any) -> np.ndarray:
    """Finite numbers with random bits."""
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    top = int(np.iinfo(unsigned).max)
    x = rng.integers(0, top, count, unsigned, endpoint=True).view(dtype)
    return np.where(np.isfinite(x), x, dtype(1))


def _powers(
    rng: np.random.Generator, count: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Bases of all sizes, exponents for which the result is a number."""
    most = 88.0 if dtype == np.float32 else 709.0
    size = rng.choice([1e-6, 1e-2, 1.0, most], count)
    x = np.exp(rng.uniform(-1, 1, count) * size).astype(dtype)
    with np.errstate(all="ignore"):
        y = (rng.uniform(-1.04, 1, count) * most / np.log(x)).astype(dtype)
    y = np.where(np.isfinite(y), y, dtype(2))
    whole = rng.random(count) < 0.1
    return np.where(whole, -x, x), np.where(whole, np.rint(y), y)


def _points(
    rng: np.random.Generator, count: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Points of all sizes, half of them with coordinates of one size; none is 0."""
    part = count // 2
    columns = []
    for _ in range(2):
        near = (rng.normal(size=part) * rng.choice([1.0, 0.1], part)).astype(dtype)
        x = np.concatenate([near, any_number(rng, count - part, dtype)])
        columns.append(np.where(x == 0, dtype(1), x))
    return columns[0], columns[1]
