"""Outputs of NumPy's functions, by name and by place: both are written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba

X = np.array([[1.26, -2.5, 3.75], [0.5, 9.0, -1.0]])
CALLS: list[tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = [
    (lambda x, o: np.around(x, 0, o), (2, 3)),
    (lambda x, o: np.round(x, 1, o), (2, 3)),
    (lambda x, o: x.round(0, o), (2, 3)),
    (lambda x, o: x.round(decimals=1, out=o), (2, 3)),
    (lambda x, o: np.clip(x, 0, 2, o), (2, 3)),
    (lambda x, o: x.clip(0, 2, o), (2, 3)),
    (lambda x, o: np.take(x, [1, 0], 1, o), (2, 2)),
    (lambda x, o: np.take(x, [5, 0], 1, o, "clip"), (2, 2)),
    (lambda x, o: x.take([1, 0], 0, o), (2, 3)),
    (lambda x, o: np.choose(np.array([1, 0, 1]), x, o), (3,)),
    (lambda x, o: np.sum(x, 0, None, o), (3,)),
    (lambda x, o: x.prod(1, None, o), (2,)),
    (lambda x, o: np.mean(x, 0, None, o, True), (1, 3)),
    (lambda x, o: np.max(x, 1, o), (2,)),
    (lambda x, o: np.ptp(x, 1, o), (2,)),
    (lambda x, o: np.std(x, 1, None, o, 1), (2,)),
    (lambda x, o: np.median(x, 1, o), (2,)),
    (lambda x, o: np.percentile(x, 50, 1, o), (2,)),
    (lambda x, o: np.cumsum(x, 0, None, o), (2, 3)),
    (lambda x, o: np.compress([True, False, True], x, 1, o), (2, 2)),
    (lambda x, o: np.concatenate((x, x), 1, o), (2, 6)),
    (lambda x, o: np.stack((x, x), 0, o), (2, 2, 3)),
    (lambda x, o: np.outer(x, x, o), (6, 6)),
    (lambda x, o: np.dot(x, x.T, o), (2, 2)),
    (lambda x, o: np.add(x, x, o), (2, 3)),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_an_output_is_written_to(number: int) -> None:
    function, shape = CALLS[number]

    def called(x: Any, out: Any) -> Any:
        function(x, out)
        return out * 2

    mine, right = np.full(shape, 7.0), np.full(shape, 7.0)
    found, wanted = traceir_numba.jit(called)(X, mine), called(X, right)
    np.testing.assert_allclose(found, wanted, 1e-15)
    np.testing.assert_allclose(mine, right, 1e-15)
