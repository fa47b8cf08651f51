"""Programs of elementwise operations and literals."""

from __future__ import annotations

from typing import Any

from corpus.program import program

# A library of either name, and its arrays.
Library = Any
Array = Any
V = "f32[4]{0.5 -1.25 2.0 0.0}"
W = "f32[4]{1.5 0.25 -3.0 1.0}"


@program("")
def nothing(jax: Library) -> None:
    """A function of nothing that returns nothing."""
    return None


@program(V)
def no_result(jax: Library, x: Array) -> None:
    """Equations whose results are all dropped."""
    jax.numpy.sin(x)


@program(f"{V} {W}")
def unused_input(jax: Library, x: Array, y: Array) -> Array:
    """An input that no equation reads."""
    return jax.numpy.cos(y)


@program(f"{V} {W}")
def returned_twice(jax: Library, x: Array, y: Array) -> Array:
    """Inputs, a result and a literal among the outputs, one of them twice."""
    return x, x + y, x, 2.5


@program("f32[]{1.75}")
def dead_equations(jax: Library, x: Array) -> Array:
    """Results that nothing uses are written `_`."""
    jnp = jax.numpy
    jnp.exp(x)
    y = jnp.tanh(x)
    jnp.log1p(y)
    return y


@program(V)
def repeated_work(jax: Library, x: Array) -> Array:
    """What is computed twice stays twice: nothing is simplified."""
    jnp = jax.numpy
    return jnp.sin(x) * 1.0 + jnp.sin(x) + 0.0


@program("~f32[]{1.5} ~f32[]{0.5}")
def weak_scalars(jax: Library, a: Array, b: Array) -> Array:
    """Numbers of Python stay weakly typed all the way."""
    return (a + b) * (a - b) / b


@program("~i32[]{3} f32[2]{0.5 -0.5}")
def weak_integer_and_array(jax: Library, n: Array, x: Array) -> Array:
    """A weak integer takes the dtype of the array that it meets."""
    return n * x + n


@program("~bool[]{true} ~i32[]{7}")
def weak_boolean(jax: Library, flag: Array, n: Array) -> Array:
    """A boolean of Python is strong, a number beside it is weak."""
    return flag + n


@program("f32[]{2.0} f32[3]{1 2 3}")
def scalar_with_array(jax: Library, a: Array, x: Array) -> Array:
    """A scalar meets an array without an equation that stretches it."""
    return a * x - x / a


@program("f32[2,1]{1 2} f32[1,3]{1 2 3}")
def outer_by_broadcasting(jax: Library, x: Array, y: Array) -> Array:
    """Two shapes that stretch each other."""
    return x * y


@program("f32[3]{1 2 3} f32[2,3]{1 2 3 4 5 6}")
def rank_promotion(jax: Library, x: Array, y: Array) -> Array:
    """A vector is stretched over the rows of a matrix."""
    return x + y


@program("f32[]{0.75}")
def polynomial(jax: Library, x: Array) -> Array:
    """Horner's scheme with literals on either side."""
    return ((2.0 * x - 3.0) * x + 0.5) * x - 1.0


@program("f32[3]{0.5 -2.0 4.0}")
def powers(jax: Library, x: Array) -> Array:
    """Integer powers of several exponents, a negative one too."""
    return x**2 + x**3 - x**-1


@program("f32[3]{0.5 2.0 4.0} f32[3]{2.0 0.5 -1.5}")
def real_powers(jax: Library, x: Array, y: Array) -> Array:
    """Powers with exponents that are arrays, and square roots of both kinds."""
    lax = jax.lax
    return lax.pow(x, y) + lax.rsqrt(x) * lax.sqrt(x)


@program("i32[4]{7 -7 2147483647 0} i32[4]{2 2 1 5}")
def integers(jax: Library, a: Array, b: Array) -> Array:
    """Division towards zero, remainders, and sums that wrap."""
    lax = jax.lax
    return lax.div(a, b), lax.rem(a, b), a + b, lax.sign(a), abs(a)


