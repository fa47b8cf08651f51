"""The units in the last place that rows allow follow from measurements.

Serves: accuracy.ulp
"""

from __future__ import annotations

import math
import re

import pytest
from ulp import hard

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


def least(error: float) -> int:
    """The least power of 2 that an error does not exceed."""
    return int(2 ** math.ceil(math.log2(error)))


# What rounds once at the end, or a root and a quotient, which round once each.
ROUNDED = {"sqrt": 0.5, "rsqrt": 1.5}


def test_every_bound_has_a_source() -> None:
    """Those of special functions are for tests/backend/test_special.py to compare."""
    bounded = {name for name, row in default().prims.items() if row.ulp}
    assert bounded == {*measured("f32"), *ROUNDED, *hard.PRIMITIVES}
    for dtype in DTYPES:
        assert measured(dtype).keys() == measured("f32").keys()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_root_and_a_quotient_round_once_each(dtype: str) -> None:
    assert default().prims["rsqrt"].ulp[dtype] == least(ROUNDED["rsqrt"])
    assert default().prims["sqrt"].accuracy == "rounded"


def test_16_bits_are_rounded_once_from_32() -> None:
    """A unit of float32 is 2 ** -13 units of float16."""
    rows = {name: row.ulp for name, row in default().prims.items() if row.ulp}
    found = {
        name: least(0.5 + ulp["float32"] / 2**13)
        for name, ulp in rows.items()
        if "float16" in ulp
    }
    assert found == {
        name: ulp["float16"] for name, ulp in rows.items() if name in found
    }


def test_complex_parts_have_the_bound_of_their_rule() -> None:
    said = re.search(
        r"is (\d+) for each such step", default().clauses["accuracy.complex"].says
    )
    assert said
    for row in default().prims.values():
        for dtype in ("complex64", "complex128"):
            assert row.ulp.get(dtype, int(said[1])) == int(said[1]), row.name
