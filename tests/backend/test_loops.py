"""Loops and choices: real ones in machine code, nothing copied, with the same bits."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import random_loops
from compiling import executable, grid, same_bits, traced
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_programs import (
    FUNCTIONS,
    MATRIX,
    VECTOR,
    Function,
    N,
    delayed,
    nested,
    prefix,
    scalars,
    swapped,
    twice,
    written,
)
from soak import examples, sample

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.reference.interpreter import eval_jaxpr
from traceir.text import parse
from traceir.tracing.staging import apply
from traceir_numba.loops.program import Assign, CallRoutine, Copy, Loop, Step, While
from traceir_numba.loops.step_effects import walk
from traceir_numba.pipeline.build_program import build_program


def routines(fun: Function, *args: Any) -> list[CallRoutine]:
    """The routines of a function's program."""
    steps = build_program(traced(fun, *args), "program").steps
    return [step for step in steps if isinstance(step, CallRoutine)]


def inside(fun: Function, *args: Any) -> list[Step]:
    """All steps that are in a loop of a function's routines."""
    loops = (
        step
        for run in routines(fun, *args)
        for step in walk(run.routine.steps)
        if isinstance(step, Loop | While)
    )
    return [s for loop in loops for s in walk(loop.steps)]


def roles(run: CallRoutine, shape: tuple[int, ...]) -> list[str]:
    """The roles of the arguments of a shape."""
    args = (run.routine.buffers[k] for k in run.routine.args)
    return [b.role for b in args if b.shape == shape]


# -- functions ------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_the_evaluator(name: str) -> None:
    fun, args = FUNCTIONS[name]
    closed = traced(fun, *args)
    got = executable(closed, "program").run(*map(np.asarray, args))
    assert same_bits(got, eval_jaxpr(closed, closed.consts, *args))


