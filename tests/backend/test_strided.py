"""Products of operands that lie anywhere, and the convolutions made of them."""

from __future__ import annotations

import importlib.util
import itertools
import platform
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiling import executable, grid, traced
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from soak import examples

import traceir
import traceir_numba
from traceir import lax
from traceir.reference.interpreter import InterpretedProgram
from traceir_numba import cost_model
from traceir_numba.emitters.folds.strided_convolutions import way
from traceir_numba.gemm import blocked, parallel, strided
from traceir_numba.llvm.trampoline import callable_of
from traceir_numba.loops.program import CallMatmul
from traceir_numba.pipeline.build_program import build_program
from traceir_numba.runtime import thread_pool

DTYPES = ("float32", "float64", "int8", "uint16", "int32", "int64")
Levels = list[tuple[int, int]]


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = thread_pool.set_threads(2)
    yield
    thread_pool.set_threads(before)


def multiplied(x: Any, y: Any, sides: tuple[Levels, ...], stacks: Any = ()) -> Any:
    """A product: extents and strides of rows, terms on both sides, and columns."""
    rows, _, terms, columns = (tuple(n for n, _ in one) for one in sides)
    ways = np.array([number for one in sides for number in way(one)], np.int64)
    steps = [0, 0, *(s for _, s, _ in stacks)][-2:] + [0, 0, *(s for *_, s in stacks)][
        -2:
    ]
    outer = tuple(n for n, *_ in stacks)
    z = np.empty((*outer, prod(rows), prod(columns)), x.dtype)
    code = strided.load(x.dtype.name)
    address = code.addresses[strided.symbol_of(x.dtype.name)]
    entry = callable_of(address, *strided.COUNTS, True)
    sizes = *[1, 1, *outer][-2:], prod(rows), prod(terms), prod(columns)
    parallel.strided_product(entry, x, y, ways, z, *sizes, *steps)
    return z


def as_matrices(a: Any, stacks: Levels, one: Levels, other: Levels) -> Any:
    """The matrices that a product reads."""
    levels = [*stacks, *one, *other]
    extents = tuple(n for n, _ in levels)
    found = as_strided(a, extents, [s * a.itemsize for _, s in levels])
    outer = extents[: len(stacks)]
    return found.reshape(*outer, prod(n for n, _ in one), prod(n for n, _ in other))


def wanted(x: Any, y: Any, sides: tuple[Levels, ...], stacks: Any = ()) -> Any:
    rows, along, down, columns = sides
    left = as_matrices(x, [(n, s) for n, s, _ in stacks], rows, along)
    right = as_matrices(y, [(n, s) for n, _, s in stacks], down, columns)
    return np.matmul(left, right)


