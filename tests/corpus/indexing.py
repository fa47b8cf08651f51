"""Programs that read and update at places that are values."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

M = "f32[2,3]{1 2 3 4 5 6}"


@program(f"{M} i32[]{{1}}")
def a_place(jax: Library, x: Array, i: Array) -> Array:
    """Rows, columns and elements at a traced place."""
    return x[i], x[:, i], x[i, 0], x[i, 1:], x[0, i]


@program("f32[4]{1 2 3 4} i8[]{-1} u32[]{2}")
def a_place_of_any_dtype(jax: Library, x: Array, i: Array, j: Array) -> Array:
    """A place is counted from the end in its own dtype, each time that it is read."""
    return x[i] + x[i], x[j] + x[j], x.at[i].add(x[j])


@program("f32[4]{1 2 3 4} f32[2,3]{1 2 3 4 5 6}")
def places_of_loops(jax: Library, x: Array, y: Array) -> Array:
    """Indices of loops are weakly typed: what they become beside extents is not."""
    loop = jax.lax.fori_loop
    total = loop(0, 3, lambda i, c: c + x[i] * x[i + 1], 0.0)
    moved = loop(1, 3, lambda i, c: c.at[i].set(c[i - 1] + c[i + 1]), x)
    return total, moved, loop(1, 2, lambda i, c: c.at[i, i].add(c[i - 1, i]), y)


@program(f"{M} i32[2]{{1 0}}")
def places(jax: Library, x: Array, i: Array) -> Array:
    """Index arrays, alone, together, beside ints and slices."""
    return x[i], x[:, i], x[i, i], x[i, 1], x[i, ::2], x[i, None]


@program("f32[2,2,3]{1 2 3 4 5 6 7 8 9 10 11 12} i32[2]{1 0}")
def places_apart(jax: Library, x: Array, i: Array) -> Array:
    """A slice between index arrays, and one before them."""
    return x[i, :, i], x[:, i, i]


@program("f32[4]{1 2 3 4} i32[]{2}")
def boxes(jax: Library, x: Array, i: Array) -> Array:
    """Slices at a traced start, read and written."""
    lax = jax.lax
    part = lax.dynamic_slice(x, (i,), (2,))
    whole = lax.dynamic_update_slice_in_dim(x, part * 2, i, 0)
    return part, whole, lax.dynamic_index_in_dim(x, i, keepdims=False)


@program(f"{M} i32[]{{1}}")
def updates(jax: Library, x: Array, i: Array) -> Array:
    """Elements, rows and slices of a copy set."""
    new = x.at[0].set(9.0), x.at[i, 1:].set(8.0), x.at[:, ::2].set(7.0)
    return (*new, x.at[i].add(1.0), x.at[::-1].set(x))


@program(f"{M} i32[2]{{1 1}}")
def updates_at_places(jax: Library, x: Array, i: Array) -> Array:
    """Every kind of update, where places are more than once in the index."""
    at = x.at[i, 1]
    return at.add(2.0), at.subtract(2.0), at.multiply(2.0), at.min(0.5), at.max(9.0)


@program("f32[3]{1 2 3} i32[3]{0 2 7}")
def modes(jax: Library, x: Array, i: Array) -> Array:
    """Places outside: filled, clipped, left out."""
    at = x.at[i]
    read = at.get(mode="fill", fill_value=-1.0), at.get(mode="clip")
    return (*read, at.set(5.0, mode="drop"), at.add(5.0, mode="clip"))


@program(f"{M} i32[2]{{1 0}} i32[2,1]{{2 0}}")
def taken(jax: Library, x: Array, i: Array, j: Array) -> Array:
    """Functions that read along an axis."""
    jnp = jax.numpy
    return jnp.take(x, i, axis=1), jnp.take(x, i), jnp.take_along_axis(x, j, axis=1)


@program("f32[2,4]{1 2 3 4 5 6 7 8} i32[2,2]{1 0 3 3}")
def a_batch_of_places(jax: Library, x: Array, i: Array) -> Array:
    """Reads and sums at each example's own places."""
    return jax.vmap(lambda x, i: (x[i], x.at[i].add(1.0)))(x, i)


@program("f32[4]{1 2 3 4} i32[2]{1 1}")
def the_derivative_of_a_read(jax: Library, x: Array, i: Array) -> Array:
    """Cotangents that are added where elements were read."""
    return jax.grad(lambda x: (x[i] * x[i]).sum())(x)
