"""Derivatives: forward and reverse, of functions and of programs within."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

S = "f32[]{0.75}"
V = "f32[3]{0.5 -1.25 2.0}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
TWO = "f32[3]{0.5 -1.25 2.0} f32[3]{1.0 0.5 -2.0}"


@program(S)
def gradient_of_a_sine(jax: Library, x: Array) -> Array:
    """The first derivative that anyone takes."""
    return jax.grad(lambda x: 2.0 + jax.numpy.sin(x))(x)


@program(S)
def gradient_of_a_polynomial(jax: Library, x: Array) -> Array:
    """Powers, products and a quotient."""
    return jax.grad(lambda x: (x**3 - 2.0 * x) / (x * x + 1.0))(x)


@program(S)
def value_and_gradient(jax: Library, x: Array) -> Array:
    """The result comes along."""
    return jax.value_and_grad(lambda x: jax.numpy.exp(x) * x)(x)


@program("f32[]{0.75} f32[]{-2.0}")
def gradient_of_two_arguments(jax: Library, x: Array, y: Array) -> Array:
    """Both derivatives of one function."""
    return jax.grad(lambda x, y: jax.numpy.sin(x) * y, argnums=(0, 1))(x, y)


@program(V)
def gradient_of_a_sum(jax: Library, x: Array) -> Array:
    """A sum spreads its cotangent."""
    return jax.grad(lambda x: jax.numpy.sum(x * jax.numpy.cos(x)))(x)


@program(V)
def gradient_with_a_fan_out(jax: Library, x: Array) -> Array:
    """One value used three times: the cotangents are added."""

    def f(x: Array) -> Array:
        y = jax.numpy.tanh(x)
        return jax.numpy.sum(y * y + y)

    return jax.grad(f)(x)


@program(V)
def gradient_of_a_maximum(jax: Library, x: Array) -> Array:
    """Where operands are equal, each has a half."""
    return jax.grad(lambda x: jax.lax.max(x, 2.0 * x).sum())(x)


@program(V)
def forward_of_a_product(jax: Library, x: Array) -> Array:
    """The primal equation first, then its tangent."""
    return jax.jvp(lambda x: x * jax.numpy.sin(x), (x,), (jax.numpy.ones(3),))


@program(TWO)
def forward_with_a_tangent(jax: Library, x: Array, t: Array) -> Array:
    """The tangent is an argument."""
    return jax.jvp(lambda x: jax.numpy.log(x * x + 1.0), (x,), (t,))


@program(S)
def second_derivative(jax: Library, x: Array) -> Array:
    """The gradient of a gradient."""
    return jax.grad(jax.grad(lambda x: jax.numpy.sin(x) * x))(x)


@program(S)
def forward_over_reverse(jax: Library, x: Array) -> Array:
    """The tangent of a gradient."""
    gradient = jax.grad(lambda x: x * jax.numpy.exp(x))
    return jax.jvp(gradient, (x,), (jax.numpy.float32(1.0),))


@program(V)
def hessian_of_a_sum(jax: Library, x: Array) -> Array:
    """Forward over reverse, on the rows of the identity."""
    return jax.hessian(lambda x: jax.numpy.sum(x * x * x))(x)


@program(V)
def jacobian_forward(jax: Library, x: Array) -> Array:
    """Columns: tangents that are rows of the identity."""
    return jax.jacfwd(lambda x: x * jax.numpy.sum(x))(x)


@program(V)
def jacobian_reverse(jax: Library, x: Array) -> Array:
    """Rows: cotangents that are rows of the identity."""
    return jax.jacrev(lambda x: x * jax.numpy.sum(x))(x)


@program(V)
def gradient_of_a_call(jax: Library, x: Array) -> Array:
    """A jitted function within: one call forward, one backward."""
    return jax.grad(jax.jit(lambda x: jax.numpy.sum(jax.numpy.sin(x))))(x)


@program(V)
def gradient_around_a_call(jax: Library, x: Array) -> Array:
    """Equations before and after a jitted function."""

    @jax.jit
    def wave(x: Array) -> Array:
        return jax.numpy.sin(x) * x

    return jax.grad(lambda x: jax.numpy.sum(wave(2.0 * x)) * 3.0)(x)


@program(V)
def forward_of_a_call(jax: Library, x: Array) -> Array:
    """The program within has the tangents among its inputs."""
    f = jax.jit(lambda x: jax.numpy.exp(x) + x)
    return jax.jvp(f, (x,), (x,))


@program("f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5} f32[3,2]{1.0 0.5 -2.0 0.25 1.0 3.0}")
def gradient_of_a_matrix_product(jax: Library, a: Array, b: Array) -> Array:
    """Each factor's cotangent is a product with the other."""
    return jax.grad(lambda a, b: jax.numpy.sum(a @ b), argnums=(0, 1))(a, b)


@program(M)
def gradient_of_shapes(jax: Library, x: Array) -> Array:
    """Slices, a transpose, a reshape and a concatenation."""

    def f(x: Array) -> Array:
        y = jax.numpy.concatenate([x.T, x[:, 1:].reshape(2, 2)])
        return jax.numpy.sum(y * y)

    return jax.grad(f)(x)


@program(V)
def gradient_of_a_choice(jax: Library, x: Array) -> Array:
    """Elements that were not taken have the cotangent zero."""
    jnp = jax.numpy
    return jax.grad(lambda x: jnp.sum(jnp.where(x > 0, x * x, -x)))(x)


@program(V)
def gradient_of_a_constant(jax: Library, x: Array) -> Array:
    """A result that does not depend on the argument."""
    return jax.grad(lambda x: jax.numpy.float32(3.0))(x)


@program(V)
def gradient_stopped(jax: Library, x: Array) -> Array:
    """A factor that counts as a constant."""
    stop = jax.lax.stop_gradient
    return jax.grad(lambda x: jax.numpy.sum(stop(x) * jax.numpy.sin(x)))(x)


@program(V)
def log_sum_exp_gradient(jax: Library, x: Array) -> Array:
    """The gradient of the smooth maximum is the softmax."""
    jnp = jax.numpy

    def f(x: Array) -> Array:
        top = jax.lax.stop_gradient(jnp.max(x))
        return jnp.log(jnp.sum(jnp.exp(x - top))) + top

    return jax.grad(f)(x)


@program(TWO)
def linear_transposed(jax: Library, x: Array, y: Array) -> Array:
    """The transpose of a function that is linear."""
    (found,) = jax.linear_transpose(lambda x: 2.0 * x + y * x, x)(y)
    return found


@program(V)
def recomputed(jax: Library, x: Array) -> Array:
    """What is computed again instead of being kept."""
    f = jax.checkpoint(lambda x: jax.numpy.sin(jax.numpy.sin(x)))
    return jax.grad(lambda x: jax.numpy.sum(f(x)))(x)


@program(
    "f32[3,2]{0.5 -0.25 1.0 0.75 -0.5 0.125} f32[2]{0.5 -1.0} f32[3]{0.5 -1.25 2.0}"
)
def gradient_of_a_layer(jax: Library, w: Array, b: Array, x: Array) -> Array:
    """A layer of a network."""
    jnp = jax.numpy

    def loss(w: Array, b: Array) -> Array:
        return jnp.mean(jnp.tanh(x @ w + b) ** 2)

    return jax.grad(loss, argnums=(0, 1))(w, b)
