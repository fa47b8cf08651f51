"""Long programs: work and memory grow with the number of equations, not faster.

Cites: jit.unrolled, cache.flag.unrolled_loops
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from growth import PROGRAMS, ROW, Case, instructions, memory

import traceir
import traceir.numpy as jnp
from traceir.base import cost_model
from traceir.base.source_info import Source
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.unroll_report import source_report
from traceir.tracing.staging import StagingTrace
from traceir_numba.codegen.nest import emit
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.fusion.fuse import fuse
from traceir_numba.lowering.canonicalize import canonicalize
from traceir_numba.pipeline.build_program import build_program

SHORT, LONG = 12, 48


def traced(case: Case) -> ClosedJaxpr:
    """A fresh trace of a program."""
    run, args = case
    closed: ClosedJaxpr = traceir.make_jaxpr(lambda *xs: run(*xs))(*args)
    return closed


def evaluated(closed: ClosedJaxpr, args: tuple[Any, ...]) -> object:
    """The program's results, by NumPy."""
    return traceir.eval_jaxpr(closed.jaxpr, closed.consts, *args)


def emitted(closed: ClosedJaxpr) -> object:
    """The source of every kernel."""
    launches = build_program(closed, "program").launches()
    return [emit(step.nest, step.labels, "kernel") for step in launches]


Stage = Callable[[ClosedJaxpr, tuple[Any, ...]], object]
STAGES: dict[str, Stage] = {
    "print": lambda closed, _: str(closed.jaxpr),
    "parse": lambda closed, _: traceir.parse(str(closed)),
    "check": lambda closed, _: traceir.check(closed),
    "compare": lambda closed, _: hash(ClosedJaxpr(closed.jaxpr, closed.consts)),
    "evaluate": evaluated,
    "report": lambda closed, _: source_report(closed),
    "assemble": lambda closed, _: build_program(closed, "program"),
    "emit": lambda closed, _: emitted(closed),
}


Works = Mapping[int, Callable[[], object]]


def growth(measure: Callable[[Callable[[], object]], int], works: Works) -> float:
    """The cost of an equation in a long program, over that in a short one."""
    short, long = (measure(works[n]) / n for n in (SHORT, LONG))
    return long / short


def assert_linear(works: Works) -> None:
    """Assert that work and memory grow with the equations, not faster.

    The first use of a length fills caches, which costs once.
    """
    for work in works.values():
        work()
    assert growth(instructions, works) < 1.25
    assert growth(memory, works) < 1.5


@pytest.mark.parametrize("name", PROGRAMS)
def test_tracing_grows_with_the_equations(name: str) -> None:
    cases = {n: PROGRAMS[name](n) for n in (SHORT, LONG)}
    assert_linear({n: partial(traced, case) for n, case in cases.items()})


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_stage_grows_with_the_equations(name: str, stage: str) -> None:
    cases = {n: PROGRAMS[name](n) for n in (SHORT, LONG)}
    run = STAGES[stage]
    assert_linear({n: partial(run, traced(cases[n]), cases[n][1]) for n in cases})


