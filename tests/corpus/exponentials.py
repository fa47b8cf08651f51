"""Programs of exponentials, hyperbolic functions and cube roots."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

V = "f32[4]{0.5 -1.25 2.0 0.0}"
W = "f32[4]{1.5 0.25 -3.0 1.0}"


@program(V)
def exponentials(jax: Library, x: Array) -> Array:
    """Exponentials to base 2, less 1, and in the logistic function."""
    return jax.numpy.exp2(x), jax.numpy.expm1(x), jax.lax.logistic(x)


@program(V)
def hyperbolic(jax: Library, x: Array) -> Array:
    """Hyperbolic functions, and the inverse of one."""
    jnp = jax.numpy
    return jnp.arcsinh(jnp.sinh(x)), jnp.cosh(x)


@program("f32[3]{1.0 1.5 40.0}")
def inverse_hyperbolic(jax: Library, x: Array) -> Array:
    """An inverse cosine is an equation of its name."""
    jnp = jax.numpy
    return jnp.arccosh(x), jnp.arctanh(1 / (x + 1))


@program("~i32[]{8}")
def cube_root_of_a_number(jax: Library, n: Array) -> Array:
    """A number of Python is converted, and stays weak."""
    return jax.numpy.cbrt(n), jax.numpy.exp2(n)


@program(f"{V} {W}")
def logarithms_of_sums(jax: Library, x: Array, y: Array) -> Array:
    """Logarithms of sums, which have rules of their own."""
    jnp = jax.numpy
    return jnp.logaddexp(x, y), jnp.logaddexp2(x, y[0])


@program("~f32[]{1000.0} ~f32[]{2.5}")
def numbers_in_logarithms_of_sums(jax: Library, x: Array, y: Array) -> Array:
    """The factor beside weak operands is a number of Python, with all its digits."""
    return jax.numpy.logaddexp2(x, y)


@program("~f32[]{1000.0} f16[2]{2.5 -4.0}")
def decimal_logarithms(jax: Library, x: Array, y: Array) -> Array:
    """The factor of a decimal logarithm has the operand's dtype, and is strong."""
    jnp = jax.numpy
    return jnp.log10(x), jnp.log10(jnp.abs(y)), jnp.log2(x)


@program("~f32[]{0.5}")
def slopes_at_a_number(jax: Library, x: Array) -> Array:
    """Derivatives at a number of Python are weak, too."""
    jnp = jax.numpy
    functions = jnp.exp2, jnp.expm1, jnp.arctanh
    return [jax.grad(f)(x) for f in functions]


@program("f32[2]{0.5 -0.25}")
def slopes(jax: Library, x: Array) -> Array:
    """Derivatives of each of them."""
    lax, jnp = jax.lax, jax.numpy
    one = jnp.sinh, jnp.cosh, jnp.arcsinh, lax.logistic, jnp.exp2, jnp.expm1
    functions = *one, jnp.cbrt, jnp.arctanh, lambda x: jnp.arccosh(x + 3)
    return [jax.grad(lambda x, f=f: jnp.sum(f(x)))(x) for f in functions]


@program(f"{V} {W}")
def slopes_of_logarithms_of_sums(jax: Library, x: Array, y: Array) -> Array:
    """Each operand gets its share of the cotangent."""
    jnp = jax.numpy
    both = jax.grad(lambda x, y: jnp.sum(jnp.logaddexp(x, y)), (0, 1))(x, y)
    return both, jax.grad(lambda x: jnp.sum(jnp.logaddexp2(x, 1.0)))(x)
