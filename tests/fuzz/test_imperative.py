"""Random imperative programs: what Python makes of them on NumPy's arrays.

Cites staged.construct, staged.jump, staged.carry, staged.arrays, staged.unbound,
staged.turns, staged.turns.proved
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
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

import traceir_numba
from traceir.errors import TraceirError
from traceir_numba import cost_model

# What a program may be refused for, which the writer can't tell.
REFUSED = ("staged.memory", "staged.exit")


def compared(data: st.DataObject, backend: str, loops: str = "range") -> None:
    """Draw a program and compare what it does, over other `loops` than ranges."""

    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    text = ProgramWriter(pick).text().replace("in range(", f"in {loops}(")
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


@contextmanager
def shared(threads: int) -> Iterator[None]:
    """Turns are shared however few there are."""
    before = traceir_numba.set_threads(threads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost_model, "TURN_PART_WORK", 0)
        patch.setattr(cost_model, "TURN_PARTS", 4)
        patch.setattr(cost_model, "SHARED_TURNS_TIME", 0)
        yield
    traceir_numba.set_threads(before)


@settings(max_examples=examples(2))
@given(st.data())
def test_threads_share_what_is_shown_to_be_independent(data: st.DataObject) -> None:
    with shared(3):
        compared(data, "numba")


@settings(max_examples=examples(2))
@given(st.data())
def test_parts_of_turns_do_what_the_turns_do(data: st.DataObject) -> None:
    """In one thread parts come in order, whatever the program says is independent."""
    with shared(1):
        compared(data, "numba", "prange")
