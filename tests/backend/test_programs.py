"""Whole programs: values, memory, threads, and source that runs alone."""

from __future__ import annotations

import gc
import linecache
import multiprocessing
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from compiling import (
    compiled,
    grid,
    polynomial_sum,
    reference,
    same_bits,
    selu,
    softmax,
)
from rule_errors import raises_rule
from text_programs import PROGRAMS

import traceir
import traceir.numpy as jnp
from traceir_numba.codegen.module import HELPERS
from traceir_numba.runtime import allocator, thread_pool


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_evaluator(name: str) -> None:
    text, shapes = PROGRAMS[name]
    args = [grid(*shape, seed=k) for k, shape in enumerate(shapes)]
    got = compiled(text).run(*args)
    assert same_bits(got, reference(text, *args))


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_fresh(name: str) -> None:
    text, shapes = PROGRAMS[name]
    args = [grid(*shape, seed=k) for k, shape in enumerate(shapes)]
    got = compiled(text).run(*args)
    for n, result in enumerate(got):
        assert result.flags.c_contiguous and result.flags.writeable
        others = [*args, *got[:n], *got[n + 1 :]]
        assert not any(np.may_share_memory(result, other) for other in others)


def test_constants_are_bound() -> None:
    text = "{ lambda a:i32[3]={1,2,3}; b:i32[3]. let c:i32[3] = mul a b in (c, a) }"
    one, two = compiled(text).run(np.array([4, 5, 6], np.int32))
    assert one.tolist() == [4, 10, 18]
    two[:] = 0
    assert compiled(text).run(np.ones(3, np.int32))[1].tolist() == [1, 2, 3]


def test_softmax_rows_sum_to_one() -> None:
    (got,) = compiled(softmax(7, 1000)).run(grid(7, 1000))
    np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-5)
    (want,) = reference(softmax(7, 1000), grid(7, 1000))
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_sums_are_more_accurate_than_one_accumulator() -> None:
    x = np.full(1 << 22, 0.1, np.float32)
    text = """{ lambda ; a:f32[4194304]. let
        b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }"""
    (got,) = compiled(text).run(x)
    exact = float(np.float32(0.1)) * x.size
    assert abs(float(got) - exact) / exact < 1e-6


# -- threads --------------------------------------------------------------------------


@pytest.fixture
def threads() -> Iterator[Any]:
    before = thread_pool.threads()
    yield thread_pool.set_threads
    thread_pool.set_threads(before)


def test_bits_do_not_depend_on_the_number_of_threads(threads: Any) -> None:
    x = np.random.default_rng(0).standard_normal(3_000_001).astype(np.float32)
    selu_, sum_ = compiled(selu(x.size)), compiled(polynomial_sum(x.size))
    columns = """{ lambda ; a:f32[1000,3000]. let
        b:f32[3000] = reduce_sum[axes=(0,) out_sharding=None] a
        c:f32[1000] = reduce_sum[axes=(1,) out_sharding=None] a in (b, c) }"""
    matrix = np.ascontiguousarray(x[:-1].reshape(1000, 3000))
    results = []
    for count in (1, 2, 3, 5):
        threads(count)
        both = compiled(columns).run(matrix)
        results.append([*selu_.run(x), *sum_.run(x), *both])
    assert all(same_bits(result, results[0]) for result in results[1:])


def test_a_range_is_split_without_gaps() -> None:
    for low, high, count in ((0, 1000, 7), (5, 6, 4), (0, 0, 3), (10, 100_000, 8)):
        pieces = thread_pool.thread_split(low, high, count)
        covered = [k for lo, hi in pieces for k in range(lo, hi)]
        assert covered == list(range(low, high))


def test_several_python_threads_at_once() -> None:
    x = np.random.default_rng(1).standard_normal(1_000_000).astype(np.float32)
    run = compiled(selu(x.size)).run
    want = run(x)
    with ThreadPoolExecutor(8) as executor:
        futures = [executor.submit(run, x) for _ in range(40)]
        assert all(same_bits(f.result(), want) for f in futures)


def _in_child(queue: Any, x: np.ndarray) -> None:
    queue.put(float(compiled(polynomial_sum(x.size)).run(x)[0]))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_works_in_a_forked_child() -> None:
    x = grid(3_000_000)
    (want,) = compiled(polynomial_sum(x.size)).run(x)  # the pool has started
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue, x))
    child.start()
    assert queue.get(timeout=60) == float(want)
    child.join(60)
    assert child.exitcode == 0


# -- memory ---------------------------------------------------------------------------


def test_large_results_are_recycled_once_nothing_refers_to_them() -> None:
    allocator.clear_memory()
    dtype = np.dtype(np.float32)
    first = allocator.empty_large(1_000_000, dtype)
    view = first[3:].reshape(-1, 1)
    address = first.ctypes.data
    del first
    held = allocator.empty_large(1_000_000, dtype)
    assert not np.may_share_memory(held, view)
    del view
    assert allocator.empty_large((1000, 1000), dtype).ctypes.data == address


