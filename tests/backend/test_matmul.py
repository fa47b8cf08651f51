"""Large products: every layout and dtype, the order of sums, and the threads."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compiling import compiled, executable, grid, traced
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import examples

import traceir.numpy as jnp
from traceir import lax
from traceir.reference.interpreter import InterpretedProgram
from traceir_numba import cost_model
from traceir_numba.gemm import blocked, microkernel, packing, parallel, threaded
from traceir_numba.llvm import optimize
from traceir_numba.llvm.trampoline import callable_of
from traceir_numba.runtime import thread_pool

DTYPES = ("float32", "float64", "int8", "uint8", "int32", "uint32", "int64")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = thread_pool.set_threads(2)
    yield
    thread_pool.set_threads(before)


@pytest.fixture
def all_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small products are large enough."""
    monkeypatch.setattr(cost_model, "THREADED_MATMUL_WORK", 1)
    monkeypatch.setattr(cost_model, "MATMUL_PIECE_ROWS", 1)


def entry(dtype: str) -> Any:
    """The machine code of the products of a dtype."""
    address = blocked.load(dtype).addresses[blocked.symbol_of(dtype)]
    return callable_of(address, blocked.POINTERS, blocked.SIZES, True)


def multiplied(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The product of two stacks of matrices that lie in memory in any way."""
    shape = (*x.shape[:-1], y.shape[-1])
    z = np.empty(shape, x.dtype)
    x, y = (a[None, None] if a.ndim == 2 else a[None] for a in (x, y))
    _, batch, rows, inner = x.shape
    strides = [s // a.itemsize for a in (x, y) for s in a.strides]
    own = entry(x.dtype.name)
    parallel.product(own, x, y, z, 1, batch, rows, inner, y.shape[-1], *strides)
    return z


def laid_out(array: np.ndarray, turned: bool) -> np.ndarray:
    """The same array, its last two dimensions in the other order in memory."""
    if not turned:
        return array
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


SHAPES = ((1, 1, 1), (3, 2, 5), (8, 9, 33), (17, 300, 40), (100, 8, 7), (40, 513, 65))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_layout_and_edge(dtype: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    x, y = grid(m, k, dtype=dtype), grid(k, n, seed=2, dtype=dtype)
    want = np.matmul(x, y)
    for left, right in itertools.product((False, True), repeat=2):
        found = multiplied(laid_out(x, left), laid_out(y, right))
        np.testing.assert_array_equal(found, want)


def test_strides_of_neither_dimension_are_one() -> None:
    x, y = grid(40, 60)[::2, ::3], grid(60, 90, seed=2)[::3, ::2]
    np.testing.assert_array_equal(multiplied(x, y), np.matmul(x, y))


def test_what_lies_beside_a_result_is_left_alone() -> None:
    for rows, columns in itertools.product((1, 7, 8, 9, 31), (1, 15, 16, 17, 31, 33)):
        z = np.full((rows + 2) * columns, 7.0, np.float32)
        inside = z[columns:-columns].reshape(rows, columns)
        x, y = grid(rows, 5), grid(5, columns, seed=2)
        sizes = (rows, columns, 5, 1, 0, 0, 5, 1, 0, 0, columns, 1, columns)
        entry("float32")(x, y, inside, 0, rows, 0, columns, *sizes)
        np.testing.assert_array_equal(inside, np.matmul(x, y))
        assert (z[:columns] == 7).all()
        assert (z[-columns:] == 7).all()


# -- the order of sums ----------------------------------------------------------------


def fused(x: float, y: float, z: float) -> float:
    """x y + z in float32, rounded once."""
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    near = np.float32(float(exact))  # float64 may round to a tie: look at neighbours
    around = [np.nextafter(near, np.float32(s * np.inf)) for s in (-1, 1)]
    return float(
        min(
            (near, *around),
            key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1),
        )
    )


def in_order(x: np.ndarray, y: np.ndarray) -> np.float32:
    """One element by the definition: blocks from zero, added in order."""
    total = np.float32(0)
    for first in range(0, len(x), cost_model.MATMUL_DEPTH):
        block = 0.0
        for a, b in zip(
            x[first:], y[first : first + cost_model.MATMUL_DEPTH], strict=False
        ):
            block = fused(a, b, block)
        total = np.float32(block) if first == 0 else total + np.float32(block)
    return total


@pytest.mark.parametrize("inner", [3, 256, 257, 700])
def test_the_order_is_the_one_that_is_said(inner: int) -> None:
    random = np.random.default_rng(inner)
    x = random.standard_normal((9, inner)).astype(np.float32)
    y = random.standard_normal((inner, 18)).astype(np.float32)
    found = multiplied(x, y)
    for i, j in ((0, 0), (3, 17), (8, 5)):
        assert found[i, j] == in_order(x[i], y[:, j])


@settings(max_examples=examples(30))
@given(
    st.integers(1, 70),
    st.integers(1, 600),
    st.integers(1, 70),
    st.sampled_from(["float32", "float64"]),
    st.data(),
)
def test_a_part_of_a_product_is_the_product_of_a_part(
    m: int, k: int, n: int, dtype: str, data: Any
) -> None:
    random = np.random.default_rng(m * k * n)
    x, y = (random.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
    whole = multiplied(x, y)
    rows, columns = (
        slice(*sorted(data.draw(st.tuples(st.integers(0, e), st.integers(0, e)))))
        for e in (m, n)
    )
    turned = data.draw(st.booleans())
    part = multiplied(laid_out(x, turned)[rows], laid_out(y, not turned)[:, columns])
    assert part.tobytes() == whole[rows, columns].tobytes()


PRODUCTS = {
    "square": ((130, 140), (140, 150)),
    "few rows": ((3, 200), (200, 900)),
    "few columns": ((900, 200), (200, 3)),
    "stack": ((9, 40, 50), (9, 50, 60)),
    "long": ((6, 40_000), (40_000, 5)),
    "long, and a rest": ((6, 40_961), (40_961, 5)),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.usefixtures("all_split")
def test_threads_do_not_show(name: str, turned: bool) -> None:
    random = np.random.default_rng(3)
    x, y = (random.standard_normal(s).astype(np.float32) for s in PRODUCTS[name])
    x, y = laid_out(x, turned), laid_out(y, turned)
    found = []
    for threads in (1, 2, 3, 4):
        thread_pool.set_threads(threads)
        found.append(multiplied(x, y).tobytes())
    assert len(set(found)) == 1
    got = np.frombuffer(found[0], np.float32)
    exact = np.matmul(x.astype(np.float64), y.astype(np.float64)).ravel()
    bound = np.matmul(abs(x).astype(np.float64), abs(y)).ravel() * 2**-20
    assert (abs(got - exact) <= bound).all()


# -- programs -------------------------------------------------------------------------


def evaluated(closed: Any, *args: np.ndarray) -> Any:
    return InterpretedProgram(closed.jaxpr, closed.consts).run(*args)


def contraction(x: Any, y: Any, dims: Any) -> Any:
    return lax.dot_general(x, y, dims)


CONTRACTIONS = {
    "x y": ((40, 50), (50, 60), (((1,), (0,)), ((), ()))),
    "x.T y": ((50, 40), (50, 60), (((0,), (0,)), ((), ()))),
    "x y.T": ((40, 50), (60, 50), (((1,), (1,)), ((), ()))),
    "heads": ((3, 30, 4, 20), (3, 50, 4, 20), (((3,), (3,)), ((0, 2), (0, 2)))),
    "two sums": ((30, 4, 20), (4, 20, 35), (((1, 2), (0, 1)), ((), ()))),
    "batch last": ((30, 40, 5), (40, 30, 5), (((1,), (0,)), ((2,), (2,)))),
}
LAID_OUT = {
    "sums apart": ((4, 40, 30), (30, 50, 4), (((0, 2), (2, 0)), ((), ()))),
    "rows apart": ((6, 40, 30), (40, 60), (((1,), (0,)), ((), ()))),
    "one of two stacks of stacks": (
        (3, 2, 12, 19),
        (13, 3, 9, 2, 19),
        (((3,), (4,)), ((1, 0), (3, 1))),
    ),
    "three stacks": (
        (2, 9, 3, 9, 2, 60),
        (2, 3, 2, 60, 11),
        (((5,), (3,)), ((0, 2, 4), (0, 1, 2))),
    ),
}


@pytest.mark.parametrize("name", [*CONTRACTIONS, *LAID_OUT])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_contractions(name: str, dtype: str) -> None:
    left, right, dims = (CONTRACTIONS | LAID_OUT)[name]
    x, y = grid(*left, dtype=dtype), grid(*right, seed=2, dtype=dtype)
    closed = traced(lambda a, b: contraction(a, b, dims), x, y)
    exe = executable(closed)
    np.testing.assert_array_equal(exe.run(x, y)[0], evaluated(closed, x, y)[0])
    assert "product(" in exe.source
    # What lies in memory as stacks of matrices is multiplied where it lies.
    assert len(exe.program.steps) == 1 or name in LAID_OUT


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_transposed_operands_are_read_where_they_lie(name: str) -> None:
    left, right, dims = CONTRACTIONS[name]
    orders = zip(
        itertools.permutations(range(len(left))),
        itertools.cycle(itertools.permutations(range(len(right)))),
        strict=False,
    )
    for k, (order, other) in enumerate(itertools.islice(orders, 6)):
        x = grid(*(left[order.index(d)] for d in range(len(left))))
        y = grid(*(right[other.index(d)] for d in range(len(right))), seed=k)

        def run(a: Any, b: Any, order: Any = order, other: Any = other) -> Any:
            return contraction(jnp.transpose(a, order), jnp.transpose(b, other), dims)

        closed = traced(run, x, y)
        exe = executable(closed)
        np.testing.assert_array_equal(exe.run(x, y)[0], evaluated(closed, x, y)[0])
        # Matrices have one other dimension, whose order cannot change.
        assert len(exe.program.steps) == 1 or max(len(left), len(right)) > 2


DIMS = (((1,), (0,)), ((), ()))


def test_operands_of_two_dtypes() -> None:
    x, y = grid(60, 70, dtype="int8"), grid(70, 80, seed=2, dtype="int8")
    exe = executable(
        traced(
            lambda a, b: lax.dot_general(a, b, DIMS, preferred_element_type="int32"),
            x,
            y,
        )
    )
    want = np.matmul(x.astype(np.int32), y.astype(np.int32))
    np.testing.assert_array_equal(exe.run(x, y)[0], want)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 3), (3, 3)), ((1000, 1000), (1000,)), ((1000,), (1000,)), ((900, 4, 4),) * 2],
    ids=["small", "vector", "vectors", "stack"],
)
def test_small_products_and_those_of_vectors_are_kernels(left: Any, right: Any) -> None:
    x, y = grid(*left), grid(*right, seed=2)
    exe = executable(traced(jnp.matmul, x, y))
    assert "product(" not in exe.source
    np.testing.assert_allclose(exe.run(x, y)[0], np.matmul(x, y), rtol=1e-5)


def test_a_product_of_vectors_joins_what_is_around_it() -> None:
    x, y = grid(500, 600), grid(600, seed=2)
    exe = executable(traced(lambda a, b: jnp.tanh((a * 2) @ (b + 1)) + 1, x, y))
    assert len(exe.program.steps) == 1


def test_the_library_is_no_part_of_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a library multiplies")

    x = np.eye(128, dtype=np.float32)
    loop = traced(lambda a: lax.fori_loop(0, 3, lambda _, v: jnp.dot(v, v), a), x)
    exes = [executable(traced(jnp.dot, x, x)), executable(loop)]
    for name in ("matmul", "dot", "einsum", "tensordot"):
        monkeypatch.setattr(np, name, forbidden)
    np.testing.assert_array_equal(exes[0].run(x, x)[0], x)
    np.testing.assert_array_equal(exes[1].run(x)[0], x)


def test_a_large_product_is_numpys_in_the_source() -> None:
    x = grid(300, 300)
    exe = executable(traced(jnp.dot, x, x), "alone")
    assert re.search(r"product\(gemm_f32, \w+, \w+, \w+, 1, 1, 300", exe.source)
    space: dict[str, Any] = {}
    exec(exe.source, space)
    np.testing.assert_array_equal(space["alone"](x, x)[0], np.matmul(x, x))


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("all_split")
def test_what_overflows_does_not_warn() -> None:
    huge = np.full((300, 300), 1e38, np.float32)
    assert np.isinf(multiplied(huge, huge)).all()
    long = np.full((2, 40_000), 1e38, np.float32)
    assert np.isinf(multiplied(long, long.T)).all()


def test_the_tile_is_made_of_vectors() -> None:
    """No element of a whole tile is multiplied alone."""
    t = microkernel.tile_of("float32")
    text = microkernel.tile_text(t, "tile")
    assert text.count("@llvm.fma") == t.rows * t.vectors + 1  # and the declaration
    assert math.prod((t.rows, t.columns)) <= 32 * t.lanes


def test_memory_of_a_product_begins_at_a_line() -> None:
    text = packing.MEMORY.format(
        allocate="allocate_at_a_line", release="release_a_line"
    )
    code = optimize.link([text], ["allocate_at_a_line"])
    address = code.addresses["allocate_at_a_line"]
    allocate = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)
    assert all(allocate(size) % 64 == 0 for size in (1, 64, 1000, 1 << 20))


def test_empty_products() -> None:
    text = """{ lambda ; a:f32[0,2048] b:f32[2048,2048]. let
        c:f32[0,2048] = dot_general[
          dimension_numbers=(([1], [0]), ([], []))
          preferred_element_type=float32
        ] a b
      in (c,) }"""
    x, y = np.zeros((0, 2048), np.float32), grid(2048, 2048)
    assert compiled(text).run(x, y)[0].shape == (0, 2048)


# -- in loops -------------------------------------------------------------------------


def powers(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda _, v: jnp.tanh(v @ v), x)


@pytest.mark.parametrize("shape", [(300, 300), (9, 130, 130)])
def test_threads_of_the_system_do_not_show_in_loops(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(5)
    x = (random.standard_normal(shape) / 12).astype(np.float32)
    exe = executable(traced(powers, x))
    found = set()
    for threads in (1, 2, 3, 7, 40):
        thread_pool.set_threads(threads)
        found.add(exe.run(x)[0].tobytes())
    assert len(found) == 1
    want = x
    for _ in range(3):
        want = np.tanh(want @ want)
    got = np.frombuffer(found.pop(), np.float32).reshape(shape)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)


REFUSES = """
define i32 @traceir_refuses(ptr %a, ptr %b, ptr %c, ptr %d) { ret i32 11 }
"""


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 100])
def test_all_rows_are_done_whatever_threads_start(refused: bool, rows: int) -> None:
    """The system may refuse a thread: who asked for it does its work then."""
    symbol, run = (f"traceir_test_{part}_{int(refused)}" for part in ("all", "run"))
    sizes = blocked.POINTERS, blocked.SIZES
    text = threaded.shared_text(symbol, run, blocked.symbol_of("float32"), *sizes)
    text = text.replace(f"%work, {cost_model.ROUTINE_MATMUL_WORK}", "%work, 1")
    texts = [text.replace("@traceir_thread_create(", "@traceir_refuses("), REFUSES]
    texts = texts if refused else [text]
    code = optimize.link(texts, [symbol], uses=[blocked.load("float32")])
    shared = callable_of(code.addresses[symbol], *sizes, True)
    x, y, z = grid(rows, 5), grid(5, 6, seed=2), np.zeros((rows, 6), np.float32)
    thread_pool.set_threads(4)
    shared(x, y, z, 0, rows, 0, 6, rows, 6, 5, 1, 0, 0, 5, 1, 0, 0, 6, 1, 6)
    np.testing.assert_array_equal(z, x @ y)