@pytest.mark.parametrize("name", sample(FUNCTIONS, 3))
def test_the_source_runs_alone_with_the_same_bits(name: str) -> None:
    fun, args = FUNCTIONS[name]
    alone = executable(traced(fun, *args), "alone")
    space: dict[str, Any] = {}
    exec(alone.source, space)
    arrays = list(map(np.asarray, args))
    assert same_bits(space["alone"](*arrays), alone.run(*arrays))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_fresh_and_arguments_stay(name: str) -> None:
    fun, args = FUNCTIONS[name]
    arrays = list(map(np.array, args))
    got = executable(traced(fun, *args), "program").run(*arrays)
    for n, result in enumerate(got):
        others = [*arrays, *got[:n], *got[n + 1 :]]
        assert not any(np.may_share_memory(result, other) for other in others)
    assert same_bits(arrays, list(map(np.asarray, args)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_threads_run_one_loop_at_once(name: str) -> None:
    fun, args = FUNCTIONS[name]
    run, arrays = executable(traced(fun, *args)).run, list(map(np.asarray, args))
    want = run(*arrays)

    def often(_: int) -> bool:
        right = True
        for _ in range(50):
            got = run(*arrays)
            right = right and same_bits(got, want)
            for result in got:  # whose memory is the caller's
                result[...] = 1
        return right

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(often, range(4)))


@settings(max_examples=examples(20))
@given(st.integers(0, 2**31 - 1))
def test_random_control_flow_agrees_with_the_evaluator(seed: int) -> None:
    closed, args = random_loops.program(seed), random_loops.arguments(seed)
    got = executable(closed, "program").run(*args)
    want = eval_jaxpr(closed, closed.consts, *args)
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@settings(max_examples=examples(10))
@given(st.integers(0, 2**31 - 1))
def test_random_control_flow_in_lanes_agrees_with_the_evaluator(seed: int) -> None:
    closed = random_loops.program(seed, depth=1)
    args = [
        np.stack([x, -x]) if x.dtype != bool else np.stack([x, ~x])
        for x in random_loops.arguments(seed)
    ]
    lanes = traceir.make_jaxpr(traceir.vmap(lambda *xs: apply(closed, xs)))(*args)
    got = executable(lanes, "program").run(*args)
    want = eval_jaxpr(lanes, lanes.consts, *args)
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


# -- no Python, no copies -------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_loops_call_no_python(name: str) -> None:
    fun, args = FUNCTIONS[name]
    llvm = executable(traced(fun, *args), "program").as_text("llvm")
    called = set(re.findall(r"call [^@]*@([\w.]+)\(", llvm))
    assert not [one for one in called if re.match(r"Py|_Py|NRT|numba", one)]
    assert "inttoptr" not in llvm


def test_a_scalar_loop_touches_no_memory() -> None:
    llvm = executable(traced(scalars, N), "program").as_text("llvm")
    blocks = re.split(r"\n(?=[\w.]+:)", llvm)
    loops = [b for b in blocks if "fmul" in b and "phi float" in b]
    assert loops
    for loop in loops:
        assert not re.search(r" load | store | call ", loop)


@pytest.mark.parametrize(
    ("fun", "args", "copies"),
    [
        (lambda x: lax.fori_loop(0, 9, lambda i, v: v * 0.5 + i, x), (VECTOR,), 0),
        (
            lambda x: lax.fori_loop(0, 9, lambda _, v: jnp.dot(x, v), x),
            (grid(9, 9),),
            0,
        ),
        (swapped, (VECTOR, VECTOR), 0),
        (written, (VECTOR, VECTOR), 0),
        (delayed, (VECTOR, VECTOR), 0),
        (twice, (VECTOR,), 1),  # one value in two places
        (prefix, (MATRIX,), 1),  # what is carried is a result, too
        (nested, (N, VECTOR), 0),  # loops within go on in the memory of the one around
    ],
    ids=[
        *("in place", "product", "swapped", "written", "delayed"),
        *("twice", "prefix", "nested"),
    ],
)
def test_no_more_is_copied_in_a_loop_than_must_be(
    fun: Function, args: Any, copies: int
) -> None:
    assert sum(isinstance(step, Copy) for step in inside(fun, *args)) == copies


def test_what_is_computed_in_place_has_one_memory() -> None:
    def fun(x: Any) -> Any:
        return lax.fori_loop(0, 9, lambda i, v: v * 0.5 + i, x)

    (run,) = routines(fun, grid(1000))
    assert roles(run, (1000,)) == ["operand", "result"]


def test_what_a_product_reads_and_writes_changes_places() -> None:
    (run,) = routines(
        lambda x: lax.fori_loop(0, 9, lambda _, v: jnp.dot(x, v), x), grid(9, 9)
    )
    assert roles(run, (9, 9)) == ["operand", "result", "memory"]
    (loop,) = [s for s in run.routine.steps if isinstance(s, Loop)]
    assert isinstance(loop.steps[-1], Assign)


def test_nothing_is_computed_before_a_loop_without_a_turn() -> None:
    def fun(x: Any, turns: int) -> Any:
        return lax.fori_loop(0, turns, lambda _, v: v + jnp.dot(x, x), x)

    sources = [
        executable(traced(lambda x, n=n: fun(x, n), grid(9, 9)), "program").source
        for n in (0, 3)
    ]
    before = [len(re.findall(r"(?m)^    program_\d+_sum\(", s)) for s in sources]
    assert before == [0, 1]


def test_memory_is_made_before_a_loop() -> None:
    for fun, args in FUNCTIONS.values():
        source = executable(traced(fun, *args), "program").source
        for body in re.findall(r"(?ms)^def program_(?:while|scan|cond)_.*?^\S", source):
            assert "empty" not in body


def test_the_only_branch_is_taken_whatever_the_index() -> None:
    inner = "{ lambda ; c:f32[3]. let d:f32[3] = mul c c; e:f32[3] = neg d in (e,) }"
    only_branch = f"b:f32[3] = cond[branches=({inner},)] i a"
    program = parse(f"{{ lambda ; i:i32[] a:f32[3]. let {only_branch} in (b,) }}")
    run = executable(program).run
    for index in (-1, 0, 5):
        args = np.int32(index), VECTOR
        assert same_bits(run(*map(np.asarray, args)), eval_jaxpr(program, (), *args))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "float32"])
def test_what_is_counted_may_pass_its_end_or_be_no_integer(dtype: str) -> None:
    """A counter that wraps before its stop, one that does not, and a floating one."""
    number = np.dtype(dtype).type
    most = 127 if dtype == "int8" else 255 if dtype == "uint8" else 30000
    stop, steps = most - 20, (number(1), number(7), number(most // 2 + 30))

    def known(step: Any, x: Any, _: Any) -> Any:
        return lax.while_loop(lambda c: c < number(stop), lambda c: c + step, x)

    def given(step: Any, x: Any, end: Any) -> Any:
        return lax.while_loop(lambda c: c < end, lambda c: c + step, x)

    args = np.array(number(most - 60)), np.array(number(stop))
    for function in (known, given):
        for step in steps:
            closed = traced(lambda x, e, f=function, s=step: f(s, x, e), *args)
            assert same_bits(
                executable(closed).run(*args), eval_jaxpr(closed, closed.consts, *args)
            )
