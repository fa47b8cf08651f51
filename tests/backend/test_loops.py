"""Loops and choices: real ones in machine code, nothing copied, with the same bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import random_loops
from compiling import executable, grid, same_bits, traced

import traceir.numpy as jnp
from traceir import lax
from traceir.evaluate import eval_jaxpr
from traceir.text import parse
from traceir_numba.assemble import assemble
from traceir_numba.program import Assign, Copy, Loop, Run, Step, While
from traceir_numba.steps import walk

Function = Callable[..., Any]
MATRIX, VECTOR = grid(4, 3), grid(3, seed=1)
N = np.int32(5)


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


def seen_twice(x: Any, y: Any) -> Any:
    """What an inner loop gives is the memory of a carry, which then changes."""

    def step(_: Any, s: Any) -> Any:
        a, b = s
        b = lax.fori_loop(0, 2, lambda _, v: a, b)
        return a * 0.5, b

    return lax.fori_loop(0, 3, step, (x, y))


def row_seen_twice(x: Any, y: Any) -> Any:
    """What an inner loop gives is a row of a carry, which then changes."""

    def step(_: Any, s: Any) -> Any:
        a, b = s
        b = lax.scan(lambda _, row: (row, None), b, a)[0]
        return a * 0.5, b

    return lax.fori_loop(0, 3, step, (x, y))


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
    "seen twice": (seen_twice, (VECTOR, -VECTOR)),
    "row seen twice": (row_seen_twice, (MATRIX, -VECTOR)),
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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_threads_run_one_loop_at_once(name: str) -> None:
    fun, args = FUNCTIONS[name]
    run, arrays = executable(traced(fun, *args)).run, list(map(np.asarray, args))
    want = run(*arrays)

    def often(_: int) -> bool:
        right = True
        for _ in range(50):
            got = run(*arrays)
            right = right and same_bits(got, want)
            for result in got:  # whose memory is the caller's
                result[...] = 1
        return right

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(often, range(4)))


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
        (nested, (N, VECTOR), 0),  # loops within go on in the memory of the one around
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


def test_the_only_branch_is_taken_whatever_the_index() -> None:
    inner = "{ lambda ; c:f32[3]. let d:f32[3] = mul c c; e:f32[3] = neg d in (e,) }"
    only_branch = f"b:f32[3] = cond[branches=({inner},)] i a"
    program = parse(f"{{ lambda ; i:i32[] a:f32[3]. let {only_branch} in (b,) }}")
    run = executable(program).run
    for index in (-1, 0, 5):
        args = np.int32(index), VECTOR
        assert same_bits(run(*map(np.asarray, args)), eval_jaxpr(program, (), *args))
