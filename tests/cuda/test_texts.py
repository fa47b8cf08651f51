"""A device's own texts of functions give NumPy's values, and are whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from traceir_numba import vecmath
from traceir_numba.cuda.codegen import device_functions
from traceir_numba.cuda.simulator import simulated

SPECIAL = [0.0, 0.5, 1.5, 2.5, 0.49999997, 3.0, 1e-30, 1e30, np.inf, np.nan]
SPECIAL += [8388607.5, 8388608.0, 4503599627370495.5, 4503599627370496.0, 7.7]


def away(x: Any) -> Any:
    """Halves away from zero."""
    return np.copysign(np.where(abs(x) % 1 == 0.5, np.ceil(abs(x)), np.rint(abs(x))), x)


WANTED: dict[str, Callable[[Any], Any]] = {
    "round_even": np.rint,
    "round_away": away,
    "floor": np.floor,
    "ceil": np.ceil,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", WANTED)
def test_whole_numbers_are_numpys(name: str, dtype: str) -> None:
    function = simulated.scalar(f"{name}_{'f32' if dtype == 'float32' else 'f64'}")
    with np.errstate(all="ignore"):
        x = np.array([*SPECIAL, *(-s for s in SPECIAL)], dtype)
        got = np.array([function(one) for one in x])
        want = WANTED[name](x)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    ends = ~np.isnan(x)
    assert np.array_equal(np.signbit(got[ends]), np.signbit(want[ends]))


@pytest.mark.parametrize("name", sorted(vecmath.FUNCTIONS))
def test_real_functions_need_nothing_that_a_device_lacks(name: str) -> None:
    text = device_functions.source([name])
    calls = {word for word in ("np.rint(", "np.floor(", "@intrinsic") if word in text}
    assert not calls
    compile(text, name, "exec")