def summed(run: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of all that a function returns."""

    def total(*args: Any) -> Any:
        return sum(
            (jnp.sum(v) for v in traceir.tree.leaves(run(*args))), jnp.float32(0)
        )

    return total


TRANSFORMS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "jvp": lambda run: lambda *args: traceir.jvp(run, args, args),
    "grad": lambda run: traceir.grad(summed(run), argnums=(0, 1)),
    "grad of jit": lambda run: traceir.grad(traceir.jit(summed(run))),
    "vmap": lambda run: traceir.vmap(run, in_axes=(0, None)),
    "vmap of jit": lambda run: traceir.vmap(traceir.jit(run), in_axes=(0, None)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", ["chain", "results", "products", "elements"])
def test_each_transform_grows_with_the_equations(name: str, transform: str) -> None:
    cases = {n: PROGRAMS[name](n) for n in (SHORT, LONG)}

    def work(n: int) -> Callable[[], object]:
        run, args = cases[n]
        if transform.startswith("vmap"):
            args = (np.stack([args[0]] * 2), *args[1:])
        make = traceir.make_jaxpr(lambda *xs: TRANSFORMS[transform](run)(*xs))
        return lambda: make(*args)

    assert_linear({n: work(n) for n in cases})


def test_no_loop_looks_through_the_program_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # For the text of an error that is not raised: that the bound is not known.
    monkeypatch.delattr(StagingTrace, "depends_on")

    def run(x: Any, count: Any) -> Any:
        return traceir.lax.fori_loop(0, count, lambda _, x: x * 2.0, x)

    assert traceir.make_jaxpr(run)(1.0, 3).eqns[0].primitive == "while"


def test_groups_of_kernels_grow_with_the_equations() -> None:
    """Longer than the others: what is slow here is slow for many kernels only."""
    graphs = {
        n: Graph(canonicalize(traced(PROGRAMS["products"](n)))) for n in (40, 320)
    }
    cost = {n: instructions(partial(fuse, graph)) / n for n, graph in graphs.items()}
    assert cost[320] < 1.25 * cost[40]


def test_what_grows_faster_is_seen() -> None:
    def pairs(n: int) -> list[int]:
        return [a for a in range(n) for b in range(n) if a == b]

    def held(n: int) -> list[list[int]]:
        return [[k] * n for k in range(n)]

    assert growth(instructions, {n: partial(pairs, n) for n in (SHORT, LONG)}) > 3
    assert growth(memory, {n: partial(held, n) for n in (SHORT, LONG)}) > 3


def test_the_positions_of_a_long_function_are_decoded_once() -> None:
    run, _ = PROGRAMS["written_out"](100)

    class Code:
        """The function's code, and how often it was decoded."""

        co_firstlineno = 1
        times = 0

        def co_positions(self) -> Any:
            self.times += 1
            return run.__code__.co_positions()

    code: Any = Code()
    lines = {Source(code, at).line for at in range(0, len(run.__code__.co_code), 2)}
    assert set(range(2, 102)) < lines and code.times == 1


def unrolled(x: Any) -> Any:
    """As many equations as are told of, most of them in one line."""
    for _ in range(cost_model.REPORTED_EQUATIONS):
        x = jnp.sin(x)
    return x + 1.0


LINE = unrolled.__code__.co_firstlineno + 3


def test_a_line_that_records_very_often_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "traceir"):
        traceir.make_jaxpr(lambda x: unrolled(x))(1.0)
        (record,) = caplog.records
        text = record.getMessage()
        many = f"{cost_model.REPORTED_EQUATIONS:,} equations"
        assert f"{many} at {__file__}:{LINE} in unrolled" in text
        assert "x = jnp.sin(x)" in text and "lax.fori_loop" in text
        caplog.clear()
        traceir.make_jaxpr(lambda x: jnp.sin(x))(1.0)
        with traceir.unrolled_loops("allow"):
            traceir.make_jaxpr(lambda x: unrolled(x))(1.0)
        assert not caplog.records


def test_a_long_loop_is_refused_early() -> None:
    steps = []

    def endless(x: Any) -> Any:
        while len(steps) < 100 * cost_model.REPORTED_EQUATIONS:
            steps.append(0)
            x = jnp.sin(jnp.cos(x))
        return x

    with traceir.unrolled_loops("raise"), pytest.raises(RuntimeError, match="cos"):
        traceir.jit(endless)(1.0)
    assert len(steps) <= cost_model.REPORTED_EQUATIONS


def test_many_lines_with_few_equations_each_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run, args = PROGRAMS["written_out"](cost_model.REPORTED_EQUATIONS)
    with caplog.at_level(logging.WARNING, "traceir"):
        assert (
            len(traceir.make_jaxpr(run)(*args).eqns)
            == 2 * cost_model.REPORTED_EQUATIONS
        )
        assert not caplog.records


def test_a_line_that_records_very_often_can_be_an_error() -> None:
    def f(x: Any) -> Any:
        return unrolled(x)

    with (
        traceir.unrolled_loops("raise"),
        pytest.raises(RuntimeError, match=r"\[jit.unrolled\]") as caught,
    ):
        traceir.jit(f)(1.0)
    assert f"{__file__}:{LINE} in unrolled" in str(caught.value)
    assert f"of {cost_model.REPORTED_EQUATIONS:,} in f" in str(caught.value)
    assert traceir.jit(f).cache_info().currsize == 0


def test_the_report_has_lines_and_constants() -> None:
    large = np.arange(1000.0, dtype=np.float32)

    @traceir.jit
    def inner(x: Any) -> Any:
        return jnp.cos(x) + large

    def f(x: Any) -> Any:
        for _ in range(3):
            x = inner(x) * ROW[0]
        return x

    report = traceir.jit(f).trace(large).report()
    counts = [
        (line.function.rpartition(".")[2], line.equations) for line in report.lines
    ]
    assert counts == [("f", 6), ("inner", 2)] and report.equations == 8
    assert report.lines[0].primitives == (("jit", 3), ("mul", 3))
    assert report.nbytes == 4000 and len(report.constants) == 1
    text = str(report)
    assert text.startswith("f: 8 equations\n  6 equations at ")
    assert "hint" not in text
    assert (
        "constants: 1, 4,000 bytes\n    4,000 bytes, f32[1000], first read at" in text
    )
    assert "return jnp.cos(x) + large" in text


def test_a_program_from_text_has_no_lines() -> None:
    closed = traceir.parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }")
    assert str(source_report(closed)) == "program: 1 equations"
