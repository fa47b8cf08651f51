"""Every kernel against the oracle: values, dtypes, freshness, silence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from equations import ALONE, Equation, equations
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import examples

from traceir.ir.jaxpr import sort_params
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import evaluate_eqn
from traceir.reference.kernels import KERNELS
from traceir.rules import default

PRIMITIVES = ALONE


def test_kernels_are_the_primitives() -> None:
    assert sorted(KERNELS) == sorted(default().prims)


@pytest.mark.parametrize("prim", PRIMITIVES)
@settings(max_examples=examples(6))
@given(data=st.data())
def test_kernel_gives_what_the_row_says(prim: str, data: st.DataObject) -> None:
    equation = data.draw(equations(prim))
    got = evaluated(equation)
    assert not scalar_interpreter.faults(prim, equation.params, equation.arrays, got)


@pytest.mark.parametrize("prim", PRIMITIVES)
@settings(max_examples=examples(4))
@given(data=st.data())
def test_results_are_whole_and_nobody_elses(prim: str, data: st.DataObject) -> None:
    equation = data.draw(equations(prim, "grid"))
    for result in evaluated(equation):
        assert type(result) is np.ndarray
        assert result.flags.c_contiguous and result.flags.writeable
        assert not any(np.may_share_memory(result, a) for a in equation.arrays)


def evaluated(equation: Equation) -> list[np.ndarray]:
    """The kernel's results; a warning is an error, and operands stay as they were."""
    for array in equation.arrays:
        array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return evaluate_eqn(
            equation.prim, sort_params(equation.params), equation.arrays
        )
