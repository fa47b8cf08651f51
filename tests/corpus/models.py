"""Programs that people know by name."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

V = "f32[4]{0.5 -1.25 2.0 0.0}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"


@program(V)
def selu(jax: Library, x: Array) -> Array:
    """The scaled exponential linear unit."""
    jnp = jax.numpy
    return 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)


@program("i32[5]{0 1 2 3 4}")
def selu_of_integers(jax: Library, x: Array) -> Array:
    """Integers are converted where they meet floating numbers."""
    jnp = jax.numpy
    return 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)


@program(V)
def sigmoid(jax: Library, x: Array) -> Array:
    """The logistic function in two forms."""
    jnp = jax.numpy
    return 1.0 / (1.0 + jnp.exp(-x)), 0.5 * (jnp.tanh(0.5 * x) + 1.0)


@program(V)
def softplus(jax: Library, x: Array) -> Array:
    """The smooth ramp that does not overflow."""
    jnp = jax.numpy
    return jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


@program(V)
def gelu(jax: Library, x: Array) -> Array:
    """The Gaussian unit by its approximation with tanh."""
    jnp = jax.numpy
    inner = 0.7978845608 * (x + 0.044715 * x**3)
    return 0.5 * x * (1.0 + jnp.tanh(inner))


@program(V)
def swish(jax: Library, x: Array) -> Array:
    """A number times its own logistic."""
    return x / (1.0 + jax.numpy.exp(-x))


@program(M)
def softmax(jax: Library, x: Array) -> Array:
    """Along the last axis, with the greatest subtracted."""
    jnp = jax.numpy
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return e / jnp.sum(e, axis=-1, keepdims=True)


@program(M)
def logsumexp(jax: Library, x: Array) -> Array:
    """The logarithm of a sum of exponentials."""
    jnp = jax.numpy
    top = jnp.max(x, axis=1)
    return jnp.log(jnp.sum(jnp.exp(x - top[:, None]), axis=1)) + top


@program("f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5} i32[2]{2 0}")
def cross_entropy(jax: Library, logits: Array, labels: Array) -> Array:
    """The mean loss of two rows, labels as one-hot masks."""
    jnp = jax.numpy
    top = jnp.max(logits, axis=1, keepdims=True)
    total = jnp.sum(jnp.exp(logits - top), axis=1, keepdims=True)
    chosen = labels[:, None] == jnp.arange(3)
    loss = jnp.where(chosen, logits - top - jnp.log(total), 0.0)
    return -jnp.mean(jnp.sum(loss, axis=1))


@program(f"{M} f32[3]{{1.0 0.5 2.0}} f32[3]{{0.0 -1.0 0.25}}")
def layer_norm(jax: Library, x: Array, scale: Array, shift: Array) -> Array:
    """Rows of mean 0 and variance 1, scaled and shifted."""
    jnp = jax.numpy
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * scale + shift


@program(f"{M} f32[3]{{1.0 0.5 2.0}}")
def rms_norm(jax: Library, x: Array, scale: Array) -> Array:
    """Rows of mean square 1."""
    jnp = jax.numpy
    return x * jax.lax.rsqrt(jnp.mean(x**2, axis=1, keepdims=True) + 1e-6) * scale


@program(
    "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5} f32[3,2]{1 0.5 -1 2 0.25 4} f32[2]{0.5 -1} "
    "f32[2,1]{1.5 -0.5} f32[1]{0.25}"
)
def relu_network(
    jax: Library, x: Array, w1: Array, b1: Array, w2: Array, b2: Array
) -> Array:
    """Two layers with a ramp between them."""
    hidden = jax.numpy.maximum(x @ w1 + b1, 0.0)
    return hidden @ w2 + b2


@program("f32[3,2]{1 0.5 -1 2 0.25 4} f32[3,2]{1 2 0 -1 1 0.5} f32[3,2]{1 2 3 4 5 6}")
def attention(jax: Library, q: Array, k: Array, v: Array) -> Array:
    """Scaled products of queries and keys weigh the values."""
    jnp = jax.numpy
    scores = q @ k.T / 1.4142135
    weights = jnp.exp(scores - jnp.max(scores, axis=1, keepdims=True))
    return (weights / jnp.sum(weights, axis=1, keepdims=True)) @ v


@program("f32[3]{0.5 -1.0 2.0} f32[]{0.25} f32[]{1.5}")
def gaussian(jax: Library, x: Array, mean: Array, width: Array) -> Array:
    """The density of a normal distribution."""
    jnp = jax.numpy
    z = (x - mean) / width
    return jnp.exp(-0.5 * z**2) / (width * 2.5066282746)


@program("f32[4]{0.5 1.0 2.0 0.25} f32[4]{0.4 0.3 0.2 0.1}")
def entropy(jax: Library, x: Array, p: Array) -> Array:
    """The entropy of one distribution, and how far another is from it."""
    jnp = jax.numpy
    q = x / jnp.sum(x)
    return -jnp.sum(p * jnp.log(p)), jnp.sum(p * (jnp.log(p) - jnp.log(q)))


@program("f32[3]{90 100 115} f32[]{100} f32[]{0.05} f32[]{0.2} f32[]{1.0}")
def option_price(
    jax: Library, spot: Array, strike: Array, rate: Array, vol: Array, time: Array
) -> Array:
    """The price of a call, with a logistic curve for the normal distribution's."""
    jnp = jax.numpy

    def below(z: Array) -> Array:
        return 1.0 / (1.0 + jnp.exp(-1.5976 * z - 0.070565992 * z**3))

    spread = vol * jnp.sqrt(time)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol**2) * time) / spread
    d2 = d1 - spread
    return spot * below(d1) - strike * jnp.exp(-rate * time) * below(d2)


