"""Programs of neural networks' functions, their losses and derivatives."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

V = "f32[4]{0.5 -1.25 2.0 0.0}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
W = "f32[3,2]{1.0 0.5 -1.0 2.0 0.25 -0.5}"
LABELS = "i32[2]{2 0}"


@program(V)
def ramps(jax: Library, x: Array) -> Array:
    """Functions that are straight on one side at least."""
    nn = jax.nn
    bent = nn.relu(x), nn.relu6(x), nn.leaky_relu(x), nn.hard_tanh(x)
    return *bent, nn.elu(x), nn.celu(x), nn.selu(x)


@program(V)
def smooth_ramps(jax: Library, x: Array) -> Array:
    """Functions with a slope everywhere."""
    nn = jax.nn
    return nn.gelu(x), nn.silu(x), nn.mish(x), nn.softplus(x), nn.squareplus(x)


@program(V)
def gates(jax: Library, x: Array) -> Array:
    """Functions that switch."""
    nn = jax.nn
    return nn.sigmoid(x), nn.log_sigmoid(x), nn.soft_sign(x), nn.hard_silu(x), nn.glu(x)


@program(M)
def normalised(jax: Library, x: Array) -> Array:
    """Rows whose exponentials have sum 1, or that have mean 0 and variance 1."""
    nn = jax.nn
    return nn.softmax(x), nn.log_softmax(x, 0), nn.logsumexp(x, 1), nn.standardize(x)


@program(M)
def masked_softmax(jax: Library, x: Array) -> Array:
    """What is left out has no part in the sum."""
    return jax.nn.softmax(x, where=x > 0)


@program(LABELS)
def rows_of_one(jax: Library, labels: Array) -> Array:
    """A row for each label."""
    return jax.nn.one_hot(labels, 3)


@program(f"{M} {LABELS}")
def loss_of_labels(jax: Library, logits: Array, labels: Array) -> Array:
    """The cross entropy of rows, labels as rows."""
    wanted = jax.nn.one_hot(labels, 3)
    found = jax.nn.log_softmax(logits)
    return -jax.numpy.mean(jax.numpy.sum(wanted * found, axis=-1))


@program(f"{M} {LABELS}")
def gradient_of_a_loss(jax: Library, logits: Array, labels: Array) -> Array:
    """The cross entropy of rows by places, and its slope."""

    def loss(logits: Array) -> Array:
        found = jax.nn.log_softmax(logits)
        return -jax.numpy.mean(jax.numpy.take_along_axis(found, labels[:, None], 1))

    return jax.grad(loss)(logits)


@program(V)
def gradient_of_relu(jax: Library, x: Array) -> Array:
    """Zero at zero."""
    return jax.grad(lambda x: jax.numpy.sum(jax.nn.relu(x)))(x)


@program(V)
def gradient_of_gelu(jax: Library, x: Array) -> Array:
    """The slope of the approximation by tanh."""
    return jax.grad(lambda x: jax.numpy.sum(jax.nn.gelu(x)))(x)


@program(V)
def gradient_of_softplus(jax: Library, x: Array) -> Array:
    """The slope of a sum of exponentials' logarithm."""
    return jax.grad(lambda x: jax.numpy.sum(jax.nn.softplus(x)))(x)


@program("f32[3]{0.5 1.25 3.0}")
def jacobian_of_softmax(jax: Library, x: Array) -> Array:
    """A row for each result."""
    return jax.jacrev(jax.nn.softmax)(x)


@program(V)
def mapped_slopes_of_relu(jax: Library, x: Array) -> Array:
    """The slope at each of several places."""
    return jax.vmap(jax.grad(jax.nn.relu))(x)


@program(f"{M} {W} f32[2]{{1.0 2.0}}")
def gradient_of_two_weights(jax: Library, x: Array, w: Array, b: Array) -> Array:
    """A layer, its mean square, and the slopes by its weights."""

    def loss(w: Array, b: Array) -> Array:
        return jax.numpy.mean(jax.nn.tanh(x @ w + b) ** 2)

    return jax.grad(loss, (0, 1))(w, b)


@program(f"{M} {W}")
def mapped_layer(jax: Library, x: Array, w: Array) -> Array:
    """A layer of each of several rows."""
    return jax.vmap(lambda row: jax.nn.swish(row @ w))(x)
