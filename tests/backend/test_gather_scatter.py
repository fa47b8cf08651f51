"""Reading and writing at places that are values: the bits, and what is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import random_indexing
from compiling import compiled, executable, grid, reference, same_bits, traced
from hypothesis import given, settings
from hypothesis import strategies as st
from indexed_programs import IN_PLACE, fibonacci
from random_indexing import Case
from soak import examples

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir_numba import backend
from traceir_numba.loops.program import BufferProgram, CallRoutine, Copy, Launch, Step
from traceir_numba.loops.step_effects import inner

Make = Callable[[np.random.Generator], Case]


@pytest.mark.parametrize(
    "make", (random_indexing.gather, random_indexing.scatter, random_indexing.slices)
)
@settings(max_examples=examples(20))
@given(seed=st.integers(0, 2**31 - 1))
def test_random_programs(make: Make, seed: int) -> None:
    case = make(np.random.default_rng(seed))
    got = executable(case.closed).run(*case.arguments)
    want = eval_jaxpr(case.closed, case.closed.consts, *case.arguments)
    assert same_bits(got, want), str(case.closed)


# -- in place -------------------------------------------------------------------------


def program_of(closed: ClosedJaxpr) -> BufferProgram:
    """The program that is compiled."""
    return executable(closed).program


def within(steps: tuple[Step, ...]) -> Iterator[Step]:
    """All that is in loops and choices."""
    for step in steps:
        for part in inner(step):
            yield from part
            yield from within(part)


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_loop_copies_no_array_to_put_something_in_it(name: str) -> None:
    fun, args = IN_PLACE[name]
    closed = traced(fun, *args)
    (run,) = [
        step for step in program_of(closed).steps if isinstance(step, CallRoutine)
    ]
    assert not [s for s in within(run.routine.steps) if isinstance(s, Copy)]
    got = executable(closed).run(*args)
    assert same_bits(got, eval_jaxpr(closed, closed.consts, *args))


def test_what_is_read_later_is_copied() -> None:
    def kept(x: Any) -> Any:
        def body(a: Any, i: Any) -> Any:
            return a.at[i].set(0.0), a

        return lax.scan(body, x, jnp.arange(4))

    closed, x = traced(kept, grid(4)), grid(4)
    got = executable(closed).run(x)
    assert same_bits(got, eval_jaxpr(closed, closed.consts, x))


def copies(closed: ClosedJaxpr, donated: tuple[int, ...] = ()) -> int:
    """The copies that a program makes outside of loops."""
    found = backend.compile(closed, "program", donated)
    assert isinstance(found, backend.CpuExecutable)
    return sum(isinstance(step, Copy) for step in found.program.steps)


def test_an_argument_is_copied_unless_it_is_donated() -> None:
    closed = traced(lambda x, i: x.at[i].set(1.0), grid(8), np.int32(2))
    assert (copies(closed), copies(closed, (0,))) == (1, 0)


def test_what_nobody_reads_any_more_is_not_copied() -> None:
    closed = traced(lambda x: (x * 2.0).at[1].add(x[0]).at[2].add(1.0), grid(8))
    assert copies(closed) == 0


def test_a_donated_argument_is_written_over() -> None:
    closed = traced(lambda x, i: x.at[i].set(x[i] + 1.0), grid(8), np.int32(2))
    x = grid(8)
    want = eval_jaxpr(closed, closed.consts, x, np.int32(2))
    found = backend.compile(closed, "program", (0,))
    (got,) = found.run(x, np.asarray(2, np.int32))
    assert same_bits([got], want) and np.shares_memory(got, x)


def test_what_is_put_may_be_made_of_other_places() -> None:
    for fun in (
        lambda x: (x * 2.0).at[1:].set(x[:-1] * 2.0),
        lambda x: (x * 2.0).at[1:].set((x * 2.0)[:-1]),
        lambda x: (x + 0.0).at[jnp.array([3, 3, 0])].add((x + 0.0)[:3]),
        lambda x: x.at[::-1].set(x),
    ):
        closed, x = traced(fun, grid(8)), grid(8)
        got = executable(closed).run(x)
        assert same_bits(got, eval_jaxpr(closed, closed.consts, x))


def test_what_is_copied_may_have_another_shape() -> None:
    """The result is a reshape of the array that something is put in."""
    closed = traced(lambda x: x.reshape(4).at[::3].set(0.0).reshape(2, 2), grid(2, 2))
    x = grid(2, 2)
    assert copies(closed) == 1
    got = executable(closed).run(x)
    assert same_bits(got, eval_jaxpr(closed, closed.consts, x))


# -- nests ----------------------------------------------------------------------------


def test_a_lookup_is_read_where_it_is_used() -> None:
    def mean(table: Any, ids: Any) -> Any:
        found = table[ids] * 2.0
        return (found - found.mean(1, keepdims=True)).sum()

    closed = traced(mean, grid(50, 16), np.zeros(20, np.int32))
    program = program_of(closed)
    shapes = {b.shape for b in program.buffers if b.role == "temporary"}
    assert (20, 16) not in shapes


TRANSPOSED = """{ lambda ; a:f32[4,6] i:i32[]. let
    b:f32[6,4] = transpose[permutation=(1, 0)] a
    c:f32[6,4] = rev[dimensions=(0,)] b
    j:i32[] = mul i 2:i32[]
    d:f32[2,4] = dynamic_slice[slice_sizes=(2, 4)] c j 0:i32[]
    e:f32[2] = reduce_sum[axes=(1,) out_sharding=None] d
  in (e,) }"""


@pytest.mark.parametrize("name", ["places", "values"])
def test_what_is_value_is_computed_before_it_is_put_in_order(name: str) -> None:
    def added(x: Any) -> Any:
        value = jnp.sin(jnp.exp(x))
        if name == "places":
            return jnp.zeros(8).at[value.astype("int32")].add(1.0)
        return jnp.zeros(8).at[jnp.arange(40) % 8].add(value)

    def near(x: Any) -> Any:
        if name == "places":
            return jnp.zeros(8).at[x.astype("int32")].add(1.0)
        return jnp.zeros(8).at[jnp.arange(40) % 8].add(x)

    def nests(function: Callable[[Any], Any]) -> int:
        steps = program_of(traced(function, grid(40))).steps
        return sum(isinstance(step, Launch) for step in steps)

    assert nests(added) == nests(near) + 1


@pytest.mark.parametrize("start", (-1, 0, 1, 2, 9))
def test_views_are_read_through(start: int) -> None:
    x, i = grid(4, 6), np.asarray(start, np.int32)
    program = compiled(TRANSPOSED)
    assert same_bits(program.run(x, i), reference(TRANSPOSED, x, i))
    assert len(program.program.launches()) == 1


def test_updates_run_in_their_order_whatever_the_threads() -> None:
    rng = np.random.default_rng(0)
    x, places = grid(7), rng.integers(-2, 9, 200_000).astype(np.int32)
    updates = rng.normal(size=200_000).astype(np.float32)
    closed = traced(lambda x, i, u: x.at[i].add(u), x, places, updates)
    (launch,) = program_of(closed).launches()
    assert launch.nest.ordered
    told = executable(closed).as_text("speed")
    assert "1 thread, as a place may occur twice" in told
    got = executable(closed).run(x, places, updates)
    assert same_bits(got, eval_jaxpr(closed, closed.consts, x, places, updates))


def test_what_has_just_been_written_is_read_number_by_number() -> None:
    # A vector of two that were written one after the other waits for both.
    assert "x float>" not in executable(traced(fibonacci, grid(10))).as_text("llvm")


def test_a_count_that_is_read_at_several_places_has_each_of_them() -> None:
    def between(b: Any) -> Any:
        d = b[1:] - b[:-1]
        return d[:-1] * d[1:]

    x = np.array([-0.5, 3.0, -1.0, 1.0], "float32")
    slopes = traceir.jacfwd(between)
    found = traceir.jit(slopes, backend="numba")(x)
    np.testing.assert_array_equal(found, slopes(x))


def test_a_kernel_of_the_reference_is_not_told_what_the_backend_has_found() -> None:
    call = backend.reference_function("scatter-mul")
    found = call(
        np.full((1, 5, 4), 2 + 1j),
        np.array([1], np.int32),
        np.full((1, 2, 4), 3 - 1j),
        dimension_numbers=((0, 1, 2), (), (1,), (), ()),
        mode="GatherScatterMode.FILL_OR_DROP",
        inside=(1,),
    )
    expected = np.full((1, 5, 4), 2 + 1j)
    expected[:, 1:3] *= 3 - 1j
    np.testing.assert_array_equal(found, expected)
