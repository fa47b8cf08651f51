"""Densities of distributions, transformed and mixed."""

import distrax
import jax
import jax.numpy as jnp


def main() -> object:
    """Samples and densities."""
    normal = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.array([1.0, 2.0]))
    moved = distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Lambda(jnp.tanh))
    x, density = normal.sample_and_log_prob(seed=jax.random.PRNGKey(0), sample_shape=3)
    kl = distrax.Categorical(logits=jnp.arange(3.0)).entropy()
    return x, density, moved.log_prob(0.3), kl
