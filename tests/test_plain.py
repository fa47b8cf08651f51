"""Ordinary NumPy functions run as they are. Rules: face.*, update.*, promote.numpy"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plain import distances, finance, grids, images, signal, statistics, waves
from plain.examples import EXAMPLES, Example

import traceir_numba

MODULES = (distances, finance, grids, images, signal, statistics, waves)


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers of a result."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None else [value]


def same(found: Any, wanted: Any, tolerance: float) -> None:
    """Assert that results have NumPy's dtypes, shapes and values."""
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        expected = np.asarray(other)
        assert np.asarray(one).dtype == expected.dtype
        loose = 1e-5 if expected.dtype == np.float32 else tolerance
        np.testing.assert_allclose(one, other, loose, loose)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_plain_function_gives_what_numpy_gives(example: Example) -> None:
    given, plain = example.copies(), example.copies()
    wanted = example.function(*plain)
    jitted = traceir_numba.jit(example.function, static_argnames=example.static)
    same(jitted(*given), wanted, example.tolerance)
    same(given, plain, example.tolerance)
