"""Exceptions that values decide on, on a device: raised when the program has run.

Cites: staged.raised
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
import traceir_numba


def halves(x: Any, n: Any) -> Any:
    """An exception on a side, and a place."""
    if n > 3:
        raise ValueError("too many", n)
    return x[n] / 2


def test_a_plain_function_raises_there() -> None:
    jitted = traceir_numba.jit(halves, target="cuda")
    x = np.arange(4.0)
    for _ in range(2):
        assert jitted(x, 2) == 1.0
        with pytest.raises(ValueError, match="too many"):
            jitted(x, 5)


def test_so_does_one_whose_arrays_would_stay_there() -> None:
    jitted = traceir.jit(halves, control_flow="staged", backend="cuda")
    x = jnp.arange(4.0)
    for _ in range(2):
        assert float(jitted(x, 2)) == 1.0
        with pytest.raises(ValueError, match="too many"):
            jitted(x, 5)
