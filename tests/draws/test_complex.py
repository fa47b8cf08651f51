"""Complex normal numbers. Serves: random.floating

The values that are written down are JAX 0.10.2's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import random

# By layout and dtype, three numbers of the key of 3.
DRAWN = {
    (True, "complex64"): [
        -1.681740164756775 - 1.3740651607513428j,
        -1.2064419984817505 + 0.07411617785692215j,
        -0.3474697470664978 - 0.03365090489387512j,
    ],
    (False, "complex64"): [
        -0.9526052474975586 + 0.4663415551185608j,
        -0.3840683698654175 - 1.232643961906433j,
        0.26741862297058105 + 1.171115517616272j,
    ],
    (True, "complex128"): [
        -0.6734589938115675 - 0.1749615489668984j,
        -0.3008027553752497 - 0.16583360484588686j,
        -0.0005575657970313772 - 0.43176637080079344j,
    ],
}


@pytest.mark.parametrize("backend", [None, "reference", "numba"])
@pytest.mark.parametrize("layout, dtype", DRAWN)
def test_numbers_are_those_written_down(
    layout: bool, dtype: str, backend: str | None
) -> None:
    def draw(key: Any) -> Any:
        return random.normal(key, (3,), dtype)

    bound = 1e-6 if dtype == "complex64" else 1e-14
    with traceir.threefry_partitionable(layout), traceir.enable_x64(True):
        key = random.key(3)
        found = (
            draw(key) if backend is None else traceir.jit(draw, backend=backend)(key)
        )
        assert found.dtype == dtype
        np.testing.assert_allclose(found, DRAWN[layout, dtype], bound)


def test_both_parts_have_half_the_variance() -> None:
    drawn = np.asarray(random.normal(random.key(1), (20_000,), complex))
    assert drawn.dtype == np.complex64
    np.testing.assert_allclose([drawn.real.var(), drawn.imag.var()], 0.5, rtol=0.05)
    assert abs(np.mean(drawn.real * drawn.imag)) < 0.02


def test_other_distributions_are_of_floating_numbers() -> None:
    for draw in (random.uniform, random.gumbel, random.exponential):
        with raises_rule("random.floating", ValueError, "complex64"):
            draw(random.key(0), (2,), dtype="complex64")
    with raises_rule("random.floating", ValueError, "int32"):
        random.normal(random.key(0), (2,), jnp.int32)
