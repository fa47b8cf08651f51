"""The units in the last place that rows allow follow from measurements.

Serves: accuracy.ulp
"""

from __future__ import annotations

import math

import pytest

from traceir.rules import default
from traceir_numba.vecmath.accuracy import WORST

DTYPES = {"f32": "float32", "f64": "float64"}
ELEMENTARY = ("function", "real_function")


def measured(dtype: str) -> dict[str, float]:
    """The greatest errors of the elementary functions that were measured."""
    prims = default().prims
    found = {
        name.rpartition("_")[0]: w.ulp for name, w in WORST.items() if dtype in name
    }
    own = {"atan2", "pow"}
    return {
        name: ulp
        for name, ulp in found.items()
        if name in own or {*prims[name].classes} & {*ELEMENTARY}
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bound_is_the_power_of_two_above_what_was_measured(dtype: str) -> None:
    found = measured(dtype)
    assert len(found) > 20
    bound = 2 ** math.ceil(math.log2(max(found.values())))
    allowed = {name: default().prims[name].ulp[DTYPES[dtype]] for name in found}
    assert allowed == dict.fromkeys(found, bound)


def test_no_function_exceeds_what_its_row_allows() -> None:
    for name, worst in WORST.items():
        primitive, _, dtype = name.rpartition("_")
        assert worst.ulp <= default().prims[primitive].ulp[DTYPES[dtype]], name
