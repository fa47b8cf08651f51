"""A network of two layers that reads handwritten digits."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir import lax, nn, random

BATCH = 64
EPOCHS = 15
RATE = 0.2


def problem(hidden=128):
    """Images for training and testing, their labels, and weights to begin with."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = (digits.data / 16).astype("float32")
    labels = digits.target.astype("int32")
    first, second = random.split(random.key(0))
    layers = [
        (nn.initializers.he_normal()(first, (64, hidden)), jnp.zeros(hidden)),
        (nn.initializers.he_normal()(second, (hidden, 10)), jnp.zeros(10)),
    ]
    return layers, images[:1500], labels[:1500], images[1500:], labels[1500:]


def scores(layers, images):
    """The logarithm of the probability of each digit, for each image."""
    (w, b), (v, c) = layers
    return nn.log_softmax(nn.relu(images @ w + b) @ v + c)


def loss(layers, images, labels):
    """The mean of how surprising the labels are."""
    return -jnp.mean(jnp.sum(scores(layers, images) * nn.one_hot(labels, 10), axis=1))


@jax.jit
def solve(layers, images, labels, others, expected):
    """The weights after some epochs; after each, the share of others read rightly."""
    count = len(images) // BATCH

    def step(layers, batch):
        value, slopes = jax.value_and_grad(loss)(layers, images[batch], labels[batch])
        return jax.tree.map(lambda w, g: w - RATE * g, layers, slopes), value

    def epoch(layers, key):
        order = random.permutation(key, len(images))[: count * BATCH]
        layers, losses = lax.scan(step, layers, order.reshape(count, BATCH))
        right = jnp.argmax(scores(layers, others), axis=1) == expected
        return layers, (losses.mean(), right.mean())

    return lax.scan(epoch, layers, random.split(random.key(1), EPOCHS))


def draw(figure, arguments, results):
    """Images that the network has not seen, as it reads them; how it learned."""
    layers, (losses, right) = results
    others, expected = map(np.asarray, arguments[3:])
    read = np.argmax(scores(layers, others), axis=1)
    wrong = np.argsort(read == expected, kind="stable")
    shown = [*wrong[-12:], *wrong[:6]]
    left, right_half = figure.subfigures(1, 2)
    for axis, k in zip(left.subplots(3, 6).flat, shown):
        axis.imshow(others[k].reshape(8, 8), cmap="gray_r")
        color = "green" if read[k] == expected[k] else "red"
        axis.set_title(f"{read[k]}", color=color, fontsize=10)
        axis.set_axis_off()
    axis = right_half.subplots()
    axis.plot(losses, label="loss in training")
    axis.plot(right, label="read rightly in testing")
    axis.set(xlabel="epoch", ylim=(0, None))
    axis.legend()
