"""Programs with loops, before and after they are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import executable, grid, traced

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir.text import parse
from traceir_numba import backend
from traceir_numba.lowering.canonicalize import canonicalize

Function = Callable[..., Any]
VECTOR = grid(3, seed=1)


# -- what is simplified ---------------------------------------------------------------


def simplified(fun: Function, *args: Any) -> str:
    """The text of a function's simplified program."""
    return str(canonicalize(traced(fun, *args)))


def test_what_never_changes_is_no_carry() -> None:
    text = simplified(lambda n: lax.fori_loop(0, n, lambda i, x: x + i, 1), 5)
    assert "cond_nconsts=1" in text and "body_nconsts=0" in text


def test_what_nobody_needs_is_not_carried() -> None:
    def fun(x: Any) -> Any:
        return lax.fori_loop(
            0, 9, lambda i, s: (s[0] + i, jnp.sin(s[1]), s[0] * 2), (x, x, x)
        )[0]

    text = simplified(fun, VECTOR)
    assert "sin" not in text and "mul" not in text


def test_what_is_needed_through_another_carry_stays() -> None:
    def fun(x: Any) -> Any:
        return lax.fori_loop(0, 9, lambda i, s: (s[1], s[2], s[2] + i), (x, x, x))[0]

    assert "num_carry=4" in simplified(fun, VECTOR)


def test_expensive_equations_of_what_never_changes_are_computed_once() -> None:
    def fun(x: Any, y: Any) -> Any:
        return lax.fori_loop(0, 9, lambda _, s: s * jnp.exp(x) + (x + 1.0), y)

    program = canonicalize(traced(fun, VECTOR, VECTOR))
    assert [e.primitive for e in program.eqns] == ["exp", "scan"]


def test_a_choice_that_is_known_is_made() -> None:
    text = """{ lambda ; a:f32[3]. let
        b:f32[3] = cond[branches=(
          { lambda ; c:f32[3]. let d:f32[3] = neg c in (d,) }
          { lambda ; e:f32[3]. let f:f32[3] = sin e in (f,) }
        )] 1:i32[] a in (b,) }"""
    assert [e.primitive for e in canonicalize(parse(text)).eqns] == ["sin"]


def test_a_sum_over_one_row_is_that_row() -> None:
    program = canonicalize(traced(lambda x: jnp.sum(x, axis=0), grid(1, 3)))
    assert [e.primitive for e in program.eqns] == ["reshape"]
    program = canonicalize(traced(lambda x: jnp.argmax(x, axis=0), grid(1, 3)))
    assert [e.primitive for e in program.eqns] == ["argmax"]


def test_a_transposed_product_is_the_other_product() -> None:
    program = canonicalize(
        traced(lambda x, y: jnp.dot(x, y).T, grid(40, 50), grid(50, 60))
    )
    assert [e.primitive for e in program.eqns] == ["dot_general"]

    def fun(x: Any, y: Any) -> Any:
        z = jnp.dot(x, y)
        return z, z.T

    both = canonicalize(traced(fun, grid(40, 50), grid(50, 60)))
    assert [e.primitive for e in both.eqns] == ["dot_general", "transpose"]


# -- products -------------------------------------------------------------------------

PRODUCTS = {
    "matrix and vector": ((5, 6), (6,), (((1,), (0,)), ((), ()))),
    "vectors": ((6,), (6,), (((0,), (0,)), ((), ()))),
    "rows and rows": ((5, 6), (4, 6), (((1,), (1,)), ((), ()))),
    "columns and rows": ((6, 5), (6, 4), (((0,), (0,)), ((), ()))),
    "columns and columns": ((6, 5), (4, 6), (((0,), (1,)), ((), ()))),
    "batch": ((3, 5, 6), (3, 6, 4), (((2,), (1,)), ((0,), (0,)))),
    "batch last": ((5, 6, 3), (4, 6, 3), (((1,), (1,)), ((2,), (2,)))),
    "two sums": ((5, 6, 3), (3, 6, 4), (((1, 2), (1, 0)), ((), ()))),
    "no sum": ((15,), (14,), (((), ()), ((), ()))),
    "nothing": ((5, 0), (0, 4), (((1,), (0,)), ((), ()))),
}


def product(name: str, scale: int, fixed: str) -> tuple[ClosedJaxpr, list[np.ndarray]]:
    """A product in a loop; operands whose letters are in `fixed` never change."""
    x, y, dims = PRODUCTS[name]
    x, y = (tuple(n * scale for n in shape) for shape in (x, y))
    args = [grid(*x), grid(*y, seed=1)]

    def fun(x: Any, y: Any) -> Any:
        def step(s: Any, _: Any) -> Any:
            a, b = (x if "x" in fixed else s[0]), (y if "y" in fixed else s[1])
            return (-s[0], s[1] * 2.0), lax.dot_general(a, b, dims)

        return lax.scan(step, (x, y), None, length=3)[1]

    return traced(fun, *args), args


@pytest.mark.parametrize(("scale", "fixed"), [(1, ""), (1, "x"), (1, "y"), (13, "y")])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_in_loops(name: str, scale: int, fixed: str) -> None:
    closed, args = product(name, scale, fixed)
    (got,) = executable(closed, "program").run(*args)
    # Sums of few eighths are exact in any order.
    np.testing.assert_array_equal(got, eval_jaxpr(closed, closed.consts, *args)[0])


def test_the_source_has_large_products_as_loops() -> None:
    closed, args = product("columns and columns", 13, "")
    space: dict[str, Any] = {}
    exec(executable(closed, "alone").source, space)
    (want,) = eval_jaxpr(closed, closed.consts, *args)
    np.testing.assert_array_equal(space["alone"](*args)[0], want)


def test_large_products_in_loops_are_calls_and_small_ones_are_not() -> None:
    assert "product_f32" not in executable(product("batch", 1, "")[0], "p").source
    assert "product_f32(" in executable(product("batch", 13, "")[0], "p").source


# -- compile counts -------------------------------------------------------------------


def new_code(fun: Function, *args: Any) -> int:
    """The number of kernels and routines that compiling a function adds."""
    before = backend.compile_count()
    executable(traced(fun, *args), "program")
    return backend.compile_count() - before


def test_a_loop_is_compiled_once_and_its_kernels_for_all_lengths() -> None:
    def fun(x: Any) -> Any:
        return lax.fori_loop(0, 7, lambda _, v: v * 0.625 - 3.25, x)

    assert new_code(fun, grid(50)) == 2  # the routine, and its body's kernel
    assert new_code(fun, grid(50)) == 0
    assert new_code(fun, grid(60)) == 1  # the routine


def test_a_traced_number_of_steps_is_no_part_of_the_code() -> None:
    f = traceir.jit(
        lambda n: lax.fori_loop(0, n, lambda i, x: x * 0.25 + i, 7.5), backend="numba"
    )
    f(3)
    before = backend.compile_count()
    assert [float(f(n)) for n in (0, 1)] == [7.5, 1.875]
    assert backend.compile_count() == before
