"""Loops and choices: by one block, or by the host around launches, with the same bits.

Cites: accuracy.one-answer, choice.sum-order, choice.dot-order
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import device_loops as own
import loop_programs
import numpy as np
import pytest
import random_loops
from compiling import grid, same_bits, traced

import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir_numba.cuda import backend, cost_model
from traceir_numba.cuda.backend import CudaExecutable
from traceir_numba.cuda.routines import block_plans, pieces
from traceir_numba.cuda.routines.barriers import Touched
from traceir_numba.cuda.routines.block_plans import (
    BranchLevel,
    HostBranch,
    HostLoop,
    HostWhile,
    Piece,
)
from traceir_numba.cuda.run import to_device
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.simulator import blocks
from traceir_numba.loops.program import CallRoutine

Fun = Callable[..., Any]
MATRIX, VECTOR = grid(4, 3), grid(3, seed=1)
# What one block may do: nothing that has elements, little, and as much as there is.
BOUNDS = pytest.mark.parametrize("rounds", [0, 1, cost_model.ROUTINE_ROUNDS])


def results(closed: ClosedJaxpr, args: Any) -> list[np.ndarray]:
    """The results of a program on a device."""
    return list(backend.compile(closed, "program").run(*map(np.asarray, args)))


def run_of(
    fun: Fun, *args: Any
) -> tuple[CudaExecutable, tuple[block_plans.Planned, ...]]:
    """A compiled function, and what the host does for its one loop or choice."""
    made = backend.compile(traced(fun, *args), "program")
    assert isinstance(made, CudaExecutable)
    (run,) = [s for s in made.program.steps if isinstance(s, CallRoutine)]
    return made, made.runner.plan(run.routine).steps


def tree(steps: Any) -> list[Any]:
    """The host's steps: their names, with those in them."""
    found: list[Any] = []
    for step in steps:
        name = type(step).__name__
        match step:
            case HostLoop(_, inner):
                found.append((name, tree(inner)))
            case HostWhile(test, _, inner):
                found.append((name, [tree(test), tree(inner)]))
            case HostBranch(_, branches):
                found.append((name, list(map(tree, branches))))
            case BranchLevel(_, units):
                found.append((name, [type(one).__name__ for one in units]))
            case _:
                found.append(name)
    return found


# -- the same bits, whoever loops -----------------------------------------------------

FUNCTIONS = loop_programs.FUNCTIONS | own.OWN


@BOUNDS
@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_the_evaluator(
    name: str, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_model, "ROUTINE_ROUNDS", rounds)
    fun, args = FUNCTIONS[name]
    closed = traced(fun, *args)
    want = eval_jaxpr(closed, closed.consts, *args)
    assert same_bits(results(closed, args), want)


@BOUNDS
@pytest.mark.parametrize("seed", range(8))
def test_random_control_flow_agrees_with_the_evaluator(
    seed: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_model, "ROUTINE_ROUNDS", rounds)
    closed, args = random_loops.program(seed), random_loops.arguments(seed)
    want = eval_jaxpr(closed, closed.consts, *args)
    for got, one in zip(results(closed, args), want, strict=True):
        assert got.dtype == one.dtype
        np.testing.assert_array_equal(got, one)