# Rows, terms on the left, terms on the right, columns.
LAYOUTS: dict[str, tuple[Levels, ...]] = {
    "matrices": ([(17, 30)], [(30, 1)], [(30, 40)], [(40, 1)]),
    "both transposed": ([(17, 1)], [(30, 17)], [(30, 1)], [(40, 30)]),
    "windows below": (
        [(2, 900), (5, 30), (7, 3)],
        [(3, 30), (9, 1)],
        [(27, 40)],
        [(40, 1)],
    ),
    "windows beside": (
        [(19, 27)],
        [(27, 1)],
        [(3, 900), (3, 30), (3, 1)],
        [(5, 30), (37, 1)],
    ),
    "apart": ([(9, 7)], [(4, 200), (5, 3)], [(20, 90)], [(11, 4), (3, 2)]),
    "squares, and what is left": ([(3, 50)], [(58, 1)], [(2, 40), (29, 1)], [(37, 80)]),
    "one of each": ([(1, 0)], [(1, 0)], [(1, 0)], [(1, 0)]),
    "few rows": ([(2, 300)], [(300, 1)], [(300, 1)], [(700, 1)]),
    "few rows over planes": (
        [(3, 27)],
        [(27, 1)],
        [(3, 1500), (3, 200), (3, 1)],
        [(5, 200), (170, 1)],
    ),
    "many terms": ([(9, 600)], [(600, 1)], [(600, 3)], [(35, 1)]),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_layout(dtype: str) -> None:
    for sides in LAYOUTS.values():
        x, y = grid(6000, dtype=dtype), grid(6000, seed=2, dtype=dtype)
        np.testing.assert_array_equal(multiplied(x, y, sides), wanted(x, y, sides))


@pytest.mark.parametrize("stacks", [[(3, 5, 7)], [(2, 9, 0), (3, 0, 11)]])
def test_stacks(stacks: Any) -> None:
    x, y, sides = grid(4000), grid(4000, seed=2), LAYOUTS["windows beside"]
    found = multiplied(x, y, sides, stacks)
    np.testing.assert_array_equal(found, wanted(x, y, sides, stacks))


dimension = st.tuples(st.integers(1, 9), st.integers(0, 40))


@settings(max_examples=examples(40))
@given(*[st.lists(dimension, max_size=3)] * 3, st.data())
def test_any_strides(rows: Levels, along: Levels, columns: Levels, data: Any) -> None:
    strides = st.integers(0, 40)
    down = [(n, data.draw(strides)) for n, _ in along]
    sides = rows, along, down, columns
    x, y = grid(2200), grid(2200, seed=2)
    np.testing.assert_array_equal(multiplied(x, y, sides), wanted(x, y, sides))


SUMS: tuple[tuple[Levels, ...], ...] = (
    ([(13, 60)], [(6, 900), (100, 1)], [(600, 3)], [(7, 11), (5, 1)]),
    ([(2, 60)], [(6, 900), (100, 1)], [(600, 3)], [(150, 1)]),
)


@pytest.mark.parametrize("sides", SUMS)
def test_sums_are_those_of_other_products_bit_by_bit(sides: tuple[Levels, ...]) -> None:
    random = np.random.default_rng(5)
    x, y = (random.standard_normal(n).astype(np.float32) for n in (9000, 9000))
    left = as_matrices(x, [], *sides[:2])
    right = np.ascontiguousarray(as_matrices(y, [], *sides[2:]))
    rows, columns = len(left), right.shape[1]
    z = np.empty((rows, columns), np.float32)
    address = blocked.load("float32").addresses[blocked.symbol_of("float32")]
    entry = callable_of(address, *blocked.COUNTS, True)
    strides = 0, 0, 600, 1, 0, 0, columns, 1
    parallel.product(entry, left, right, z, 1, 1, rows, 600, columns, *strides)
    assert multiplied(x, y, sides).tobytes() == z.tobytes()


def test_threads_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_model, "THREADED_MATMUL_WORK", 1)
    monkeypatch.setattr(cost_model, "MATMUL_PIECE_ROWS", 1)
    random = np.random.default_rng(3)
    x, y = (random.standard_normal(6000).astype(np.float32) for _ in range(2))
    for sides, stacks in itertools.product(LAYOUTS.values(), ([], [(3, 5, 7)])):
        found = set()
        for threads in (1, 2, 3, 5):
            thread_pool.set_threads(threads)
            found.add(multiplied(x, y, sides, stacks).tobytes())
        assert len(found) == 1


# -- convolutions ---------------------------------------------------------------------

# Images, windows, and what `conv_general_dilated` takes after them.
CONVOLUTIONS: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "planes": (
        (2, 5, 34, 36),
        (7, 5, 3, 3),
        ((1, 1), "SAME", None, None, ("NCHW", "OIHW", "NCHW")),
    ),
    "rows of features": (
        (2, 20, 19, 6),
        (3, 3, 6, 8),
        ((1, 1), "SAME", None, None, ("NHWC", "HWIO", "NHWC")),
    ),
    "strides and dilations": (
        (2, 5, 20, 21),
        (9, 5, 3, 2),
        ((2, 3), [(1, 2), (0, -1)], (2, 1), (1, 2), ("NCHW", "OIHW", "NCHW")),
    ),
    "groups": (
        (2, 6, 12, 40),
        (10, 3, 3, 3),
        ((1, 1), "VALID", None, None, ("NCHW", "OIHW", "NCHW"), 2),
    ),
    "groups of rows": (
        (2, 12, 11, 6),
        (10, 3, 3, 3),
        ((1, 1), "VALID", None, None, ("NHWC", "OIHW", "NHWC"), 2),
    ),
    "groups of examples": (
        (4, 9, 14, 13),
        (6, 9, 3, 3),
        ((1, 1), "VALID", None, None, ("NCHW", "OIHW", "NCHW"), 1, 2),
    ),
    "features first": (
        (3, 17, 4, 18),
        (12, 2, 3, 4),
        ((1, 1), "VALID", None, None, ("NHCW", "OHWI", "CNHW")),
    ),
    "features in the middle": (
        (3, 17, 4, 18),
        (12, 2, 3, 4),
        ((1, 1), "VALID", None, None, ("NHCW", "OHWI", "NHCW")),
    ),
    "a line": (
        (1, 1, 3000),
        (1, 1, 90),
        ((1,), "VALID", None, None, ("NCH", "OIH", "NCH")),
    ),
    "a space": (
        (2, 7, 8, 9, 5),
        (2, 3, 2, 5, 6),
        ((1, 1, 1), "SAME", None, None, ("NDHWC", "DHWIO", "NDHWC")),
    ),
}


