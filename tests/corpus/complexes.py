"""Programs of complex numbers."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

Z = "c64[3]{(1+2j) -0.5j (3-1j)}"
M = "c64[2,2]{(1+2j) -0.5j (3-1j) (2+0j)}"
ONE = "c64[]{(1+2j)}"
P = "f32[3]{0.5 1.25 3.0}"


@program(Z)
def parts(jax: Library, z: Array) -> Array:
    """What a complex number is made of."""
    return z.real, z.imag, z.conj(), abs(z), jax.numpy.angle(z)


@program(f"{P} {P}")
def made_of_parts(jax: Library, x: Array, y: Array) -> Array:
    """Two numbers become one, which a number of Python is multiplied with."""
    return jax.lax.complex(x, y) * 1j, x.astype("complex64") + 1


@program(f"{Z} f32[]{{0.5}}")
def turned_about_zero(jax: Library, z: Array, angle: Array) -> Array:
    """Points turned about zero."""
    return z * jax.numpy.exp(1j * angle)


@program(Z)
def exponentials_of_complex(jax: Library, z: Array) -> Array:
    """Exponentials, logarithms, roots."""
    jnp = jax.numpy
    return jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.sin(z), jnp.cosh(z), jnp.tanh(z)


@program(Z)
def angles_of_complex(jax: Library, z: Array) -> Array:
    """Functions whose values are on one of many sheets."""
    jnp = jax.numpy
    return jnp.arcsin(z), jnp.arccos(z), jnp.arctan(z), jnp.arcsinh(z), jnp.arctanh(z)


@program(f"{Z} {Z}")
def powers_of_complex(jax: Library, z: Array, w: Array) -> Array:
    """Powers by products, and by logarithms."""
    return z**3, z**w, z**0.5, 1 / z


@program(M)
def sums_of_complex(jax: Library, z: Array) -> Array:
    """What is folded, and what is folded as far as each place."""
    jnp = jax.numpy
    return jnp.sum(z), jnp.mean(z, 0), jnp.prod(z), jnp.var(z), jnp.cumsum(z)


@program(f"{M} {M}")
def products_of_complex(jax: Library, z: Array, w: Array) -> Array:
    """Of matrices, and of vectors of which one is conjugated."""
    return z @ w, jax.numpy.vdot(z, w), z.T.conj()


@program(Z)
def chosen_of_complex(jax: Library, z: Array) -> Array:
    """Comparisons, choices and an order."""
    jnp = jax.numpy
    chosen = jnp.where(z.real > 0, z, 0)
    return chosen, jnp.sign(z), jnp.isnan(z), z == 1, jnp.sort(z)


@program(Z)
def a_polynomial_of_complex(jax: Library, z: Array) -> Array:
    """Coefficients and the place where they are summed up."""
    return jax.numpy.polyval(z, 2 + 1j)


@program(Z)
def gradient_of_squares(jax: Library, z: Array) -> Array:
    """The gradient of a real function is the conjugate of its direction."""
    return jax.grad(lambda z: jax.numpy.sum(jax.numpy.abs(z) ** 2))(z)


@program(ONE)
def holomorphic_gradient(jax: Library, z: Array) -> Array:
    """The derivative of a function of complex numbers."""
    return jax.grad(lambda z: jax.numpy.sin(z) * z**2, holomorphic=True)(z)


@program(f"{Z} {Z}")
def forward_of_complex(jax: Library, z: Array, w: Array) -> Array:
    """A direction is complex as well."""
    return jax.jvp(lambda z: jax.numpy.exp(z) / z, (z,), (w,))


@program(P)
def gradient_through_complex(jax: Library, x: Array) -> Array:
    """Real numbers that become complex and real again."""
    jnp = jax.numpy
    return jax.grad(lambda x: jnp.sum(jnp.real(jnp.exp(1j * x))))(x)


@program("c128[3]{(1+2j) -0.5j (3-1j)}", x64=True)
def complex_of_128(jax: Library, z: Array) -> Array:
    """The wider complex numbers have parts of 64 bits."""
    return jax.numpy.abs(z * z) + z.real


@program(M)
def mapped_over_complex(jax: Library, z: Array) -> Array:
    """Lengths of rows."""
    return jax.vmap(lambda row: jax.numpy.vdot(row, row))(z)


@program(Z)
def mandelbrot(jax: Library, c: Array) -> Array:
    """How often a point is squared before it leaves."""
    jnp = jax.numpy

    def step(_: int, state: Array) -> Array:
        z, count = state
        z = z * z + c
        return z, count + (jnp.abs(z) <= 2)

    first = jnp.zeros_like(c), jnp.zeros(c.shape, int)
    return jax.lax.fori_loop(0, 8, step, first)[1]


@program(M)
def rounded_complex(jax: Library, z: Array) -> Array:
    """One part after the other."""
    return jax.numpy.round(z), jax.numpy.nan_to_num(z)
