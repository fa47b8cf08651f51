"""A Gaussian process whose length scale and noise are found by gradients."""

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir import lax
from traceir.scipy.linalg import cho_solve, solve_triangular

STEPS = 60
RATE = 0.1


def problem(count=200):
    """Places and noisy values there, and the places where values are wanted."""
    random = np.random.default_rng(1)
    x = np.sort(random.uniform(0, 6, count)).astype("float32")
    y = np.sin(2 * x) + 0.4 * np.sin(4 * x + 1) + 0.25 * random.normal(size=count)
    return x, y.astype("float32"), np.linspace(-0.5, 6.5, 300, dtype="float32")


def covariance(params, x, y):
    """The covariance of values at two places."""
    scale, length = jnp.exp(params["scale"]), jnp.exp(params["length"])
    return scale**2 * jnp.exp(-0.5 * ((x[:, None] - y) / length) ** 2)


def factor(params, x):
    """The Cholesky factor of the covariances of what was measured."""
    noise = jnp.exp(2 * params["noise"]) + 1e-4
    return jnp.linalg.cholesky(covariance(params, x, x) + noise * jnp.eye(len(x)))


def unlikeliness(params, x, y):
    """Minus the logarithm of the marginal likelihood, for each value."""
    lower = factor(params, x)
    z = solve_triangular(lower, y, lower=True)
    return 0.5 * jnp.mean(z**2) + jnp.mean(jnp.log(jnp.diag(lower)))


@jax.jit
def solve(x, y, wanted):
    """The parameters found, and the mean and the deviation at the places wanted."""

    def step(params, _):
        value, slopes = jax.value_and_grad(unlikeliness)(params, x, y)
        return jax.tree.map(lambda p, g: p - RATE * g, params, slopes), value

    start = {name: jnp.zeros(()) for name in ("scale", "length", "noise")}
    params, values = lax.scan(step, start, length=STEPS)
    lower = factor(params, x)
    between = covariance(params, wanted, x)
    mean = between @ cho_solve((lower, True), y)
    known = jnp.sum(solve_triangular(lower, between.T, lower=True) ** 2, axis=0)
    return params, values, mean, jnp.sqrt(jnp.exp(2 * params["scale"]) - known)


def draw(figure, arguments, results):
    """The band in which the function lies, and how the parameters got better."""
    x, y, wanted = arguments
    values, mean, deviation = map(np.asarray, results[1:])
    left, right = figure.subplots(1, 2, width_ratios=[3, 1])
    left.scatter(x, y, s=6, color="black", label="measured")
    left.plot(wanted, mean, label="mean")
    band = mean - 2 * deviation, mean + 2 * deviation
    left.fill_between(wanted, *band, alpha=0.3, label="two deviations")
    left.legend()
    right.plot(values)
    right.set(xlabel="step", title="- log likelihood / n")
