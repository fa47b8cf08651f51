"""Random imperative programs: what Python makes of them on NumPy's arrays.

Cites staged.construct, staged.jump, staged.carry, staged.arrays, staged.unbound
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from imperative_programs import (
    ProgramWriter,
    arguments,
    function_of,
    jitted,
    outcome,
)
from soak import examples

from traceir.errors import TraceirError

# What a program may be refused for, which the writer can't tell.
REFUSED = ("staged.memory", "staged.exit")


def compared(data: st.DataObject, backend: str) -> None:
    """Draw a program and compare what it does."""

    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    text = ProgramWriter(pick).text()
    function, given_ = function_of(text), arguments(pick)
    try:
        found = outcome(jitted(function, backend), *given_)
    except TraceirError as error:
        assert error.rule in REFUSED, text
        return
    assert found == outcome(function, *given_), text


@settings(max_examples=examples(3))
@given(st.data())
def test_the_reference_runs_programs_as_python_does(data: st.DataObject) -> None:
    compared(data, "reference")


@settings(max_examples=examples(2))
@given(st.data())
def test_the_backend_runs_programs_as_python_does(data: st.DataObject) -> None:
    compared(data, "numba")
