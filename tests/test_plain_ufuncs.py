"""Universal functions in plain functions, at the ends of what numbers there are.

Rules: face.ufunc, face.function
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import traceir_numba

EDGES = (0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 1e308, 5e-324, np.inf)
SIGNED = np.array([*EDGES, *(-x for x in EDGES), np.nan])
LEFT, RIGHT = (np.array(c) for c in zip(*product(SIGNED, SIGNED), strict=True))


def reals() -> dict[str, np.ufunc]:
    """The universal functions of NumPy that take real numbers, by name."""
    found = {name: getattr(np, name) for name in dir(np)}
    return {
        name: ufunc
        for name, ufunc in found.items()
        if isinstance(ufunc, np.ufunc) and ufunc.__name__ == name
        if ufunc.signature is None
        and any(row.startswith("d" * ufunc.nin + "->") for row in ufunc.types)
    }


REALS = reals()


def every(x: Any, y: Any) -> list[tuple[Any, ...]]:
    """The results of each of them."""
    found = []
    for ufunc in REALS.values():
        result = ufunc(*(x, y)[: ufunc.nin])
        found.append(result if isinstance(result, tuple) else (result,))
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[Any, Any]]:
    """The results of all, by this library and by NumPy."""
    with np.errstate(all="ignore"):
        wanted = every(LEFT, RIGHT)
        found = traceir_numba.jit(every)(LEFT, RIGHT)
    return dict(zip(REALS, zip(found, wanted, strict=True), strict=True))


@pytest.mark.parametrize("name", REALS)
def test_numbers_signs_of_zeros_and_types_are_numpys(
    name: str, results: dict[str, tuple[Any, Any]]
) -> None:
    for got, want in zip(*results[name], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, 1e-14, 0)
        if want.dtype.kind == "f":
            real = ~np.isnan(want)
            wrong = np.signbit(got)[real] != np.signbit(want)[real]
            assert not wrong.any(), (LEFT[real][wrong], RIGHT[real][wrong])
