"""Random programs of all kinds give one answer on a device and in the reference.

`make fuzz` draws many. Cites: accuracy.one-answer, accuracy.conditioned, derive.*,
vmap.*, control.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mixed_programs as mixed
import numpy as np
import pytest
import random_indexing
import random_loops
import random_programs as keyed
from compiling import same_bits
from equations import ALONE, equations
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from pair_programs import STEPS, numbers
from soak import examples

import traceir
import traceir.numpy as jnp
from traceir import random
from traceir.arrays.array import Array
from traceir.conform.drawing.chains import chains
from traceir.conform.drawing.programs import arguments, programs
from traceir.conform.drawing.strategies import arrays
from traceir.conform.drawing.written import as_case
from traceir.dtypes import is_key
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import eval_jaxpr
from traceir.tracing.staging import apply
from traceir_numba.cuda import backend
from traceir_numba.cuda.simulator import blocks

# Each program has kernels of its own, which Python runs.
FEW = examples(8)
SEEDS = st.integers(0, 2**31 - 1)
EIGHTHS = st.lists(
    st.integers(-16, 16), min_size=mixed.LENGTH, max_size=mixed.LENGTH
).map(lambda row: np.array(row, "float32") / 8)

campaign = settings(max_examples=FEW)


def on_device(closed: ClosedJaxpr, args: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a device, whatever the order of its threads."""
    compiled = backend.compile(closed, "program")
    found = list(compiled.run(*args))
    with blocks.backwards():
        assert same_bits(list(compiled.run(*args)), found)
    return found


def assert_equal(closed: ClosedJaxpr, args: Sequence[np.ndarray]) -> None:
    """The evaluator's types and values; one zero is as good as another."""
    got = on_device(closed, args)
    want = eval_jaxpr(closed, closed.consts, *args)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_array_equal(g, w)


def assert_near(fun: Callable[..., Any], args: Sequence[Any], size: float) -> None:
    """The reference's types and words, and numbers as near as that."""
    device, reference = (traceir.jit(fun, backend=b) for b in ("cuda", "reference"))
    got, want = (list(map(words, f(*args))) for f in (device, reference))
    with blocks.backwards():
        assert same_bits(list(map(words, device(*args))), got)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        if g.dtype.kind not in "fc":
            np.testing.assert_array_equal(g, w)
            continue
        finite = np.isfinite(w) & (np.abs(w) < 1e30)
        scale = float(np.max(np.abs(w[finite]), initial=1.0))
        np.testing.assert_allclose(g[finite], w[finite], size, size * scale)


def words(result: Any) -> np.ndarray:
    """The elements of a result, of keys their words."""
    key = str(result.dtype).startswith("key")
    return np.asarray(random.key_data(result) if key else result)


@campaign
@given(st.data())
def test_a_primitive_is_within_its_set(data: st.DataObject) -> None:
    prim = data.draw(st.sampled_from(ALONE))
    event(prim)
    equation = data.draw(equations(prim))
    invars = tuple(map(Var, equation.avals))
    outvars = tuple(map(Var, infer(prim, equation.avals, dict(equation.params))))
    eqn = Eqn(prim, invars, outvars, sort_params(equation.params))
    closed = ClosedJaxpr(Jaxpr((), invars, (eqn,), outvars))
    got = on_device(closed, equation.arrays)
    assert not scalar_interpreter.faults(prim, equation.params, equation.arrays, got)


@pytest.mark.parametrize("control", [False, True])
@campaign
@given(data=st.data())
def test_programs_agree_with_the_evaluator(control: bool, data: st.DataObject) -> None:
    depth = 2 if control else 1
    drawn = programs(12, grid=True, wide=True, depth=depth, control=control)
    closed = data.draw(drawn)
    args = data.draw(arguments(closed))
    note(as_case("device/program", closed, args))
    assert_equal(closed, args)


@campaign
@given(SEEDS)
def test_control_flow_in_control_flow(seed: int) -> None:
    assert_equal(random_loops.program(seed), random_loops.arguments(seed))


@pytest.mark.parametrize("name", ["gather", "scatter", "slices"])
@campaign
@given(seed=SEEDS)
def test_reads_and_writes_at_places(name: str, seed: int) -> None:
    case = getattr(random_indexing, name)(np.random.default_rng(seed))
    got = on_device(case.closed, case.arguments)
    want = eval_jaxpr(case.closed, case.closed.consts, *case.arguments)
    assert same_bits(got, want), str(case.closed)


@campaign
@given(keyed.plans(), SEEDS)
def test_keys_have_the_same_bits(plan: tuple[keyed.Step, ...], seed: int) -> None:
    assert_near(keyed.program(plan), [random.key(seed)], 0)


@pytest.mark.parametrize("batch", [False, True])
@campaign
@given(plan=mixed.plans(4), seed=SEEDS, row=EIGHTHS)
def test_programs_that_mix_all_kinds(
    batch: bool, plan: list[mixed.Step], seed: int, row: np.ndarray
) -> None:
    fun, key = mixed.program(plan), random.key(seed)
    if batch:
        xs = jnp.stack([jnp.asarray(row), jnp.ones(mixed.LENGTH)])
        assert_near(traceir.vmap(fun), [random.split(key, 2), xs], 2e-3)
    else:
        assert_near(fun, [key, jnp.asarray(row)], 2e-3)


@campaign
@given(st.data())
def test_transforms_of_transforms(data: st.DataObject) -> None:
    chain = data.draw(chains())

    def program(*xs: Any) -> Any:
        return apply(chain.program, xs)

    avals = list(chain.avals(traceir, program))
    args = [data.draw(arrays(a, True)) for a in avals]
    note(f"{as_case('device/chain', chain.program, args)}\n  under  {chain}")
    # Functions take keys as such, and not their memory.
    given = [Array._wrap(x, a) if is_key(a.dtype) else x for x, a in zip(args, avals)]
    assert_near(chain.function(traceir, program), given, 1e-4)


@campaign
@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6),
    st.sampled_from([(3,), (3, 3)]),
    st.integers(0, 9),
)
def test_complex_numbers(steps: list[str], shape: tuple[int, ...], seed: int) -> None:
    def program(a: Any, b: Any) -> Any:
        for step in steps:
            a, b = STEPS[step](a, b), a
            a = a / (1 + abs(a))
        return a, b

    args = numbers(*shape, seed=seed), numbers(*shape, seed=seed + 1)
    assert_near(program, args, 2e-5)
