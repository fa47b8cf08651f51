"""Places where traced conditions hold, and what masks take beside other indices.

Rules: face.selection, slice.length, index.mask
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba


def looped(x: Any) -> Any:
    """Places that loops are over, in all forms of asking for them."""
    total = 0.0
    for i in np.nonzero(x[:, 0] > 0)[0]:
        total += x[i, 1] * i
    places = np.where(x[:, 2] < 0)[0]
    for k in range(len(places)):
        total -= x[places[k], 0]
    for i in np.flatnonzero(x > 1):
        total += i
    rows, columns = np.nonzero(x < -1)
    for i, j in zip(rows, columns):
        total += 10 * i + j
    return total, len(places), rows.size


def gathered(x: Any) -> Any:
    """Elements at such places, read and written."""
    x = x.copy()
    (places,) = (x[:, 0] > 0).nonzero()
    x[places, 1] = 7
    first = x[places, 2].sum(), x[:, 0][places].max()
    return *first, np.argwhere(x[:, 1] == 7).sum(), x


def beside(x: Any, j: Any) -> Any:
    """Masks beside integers and slices."""
    x = x.copy()
    mask = x[:, 0] > 0
    x[mask, 1] = 5
    x[mask, 2] += 2
    x[~mask, 1:] *= x[~mask, 1:]
    x[mask, j] -= 1
    return x, x[mask, j].sum(), x[mask, :2].sum(axis=0), (x[mask, 0] * 2).mean()


def narrowed(x: Any) -> Any:
    """The rest that masks leave of what masks have left."""
    y = x[:, 0]
    for k in range(3):
        y = y[y > -1 + k * 0.4]
    total = 0.0
    for value in y:
        total = total / 2 + value
    return y.sum(), total, y[0], y[-1], len(y)


def given(x: Any) -> Any:
    """Results of unknown extents."""
    return np.flatnonzero(x > 0), x[x[:, 0] > 0, 1], np.where(x > 0.5), x[x > 0][1:]


X = np.random.default_rng(0).normal(size=(9, 3))
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (looped, ()),
    (gathered, ()),
    (beside, (2,)),
    (narrowed, ()),
    (given, ()),
]


def parts(value: Any) -> list[Any]:
    """The arrays of a result."""
    return [p for v in value for p in parts(v)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(("function", "more"), CASES)
def test_places_are_those_of_numpy(function: Any, more: tuple[Any, ...]) -> None:
    jitted = traceir_numba.jit(function)
    for x in (X, -X, np.abs(X)):
        found, wanted = parts(jitted(x, *more)), parts(function(x, *more))
        for one, other in zip(found, wanted, strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(one, other, rtol=1e-15)
    assert jitted._traced <= 2  # a number that is asked for has its value in the key


def test_no_place_at_all() -> None:
    found = traceir_numba.jit(given)(np.zeros((4, 3)))
    assert [np.shape(p) for p in parts(found)] == [(0,)] * 5
    total, *_ = traceir_numba.jit(looped)(np.zeros((4, 3)))
    assert total == 0


def ordered(x: Any) -> Any:
    """An order of places of which nobody knows how many there are."""
    return np.fft.fft(x[x > 0])


def test_what_needs_an_extent_is_refused_at_the_line() -> None:
    with raises_rule("index.mask", pattern="test_plain_places.py"):
        traceir_numba.jit(ordered)(X)
