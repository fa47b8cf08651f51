"""Several passes over the same rows or columns: one kernel, no memory, same bits."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from compiling import executable, same_bits, softmax, traced
from hypothesis import given, settings
from hypothesis import strategies as st
from pass_programs import FUNCTIONS, PARTS, Function, joined, normal, soft
from soak import examples, sample

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.text import parse
from traceir_numba.buffers.overwriting import may_overwrite
from traceir_numba.fusion import fuse
from traceir_numba.loops.nest import LoadElement
from traceir_numba.pipeline.build_program import build_program


def counts(fun: Function, *args: Any) -> tuple[list[int], int]:
    """The passes of each kernel, and the arrays kept between or within them."""
    program = build_program(traced(fun, *args), "program")
    kept = [b for b in program.buffers if b.role == "temporary" and prod(b.shape) > 500]
    return [len(launch.nest.passes) for launch in program.launches()], len(kept)


X = jnp.ones((64, 50))


@pytest.mark.parametrize(
    ("name", "passes", "kept"),
    [
        ("soft", 3, 0),
        ("log_soft", 3, 0),
        ("log_sum", 2, 0),
        ("normal", 3, 0),
        ("moments", 2, 0),
        ("entropy", 3, 1),  # no result has room for the exponentials
        ("scaled", 2, 0),
    ],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_function_of_rows_is_one_kernel(
    name: str, passes: int, kept: int, axis: int
) -> None:
    fun = FUNCTIONS[name]
    assert counts(lambda x: fun(x, axis), X) == ([passes], kept)


@pytest.mark.parametrize(
    ("name", "passes", "most"), [("soft", 5, 1), ("normal", 5, 1), ("log_soft", 5, 2)]
)
def test_a_gradient_is_one_kernel(name: str, passes: int, most: int) -> None:
    def loss(x: Any) -> Any:
        return jnp.sum(FUNCTIONS[name](x) ** 2)

    kernels, kept = counts(traceir.grad(loss), X)
    assert kernels == [passes] and kept <= most


def test_values_around_the_passes_join_them() -> None:
    def layer(x: Any, y: Any, g: Any) -> Any:
        return jnp.tanh(normal(x * 2 + y) * g + 1)

    assert counts(layer, X, X, jnp.ones(50)) == ([3], 0)


def test_dims_between_and_several_dims_are_reduced_in_passes() -> None:
    images = jnp.ones((8, 3, 20, 30))

    def batch(x: Any) -> Any:
        m = jnp.mean(x, axis=(0, 2, 3), keepdims=True)
        return x - m

    assert counts(batch, images) == ([2], 0)
    assert counts(lambda x: soft(x, 1), images) == ([3], 0)


def test_a_reduction_of_everything_ends_before_its_result_is_used() -> None:
    assert counts(lambda x: x / jnp.sum(x), jnp.ones(5000)) == ([1, 1], 0)


def test_few_long_rows_are_reduced_apart() -> None:
    # Threads can share the parts of a row in a reduction, but not in passes.
    kernels, _ = counts(soft, jnp.ones((2, 100_000)))
    assert kernels == [1, 1, 1]


# -- bits -----------------------------------------------------------------------------


def both_ways(fun: Function, x: np.ndarray, name: str) -> list[list[np.ndarray]]:
    """The results of passes, and those of kernels of one pass each."""
    closed = traced(fun, x)
    found = [executable(closed, f"{name}_passes").run(x)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fuse, "second_pass_pays", lambda *_: False)
        assert launches(closed) == {1}
        found.append(executable(closed, f"{name}_apart").run(x))
    return found


def launches(closed: Any) -> set[int]:
    """The numbers of passes of the kernels."""
    program = build_program(closed, "program")
    return {len(launch.nest.passes) for launch in program.launches()}


@settings(max_examples=examples(20))
@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.lists(st.sampled_from([1, 2, 3, 5, 17, 40, 130]), min_size=1, max_size=3),
    st.integers(0, 2),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 9),
)
def test_passes_give_the_bits_of_reductions_apart(
    name: str, shape: list[int], axis: int, dtype: str, seed: int
) -> None:
    axis %= len(shape)
    x = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    with traceir.enable_x64(True):
        passes, apart = both_ways(
            lambda a: FUNCTIONS[name](a, axis), x, f"{name}_{axis}"
        )
    assert same_bits(passes, apart)


@pytest.mark.parametrize("columns", sample([7, 16, 33, 128, 300, 600], 2))
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_rows_of_known_lengths_give_the_bits_of_reductions_apart(
    name: str, columns: int
) -> None:
    x = np.random.default_rng(1).normal(size=(2400, columns)).astype(np.float32)
    passes, apart = both_ways(FUNCTIONS[name], x, name)
    assert same_bits(passes, apart)


def test_a_row_that_a_later_pass_reads_is_not_overwritten() -> None:
    (launch,) = build_program(parse(softmax(64, 50)), "program").launches()
    nest = launch.nest
    (written,) = nest.written
    (read,) = nest.loaded - nest.written
    # The last pass that reads the operand has stored already.
    assert may_overwrite(nest, read, written)
    late = nest.passes[2].body[0]
    assert isinstance(late, LoadElement) and late.access.buffer == written

    def step(_: int, x: Any) -> Any:
        return soft(x * 3) + x  # the operand is read when exponentials are there

    x = np.random.default_rng(2).normal(size=(40, 30)).astype(np.float32)
    looped = traceir.jit(lambda a: lax.fori_loop(0, 4, step, a))(x)
    expected: Any = x
    for _ in range(4):
        expected = traceir.jit(lambda a: step(0, a))(expected)
    assert np.asarray(looped).tobytes() == np.asarray(expected).tobytes()


# -- parts side by side ---------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PARTS))
def test_pads_and_small_concatenations_join_loops(name: str) -> None:
    kernels, kept = counts(PARTS[name], X)
    assert (kernels, kept) == ([1], 0)


def test_a_padded_array_is_read_where_it_is_however_large() -> None:
    assert counts(PARTS["difference"], jnp.ones((900, 900))) == ([1], 0)


def test_large_halves_are_put_side_by_side_first() -> None:
    # Behind conditions each half of the loop would read for nothing.
    kernels, kept = counts(joined, jnp.ones((900, 900)))
    assert (len(kernels), kept) == (3, 1)


@settings(max_examples=examples(20))
@given(
    st.sampled_from(sorted(PARTS)),
    st.integers(3, 40),
    st.integers(3, 40),
    st.integers(0, 9),
)
def test_parts_give_the_numbers_of_the_evaluator(
    name: str, rows: int, columns: int, seed: int
) -> None:
    numbers = np.random.default_rng(seed).integers(-9, 9, (rows, columns))
    x = np.asarray(numbers / 4, np.float32)
    own = traceir.jit(PARTS[name])(x)
    reference = traceir.jit(PARTS[name], backend="reference")(x)
    np.testing.assert_allclose(np.asarray(own), np.asarray(reference), 1e-6, 1e-6)


def test_a_pad_of_nothing_may_be_nothing() -> None:
    def fun(x: Any) -> Any:
        return lax.pad(x, np.float32(7), ((-2, 2, 0),)) + 1

    assert np.asarray(traceir.jit(fun)(np.zeros(0, np.float32))).shape == (0,)


@pytest.mark.parametrize("low", [-2, 0, 3])
@pytest.mark.parametrize("high", [-1, 0, 2])
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_slices_of_padded_arrays(low: int, high: int, start: int, step: int) -> None:
    def fun(x: Any) -> Any:
        wide = lax.pad(x * 2, np.float32(7), ((low, high, 0),))
        return lax.rev(wide[start::step], (0,)) + 1

    x = np.arange(1, 9, dtype=np.float32)
    want = np.arange(2 - 2 * low, 18 + 2 * high, 2, dtype=np.float32)
    want[(want < 2) | (want > 16)] = 7
    want = np.flip(want[start::step]) + 1
    assert np.asarray(traceir.jit(fun)(x)).tolist() == want.tolist()
