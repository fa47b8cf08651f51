"""Programs that put elements in order."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

X = "f32[5]{2.0 -1.0 0.5 nan 0.25}"
V = "f32[5]{2.0 -1.0 0.5 4.0 0.25}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
K = "i32[2,3]{2 1 1 0 3 1}"


@program(f"{M} {K}")
def sorts(jax: Library, x: Array, k: Array) -> Array:
    """Rows, columns, all elements, from the greatest down."""
    jnp = jax.numpy
    down = jnp.sort(k, descending=True)
    return jnp.sort(x), jnp.sort(x, axis=0), jnp.sort(k, axis=None), down


@program(f"{X} {K}")
def orders(jax: Library, x: Array, k: Array) -> Array:
    """The places of elements in order, NaN last, in both directions."""
    jnp = jax.numpy
    return jnp.argsort(x), jnp.argsort(k, axis=1), jnp.argsort(k, descending=True)


@program(K)
def order_of_several_keys(jax: Library, k: Array) -> Array:
    """Two keys, the last one first."""
    return jax.numpy.lexsort((k[0], k[1]))


@program(f"{M} {K}")
def keys_move_others(jax: Library, x: Array, k: Array) -> Array:
    """Operands that are moved along, with one key and with two."""
    lax = jax.lax
    return lax.sort((k, x), dimension=0), lax.sort((k, x), num_keys=2)


@program(M)
def greatest(jax: Library, x: Array) -> Array:
    """The two greatest of rows, and where they are."""
    return jax.lax.top_k(x, 2)


@program(f"{M} {M}")
def tangents_in_order(jax: Library, x: Array, t: Array) -> Array:
    """The tangents of rows in order."""
    return jax.jvp(lambda y: jax.numpy.sort(y), (x,), (t,))


@program(M)
def rows_of_a_batch_in_order(jax: Library, x: Array) -> Array:
    """Columns, each by itself, in order."""
    return jax.vmap(jax.numpy.sort, in_axes=1, out_axes=1)(x)


@program(V)
def middle(jax: Library, x: Array) -> Array:
    """A median and a quantile."""
    return jax.numpy.median(x), jax.numpy.quantile(x, 0.25, method="lower")
