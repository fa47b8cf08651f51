"""Functions mapped over axes, alone and with other transforms."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

V = "f32[3]{0.5 -1.25 2.0}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
MV = f"{M} {V}"


@program(V)
def mapped_sine(jax: Library, x: Array) -> Array:
    """A function of a scalar, mapped over a vector."""
    return jax.vmap(jax.numpy.sin)(x)


@program(MV)
def mapped_inner_product(jax: Library, a: Array, x: Array) -> Array:
    """Rows of a matrix with one vector that is not mapped."""
    return jax.vmap(jax.numpy.dot, in_axes=(0, None))(a, x)


@program(MV)
def mapped_with_broadcasting(jax: Library, a: Array, x: Array) -> Array:
    """Operands of different ranks are aligned."""
    f = lambda a, s: a * s + 1.0  # noqa: E731
    return jax.vmap(jax.vmap(f), in_axes=(0, None))(a, x)


@program(M)
def mapped_over_columns(jax: Library, a: Array) -> Array:
    """The last axis in, the last axis out."""
    return jax.vmap(lambda x: x * 2.0, in_axes=1, out_axes=1)(a)


@program(M)
def mapped_reduction(jax: Library, a: Array) -> Array:
    """Each row's sum and its greatest element."""
    return jax.vmap(lambda x: (jax.numpy.sum(x), jax.numpy.max(x)))(a)


@program(M)
def mapped_structure(jax: Library, a: Array) -> Array:
    """Reshaping, reversing and joining within each row."""
    lax = jax.lax

    def f(x: Array) -> Array:
        y = lax.rev(x, (0,))
        return jax.numpy.concatenate([x, y]).reshape(2, 3).T

    return jax.vmap(f)(a)


@program(M)
def mapped_choice(jax: Library, a: Array) -> Array:
    """A choice by elements, within each row."""
    jnp = jax.numpy
    return jax.vmap(lambda x: jnp.where(x > x[0], x, 0.0))(a)


@program(V)
def mapped_gradient(jax: Library, x: Array) -> Array:
    """The derivative at every element."""
    return jax.vmap(jax.grad(jax.numpy.sin))(x)


@program(V)
def gradient_of_a_map(jax: Library, x: Array) -> Array:
    """The gradient of a sum of mapped values."""
    square = jax.vmap(lambda x: x * x)
    return jax.grad(lambda x: jax.numpy.sum(square(x)))(x)


@program(V)
def mapped_call(jax: Library, x: Array) -> Array:
    """A jitted function within."""
    return jax.vmap(jax.jit(lambda x: jax.numpy.exp(x) * x))(x)


@program(MV)
def outer_by_maps(jax: Library, a: Array, x: Array) -> Array:
    """Two maps, over one argument each."""
    f = jax.vmap(jax.vmap(lambda x, y: x * y, (None, 0)), (0, None))
    return f(a[:, 0], x)


@program("f32[2,2,3]{1 2 3 4 5 6 -1 -2 -3 0.5 0.25 0.125} " + M)
def mapped_matrix_product(jax: Library, a: Array, b: Array) -> Array:
    """Products of matrices become one with a batch dimension."""
    return jax.vmap(lambda a, x: a @ x)(a, b)


@program(V)
def mapped_sum_over_the_axis(jax: Library, x: Array) -> Array:
    """A collective over the mapped axis: each element less the mean."""
    f = lambda x: x - jax.lax.psum(x, "i") / jax.lax.psum(1.0, "i")  # noqa: E731
    return jax.vmap(f, axis_name="i")(x)


@program(M)
def mapped_jacobian(jax: Library, a: Array) -> Array:
    """A Jacobian for each row."""
    return jax.vmap(jax.jacfwd(lambda x: x * x[0]))(a)
