"""Programs that slide windows: convolutions, pooling, filters, and bits."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

IMAGE = "f32[1,1,3,3]{1 2 3 4 5 6 7 8 9}"
KERNEL = "f32[1,1,2,2]{1 0 0 2}"
SQUARE = "f32[4,4]{1 2 3 4 8 7 6 5 1 3 2 4 9 1 9 1}"


@program(f"{IMAGE} {KERNEL}")
def convolutions(jax: Library, x: Array, k: Array) -> Array:
    """With each kind of padding, with strides and dilations."""
    lax = jax.lax
    plain = lax.conv(x, k, (1, 1), "SAME")
    general = lax.conv_with_general_padding(
        x, k, (2, 1), [(1, 1), (0, 1)], None, (1, 2)
    )
    return plain, general


@program("f32[1,3,2]{1 2 3 4 5 6} f32[2,2,2]{1 0 0 1 1 1 1 1}")
def features_last(jax: Library, x: Array, k: Array) -> Array:
    """Letters for the dimensions, and a convolution backwards."""
    lax, numbers = jax.lax, ("NWC", "WIO", "NWC")
    there = lax.conv_general_dilated(x, k, (1,), "VALID", dimension_numbers=numbers)
    return there, lax.conv_transpose(there, k, (2,), "VALID")


@program(f"{IMAGE} {KERNEL}")
def learned(jax: Library, x: Array, k: Array) -> Array:
    """Gradients of a loss by both operands of a convolution."""

    def loss(x: Array, k: Array) -> Array:
        return jax.numpy.sum(jax.lax.conv(x, k, (1, 1), "VALID") ** 2)

    return jax.grad(loss, (0, 1))(x, k)


@program(SQUARE)
def pooled(jax: Library, x: Array) -> Array:
    """Sums, maxima and minima of windows."""
    lax, inf = jax.lax, jax.numpy.inf
    means = lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "VALID") / 4
    most = lax.reduce_window(x, -inf, lax.max, (2, 2), (2, 2), "VALID")
    return means, most, lax.reduce_window(x, inf, lax.min, (1, 3), (1, 1), "SAME")


@program(SQUARE)
def pooled_back(jax: Library, x: Array) -> Array:
    """The gradient of a maximum of windows, and its tangent."""
    lax = jax.lax

    def loss(x: Array) -> Array:
        inf = jax.numpy.inf
        most = lax.reduce_window(x, -inf, lax.max, (2, 2), (2, 2), "VALID")
        return jax.numpy.sum(most * most)

    return jax.grad(loss)(x)


@program("f32[5]{1 2 4 8 16} f32[3]{1 0 -1}")
def filtered(jax: Library, x: Array, k: Array) -> Array:
    """Convolution and correlation of vectors, in each mode."""
    jnp = jax.numpy
    return jnp.convolve(x, k), jnp.correlate(k, x, "full"), jnp.convolve(x, k, "same")


@program("f32[3]{1 -2 0.5}")
def bits_of_numbers(jax: Library, x: Array) -> Array:
    """Patterns, signs and fewer digits."""
    bits = jax.lax.bitcast_convert_type(x, "int32")
    return bits, jax.numpy.signbit(x), jax.lax.reduce_precision(x, 5, 2)


@program("f32[4]{1 3 2 5}")
def slopes_of_samples(jax: Library, x: Array) -> Array:
    """Slopes, jumps and areas of samples."""
    jnp = jax.numpy
    return jnp.gradient(x), jnp.ediff1d(x), jnp.trapezoid(x)
