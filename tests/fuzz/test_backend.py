"""The Numba backend: every primitive within its set, whole programs bit for bit.

Cites accuracy.one-answer.
"""

from __future__ import annotations

import numpy as np
import pytest
from equations import ALONE, equations
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from soak import examples

from traceir.conform.drawing.programs import arguments, programs
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import eval_jaxpr
from traceir_numba import backend

PRIMITIVES = ALONE
# An example may compile a kernel, which takes longer than all else.
FEW = examples(2)


@pytest.mark.parametrize("prim", PRIMITIVES)
@settings(max_examples=FEW)
@given(data=st.data())
def test_a_primitive_is_within_its_set(prim: str, data: st.DataObject) -> None:
    equation = data.draw(equations(prim))
    invars = tuple(Var(aval) for aval in equation.avals)
    outs = infer(prim, equation.avals, dict(equation.params))
    outvars = tuple(map(Var, outs))
    eqn = Eqn(prim, invars, outvars, sort_params(equation.params))
    run = backend.compile(ClosedJaxpr(Jaxpr((), invars, (eqn,), outvars)), prim).run
    got = run(*equation.arrays)
    assert not scalar_interpreter.faults(prim, equation.params, equation.arrays, got)


@given(st.data())
def test_programs_on_the_grid_have_one_answer(data: st.DataObject) -> None:
    closed = data.draw(programs(grid=True, wide=True))
    args = data.draw(arguments(closed))
    got = backend.compile(closed, "program").run(*args)
    try:
        wrong = scalar_interpreter.judge(closed, closed.consts, args, got)
    except ValueError:  # a quotient, say, has left the grid and is summed
        reject()
    assert not wrong


@given(st.data())
def test_programs_agree_with_the_evaluator(data: st.DataObject) -> None:
    closed = data.draw(programs(12, grid=True, wide=True))
    args = data.draw(arguments(closed))
    got = backend.compile(closed, "program").run(*args)
    want = eval_jaxpr(closed, closed.consts, *args)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_array_equal(g, w)
    for n, result in enumerate(got):
        others = [*args, *closed.consts, *got[:n], *got[n + 1 :]]
        assert not any(np.may_share_memory(result, other) for other in others)
