"""The oracle: consistent with itself, unforgiving, and agreed with by the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from equations import ALONE, Equation, equations
from hypothesis import Phase, assume, find, given, reject, settings
from hypothesis import strategies as st
from soak import examples

from traceir.conform.drawing.programs import arguments, programs
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import eval_jaxpr, evaluate_eqn
from traceir.rules import default
from traceir.text import parse

# What is known by relations, the oracle judges but does not compute.
PRIMITIVES = [p for p in ALONE if not default().prims[p].post]
# Those of each primitive: tests/conform/test_kernels.py asks the oracle about others.
FEW = examples(3)


@pytest.mark.parametrize("prim", PRIMITIVES)
@settings(max_examples=FEW)
@given(data=st.data())
def test_accepts_its_own_results(prim: str, data: st.DataObject) -> None:
    equation = data.draw(equations(prim))
    got = stepwise(*alone(equation), step=oracle_step)
    assert not scalar_interpreter.faults(prim, equation.params, equation.arrays, got)


# Those that only tell the host something have no results to be wrong.
@pytest.mark.parametrize(
    "prim", [p for p in PRIMITIVES if "told" not in default().prims[p].classes]
)
@settings(max_examples=FEW)
@given(data=st.data())
def test_refuses_anything_else(prim: str, data: st.DataObject) -> None:
    equation = data.draw(equations(prim, "grid"))
    got = stepwise(*alone(equation), step=oracle_step)
    assume(got)  # an array of no rows is unstacked to nothing
    which = data.draw(st.integers(0, len(got) - 1))
    assume(got[which].size)
    index = data.draw(st.sampled_from(list(np.ndindex(got[which].shape))))
    got[which][index] = spoiled(got[which][index])
    assert scalar_interpreter.faults(prim, equation.params, equation.arrays, got)


@given(st.data())
def test_evaluator_is_exact_where_one_answer_is_right(data: st.DataObject) -> None:
    closed = data.draw(programs(grid=True, wide=True))
    args = data.draw(arguments(closed))
    got = eval_jaxpr(closed, closed.consts, *args)
    try:
        wrong = scalar_interpreter.judge(closed, closed.consts, args, got)
    except ValueError:  # a quotient, say, has left the grid and is summed
        reject()
    assert not wrong


@given(st.data())
def test_evaluator_runs_equation_by_equation(data: st.DataObject) -> None:
    closed = data.draw(programs(wide=True))
    args = data.draw(arguments(closed, grid=False))
    got = eval_jaxpr(closed, closed.consts, *args)
    for result, want in zip(got, stepwise(closed, args, kernel_step), strict=True):
        assert result.dtype == want.dtype
        assert result.tobytes() == want.tobytes()
    for n, result in enumerate(got):
        others = [*args, *closed.consts, *got[:n], *got[n + 1 :]]
        assert not any(np.may_share_memory(result, other) for other in others)


WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "floors": ("div", lambda x, y: x // np.where(y == 0, 1, y).astype(x.dtype)),
    "forgets NaN": ("max", np.fmax),
    "wraps": ("convert_element_type", lambda x, new_dtype, **_: x.astype(new_dtype)),
    "last of equals": (
        "argmax",
        lambda x, axes, index_dtype: (
            x.shape[axes[0]] - 1 - np.argmax(np.flip(x, axes[0]), axes[0])
        ).astype(index_dtype),
    ),
    "positive zero": ("sign", lambda x: np.sign(x) + x.dtype.type(0)),
    "halves to even": ("round", lambda x, rounding_method: np.rint(x)),
    "zero to zero": ("pow", lambda x, y: np.where(x == 0, 0, x**y).astype(x.dtype)),
    "does not clip": (
        "select_n",
        lambda which, *cases: np.choose(which % len(cases), cases),
    ),
    "widens": ("reduce_sum", lambda x, axes, **_: np.sum(x, axes)),
    "single precision": ("exp", lambda x, **_: np.exp(np.float32(x)).astype(x.dtype)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernel_is_found_out(name: str) -> None:
    prim, kernel = WRONG[name]

    def wrong(equation: Equation) -> bool:
        with np.errstate(all="ignore"):
            got = np.asarray(kernel(*equation.arrays, **equation.params))
        return bool(
            scalar_interpreter.faults(prim, equation.params, equation.arrays, [got])
        )

    search = settings(max_examples=2000, phases=[Phase.generate])
    assert wrong(find(equations(prim), wrong, settings=search, random=Random(0)))


def test_judge_wants_one_right_answer() -> None:
    closed = parse("{ lambda ; a:f32[]. let b:f32[] = exp a in (b,) }")
    x = np.float32(0)
    with pytest.raises(ValueError, match="exp has more than one right result"):
        scalar_interpreter.judge(closed, (), [x], [x])


def test_judge_wants_sums_exact_in_any_order() -> None:
    text = "{ lambda ; a:f32[3]. let b:f32[] = reduce_sum[axes=(0,)] a in (b,) }"
    closed = parse(text)
    assert not scalar_interpreter.judge(closed, (), [[1, 2, 3]], [np.float32(6)])
    assert scalar_interpreter.judge(closed, (), [[1, 2, 3]], [np.float32(7)])
    with pytest.raises(ValueError, match="reduce_sum"):
        scalar_interpreter.judge(closed, (), [[1e8, 1, -1e8]], [np.float32(0)])


def test_zero_of_either_sign_only_in_extrema() -> None:
    plus, minus = np.float32([0.0]), np.float32([-0.0])
    assert scalar_interpreter.accepts("max", {}, [plus, minus], [minus])
    ordered = {"choice.zero-extremum": "ordered"}
    assert not scalar_interpreter.accepts(
        "max", {}, [minus, plus], [minus], choices=ordered
    )
    assert not scalar_interpreter.accepts("neg", {}, [plus], [plus])


def test_subnormals_may_be_flushed_where_declared() -> None:
    tiny, half, zero = np.float32([1e-38]), np.float32([0.5]), np.float32([0.0])
    assert not scalar_interpreter.accepts("mul", {}, [tiny, half], [zero])
    flush = {"choice.subnormal": "flush"}
    assert scalar_interpreter.accepts("mul", {}, [tiny, half], [zero], choices=flush)


Step = Callable[[str, dict[str, Any], list[np.ndarray]], list[np.ndarray]]


def kernel_step(
    prim: str, params: dict[str, Any], arrays: list[np.ndarray]
) -> list[np.ndarray]:
    return evaluate_eqn(prim, sort_params(params), arrays)


def oracle_step(
    prim: str, params: dict[str, Any], arrays: list[np.ndarray]
) -> list[np.ndarray]:
    closed, args = alone(Equation(prim, params, arrays))
    return scalar_interpreter.run(closed, (), args)


def alone(equation: Equation) -> tuple[ClosedJaxpr, list[np.ndarray]]:
    """The program of one equation."""
    inputs = tuple(map(Var, equation.avals))
    outs = infer(equation.prim, equation.avals, equation.params)
    outputs = tuple(map(Var, outs))
    eqn = Eqn(equation.prim, inputs, outputs, sort_params(equation.params))
    return ClosedJaxpr(Jaxpr((), inputs, (eqn,), outputs), ()), equation.arrays


def stepwise(
    closed: ClosedJaxpr, args: list[np.ndarray], step: Step
) -> list[np.ndarray]:
    """The results of a program, one equation at a time."""
    variables = (*closed.jaxpr.constvars, *closed.jaxpr.invars)
    env: dict[Var, np.ndarray] = dict(
        zip(variables, (*closed.consts, *args), strict=True)
    )
    for eqn in closed.jaxpr.eqns:
        arrays = [a.array if isinstance(a, Literal) else env[a] for a in eqn.inputs]
        env.update(zip(eqn.outputs, step(eqn.primitive, dict(eqn.params), arrays)))
    outs = closed.jaxpr.outvars
    return [a.array if isinstance(a, Literal) else env[a] for a in outs]


def spoiled(x: Any) -> Any:
    """Another element, too far away for any accuracy set."""
    if x.dtype.kind == "b":
        return not x
    if x.dtype.kind in "iu":
        return x ^ x.dtype.type(1)
    if x.dtype.names:  # a key of two words
        return (x["words"] ^ np.uint32([0, 1]),)
    if not np.isfinite(x):
        return x.dtype.type(3)
    return x + (abs(x) + 1) / 64
