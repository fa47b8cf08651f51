"""Values that are computed once and kept, though only memory makes them expensive."""

from __future__ import annotations

from typing import Any

import numpy as np

import traceir_numba


def test_what_reads_across_a_large_array_is_computed_once() -> None:
    @traceir_numba.jit
    def products(a: Any, v: Any) -> Any:
        a = a + a.T
        return a @ v, v @ a, a.max()

    a, v = np.arange(90_000.0).reshape(300, 300), np.linspace(0, 1, 300)
    both = a + a.T
    for found, wanted in zip(
        products(a, v), (both @ v, v @ both, both.max()), strict=True
    ):
        np.testing.assert_allclose(found, wanted, 1e-12)
    assert products.source(a, v).count("a = a + a.T") == 1
