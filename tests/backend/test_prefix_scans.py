"""Running folds: along rows and columns, from either end, whole lines in blocks.

Rules: class.cumulative, choice.sum-order
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from compiling import compiled, executable, reference, same_bits, traced
from prefix_scan_programs import LINES, PRIMITIVES, numbers, text

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir_numba import cost_model
from traceir_numba.loops.program import CallRoutine, Launch
from traceir_numba.loops.step_effects import walk
from traceir_numba.runtime import thread_pool


@pytest.fixture
def as_many_threads_as_before() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = thread_pool.threads()
    yield
    thread_pool.set_threads(before)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), LINES)
@pytest.mark.parametrize("prim", PRIMITIVES)
def test_each_place_has_what_the_evaluator_gives(
    prim: str, shape: tuple[int, ...], axis: int, reverse: bool
) -> None:
    for dtype in ("float32", "int32"):
        program = text(prim, dtype, shape, axis, reverse)
        x = numbers(prim, dtype, shape)
        (got,), (want,) = compiled(program).run(x), reference(program, x)
        assert got.dtype == want.dtype and np.array_equal(got, want)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_other_dtypes_wrap_and_round(dtype: str) -> None:
    program = text("cumsum", dtype, (3, cost_model.SCAN_CHUNK + 5), 1, False)
    x = (
        np.random.default_rng(0)
        .integers(0, 200, (3, cost_model.SCAN_CHUNK + 5))
        .astype(dtype)
    )
    assert same_bits(compiled(program).run(x), reference(program, x))


def test_special_values_stay_where_they_are() -> None:
    x = np.ones((2, 200), "float32")
    x[0, 100], x[1, 30], x[1, 150] = np.nan, np.inf, -np.inf
    for axis in (0, 1):
        for prim in PRIMITIVES:
            program = text(prim, "float32", x.shape, axis, False)
            got, want = compiled(program).run(x)[0], reference(program, x)[0]
            assert np.array_equal(got, want, equal_nan=True)


@pytest.mark.parametrize(
    ("shape", "axis"), [((1 << 20,), 0), ((1000, 1000), 0), ((1000, 1000), 1)]
)
def test_the_bits_are_the_same_for_any_number_of_threads(
    shape: tuple[int, ...], axis: int, as_many_threads_as_before: None
) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    run = compiled(text("cumsum", "float32", shape, axis, False)).run
    found = []
    for count in (1, 2, 4):
        thread_pool.set_threads(count)
        found.append(run(x))
    assert same_bits(found[0], found[1]) and same_bits(found[0], found[2])


def test_what_is_folded_is_computed_in_the_same_kernel() -> None:
    closed = traced(
        lambda x, y: lax.cumsum(jnp.exp(x) * y + 1, 1),
        np.ones((3, 5), "float32"),
        np.ones((3, 5), "float32"),
    )
    program = executable(closed).program
    assert [type(step) for step in program.steps] == [Launch]


def test_a_fold_in_a_loop_is_a_kernel_of_its_routine() -> None:
    def run(x: jnp.ndarray) -> jnp.ndarray:
        return lax.fori_loop(0, 3, lambda k, c: jnp.cumsum(c, 1) - c, x)

    x = np.arange(12, dtype="float32").reshape(3, 4)
    found = executable(traced(run, x))
    assert [type(step) for step in found.program.steps] == [CallRoutine]
    (step,) = found.program.steps
    assert isinstance(step, CallRoutine)
    launches = [s for s in walk(step.routine.steps) if isinstance(s, Launch)]
    assert sum(bool(s.nest.scan_direction) for s in launches) == 1
    assert np.array_equal(found.run(x)[0], run(jnp.asarray(x)))


def test_a_new_length_is_no_new_kernel() -> None:
    texts = [text("cumsum", "float32", (n,), 0, False) for n in (100, 1000, 9000)]
    nests = {compiled(t).program.launches()[0].nest for t in texts}
    assert len(nests) == 1


def test_sums_of_powers_run_row_after_row() -> None:
    x = np.random.default_rng(0).standard_normal((40, 30)).astype("float32") * 300
    x[3, 4], x[20, 5], x[0, 6] = -np.inf, np.inf, np.nan
    for axis in (0, 1):
        for way in (False, True):
            program = text("cumlogsumexp", "float32", x.shape, axis, way)
            got, want = compiled(program).run(x)[0], reference(program, x)[0]
            assert np.allclose(got, want, rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "sum", "sort"])
@pytest.mark.parametrize("shape", [(2, 0, 3), (0, 2, 3)])
def test_what_no_element_is_read_of_is_not_computed(
    name: str, shape: tuple[int, ...]
) -> None:
    def padded(x: Any) -> Any:
        return jnp.pad(getattr(jnp, name)(x, axis=1), 1, constant_values=7)

    x = jnp.zeros(shape, "int32")
    found = traceir.jit(padded, backend="numba")(x)
    np.testing.assert_array_equal(found, padded(x))