@program("f32[]{3.0} f32[]{4.0}")
def polar(jax: Library, x: Array, y: Array) -> Array:
    """The length of a vector and its direction's sine and cosine."""
    r = jax.numpy.sqrt(x * x + y * y)
    return r, y / r, x / r


@program("f32[]{0.5} f32[2]{1.0 -2.0}")
def rotation(jax: Library, angle: Array, v: Array) -> Array:
    """A rotation matrix put together from scalars, applied to a vector."""
    jnp = jax.numpy
    c, s = jnp.cos(angle), jnp.sin(angle)
    matrix = jnp.stack([jnp.stack([c, -s]), jnp.stack([s, c])])
    return matrix @ v


@program("f32[]{2.0}")
def square_root_by_newton(jax: Library, a: Array) -> Array:
    """Six steps of a loop of Python, unrolled."""
    x = a
    for _ in range(6):
        x = 0.5 * (x + a / x)
    return x


@program("f32[]{0.5}")
def sine_by_series(jax: Library, x: Array) -> Array:
    """Five terms of a series, summed as they come."""
    term, total = x, x
    for k in (2, 4, 6, 8):
        term = -term * x * x / (k * (k + 1))
        total = total + term
    return total


@program("f32[3]{1.0 0.5 -0.25} f32[]{0.01}")
def lorenz_step(jax: Library, state: Array, dt: Array) -> Array:
    """One step along the Lorenz system."""
    x, y, z = state[0], state[1], state[2]
    rates = [10.0 * (y - x), x * (28.0 - z) - y, x * y - 2.6666667 * z]
    return state + dt * jax.numpy.stack(rates)


@program("f32[4]{0.0 1.0 0.0 -1.0} f32[4]{1.0 0.0 2.0 0.0}")
def leapfrog(jax: Library, q: Array, p: Array) -> Array:
    """Three steps of a harmonic oscillator."""
    for _ in range(3):
        p = p - 0.125 * q
        q = q + 0.25 * p
        p = p - 0.125 * q
    return q, p, 0.5 * jax.numpy.sum(p * p + q * q)


@program("f64[4]{1.0 2.0 3.0 4.0} f64[4]{2.1 3.9 6.2 7.8}", x64=True)
def line_fit(jax: Library, x: Array, y: Array) -> Array:
    """A line through points by least squares."""
    jnp = jax.numpy
    dx = x - jnp.mean(x)
    slope = jnp.sum(dx * (y - jnp.mean(y))) / jnp.sum(dx * dx)
    return slope, jnp.mean(y) - slope * jnp.mean(x)


@program("f32[3]{1 2 3} f32[3]{4 5 6}")
def cross_product(jax: Library, a: Array, b: Array) -> Array:
    """Of two vectors in space, from their elements."""
    parts = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
    return jax.numpy.stack(parts)


@program("f32[2,2]{4.0 1.0 2.0 3.0} f32[2]{1.0 2.0}")
def power_iteration(jax: Library, a: Array, v: Array) -> Array:
    """The greatest eigenvalue after three steps."""
    jnp = jax.numpy
    for _ in range(3):
        v = a @ v
        v = v / jnp.sqrt(jnp.sum(v * v))
    return v @ (a @ v), v
