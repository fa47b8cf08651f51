"""Loops and choices: real ones in machine code, nothing copied, with the same bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import random_loops
from compiling import grid, same_bits

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.evaluate import eval_jaxpr
from traceir.ir import ClosedJaxpr
from traceir.text import parse
from traceir_numba import backend
from traceir_numba.assemble import assemble
from traceir_numba.program import Assign, Copy, Loop, Run, Step, While
from traceir_numba.simplify import simplify
from traceir_numba.steps import walk

Function = Callable[..., Any]
MATRIX, VECTOR = grid(4, 3), grid(3, seed=1)
N = np.int32(5)


def traced(fun: Function, *args: Any) -> ClosedJaxpr:
    """The program of a function."""
    closed: ClosedJaxpr = traceir.make_jaxpr(fun)(*args)
    return closed


def executable(closed: ClosedJaxpr, name: str = "program") -> backend.Executable:
    """What is compiled of a program."""
    found = backend.compile(closed, name)
    assert isinstance(found, backend.Executable)
    return found


def routines(fun: Function, *args: Any) -> list[Run]:
    """The routines of a function's program."""
    steps = assemble(traced(fun, *args), "program").steps
    return [step for step in steps if isinstance(step, Run)]


def inside(fun: Function, *args: Any) -> list[Step]:
    """All steps that are in a loop of a function's routines."""
    loops = (
        step
        for run in routines(fun, *args)
        for step in walk(run.routine.steps)
        if isinstance(step, Loop | While)
    )
    return [s for loop in loops for s in walk(loop.steps)]


def roles(run: Run, shape: tuple[int, ...]) -> list[str]:
    """The roles of the arguments of a shape."""
    args = (run.routine.buffers[k] for k in run.routine.args)
    return [b.role for b in args if b.shape == shape]


# -- functions ------------------------------------------------------------------------


def scalars(n: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, x: x * 0.5 + i, 1.0)


def never(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 0, lambda s: (s[0] + 1, s[1] * 2.0), (0, x))


def no_rows(x: Any) -> Any:
    return lax.scan(lambda c, _: (c + 1.0, c), x, None, length=0)


def prefix(xs: Any) -> Any:
    return lax.scan(lambda c, x: (c + x, (c, x[0])), jnp.zeros(xs.shape[1:]), xs)


def suffix(xs: Any) -> Any:
    return lax.scan(lambda c, x: (c + x, c), jnp.zeros(xs.shape[1:]), xs, reverse=True)


def swapped(x: Any, y: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, s: (s[1], s[0]), (x, y))


def delayed(x: Any, y: Any) -> Any:
    """A value that reaches the last carry after two steps."""
    return lax.fori_loop(0, 5, lambda _, s: (s[1] * 2.0, s[0], s[1]), (x, y, x))


def twice(x: Any) -> Any:
    """One value that is carried in two places, and in one of them delayed."""
    return lax.fori_loop(
        0, 5, lambda _, s: (s[0] * 0.5, s[0] * 0.5, s[1], s[2]), (x, x, x, x)
    )


def truths(x: Any) -> Any:
    def step(s: Any) -> Any:
        found, k, odd = s
        return found | (x > k), k + 1, ~odd

    return lax.while_loop(
        lambda s: ~jnp.all(s[0]) & (s[1] < 9), step, (x > 5, np.int32(-3), True)
    )


def chosen(k: Any, x: Any) -> Any:
    return lax.switch(k, [lambda v: v, lambda v: -v, lambda v: v[::1] * 2.0], x)


def nested(n: Any, x: Any) -> Any:
    def step(s: Any) -> Any:
        k, v = s
        v = lax.cond(
            k % 2 == 0,
            lambda u: lax.fori_loop(0, k, lambda i, w: w + i, u),
            lambda u: lax.scan(lambda c, r: (c + r, c), u, jnp.stack([u, u]))[0],
            v,
        )
        return k + 1, v

    return lax.while_loop(lambda s: s[0] < n, step, (0, x))


def counts(xs: Any) -> Any:
    """Integers of several widths, which wrap."""

    def step(c: Any, x: Any) -> Any:
        a, b = c
        return (a * 3 + x, b - x.astype("uint8")), a

    start = jnp.int16(1000), jnp.uint8(3)
    return lax.scan(step, start, xs)


