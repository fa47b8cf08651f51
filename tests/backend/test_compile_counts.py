"""Kernels are compiled once: by structure, not by shape, name or caller."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from compiling import (
    compiled,
    executable,
    grid,
    polynomial_sum,
    reference,
    same_bits,
    selu,
    softmax,
    traced,
)

import traceir.numpy as jnp
from traceir import lax
from traceir.errors import RuleRuntimeError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from traceir.reference.interpreter import eval_jaxpr
from traceir_numba import backend
from traceir_numba.pipeline import kernel_cache


def new_kernels(text: str, name: str = "program") -> int:
    """The number of kernels that compiling a text adds."""
    before = backend.compile_count()
    compiled(text, name)
    return backend.compile_count() - before


def test_a_new_shape_of_the_same_rank_compiles_nothing() -> None:
    for make, first, others in (
        (selu, (8,), [(9,), (1,), (0,), (100_000,)]),
        (selu, (3, 4), [(5, 7), (1, 6), (6, 1), (0, 2)]),
        (polynomial_sum, (10,), [(1,), (0,), (10_000,)]),
        (polynomial_sum, (20_000,), [(20_001,), (1_000_000,)]),
        (polynomial_sum, (4, 5), [(40, 50), (1, 1)]),
        (softmax, (3, 4), [(30, 400), (1, 4), (400, 2)]),
    ):
        compiled(make(*first))
        assert [new_kernels(make(*shape)) for shape in others] == [0] * len(others)


def test_contiguous_elementwise_code_of_any_rank_is_one_kernel() -> None:
    compiled(selu(4))
    assert new_kernels(selu(2, 3)) == 0
    assert new_kernels(selu(2, 3, 4, 5)) == 0


def test_names_and_order_in_a_program_do_not_matter() -> None:
    text = """{ lambda ; a:f32[5] b:f32[5]. let
        c:f32[5] = mul a 3.25:f32[]
        d:f32[] = reduce_max[axes=(0,)] c
        e:f32[5] = mul b 3.25:f32[]
        f:f32[] = reduce_max[axes=(0,)] e
      in (d, f) }"""
    assert new_kernels(text, "one") == 1
    assert new_kernels(text, "another") == 0


def some_loops(x: Any, *turns: int) -> Any:
    """The results of loops that are alike but for their turns."""
    for n in turns:
        x = lax.fori_loop(0, n, lambda i, x: x.at[i].add(x[-1] * 0.5), x) * 3.5
    return x


def test_loops_that_differ_in_names_are_one_routine() -> None:
    x = np.linspace(0, 1, 700, dtype=np.float32)
    made = executable(traced(lambda x: some_loops(x, 21, 21, 21), x))
    routines = re.compile(r"^def program_scan_\w+", re.M)
    assert len(routines.findall(made.source)) == 2  # the first one copies
    closed = traced(lambda x: some_loops(x, 21, 21, 22), x)
    made = executable(closed)
    assert len(routines.findall(made.source)) == 3
    assert same_bits(made.run(x), eval_jaxpr(closed.jaxpr, closed.consts, x))


@pytest.mark.parametrize("row", [100, 1000])
def test_kernels_of_long_rows_are_called(row: int) -> None:
    x = np.ones(row, np.float32)
    closed = traced(
        lambda x: lax.fori_loop(0, 9, lambda i, x: jnp.exp(x * 0.625), x), x
    )
    text = executable(closed).as_text("asm")
    called = re.search(r"(?m)(movabsq\s+\$|^\s+bl\s+)traceir_program_body", text)
    assert bool(called) == (row > 512)


def test_other_structure_or_dtype_is_another_kernel() -> None:
    text = "{ lambda ; a:f32[3]. let b:f32[3] = mul a 7.5:f32[] in (b,) }"
    assert new_kernels(text) == 1
    assert new_kernels(text.replace("7.5", "7.25")) == 1
    assert new_kernels(text.replace("f32", "f64")) == 1
    assert new_kernels(text.replace("mul", "sub")) == 1
    assert new_kernels(text) == 0


def product(left: str, right: str, result: str, axes: str) -> str:
    return f"""{{ lambda ; a:f32[{left}] b:f32[{right}]. let
        c:f32[{result}] = dot_general[dimension_numbers=(({axes}),([],[]))] a b
      in (c,) }}"""


def test_large_products_have_no_kernel_of_their_own() -> None:
    compiled(product("300,200", "200,100", "300,100", "[1],[0]"))
    others = (
        product("310,220", "220,130", "310,130", "[1],[0]"),
        product("220,310", "220,130", "310,130", "[0],[0]"),
        product("310,220", "130,220", "310,130", "[1],[1]"),
    )
    assert [new_kernels(text) for text in others] == [0, 0, 0]


def test_small_products_are_loops() -> None:
    source = compiled(
        product("3,4", "4,2", "3,2", "[1],[0]").replace("32", "64")
    ).source
    assert "for i1 in range(whole, n1):" in source and "gemm" not in source
    # Of another length they are the same ones.
    assert new_kernels(product("5,3", "3,4", "5,4", "[1],[0]").replace("32", "64")) == 0


def test_concurrent_compiles_of_one_kernel_wait_for_one() -> None:
    text = "{ lambda ; a:f32[6]. let b:f32[6] = mul a 19.75:f32[] in (b,) }"
    before = backend.compile_count()
    start = threading.Barrier(6)

    def compile_and_run() -> list[np.ndarray]:
        start.wait()
        return list(compiled(text).run(grid(6)))

    with ThreadPoolExecutor(6) as executor:
        futures = [executor.submit(compile_and_run) for _ in range(6)]
        results = [future.result() for future in futures]
    assert backend.compile_count() == before + 1
    assert all(same_bits(r, reference(text, grid(6))) for r in results)


def test_a_failed_compile_is_an_error_of_the_backend_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "{ lambda ; a:f32[6]. let b:f32[6] = mul a 23.75:f32[] in (b,) }"

    def fail(*args: object, **options: object) -> str:
        raise ZeroDivisionError("a fault inside\nand more lines")

    with monkeypatch.context() as patch:
        patch.setattr(kernel_cache, "_lowered", fail)
        with pytest.raises(RuleRuntimeError, match="a fault inside") as caught:
            compiled(text)
    assert caught.value.rule == "backend.compile"
    assert len(str(caught.value).splitlines()) < 10
    assert same_bits(compiled(text).run(grid(6)), reference(text, grid(6)))


def test_who_waits_for_an_interrupted_compile_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "{ lambda ; a:f32[6]. let b:f32[6] = mul a 29.75:f32[] in (b,) }"
    began, waits = threading.Event(), threading.Event()
    lowered = kernel_cache._lowered
    result = kernel_cache.Future.result

    def interrupt(*args: object, **options: object) -> str:
        monkeypatch.setattr(kernel_cache, "_lowered", lowered)
        began.set()
        assert waits.wait(60)
        raise KeyboardInterrupt

    def told(future: Any) -> Any:
        waits.set()
        return result(future)

    monkeypatch.setattr(kernel_cache, "_lowered", interrupt)
    with ThreadPoolExecutor(2) as executor:
        first = executor.submit(compiled, text)
        assert began.wait(60)
        monkeypatch.setattr(kernel_cache.Future, "result", told)
        second = executor.submit(compiled, text)
        assert waits.wait(60)
        monkeypatch.undo()
        assert isinstance(first.exception(60), KeyboardInterrupt)
        run = second.result(60).run
    assert same_bits(run(grid(6)), reference(text, grid(6)))


def test_an_unsupported_dtype_is_refused() -> None:
    x, y = (Var(ShapedArray((3,), np.dtype("S4"))) for _ in range(2))
    jaxpr = Jaxpr((), (x,), (Eqn("neg", (x,), (y,), ()),), (y,), None)
    with pytest.raises(TypeError, match=r"bytes32\[3\]") as caught:
        backend.compile(ClosedJaxpr(jaxpr, ()), "text")
    assert caught.value.rule == "backend.unsupported"
