"""A ridge regression by gradient descent and by L-BFGS."""

import jax
import jax.numpy as jnp
import jaxopt


def main() -> object:
    """Both solutions."""
    x = jax.random.normal(jax.random.key(0), (20, 3))
    y = x @ jnp.array([1.0, 2.0, 3.0])
    loss = lambda w: jnp.mean((x @ w - y) ** 2) + 0.1 * jnp.sum(w**2)
    first = jaxopt.GradientDescent(loss, maxiter=200).run(jnp.zeros(3)).params
    second = jaxopt.LBFGS(loss, maxiter=50).run(jnp.zeros(3)).params
    return first, second
