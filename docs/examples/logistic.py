"""Logistic regression: two kinds of points and the line between them."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir import lax

STEPS = 200
RATE = 1.0


def problem(count=20_000):
    """Points of the plane, and whether each is above a line, with a few mistakes."""
    random = np.random.default_rng(0)
    points = random.normal(size=(count, 2)).astype("float32")
    noise = random.logistic(scale=0.3, size=count)
    above = points @ [1.5, -1.0] + 0.5 + noise > 0
    return points, above.astype("float32")


def loss(weights, points, labels):
    """The surprise of the labels, the mean over all points."""
    scores = points @ weights["slope"] + weights["shift"]
    return jnp.mean(jnp.logaddexp(0.0, scores) - labels * scores)


@jax.jit
def solve(points, labels):
    """The weights after steps down the gradient, and the loss before each step."""

    def step(weights, _):
        value, slopes = jax.value_and_grad(loss)(weights, points, labels)
        weights = jax.tree.map(lambda w, g: w - RATE * g, weights, slopes)
        return weights, value

    start = {"slope": jnp.zeros(2), "shift": jnp.zeros(())}
    return lax.scan(step, start, length=STEPS)


def draw(figure, arguments, results):
    """The points and the line; the loss on its way down."""
    points, labels = (x[:500] for x in arguments)
    weights, losses = results
    left, right = figure.subplots(1, 2)
    left.scatter(*points.T, c=labels, cmap="coolwarm", s=8)
    x = np.array([-3.0, 3.0])
    slope, shift = np.asarray(weights["slope"]), float(weights["shift"])
    left.plot(x, -(slope[0] * x + shift) / slope[1], color="black")
    left.set(xlim=(-3, 3), ylim=(-3, 3), title="500 of the points, and the line")
    right.plot(losses)
    right.set(xlabel="step", title="loss")