def products(w: Any, h: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = jnp.dot(w, h) + jnp.dot(x, w.T)
        return h % 5, h

    return lax.scan(step, h, xs)


FUNCTIONS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "scalars": (scalars, (N,)),
    "never": (never, (VECTOR,)),
    "no rows": (no_rows, (VECTOR,)),
    "prefix": (prefix, (MATRIX,)),
    "suffix": (suffix, (MATRIX,)),
    "swapped": (swapped, (VECTOR, -VECTOR)),
    "delayed": (delayed, (VECTOR, -VECTOR)),
    "twice": (twice, (VECTOR,)),
    "truths": (truths, (VECTOR,)),
    "first": (chosen, (np.int32(0), VECTOR)),
    "last": (chosen, (np.int32(7), VECTOR)),
    "nested": (nested, (N, VECTOR)),
    "counts": (counts, (np.arange(9, dtype=np.int16),)),
    "products": (
        products,
        tuple(np.arange(n, dtype=np.int32).reshape(s) % 5 for n, s in (
            (9, (3, 3)), (3, (3,)), (12, (4, 3)),
        )),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_the_evaluator(name: str) -> None:
    fun, args = FUNCTIONS[name]
    closed = traced(fun, *args)
    got = executable(closed, "program").run(*map(np.asarray, args))
    assert same_bits(got, eval_jaxpr(closed, closed.consts, *args))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_source_runs_alone_with_the_same_bits(name: str) -> None:
    fun, args = FUNCTIONS[name]
    alone = executable(traced(fun, *args), "alone")
    space: dict[str, Any] = {}
    exec(alone.source, space)
    arrays = list(map(np.asarray, args))
    assert same_bits(space["alone"](*arrays), alone.run(*arrays))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_fresh_and_arguments_stay(name: str) -> None:
    fun, args = FUNCTIONS[name]
    arrays = list(map(np.array, args))
    got = executable(traced(fun, *args), "program").run(*arrays)
    for n, result in enumerate(got):
        others = [*arrays, *got[:n], *got[n + 1 :]]
        assert not any(np.may_share_memory(result, other) for other in others)
    assert same_bits(arrays, list(map(np.asarray, args)))


@pytest.mark.parametrize("seed", range(40))
def test_random_control_flow_agrees_with_the_evaluator(seed: int) -> None:
    closed, args = random_loops.program(seed), random_loops.arguments(seed)
    got = executable(closed, "program").run(*args)
    want = eval_jaxpr(closed, closed.consts, *args)
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


# -- no Python, no copies -------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_loops_call_no_python(name: str) -> None:
    fun, args = FUNCTIONS[name]
    llvm = executable(traced(fun, *args), "program").as_text("llvm")
    called = set(re.findall(r"call [^@]*@([\w.]+)\(", llvm))
    assert not [one for one in called if re.match(r"Py|_Py|NRT|numba", one)]
    assert "inttoptr" not in llvm


def test_a_scalar_loop_touches_no_memory() -> None:
    llvm = executable(traced(scalars, N), "program").as_text("llvm")
    blocks = re.split(r"\n(?=[\w.]+:)", llvm)
    loops = [b for b in blocks if "fmul" in b and "phi float" in b]
    assert loops
    for loop in loops:
        assert not re.search(r" load | store | call ", loop)


@pytest.mark.parametrize(
    ("fun", "args", "copies"),
    [
        (lambda x: lax.fori_loop(0, 9, lambda i, v: v * 0.5 + i, x), (VECTOR,), 0),
        (
            lambda x: lax.fori_loop(0, 9, lambda _, v: jnp.dot(x, v), x),
            (grid(9, 9),),
            0,
        ),
        (swapped, (VECTOR, VECTOR), 0),
        (delayed, (VECTOR, VECTOR), 0),
        (twice, (VECTOR,), 1),  # one value in two places
        (prefix, (MATRIX,), 1),  # what is carried is a result, too
        (nested, (N, VECTOR), 2),  # two loops within, which begin with a copy
    ],
    ids=["in place", "product", "swapped", "delayed", "twice", "prefix", "nested"],
)
def test_no_more_is_copied_in_a_loop_than_must_be(
    fun: Function, args: Any, copies: int
) -> None:
    assert sum(isinstance(step, Copy) for step in inside(fun, *args)) == copies


def test_what_is_computed_in_place_has_one_memory() -> None:
    def fun(x: Any) -> Any:
        return lax.fori_loop(0, 9, lambda i, v: v * 0.5 + i, x)

    (run,) = routines(fun, grid(1000))
    assert roles(run, (1000,)) == ["operand", "result"]


def test_what_a_product_reads_and_writes_changes_places() -> None:
    (run,) = routines(
        lambda x: lax.fori_loop(0, 9, lambda _, v: jnp.dot(x, v), x), grid(9, 9)
    )
    assert roles(run, (9, 9)) == ["operand", "result", "memory", "memory"]
    (loop,) = [s for s in run.routine.steps if isinstance(s, Loop)]
    assert isinstance(loop.steps[-1], Assign)


def test_memory_is_made_before_a_loop() -> None:
    for fun, args in FUNCTIONS.values():
        source = executable(traced(fun, *args), "program").source
        for body in re.findall(r"(?ms)^def program_(?:while|scan|cond)_.*?^\S", source):
            assert "empty" not in body


# -- what is simplified ---------------------------------------------------------------


def simplified(fun: Function, *args: Any) -> str:
    """The text of a function's simplified program."""
    return str(simplify(traced(fun, *args)))


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


def test_dear_equations_of_what_never_changes_are_computed_once() -> None:
    def fun(x: Any, y: Any) -> Any:
        return lax.fori_loop(0, 9, lambda _, s: s * jnp.exp(x) + (x + 1.0), y)

    program = simplify(traced(fun, VECTOR, VECTOR))
    assert [e.primitive for e in program.eqns] == ["exp", "scan"]


def test_a_choice_that_is_known_is_made() -> None:
    text = """{ lambda ; a:f32[3]. let
        b:f32[3] = cond[branches=(
          { lambda ; c:f32[3]. let d:f32[3] = neg c in (d,) }
          { lambda ; e:f32[3]. let f:f32[3] = sin e in (f,) }
        )] 1:i32[] a in (b,) }"""
    assert [e.primitive for e in simplify(parse(text)).eqns] == ["sin"]


def test_a_transposed_product_is_the_other_product() -> None:
    program = simplify(traced(lambda x, y: jnp.dot(x, y).T, grid(2, 3), grid(3, 4)))
    assert [e.primitive for e in program.eqns] == ["dot_general"]

    def fun(x: Any, y: Any) -> Any:
        z = jnp.dot(x, y)
        return z, z.T

    both = simplify(traced(fun, grid(2, 3), grid(3, 4)))
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
    """How many kernels and routines compiling a function adds."""
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