@pytest.mark.parametrize("name", own.ORDERED)
def test_bits_do_not_depend_on_who_loops_and_in_which_order(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fun, args = own.ORDERED[name]
    closed = traced(fun, *args)
    first = results(closed, args)
    with blocks.backwards():
        assert same_bits(results(closed, args), first)
    monkeypatch.setattr(device, "limits", lambda: (16, 3))
    assert same_bits(results(closed, args), first)
    monkeypatch.setattr(cost_model, "ROUTINE_ROUNDS", 0)
    assert same_bits(results(closed, args), first)
    want = eval_jaxpr(closed, closed.consts, *args)
    for got, one in zip(first, want, strict=True):
        np.testing.assert_allclose(got, one, 2e-5, 1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_threads_wait_where_they_must(name: str) -> None:
    fun, args = FUNCTIONS[name]
    closed = traced(fun, *args)
    with blocks.backwards():
        got = results(closed, args)
    assert same_bits(got, eval_jaxpr(closed, closed.consts, *args))


# -- who does what --------------------------------------------------------------------

LONG = grid(99999)


def test_a_loop_of_small_arrays_is_one_kernel() -> None:
    for fun, args in FUNCTIONS.values():
        made = backend.compile(traced(fun, *args), "program")
        assert isinstance(made, CudaExecutable)
        for run in (s for s in made.program.steps if isinstance(s, CallRoutine)):
            assert tree(made.runner.plan(run.routine).steps) == ["Piece"]


HOSTED: dict[str, tuple[Fun, np.ndarray, list[Any]]] = {
    "rows": (
        lambda x: lax.fori_loop(0, 9, lambda i, v: v * i, x),
        LONG,
        ["Copy", "Piece", ("HostLoop", ["Launch", "Piece"])],
    ),
    "expensive": (
        lambda x: lax.fori_loop(0, 9, lambda _, v: lax.lgamma(v), x),
        LONG[:50000],
        ["Copy", ("HostLoop", ["Launch"])],
    ),
    "while": (
        own.halved,
        LONG,
        ["Copy", "Piece", ("HostWhile", [["Piece"], ["Launch", "Piece"]]), "Piece"],
    ),
    "choice": (
        own.choice,
        LONG,
        [
            ("BranchLevel", ["Launch", "KernelPart", "Piece"]),
            ("BranchLevel", ["Piece", "KernelPart", "Copy"]),
            ("BranchLevel", ["NoneType", "KernelPart", "Piece"]),
            ("BranchLevel", ["NoneType", "KernelPart", "NoneType"]),
            ("BranchLevel", ["NoneType", "Piece", "NoneType"]),
        ],
    ),
    "choice of loops": (
        lambda x: lax.cond(
            x.sum() > 1, jnp.sin, lambda v: lax.fori_loop(0, 2, lambda _, u: -u, v), x
        ),
        LONG,
        [("HostBranch", [["Copy", ("HostLoop", ["Launch"])], ["Launch"]])],
    ),
    "product": (
        lambda x: lax.scan(lambda c, r: (jnp.tanh(c @ r), c), x[0], x),
        grid(3, 60, 60),
        [("HostLoop", ["CallMatmul", "Piece", "Assign"]), "Copy"],
    ),
    "loop within": (
        lambda x: lax.scan(
            lambda c, r: (lax.fori_loop(0, 3, lambda i, k: k * 2 + i, c), r * c), 1.0, x
        ),
        grid(2, 99999),
        ["Piece", ("HostLoop", ["Launch", "Piece"]), "Piece"],
    ),
}


@pytest.mark.parametrize("name", HOSTED)
def test_what_one_block_would_be_slow_at_is_launched(name: str) -> None:
    fun, x, wanted = HOSTED[name]
    assert tree(run_of(fun, x)[1]) == wanted


# -- what the host waits for ----------------------------------------------------------


class Counted:
    """A count of elements copied from the device while a program runs there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lengths: list[int] = []
        self.download = device.download
        monkeypatch.setattr(device, "download", self.count)

    def count(self, memory: Any, length: int) -> np.ndarray:
        """Copy, and keep the length."""
        self.lengths.append(length)
        return self.download(memory, length)

    def of(self, fun: Fun, *args: Any) -> list[int]:
        """The copies of one run."""
        made = backend.compile(traced(fun, *args), "program")
        assert isinstance(made, CudaExecutable)
        buffers = made.program.buffers
        pairs = zip(made.program.inputs, args, strict=True)
        memory = [to_device(np.asarray(x), buffers[k]) for k, x in pairs]
        self.lengths.clear()
        made.runner.run(memory)
        return list(self.lengths)


@BOUNDS
def test_only_a_while_of_large_arrays_waits_for_the_device(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_model, "ROUTINE_ROUNDS", rounds)
    counted = Counted(monkeypatch)
    assert counted.of(own.choice, grid(9001)) == []
    assert counted.of(own.batched_choice, MATRIX) == []
    assert counted.of(own.backward, MATRIX) == []
    # One truth before each step, and the one that ends the loop.
    assert counted.of(own.halved, MATRIX) == ([1] * 5 if rounds == 0 else [])


def test_a_small_loop_is_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = []
    kernel = device.kernel

    def made(space: dict[str, Any], name: str) -> Fun:
        run = kernel(space, name)

        def launch(*args: Any) -> None:
            launches.append(name)
            run(*args)

        return launch

    monkeypatch.setattr(device, "kernel", made)
    monkeypatch.setattr(pieces, "_compiled", {})
    for fun, args in (loop_programs.FUNCTIONS["nested"], own.OWN["rows in rows"]):
        launches.clear()
        backend.compile(traced(fun, *args), "program").run(*map(np.asarray, args))
        assert len(launches) == 1


# -- barriers -------------------------------------------------------------------------


def test_memory_is_read_after_a_barrier_and_one_thread_waits_not_for_itself() -> None:
    read, written, put = (frozenset({n}) for n in (1, 2, 3))
    before = Touched(read, written, put)
    for later, waits in {
        Touched(read=read): False,
        Touched(read=written): True,
        Touched(read=put): True,
        Touched(written=read): True,
        Touched(written=written): True,
        Touched(written=put): True,
        Touched(put=read): True,
        Touched(put=written): True,
        Touched(put=put): False,
        Touched(read=frozenset({4}), written=frozenset({5})): False,
    }.items():
        assert before.must_precede(later) is waits


def source_of(fun: Fun, *args: Any) -> str:
    """The source of a function's loop."""
    made = backend.compile(traced(fun, *args), "program")
    return str(made.as_text("source"))


def test_scalars_need_no_barriers_and_one_thread() -> None:
    for name in ("scalars", "counts"):
        fun, args = loop_programs.FUNCTIONS[name]
        assert "syncthreads" not in source_of(fun, *args)
        _, (piece,) = run_of(fun, *args)
        assert isinstance(piece, Piece)
        assert pieces.grid_of(piece, ()) == (1, 1)


def test_a_step_waits_once_for_what_it_reads() -> None:
    text = source_of(lambda x: lax.fori_loop(0, 5, lambda _, v: jnp.cos(v), x), VECTOR)
    (loop,) = [part for part in text.split("@cuda.jit") if "for step" in part]
    assert loop.count("cuda.syncthreads()") == 1


def test_what_blocks_share_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_model, "ROUTINE_SHARED_BYTES", 1)
    fun, args = own.ORDERED["folds"]
    assert tree(run_of(fun, *args)[1]) == ["Copy", ("HostLoop", ["Launch", "Launch"])]
