"""A Gaussian process, its likelihood's gradient, and its predictions."""

import jax
import jax.numpy as jnp
from tinygp import GaussianProcess, kernels


def main() -> object:
    """The loss and its gradient, the mean and the variance elsewhere."""
    x = jnp.linspace(0.0, 5.0, 12)
    y = jnp.sin(x) + 0.1 * jnp.cos(7 * x)
    elsewhere = jnp.array([0.3, 2.2, 4.9])

    def process(params: object) -> object:
        kernel = jnp.exp(params["amplitude"]) * kernels.Matern32(
            jnp.exp(params["scale"])
        )
        kernel += 0.1 * kernels.ExpSquared(2.0)
        return GaussianProcess(kernel, x, diag=0.01)

    def loss(params: object) -> object:
        return -process(params).log_probability(y)

    params = {"amplitude": jnp.array(0.1), "scale": jnp.array(-0.2)}
    value, slope = jax.jit(jax.value_and_grad(loss))(params)
    _, conditioned = process(params).condition(y, elsewhere)
    return value, slope, conditioned.loc, conditioned.variance
