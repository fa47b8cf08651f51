"""Programs that move, join, make and choose elements."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

M = "f32[2,3]{1 2 3 4 5 6}"


@program(M)
def shapes(jax: Library, x: Array) -> Array:
    """Reshape, transpose and their inverses."""
    jnp = jax.numpy
    return jnp.reshape(x, (3, 2)), x.T, jnp.ravel(x), jnp.reshape(x, (1, 6, 1))


@program("f32[1,3,1]{1 2 3}")
def squeezed(jax: Library, x: Array) -> Array:
    """Dimensions of extent 1, removed one by one and all together."""
    jnp = jax.numpy
    return jnp.squeeze(x), jnp.squeeze(x, 0), jnp.squeeze(x, (0, 2))


@program("f32[3]{1 2 3}")
def new_dimensions(jax: Library, x: Array) -> Array:
    """Dimensions put in by an index and by a function."""
    return x[:, None] * x[None, :], jax.numpy.expand_dims(x, 0)


@program("f32[2,3,4]{1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24}")
def three_axes(jax: Library, x: Array) -> Array:
    """Axes moved and swapped."""
    jnp = jax.numpy
    return jnp.moveaxis(x, 0, 2), jnp.swapaxes(x, 1, 2), jnp.transpose(x)


@program("f32[6]{1 2 3 4 5 6}")
def slices(jax: Library, x: Array) -> Array:
    """Slices with bounds, steps and both."""
    lax = jax.lax
    return lax.slice(x, (1,), (5,)), lax.slice(x, (0,), (6,), (2,)), x[2:4], x[3]


@program("f32[6]{1 4 9 16 25 36}")
def stencil(jax: Library, x: Array) -> Array:
    """A second difference from three slices."""
    return x[2:] - 2.0 * x[1:-1] + x[:-2]


@program("f32[4,4]{1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16}")
def five_points(jax: Library, x: Array) -> Array:
    """The mean of four neighbours on a grid."""
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return 0.25 * around


@program(f"{M} {M}")
def joined(jax: Library, x: Array, y: Array) -> Array:
    """Concatenation along both axes, and a stack along a new one."""
    jnp = jax.numpy
    return (
        jnp.concatenate([x, y]),
        jnp.concatenate([x, y, x], axis=1),
        jnp.stack([x, y], axis=2),
    )


@program("f32[3]{1 2 3}")
def rolled(jax: Library, x: Array) -> Array:
    """A vector rotated by joining two slices of it."""
    return jax.numpy.concatenate([x[2:], x[:2]])


@program("f32[2]{1 2}")
def filled(jax: Library, x: Array) -> Array:
    """Arrays made of one literal, and one of a variable."""
    jnp = jax.numpy
    return (
        jnp.zeros((2, 3)),
        jnp.full((2,), 7, "int32"),
        jnp.ones_like(x),
        jnp.broadcast_to(x, (3, 2)),
    )


@program("")
def counted(jax: Library) -> Array:
    """Iotas, from which masks and ramps are made."""
    lax, jnp = jax.lax, jax.numpy
    return (
        jnp.arange(5),
        lax.iota("float32", 4),
        lax.broadcasted_iota("int32", (2, 3), 1),
        jnp.eye(3),
    )


@program("f32[4]{1 2 3 4}")
def ramp(jax: Library, x: Array) -> Array:
    """A weighted sum with the positions as weights."""
    return jax.numpy.arange(4) * x + jax.lax.iota("float32", 4)


@program("f32[3,3]{1 2 3 4 5 6 7 8 9}")
def lower_triangle(jax: Library, x: Array) -> Array:
    """A mask from two iotas chooses between a matrix and zeros."""
    lax, jnp = jax.lax, jax.numpy
    row = lax.broadcasted_iota("int32", (3, 3), 0)
    column = lax.broadcasted_iota("int32", (3, 3), 1)
    return lax.select(row >= column, x, jnp.zeros_like(x))


@program("f32[4]{0.5 -1.5 2.0 -0.25}")
def chosen(jax: Library, x: Array) -> Array:
    """One of two arrays element by element, through the helper `_where`."""
    return jax.numpy.where(x > 0, x, 0.1 * x)


@program("i32[3]{0 2 1} f32[3]{1 2 3} f32[3]{10 20 30} f32[3]{100 200 300}")
def one_of_three(jax: Library, n: Array, a: Array, b: Array, c: Array) -> Array:
    """A choice of one of three arrays by number."""
    return jax.lax.select_n(n, a, b, c)


@program("bool[]{true} f32[2]{1 2} f32[2]{3 4}")
def chosen_by_a_scalar(jax: Library, p: Array, x: Array, y: Array) -> Array:
    """A scalar that chooses whole arrays."""
    return jax.lax.select_n(p, x, y)


@program("f32[5]{-2.0 -0.5 0.25 1.5 nan}")
def clamped(jax: Library, x: Array) -> Array:
    """Between two literals, by `clamp` and by two extrema."""
    return jax.lax.clamp(-1.0, x, 1.0), jax.numpy.clip(x, -1.0, 1.0)


@program("f32[3]{1 2 3} f32[3]{-1 0 1} f32[3]{0.5 1.0 4.0}")
def clamped_by_arrays(jax: Library, x: Array, low: Array, high: Array) -> Array:
    """Bounds that are arrays."""
    return jax.lax.clamp(low, x, high)


@program("f32[0]{} f32[2,0]{}")
def empty_arrays(jax: Library, x: Array, y: Array) -> Array:
    """Arrays without elements keep their shapes, and sum to zero."""
    jnp = jax.numpy
    return jnp.sin(x), jnp.sum(y, axis=1), jnp.concatenate([x, x])


@program("i32[2,3]{1 2 3 4 5 6}")
def indexed(jax: Library, x: Array) -> Array:
    """Rows, columns and elements by constant indices."""
    return x[0], x[:, 1], x[1, 2], x[..., -1]
