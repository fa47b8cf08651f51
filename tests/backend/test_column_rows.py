"""Columns that some rows enter at a time, beside rows one by one: the same bits.

Cites choice.sum-order
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir_numba import cost_model

SHAPES = ((1, 700), (3, 513), (4, 40), (7, 64), (9, 1025), (130, 90), (261, 600))
FUNCTIONS: dict[str, Any] = {
    "sum": lambda x: x.sum(0),
    "max": lambda x: x.max(0),
    "prod": lambda x: x.prod(0),
    "mean and variance": lambda x: (x.mean(0), x.var(0)),
    "product": lambda x: jnp.arange(x.shape[0], dtype=x.dtype) @ x,
    "standardized": lambda x: (x - x.mean(0)) / (x.std(0) + 1),
    "middle": lambda x: x.reshape(1, *x.shape).sum(1),
    "argmax": lambda x: x.argmax(0),
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_rows_enter_in_their_order(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, function = np.random.default_rng(3), FUNCTIONS[name]
    with traceir.enable_x64(True):
        for shape in SHAPES:
            x = 9 * rng.normal(size=shape)
            if dtype != "int32":
                at = rng.random(shape)
                x[at < 0.01], x[at > 0.99] = -0.0, np.inf
                x[:, :3] = np.where(at[:, :3] < 0.1, np.nan, x[:, :3])
            x = x.astype(dtype)
            found = traceir.jit(function, backend="numba")(x)
            with monkeypatch.context() as patched:
                patched.setattr(cost_model, "SUMMED_ROWS", 1 << 20)
                wanted = traceir.jit(lambda x: function(x), backend="numba")(x)
            pairs = zip(*map(traceir.tree.leaves, (found, wanted)), strict=True)
            for one, other in pairs:
                assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
