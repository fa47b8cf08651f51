"""Programs of tangents, inverse circular functions and error functions."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

V = "f32[4]{0.5 -0.25 1.0 0.0}"
W = "f32[4]{1.5 0.25 -3.0 1.0}"


@program(V)
def inverse_circular(jax: Library, x: Array) -> Array:
    """A tangent, and the inverse functions by both of their names."""
    jnp = jax.numpy
    return jnp.tan(x), jnp.arcsin(x), jnp.acos(x), jnp.arctan(x), jax.lax.asin(x)


@program(f"{V} {W}")
def angles_of_points(jax: Library, y: Array, x: Array) -> Array:
    """The ordinate comes first; a scalar stays one."""
    return jax.numpy.arctan2(y, x), jax.numpy.atan2(y, x[0])


@program("i32[2,1]{3 -4} f32[3]{1.5 0.0 -2.0}")
def angles_of_other_ranks(jax: Library, y: Array, x: Array) -> Array:
    """Integers are converted, and ranks made equal."""
    return jax.numpy.arctan2(y, x)


@program(V)
def error_functions(jax: Library, x: Array) -> Array:
    """The error function, its complement and its inverse."""
    lax = jax.lax
    return lax.erf(x), lax.erfc(x), lax.erf_inv(x / 2)


@program(f"{V} {W}")
def lengths(jax: Library, x: Array, y: Array) -> Array:
    """A length is an equation of its name, with choices inside."""
    return jax.numpy.hypot(x, y)


@program("~f32[]{3.0} ~i32[]{4}")
def length_of_numbers(jax: Library, x: Array, y: Array) -> Array:
    """Numbers of Python stay weak."""
    return jax.numpy.hypot(x, y)


@program(V)
def cardinal_sine(jax: Library, x: Array) -> Array:
    """What it is at 0 has a rule of its own."""
    return jax.numpy.sinc(x)


@program("f32[2]{0.5 -0.25}")
def slopes_of_angles(jax: Library, x: Array) -> Array:
    """Derivatives of each of them."""
    lax, jnp = jax.lax, jax.numpy
    functions = jnp.tan, jnp.arcsin, jnp.arccos, jnp.arctan
    functions = *functions, lax.erf, lax.erfc, lax.erf_inv
    return [jax.grad(lambda x, f=f: jnp.sum(f(x)))(x) for f in functions]


@program("f32[2]{0.5 -0.25} f32[2]{2.0 0.5}")
def slopes_of_points(jax: Library, y: Array, x: Array) -> Array:
    """Both coordinates of an angle, and those of a length."""
    jnp = jax.numpy
    angle = jax.grad(lambda y, x: jnp.sum(jnp.arctan2(y, x)), (0, 1))(y, x)
    return angle, jax.grad(lambda y, x: jnp.sum(jnp.hypot(y, x)), (0, 1))(y, x)


@program("f32[2]{0.5 0.0}")
def slope_of_the_cardinal_sine(jax: Library, x: Array) -> Array:
    """The rule for 0 is applied to itself."""
    return jax.grad(lambda x: jax.numpy.sum(jax.numpy.sinc(x)))(x)
