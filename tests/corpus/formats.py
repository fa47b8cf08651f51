"""Programs of small dtypes: halves, both kinds of 16 bits, and bytes."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

H = "f16[3]{0.5 1.0 4.0}"
B = "bf16[3]{0.5 1.0 4.0}"
U = "u8[3]{3 200 7}"
K = "i32[3]{7 -2 5}"


@program(H)
def halves(jax: Library, x: Array) -> Array:
    """Numbers beside halves, a function of them, and their sum."""
    return x * 2 + 1, jax.numpy.exp(x), jax.numpy.sum(x)


@program(f"{H} {K}")
def halves_and_integers(jax: Library, x: Array, k: Array) -> Array:
    """Halves beside integers, their product and their mean."""
    return x + k, x @ x, jax.numpy.mean(x)


@program(f"{B} {H}")
def both_kinds_of_halves(jax: Library, x: Array, y: Array) -> Array:
    """The two dtypes of 16 bits meet in one of 32."""
    return x + y, jax.numpy.exp(x), jax.numpy.sum(x)


@program(U)
def bytes_and_bits(jax: Library, x: Array) -> Array:
    """Bytes wrap; their sum has more bits, their quotients are floats."""
    jnp = jax.numpy
    return x + x, x * 3, jnp.sum(x), x / 2, jnp.bitwise_count(x)


@program("f32[3]{0.5 1.0 4.0}")
def converted(jax: Library, x: Array) -> Array:
    """A dtype that is asked for by its name."""
    return jax.numpy.astype(x, "int8"), x.astype("float16"), x.astype("bfloat16")


@program(K)
def shifted(jax: Library, k: Array) -> Array:
    """Bits to the left, to the right, and turned over."""
    return jax.numpy.left_shift(k, 2), jax.numpy.right_shift(k, 1), ~k


@program(H)
def slopes_of_halves(jax: Library, x: Array) -> Array:
    """The gradient by halves is one of halves."""
    return jax.grad(lambda x: jax.numpy.sum(x * jax.numpy.sin(x)))(x)