def convolved(args: tuple[Any, ...]) -> Any:
    return lambda x, w: lax.conv_general_dilated(x, w, *args)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str) -> None:
    image, window, args = CONVOLUTIONS[name]
    for dtype in ("float32", "int32"):
        x, w = grid(*image, dtype=dtype), grid(*window, seed=2, dtype=dtype)
        closed = traced(convolved(args), x, w)
        want = InterpretedProgram(closed.jaxpr, closed.consts).run(x, w)[0]
        exe = executable(closed)
        assert "strided_product(" in exe.source
        np.testing.assert_array_equal(exe.run(x, w)[0], want)


def test_gradients() -> None:
    image, window, args = CONVOLUTIONS["planes"]
    x, w = grid(*image), grid(*window, seed=2)

    def loss(x: Any, w: Any) -> Any:
        return (convolved(args)(x, w) ** 2).sum()

    both = traceir.grad(loss, argnums=(0, 1))
    closed = traced(both, x, w)
    want = InterpretedProgram(closed.jaxpr, closed.consts).run(x, w)
    exe = executable(closed)
    assert exe.source.count("strided_product(strided_f32") == 3
    for a, b in zip(exe.run(x, w), want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_no_array_of_windows_is_made() -> None:
    image, window, args = CONVOLUTIONS["planes"]
    program = build_program(
        traced(convolved(args), grid(*image), grid(*window)), "program"
    )
    largest = max(prod(b.shape) for b in program.buffers)
    assert largest == 2 * 7 * 34 * 36  # the result


def test_in_a_loop() -> None:
    image, _, args = CONVOLUTIONS["rows of features"]
    x, w = grid(*image), grid(3, 3, 6, 6, seed=2)

    def run(x: Any, w: Any) -> Any:
        return lax.fori_loop(0, 2, lambda _, v: convolved(args)(v, w) / 8, x)

    closed = traced(run, x, w)
    exe = executable(closed)
    assert re.search(r"\n +strided_f32\(", exe.source)
    want = InterpretedProgram(closed.jaxpr, closed.consts).run(x, w)[0]
    np.testing.assert_allclose(exe.run(x, w)[0], want, rtol=1e-5, atol=1e-5)


def test_as_a_reader_runs_it() -> None:
    image, window, args = CONVOLUTIONS["groups of examples"]
    x, w = grid(*image), grid(*window, seed=2)
    exe = executable(traced(convolved(args), x, w), "alone")
    space: dict[str, Any] = {}
    exec(exe.source, space)
    assert space["strided_f32"] is np.matmul
    np.testing.assert_array_equal(space["alone"](x, w)[0], exe.run(x, w)[0])


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Tiles of other processors have other rows and columns.
PROCESSORS = ["x86-64", "x86-64-v3"] if platform.machine() == "x86_64" else []


@pytest.mark.parametrize("cpu", ["source", "native", *PROCESSORS])
def test_exported(cpu: str, tmp_path: Path) -> None:
    image, window, args = CONVOLUTIONS["strides and dilations"]
    x, w = grid(*image), grid(*window, seed=2)

    def f(x: Any, w: Any) -> Any:
        return convolved(args)(x, w)

    path = tmp_path / "own.py"
    if cpu == "source":
        traceir_numba.export({"f": (f, x, w)}, path=path, form=cpu)
    else:
        traceir_numba.export({"f": (f, x, w)}, path=path, cpu=cpu)
    want = executable(traced(f, x, w)).run(x, w)[0]
    np.testing.assert_array_equal(np.asarray(loaded(path).f(x, w)), want)


def test_devices_lay_windows_out() -> None:
    image, window, args = CONVOLUTIONS["planes"]
    closed = traced(convolved(args), grid(*image), grid(*window))
    program = build_program(closed, "program", device=True)
    calls = [step.eqn for step in program.steps if isinstance(step, CallMatmul)]
    assert calls and all(len(eqn.inputs) == 2 for eqn in calls)


def test_few_products_are_sums_and_small_ones_are_laid_out() -> None:
    for image, window in (((1, 1, 90, 90), (1, 1, 5, 5)), ((1, 2, 6, 6), (9, 2, 3, 3))):
        args = CONVOLUTIONS["planes"][2]
        exe = executable(traced(convolved(args), grid(*image), grid(*window)))
        assert "product(" not in exe.source


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_folds_of_every_second_element_have_the_bits_of_whole_ones(
    dtype: str, step: int
) -> None:
    rng = np.random.default_rng(step)
    with traceir.enable_x64(True):
        for size in (1, 130, 40_000, 100_003):
            x = (9 * rng.normal(size=size)).astype(dtype)
            for fold in ("sum", "max", "var"):
                part = np.ascontiguousarray(x[::step])
                found = traceir.jit(
                    lambda x, fold=fold: getattr(x[::step], fold)(), backend="numba"
                )(x)
                wanted = traceir.jit(
                    lambda x, fold=fold: getattr(x, fold)(), backend="numba"
                )(part)
                assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()
