"""Long straight-line code becomes loops of bounded length, which are vectors still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import executable, grid, same_bits, traced
from long_programs import cheap, deep, expensive, turned, wide

import traceir.numpy as jnp
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir_numba import backend, cost_model
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.fusion.fuse import FusionPlan, fuse
from traceir_numba.fusion.split_bodies import computed_for, length
from traceir_numba.loops.nest import Apply
from traceir_numba.loops.program import Launch
from traceir_numba.pipeline.build_program import build_program


def planned(fun: Callable[[Any, int], Any], steps: int) -> FusionPlan:
    """The plan of a function of an array of 64."""
    return fuse(Graph(traced(lambda x: fun(x, steps), np.ones(64, np.float32))))


@pytest.mark.parametrize("fun", [cheap, expensive, wide, turned])
def test_no_body_is_longer_than_the_longest(fun: Callable[[Any, int], Any]) -> None:
    plan = planned(fun, 1000)
    sizes = []
    for cluster in plan.clusters:
        eqns = [
            eqn
            for job in cluster.jobs + cluster.epilogue
            for eqn in computed_for(plan.graph, job, plan.stored)
        ]
        sizes.append(length(plan.graph, eqns))
    assert max(sizes) <= cost_model.BODY_COST
    # And none is so short that memory would be what it takes.
    total = length(plan.graph, plan.graph.eqns)
    assert len(sizes) <= 1 + 3 * total // cost_model.BODY_COST


def test_short_programs_are_left_as_they_are() -> None:
    for fun, steps in ((cheap, 250), (expensive, 40), (wide, 60)):
        plan = planned(fun, steps)
        assert len(plan.clusters) == 1, fun
        assert len(plan.stored) == 1


def test_a_part_ends_where_few_values_are_alive() -> None:
    # Sixteen values that live together, then one, over and over.
    def waists(x: Any, steps: int) -> Any:
        for _ in range(steps):
            rows = [x * (k + 0.5) for k in range(16)]
            x = sum(jnp.exp(row) for row in rows)
        return x

    plan = planned(waists, 40)
    # Each cut costs two values at most: the waist, and one that is made of it.
    assert len(plan.clusters) > 4
    assert len(plan.stored) <= 2 * len(plan.clusters)


def program(steps: int) -> ClosedJaxpr:
    """Arithmetic of two equations a step."""
    return traced(lambda x: cheap(x, steps), np.ones(64, np.float32))


def test_equal_parts_are_one_kernel() -> None:
    nests = [
        s.nest for s in build_program(program(3000), "long").steps if type(s) is Launch
    ]
    assert len(nests) > 8
    assert len(set(nests)) <= 3
    assert max(sum(type(n) is Apply for n in nest.body) for nest in nests) < 700
    executable(program(3000))
    before = backend.compile_count()
    executable(program(6000))
    assert backend.compile_count() - before <= 2


def test_parts_have_the_bits_of_the_whole() -> None:
    closed, x = program(1500), grid(64)
    assert same_bits(executable(closed).run(x), eval_jaxpr(closed, closed.consts, x))


@pytest.mark.parametrize(("size", "kernels"), [(100, 1), (1 << 15, 4)])
def test_deep_chains_of_many_elements_are_cut(size: int, kernels: int) -> None:
    x = grid(size)
    exe = executable(traced(lambda x: deep(x, 6), x))
    assert len(exe.program.launches()) == kernels
    # A part of so few elements is one kernel, with the same bits.
    part = executable(traced(lambda x: deep(x, 6), x[:100]))
    assert same_bits(exe.run(x)[0][:100], part.run(x[:100])[0])


def test_what_would_leave_several_values_is_one_kernel() -> None:
    def run(x: Any) -> Any:
        a, b, c = jnp.sin(x), jnp.cos(x), jnp.exp(x)
        for _ in range(2):
            a, b, c = jnp.sin(b * c), jnp.cos(a * c), jnp.exp(-abs(a * b))
        return a + b + c

    exe = executable(traced(run, grid(1 << 15)))
    assert len(exe.program.launches()) == 1


@pytest.mark.parametrize("squared", [False, True])
def test_no_nest_reads_more_arrays_than_a_kernel_of_a_device_takes(
    squared: bool,
) -> None:
    def total(*arrays: Any) -> Any:
        """A sum of arrays, or of the sums of their squares."""
        return sum(jnp.sum(x * x) if squared else x for x in arrays)

    xs = [grid(5, seed=k) for k in range(200)]
    exe = executable(traced(total, *xs))
    counts = [len(launch.nest.loaded) for launch in exe.program.launches()]
    assert max(counts) <= cost_model.NEST_ARRAYS and len(counts) <= 12 + 200 * squared
    closed = traced(total, *xs)
    assert same_bits(exe.run(*xs), eval_jaxpr(closed, closed.consts, *xs))


def test_many_values_of_many_arrays_are_no_one_nest() -> None:
    def each(*arrays: Any) -> Any:
        """As many sums, of other halves of the arrays."""
        return [sum(arrays[k : k + 30]) for k in range(0, 90, 10)]

    xs = [grid(5, seed=k) for k in range(120)]
    exe = executable(traced(each, *xs))
    assert (
        max(len(x.nest.loaded) for x in exe.program.launches())
        <= cost_model.NEST_ARRAYS
    )
