"""Programs that reduce, search and contract."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
N = "f32[3,2]{1.0 0.5 -1.0 2.0 0.25 4.0}"


@program(M)
def sums(jax: Library, x: Array) -> Array:
    """Sums along each axis, along both, and with the dimension kept."""
    jnp = jax.numpy
    return jnp.sum(x), jnp.sum(x, 0), jnp.sum(x, 1), jnp.sum(x, 1, keepdims=True)


@program(M)
def extrema(jax: Library, x: Array) -> Array:
    """Greatest, least, and products."""
    jnp = jax.numpy
    return jnp.max(x, 0), jnp.min(x), jnp.prod(x, 1)


@program("i32[2,3]{3 1 2 -4 9 9}")
def positions(jax: Library, x: Array) -> Array:
    """Where the first extremum is."""
    jnp = jax.numpy
    return jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.argmax(x)


@program("bool[2,2]{true false true true}")
def quantifiers(jax: Library, x: Array) -> Array:
    """All, any, and how many."""
    jnp = jax.numpy
    return jnp.all(x, 0), jnp.any(x, 1), jnp.sum(x)


@program("i8[3]{100 100 100}")
def summed_bytes(jax: Library, x: Array) -> Array:
    """Small integers are widened before they are summed."""
    return jax.numpy.sum(x), jax.lax.reduce_sum(x, (0,))


@program("f32[4]{1.5 -0.5 2.0 4.0}")
def mean_and_variance(jax: Library, x: Array) -> Array:
    """Both as NumPy defines them, and the standard deviation."""
    jnp = jax.numpy
    return jnp.mean(x), jnp.var(x), jnp.std(x)


@program(M)
def mean_of_columns(jax: Library, x: Array) -> Array:
    """A mean along one axis."""
    return jax.numpy.mean(x, axis=0)


@program(f"{M} {N}")
def matrix_product(jax: Library, x: Array, y: Array) -> Array:
    """Two matrices."""
    return x @ y


@program("f32[3]{1.5 -2.0 3.0} f32[3]{0.5 0.25 4.0}")
def inner_product(jax: Library, x: Array, y: Array) -> Array:
    """Two vectors, in two ways."""
    jnp = jax.numpy
    return jnp.dot(x, y), jnp.sum(x * y)


@program(f"{M} f32[3]{{1.0 0.5 -1.0}}")
def matrix_by_vector(jax: Library, a: Array, x: Array) -> Array:
    """A matrix and a vector, on either side."""
    return a @ x, x @ a.T


@program("f32[2,2,3]{1 2 3 4 5 6 7 8 9 10 11 12} f32[2,3,1]{1 2 3 4 5 6}")
def batched_product(jax: Library, x: Array, y: Array) -> Array:
    """One product for each pair of matrices in two batches."""
    return jax.numpy.matmul(x, y)


@program(f"{M} {M}")
def contraction(jax: Library, x: Array, y: Array) -> Array:
    """Contracted and batch dimensions given by number."""
    lax = jax.lax
    return (
        lax.dot_general(x, y, (((1,), (1,)), ((), ()))),
        lax.dot_general(x, y, (((1,), (1,)), ((0,), (0,)))),
        lax.dot_general(x, y, (((0, 1), (0, 1)), ((), ()))),
    )


@program("i8[2,2]{100 2 3 4} i8[2,2]{5 6 7 100}")
def product_in_wider_integers(jax: Library, x: Array, y: Array) -> Array:
    """A contraction of bytes with results of 32 bits."""
    dims = (((1,), (0,)), ((), ()))
    return jax.lax.dot_general(x, y, dims, preferred_element_type="int32")


@program("f32[2]{1.5 -2.0} f32[3]{1.0 0.5 4.0}")
def outer_product(jax: Library, x: Array, y: Array) -> Array:
    """All products of two vectors, as a contraction of nothing and by broadcasting."""
    jnp = jax.numpy
    return jnp.outer(x, y), jnp.tensordot(x, y, 0)


@program("f32[2,2]{3.0 4.0 0.0 5.0}")
def norms(jax: Library, x: Array) -> Array:
    """Of the rows, and of the whole matrix."""
    jnp = jax.numpy
    return jnp.sqrt(jnp.sum(x * x, axis=1)), jnp.sqrt(jnp.sum(jnp.square(x)))


@program("f64[2,2]{0.1 0.2 0.3 0.4} f64[2]{3.0 -1.0}", x64=True)
def double_product(jax: Library, a: Array, x: Array) -> Array:
    """A residual in float64."""
    return a @ x - jax.numpy.sum(a, axis=1)


@program("f32[3,2]{1 2 3 4 5 6}")
def gram_matrix(jax: Library, x: Array) -> Array:
    """Products of all pairs of columns, and their trace by a mask."""
    jnp = jax.numpy
    gram = x.T @ x
    return gram, jnp.sum(gram * jnp.eye(2))


@program("f32[4]{1.0 2.0 3.0 4.0}")
def running_sum(jax: Library, x: Array) -> Array:
    """A cumulative sum as a product with a triangle of ones."""
    lax = jax.lax
    row = lax.broadcasted_iota("int32", (4, 4), 0)
    column = lax.broadcasted_iota("int32", (4, 4), 1)
    return (row >= column).astype("float32") @ x


@program("i32[5]{1 2 2 5 2}")
def histogram(jax: Library, x: Array) -> Array:
    """How often each of six numbers occurs, by comparing all pairs."""
    jnp = jax.numpy
    return jnp.sum(x[:, None] == jnp.arange(6)[None, :], axis=0)


@program(M)
def running(jax: Library, x: Array) -> Array:
    """Sums, products and extrema up to each element, and from each on."""
    jnp, lax = jax.numpy, jax.lax
    sums = jnp.cumsum(x), jnp.cumsum(x, 1), lax.cumsum(x, 0, reverse=True)
    return (*sums, jnp.cumprod(x, 1), lax.cummax(x, 1), lax.cummin(x, 0))


@program("f32[4]{2.0 -1.0 0.5 4.0}")
def running_sum_back(jax: Library, x: Array) -> Array:
    """A running sum is transposed to one from the other end."""
    return jax.grad(lambda v: jax.numpy.sum(jax.numpy.cumsum(v) * v))(x)
