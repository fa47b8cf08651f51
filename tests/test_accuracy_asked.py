"""The accuracy that a caller asks of a function. Cites: accuracy.asked, face.choice"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
from traceir import lax

FUNCTIONS = [
    getattr(lax, name)
    for name in lax.__all__
    if inspect.isfunction(getattr(lax, name))
    and "accuracy" in inspect.signature(getattr(lax, name)).parameters
]
MODES = [None, *lax.AccuracyMode, lax.Tolerance(ulps=4), lax.Tolerance(rtol=1e-6)]


def test_a_mode_and_a_tolerance_that_is_met_change_nothing() -> None:
    x = np.linspace(0.1, 1, 5, dtype="float32")
    for function in FUNCTIONS:
        plain = function(x)
        program = traceir.make_jaxpr(function)(x)
        for asked in MODES:
            assert np.array_equal(function(x, accuracy=asked), plain)
            under = traceir.make_jaxpr(lambda x: function(x, accuracy=asked))(x)  # noqa: B023 # called in its turn
            assert str(under) == str(program)
    assert len(FUNCTIONS) == 13


@pytest.mark.parametrize(
    "asked", [lax.Tolerance(ulps=1), lax.Tolerance(rtol=1e-8), lax.Tolerance(atol=1)]
)
def test_a_tolerance_that_is_not_met_is_refused(asked: Any) -> None:
    with raises_rule("accuracy.asked", ValueError, "exp is within 4 units"):
        lax.exp(1.0, accuracy=asked)
    with raises_rule("accuracy.asked", ValueError, "of float32"):
        traceir.jit(lambda x: lax.tanh(x, accuracy=asked))(1.0)


def test_what_is_no_accuracy_is_refused() -> None:
    with raises_rule("face.choice", ValueError, "accuracy='highest'"):
        lax.sin(1.0, accuracy="highest")
    with raises_rule("face.choice", ValueError, "at least one must be positive"):
        lax.Tolerance()
    with raises_rule("face.choice", ValueError, "none negative"):
        lax.Tolerance(-1.0, 2.0)
