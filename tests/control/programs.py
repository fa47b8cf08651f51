"""Functions with control flow, for any library with JAX's names. Serves: control.*

Each takes the library and then arrays. `record.py` writes down what JAX prints of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Library = Any
Array = Any
Function = Callable[..., Any]
# A function of a library and of arguments, and the arguments.
PROGRAMS: dict[str, tuple[Function, tuple[Any, ...]]] = {}

X = np.arange(3, dtype="float32")
Y = np.arange(1, 8, dtype="float32")
COUNTS = np.arange(3, dtype="int32")
M = np.ones((2, 3), "float32")


def program(*arguments: Any) -> Callable[[Function], Function]:
    """Enter a function, with arguments that NumPy or Python has."""

    def enter(function: Function) -> Function:
        PROGRAMS[function.__name__] = function, arguments
        return function

    return enter


# -- choices --------------------------------------------------------------------------


@program(True, X)
def choice(jax: Library, p: Array, x: Array) -> Any:
    return jax.lax.cond(p, lambda x: x + 1, lambda x: x * 2, x)


@program(1.5, X)
def choice_by_a_float(jax: Library, p: Array, x: Array) -> Any:
    return jax.lax.cond(p, lambda x: x + 1, lambda x: x * 2, x)


@program(3, 1.0)
def choice_by_an_integer(jax: Library, p: Array, x: Array) -> Any:
    return jax.lax.cond(p, lambda x: x + 1, lambda x: x * 2, x)


@program(X)
def choice_by_a_known_value(jax: Library, x: Array) -> Any:
    return jax.lax.cond(True, lambda x: x + 1, lambda x: x, x)


@program(X)
def choice_by_a_known_number(jax: Library, x: Array) -> Any:
    return jax.lax.cond(3.0, lambda x: x + 1, lambda x: x, x)


@program(X)
def choice_by_an_element(jax: Library, x: Array) -> Any:
    return jax.lax.cond(x[0] > 2, lambda x: x + 1, lambda x: x, x)


@program(True, X)
def choice_without_operands(jax: Library, p: Array, x: Array) -> Any:
    return jax.lax.cond(p, lambda: x + 1, lambda: x * 2)


@program(True, X, X)
def choice_with_a_constant(jax: Library, p: Array, a: Array, b: Array) -> Any:
    x = jax.numpy.asarray(X)
    return jax.lax.cond(p, lambda: a + x, lambda: b + x * a)


@program(True, X, X)
def choice_of_what_is_passed_on(jax: Library, p: Array, a: Array, b: Array) -> Any:
    return jax.lax.cond(p, lambda a, b: (a, b, a), lambda a, b: (a, a, b), a, b)


@program(True, X, X)
def choice_of_nothing_new(jax: Library, p: Array, a: Array, b: Array) -> Any:
    return jax.lax.cond(p, lambda a: (a, b), lambda a: (a, b), a)


@program(True, X)
def choice_of_numbers(jax: Library, p: Array, a: Array) -> Any:
    return jax.lax.cond(p, lambda a: (a, 1.0), lambda a: (a, 2.0), a)


@program(True)
def choice_of_one_function(jax: Library, p: Array) -> Any:
    def f(x: Array) -> Array:
        return jax.numpy.sin(x)

    return jax.lax.cond(p, f, f, 1.0)


def _long(jax: Library, x: Array) -> Array:
    for _ in range(12):
        x = jax.numpy.sin(x)
    return x


@program(True)
def choice_with_a_long_branch(jax: Library, p: Array) -> Any:
    return jax.lax.cond(p, jax.numpy.cos, lambda x: _long(jax, x), 1.0)


@program(1, X)
def one_of_three(jax: Library, i: Array, x: Array) -> Any:
    branches = [jax.numpy.sin, jax.numpy.cos, lambda x: x]
    return jax.lax.switch(i, branches, x)


@program(1, X)
def one_of_one(jax: Library, i: Array, x: Array) -> Any:
    return jax.lax.switch(i, [jax.numpy.sin], x)


@program(np.uint8(1), X)
def one_of_two_by_a_byte(jax: Library, i: Array, x: Array) -> Any:
    return jax.lax.switch(i, [jax.numpy.sin, jax.numpy.cos], x)


@program(X)
def one_of_two_by_a_known_number(jax: Library, x: Array) -> Any:
    return jax.lax.switch(5, [lambda x: x + 1, lambda x: x], x)


@program(X > 0, X)
def selection(jax: Library, p: Array, x: Array) -> Any:
    return jax.lax.select(p, x, x)


# -- loops ----------------------------------------------------------------------------


@program(X)
def loop(jax: Library, x: Array) -> Any:
    return jax.lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x)
    )


@program(X, 3)
def loop_with_closures(jax: Library, x: Array, n: Array) -> Any:
    return jax.lax.while_loop(
        lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * x), (0, x)
    )


@program(3.0)
def loop_on_a_number(jax: Library, x: Array) -> Any:
    return jax.lax.while_loop(lambda c: c < x, lambda c: c + 1, 0.0)


@program(X)
def loop_that_passes_a_value_on(jax: Library, x: Array) -> Any:
    return jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0], c[1] + 1), (x, 0))


@program(1.0)
def loop_with_a_long_body(jax: Library, x: Array) -> Any:
    return jax.lax.while_loop(lambda c: c < 3, lambda x: _long(jax, x), x)


@program(X)
def counted_loop(jax: Library, x: Array) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, c: c * i, x)


@program(X, 3)
def counted_loop_with_a_traced_bound(jax: Library, x: Array, n: Array) -> Any:
    return jax.lax.fori_loop(0, n, lambda i, c: c * i, x)


@program(X)
def counted_loop_written_out(jax: Library, x: Array) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, c: c * i, x, unroll=True)


@program(X)
def counted_loop_in_twos(jax: Library, x: Array) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, c: c * i, x, unroll=2)


@program(1.0)
def counted_loop_without_a_value(jax: Library, x: Array) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, c: c, ())


@program()
def counted_loop_with_a_constant(jax: Library) -> Any:
    x = jax.numpy.asarray(X)
    return jax.lax.fori_loop(0, 3, lambda i, c: c + x, x)


# -- scans ----------------------------------------------------------------------------


@program(X)
def sums(jax: Library, xs: Array) -> Any:
    return jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, xs)


@program(X)
def sums_from_an_integer(jax: Library, xs: Array) -> Any:
    return jax.lax.scan(lambda c, x: (c + x, c * x), 0, xs)


@program(X)
def sums_from_the_end(jax: Library, xs: Array) -> Any:
    return jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, xs, reverse=True, unroll=2)


@program(X)
def scan_over_nothing(jax: Library, xs: Array) -> Any:
    return jax.lax.scan(lambda c, _: (c + xs.sum(), None), 0.0, None, length=4)


@program(X)
def scan_written_out(jax: Library, xs: Array) -> Any:
    return jax.lax.scan(lambda c, x: (c + x * xs[0], None), 0.0, xs, unroll=True)


@program()
def scan_without_steps(jax: Library) -> Any:
    return jax.lax.scan(lambda c, _: (c + 1, 2.0), 0.0, None, length=0, unroll=True)


@program(X)
def scan_of_one_function_twice(jax: Library, xs: Array) -> Any:
    def step(c: Array, x: Array) -> Any:
        return c + x, c

    return jax.lax.scan(step, 0.0, xs), jax.lax.scan(step, 0.0, xs)


@program(X, X)
def scan_with_constants(jax: Library, c: Array, d: Array) -> Any:
    x = jax.numpy.asarray(X)
    return jax.lax.scan(lambda c, _: (c * d + x * d, None), c, None, length=2)


@program(X, X)
def scan_with_constants_in_another_order(jax: Library, c: Array, d: Array) -> Any:
    x = jax.numpy.asarray(X)
    return jax.lax.scan(lambda c, _: (c + x * d, None), c, None, length=2)


@program(X)
def scan_that_passes_all_on(jax: Library, c: Array) -> Any:
    return jax.lax.scan(lambda c, x: (c, (x, c)), c, c)


@program(X)
def scan_that_passes_some_on(jax: Library, c: Array) -> Any:
    return jax.lax.scan(lambda c, x: ((c[0], c[1] + 1), (x, 1.0)), (c, 0), c)


@program(X)
def scan_that_swaps(jax: Library, c: Array) -> Any:
    return jax.lax.scan(lambda c, x: ((c[1], c[0]), c[0]), (c, c), c)


@program(X, X)
def scan_with_a_constant_carry(jax: Library, c: Array, d: Array) -> Any:
    return jax.lax.scan(lambda c, x: ((c[0], c[1] + c[0] * d), d), (d, c), c)


@program(X)
def mapped(jax: Library, xs: Array) -> Any:
    return jax.lax.map(lambda x: x * 2, xs)


@program(Y)
def mapped_in_batches(jax: Library, xs: Array) -> Any:
    return jax.lax.map(lambda x: x * 2, xs, batch_size=3)


@program(Y)
def mapped_at_once(jax: Library, xs: Array) -> Any:
    return jax.lax.map(lambda x: x * 2, xs, batch_size=0)


@program(Y)
def mapped_in_one_small_batch(jax: Library, xs: Array) -> Any:
    return jax.lax.map(lambda x: x * 2, xs, batch_size=10)


@program(Y)
def mapped_over_a_tree(jax: Library, xs: Array) -> Any:
    return jax.lax.map(lambda x: x["a"] * 2 + x["b"], {"a": xs, "b": xs})


@program(Y)
def running_sums(jax: Library, xs: Array) -> Any:
    return jax.lax.associative_scan(jax.numpy.add, xs)


@program(Y[:4])
def running_products_from_the_end(jax: Library, xs: Array) -> Any:
    return jax.lax.associative_scan(jax.numpy.multiply, xs, reverse=True)


@program(Y[:5])
def running_pairs(jax: Library, xs: Array) -> Any:
    def join(a: Any, b: Any) -> Any:
        return {"u": a["u"] * b["u"], "v": a["v"] * b["u"] + b["v"]}

    return jax.lax.associative_scan(join, {"u": xs, "v": xs})


@program(np.ones((2, 6), "float32"))
def running_maxima_of_rows(jax: Library, xs: Array) -> Any:
    return jax.lax.associative_scan(jax.numpy.maximum, xs, axis=1)


@program(Y)
def running_truths(jax: Library, xs: Array) -> Any:
    return jax.lax.associative_scan(jax.numpy.logical_or, xs > 3, axis=-1)
