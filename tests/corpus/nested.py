"""Programs within programs, shared programs and constants."""

from __future__ import annotations

import numpy as np
from corpus.elements import Array, Library
from corpus.program import program

V = "f32[3]{0.5 -1.25 2.0}"


@program(V)
def one_call(jax: Library, x: Array) -> Array:
    """A jitted function called once is written where it is called."""

    @jax.jit
    def wave(x: Array) -> Array:
        return jax.numpy.sin(x) + jax.numpy.cos(x)

    return wave(x)


@program(V)
def two_calls(jax: Library, x: Array) -> Array:
    """A program that is called twice is written once, before the others."""

    @jax.jit
    def half(x: Array) -> Array:
        return 0.5 * x

    return half(half(x))


@program(V)
def call_in_a_call(jax: Library, x: Array) -> Array:
    """Three levels, each with an equation of its own."""

    @jax.jit
    def inner(x: Array) -> Array:
        return x * x

    @jax.jit
    def middle(x: Array) -> Array:
        return inner(x) + x

    @jax.jit
    def outer(x: Array) -> Array:
        return -middle(x)

    return outer(x) - 1.0


@program(V)
def shared_within(jax: Library, x: Array) -> Array:
    """A program shared by two others, one of which is shared too."""

    @jax.jit
    def double(x: Array) -> Array:
        return x + x

    @jax.jit
    def quadruple(x: Array) -> Array:
        return double(double(x))

    return quadruple(x) + double(x) * quadruple(x)


@program("f32[3]{0.5 -1.25 2.0} f32[]{3.0}")
def several_results(jax: Library, x: Array, a: Array) -> Array:
    """Results of a call in another order than its inputs, one of them dropped."""

    @jax.jit
    def parts(a: Array, x: Array) -> Array:
        return jax.numpy.sum(x), a * x, a

    total, scaled, _ = parts(a, x)
    return scaled, total


@program(V)
def lambdas(jax: Library, x: Array) -> Array:
    """Functions without a name."""
    f = jax.jit(lambda x: x + 1.0)
    return f(f(x)) * jax.jit(lambda x: x - 1.0)(x)


@program(V)
def same_name(jax: Library, x: Array) -> Array:
    """Two shared programs of one name are told apart by a number."""

    def make(k: float) -> Array:
        @jax.jit
        def scale(x: Array) -> Array:
            return k * x

        return scale

    two, three = make(2.0), make(3.0)
    return two(two(x)) + three(three(x))


@program("~f32[]{1.5} f32[3]{0.5 -1.25 2.0}")
def weak_call(jax: Library, a: Array, x: Array) -> Array:
    """Weakness is part of the type for which an inner program is traced."""

    @jax.jit
    def shift(a: Array) -> Array:
        return a + 1.0

    return shift(a) * x, shift(a), shift(x)


@program("i32[]{3} f32[3]{0.5 -1.25 2.0}")
def literal_argument(jax: Library, n: Array, x: Array) -> Array:
    """Numbers as arguments of an inner program."""

    @jax.jit
    def line(x: Array, a: Array, b: Array) -> Array:
        return a * x + b

    return line(x, 2.0, 1), line(x, n, 0.5)


@program(V)
def inner_without_equations(jax: Library, x: Array) -> Array:
    """An inner program that returns what it was given, and a literal."""

    @jax.jit
    def same(x: Array) -> Array:
        return x, 1.5

    y, one = same(x)
    return y * one


@program(V)
def unused_by_the_inner(jax: Library, x: Array) -> Array:
    """An inner program with an input that it does not read."""

    @jax.jit
    def first(x: Array, y: Array) -> Array:
        return jax.numpy.tanh(x)

    return first(x, x * 2.0)


@program(V)
def dead_within(jax: Library, x: Array) -> Array:
    """Work in an inner program that is thrown away."""

    @jax.jit
    def wasteful(x: Array) -> Array:
        jax.numpy.exp(x)
        return jax.numpy.abs(x)

    return wasteful(x)


@program("f32[]{0.5}")
def long_inner_program(jax: Library, x: Array) -> Array:
    """An inner program of more than ten equations is written before the others."""

    @jax.jit
    def series(x: Array) -> Array:
        total = x
        for k in range(2, 8):
            total = total * x + 1.0 / k
        return total

    return series(x)


@program("i32[4]{9 -9 4 0}")
def helpers(jax: Library, a: Array) -> Array:
    """Functions of the array interface that are programs of their own."""
    jnp = jax.numpy
    return a // 2, jnp.clip(a, -3, 3), jnp.where(a > 0, a, 0), a % 3


@program(V)
def constant_vector(jax: Library, x: Array) -> Array:
    """An array from outside is a constant of the program."""
    weights = jax.numpy.asarray(np.float32([0.25, 0.5, 0.125]))
    return jax.numpy.sum(weights * x)


@program(V)
def constants_of_several_types(jax: Library, x: Array) -> Array:
    """Integers, booleans and a matrix as constants."""
    jnp = jax.numpy
    order = jnp.asarray(np.int32([2, 0, 1]))
    mask = jnp.asarray(np.bool_([True, False, True]))
    table = jnp.asarray(np.float32([[1, 2, 3], [4, 5, 6]]))
    return jax.lax.select(mask, x, -x) + order, table @ x


@program(V)
def constant_used_twice(jax: Library, x: Array) -> Array:
    """One constant, whatever the number of its uses."""
    k = jax.numpy.asarray(np.float32([1.5, -2.0, 4.0]))
    return x * k + k


@program(V)
def numpy_scalar_constant(jax: Library, x: Array) -> Array:
    """Scalars of NumPy are written as literals."""
    return x * np.float32(0.75) + np.float32(2)


@program(V)
def constant_of_an_inner_program(jax: Library, x: Array) -> Array:
    """A constant that an inner program uses is an input of it."""
    k = jax.numpy.asarray(np.float32([1.5, -2.0, 4.0]))

    @jax.jit
    def scale(x: Array) -> Array:
        return x * k

    return scale(x)