@program("i32[4]{7 -7 8 0} i32[4]{2 2 -3 5}")
def floor_division(jax: Library, a: Array, b: Array) -> Array:
    """Division and remainder as Python defines them."""
    return a // b, a % b


@program("f32[4]{7.5 -7.5 8.0 0.25} f32[4]{2.0 2.0 -3.0 5.0}")
def floating_remainder(jax: Library, a: Array, b: Array) -> Array:
    """The remainder with the sign of the divisor."""
    return a % b


@program("u8[3]{250 3 128} u8[3]{10 200 128}")
def bytes_wrap(jax: Library, a: Array, b: Array) -> Array:
    """Unsigned bytes wrap, with literals of their own dtype."""
    return a + b, a * 3, a - b + 1


@program("i8[3]{100 -100 5}")
def small_integers(jax: Library, a: Array) -> Array:
    """Literals take the dtype of the array that they meet."""
    return a + 100, -a, a * a


@program("bool[4]{true false true false} bool[4]{true true false false}")
def logic(jax: Library, a: Array, b: Array) -> Array:
    """And, or, not, and exclusive or by inequality."""
    jnp = jax.numpy
    either = jnp.logical_and(jnp.logical_or(a, b), jnp.logical_not(a & b))
    return either, jax.lax.ne(a, b), ~a


@program("u32[3]{12 255 4294967295} u32[3]{10 15 65535}")
def bits(jax: Library, a: Array, b: Array) -> Array:
    """Bit by bit on integers."""
    return a & b, a | b, ~a


@program(f"{V} {W}")
def comparisons(jax: Library, x: Array, y: Array) -> Array:
    """All six comparisons of two arrays."""
    return x == y, x != y, x < y, x <= y, x > y, x >= y


@program("f32[5]{0.5 1.5 2.5 -0.5 -1.25}")
def rounding(jax: Library, x: Array) -> Array:
    """Down, to even, and away from zero."""
    lax = jax.lax
    return lax.floor(x), jax.numpy.round(x), lax.round(x)


@program("f32[4]{nan inf -inf 1.0}")
def special_numbers(jax: Library, x: Array) -> Array:
    """Literals that are infinite, and what NaN does in extrema and comparisons."""
    jnp = jax.numpy
    return jnp.maximum(x, 0.0), jnp.minimum(x, jnp.inf), x == x, x > -jnp.inf


@program("f64[3]{0.5 -2.0 100.0}", x64=True)
def double_precision(jax: Library, x: Array) -> Array:
    """Literals of float64 keep all their digits."""
    return x * 0.1 + 1.0e-3, x / 3.0


@program("i64[3]{1 -2 4611686018427387904}", x64=True)
def long_integers(jax: Library, a: Array) -> Array:
    """64-bit integers, which wrap too."""
    return a * 2 + 1, a // 3


@program("~f64[]{0.1} ~i64[]{3} f32[2]{1.0 2.0}", x64=True)
def weak_doubles(jax: Library, a: Array, n: Array, x: Array) -> Array:
    """With 64 bits, numbers are weak float64 and int64, and yield to float32 arrays."""
    return a * n, a * x, n + x


@program("i32[3]{1 -2 300} f32[3]{0.5 -1.5 1000.0}")
def conversions(jax: Library, a: Array, x: Array) -> Array:
    """From every kind to every other."""
    return (
        a.astype("float32"),
        x.astype("int32"),
        a.astype("uint8"),
        x.astype("int8"),
        a.astype("bool"),
        x.astype("bool"),
    )


@program("i8[2]{100 -3} u8[2]{200 7}")
def mixed_integers(jax: Library, a: Array, b: Array) -> Array:
    """The join of int8 and uint8 is int16."""
    return a + b


@program("i16[3]{1 2 3} f32[3]{0.5 0.25 2.0}")
def integer_with_floats(jax: Library, a: Array, x: Array) -> Array:
    """An integer array takes the floating dtype beside it, and a quotient has one."""
    return a * x, a / 2
