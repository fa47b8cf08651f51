"""Draws of a size that an argument tells, by functions that the host calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir_numba

SIZED: list[tuple[Any, tuple[Any, ...]]] = [
    (lambda n, p, size: np.random.binomial(n, p, size), (20, 0.5, 8)),
    (lambda p, size: np.random.logseries(p, size), (0.8, 5)),
    (lambda p, size: np.random.negative_binomial(3, p, size=size), (0.3, 4)),
    (lambda n, p, size: np.random.multinomial(n, p, size), (20, [0.2, 0.3, 0.5], 4)),
    (lambda n, k: np.random.choice(n, k, replace=False), (6, 4)),
    (lambda low, high, size: np.random.randint(low, high, size), (3, 90, 7)),
]


@pytest.mark.parametrize("number", range(len(SIZED)))
def test_a_size_that_an_argument_tells_is_known(number: int) -> None:
    function, args = SIZED[number]
    jitted = traceir_numba.jit(lambda *args: function(*args))
    for more in (0, 1):
        given = (*args[:-1], args[-1] + more)
        np.random.seed(number)
        found = jitted(*given)
        np.random.seed(number)
        np.testing.assert_array_equal(found, function(*given))