def test_a_buffer_exported_elsewhere_is_not_recycled() -> None:
    allocator.clear_memory()
    dtype = np.dtype(np.float64)
    array = allocator.empty_large(100_000, dtype)
    exported = memoryview(array)
    del array
    other = allocator.empty_large(100_000, dtype)
    assert not np.may_share_memory(np.asarray(exported), other)


def test_nobody_writes_to_a_large_result_through_its_base() -> None:
    f = traceir.jit(lambda x: x + 1, backend="numba")
    for _ in range(2):  # in fresh memory, and in memory that was used before
        found = np.asarray(f(np.zeros(1_000_000, "float32")))
        while isinstance(found, np.ndarray):
            assert not found.flags.writeable
            found = found.base
        gc.collect()


def test_results_stay_as_they_are() -> None:
    run = compiled(selu(500_000)).run
    kept = [run(grid(500_000, seed=k))[0] for k in range(6)]
    copies = [result.copy() for result in kept]
    for k in range(6):
        run(grid(500_000, seed=10 + k))
    gc.collect()
    assert same_bits(kept, copies)


# -- text -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (selu(1000), [grid(1000)]),
        (softmax(5, 300), [grid(5, 300)]),
        (PROGRAMS["searches"][0], [grid(40, 300)]),
        (PROGRAMS["library call"][0], [grid(3, 4), grid(5, 4)]),
    ],
    ids=["selu", "softmax", "searches", "library call"],
)
def test_the_source_runs_alone_with_the_same_bits(text: str, args: Any) -> None:
    executable = compiled(text, "alone")
    space: dict[str, Any] = {}
    exec(executable.source, space)
    assert same_bits(space["alone"](*args), executable.run(*args))


def test_constants_are_in_the_source() -> None:
    text = "{ lambda a:f32[3]={1.5,-0.0,inf}; . let b:f32[3] = neg a in (b,) }"
    executable = compiled(text, "alone")
    space: dict[str, Any] = {}
    exec(executable.source, space)
    assert same_bits(space["alone"](), executable.run())


def test_the_program_is_in_linecache() -> None:
    executable = compiled(selu(17), "cached")
    code = executable.run.__code__
    assert code.co_filename.startswith("<traceir cached")
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    assert line.startswith("def cached(a):")
    del executable
    gc.collect()
    assert not linecache.getline(code.co_filename, 1)


def test_vectors_and_no_contraction_of_the_programs_own_arithmetic() -> None:
    text = """{ lambda ; a:f32[1000] b:f32[1000]. let
        c:f32[1000] = mul a b; d:f32[1000] = add c a; e:f32[1000] = sub d c
      in (e,) }"""
    executable = compiled(text)
    assert re.search(r"fadd <\d+ x float>", executable.as_text("llvm"))
    assert not re.search(r"vfn?m(add|sub)", executable.as_text("asm"))
    # Real functions say where they round once; nothing else may.
    llvm = compiled(selu(1000)).as_text("llvm")
    assert re.search(r"fmul <\d+ x float>", llvm)
    assert " contract " not in llvm and "llvm.fmuladd" not in llvm


DIALECTS = {
    "numba": {"source": "@kernel", "llvm": "define ", "asm": "\tret"},
    "reference": {"source": "= exp"},
    "oracle": {"source": "= exp"},
}


@pytest.mark.parametrize("backend", DIALECTS)
def test_dialects(backend: str) -> None:
    def both(x: Any) -> Any:
        return jnp.exp(x) + jnp.sin(x)

    lowered = traceir.jit(both, backend=backend).lower(1.0)
    for stage in (lowered, lowered.compile()):
        for dialect, part in DIALECTS[backend].items():
            assert part in stage.as_text(dialect=dialect)
        source = stage.as_text()
        assert source == stage.as_text("source") == stage.as_text(dialect=None)
        # The jaxpr stands above what was made of it.
        assert source.index("lambda ;") < source.index("= exp") < source.index("= sin")
        wrong = f"'hlo'; with the backend {backend} there is source"
        with raises_rule("jit.dialect", ValueError, wrong):
            stage.as_text(dialect="hlo")


def test_other_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="source, llvm, asm, speed and compile"):
        compiled(selu(3)).as_text("hlo")


@pytest.mark.parametrize("name", sorted(HELPERS))
def test_a_function_may_have_the_name_of_one_that_it_calls(name: str) -> None:
    def multiplied(a: Any, b: Any) -> Any:
        return a @ b, a[:, :3] @ b[:3], jnp.sort(a)

    multiplied.__name__ = name
    a, b = grid(64, 12), grid(12, 256, seed=1)
    for mine, theirs in zip(traceir.jit(multiplied)(a, b), multiplied(a, b)):
        assert np.allclose(mine, theirs, rtol=1e-5), name


def test_a_thread_that_computes_lets_others_run() -> None:
    x = np.zeros(3_000_000, np.float32)
    run = compiled(selu(x.size)).run
    ticks = 0
    done = threading.Event()

    def work() -> None:
        for _ in range(20):
            run(x)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
    thread.join()
    assert ticks > 1000
