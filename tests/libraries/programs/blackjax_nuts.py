"""A normal distribution sampled by NUTS."""

import blackjax
import jax
import jax.numpy as jnp


def main() -> object:
    """The position after some steps."""
    density = lambda x: -0.5 * jnp.sum((x - 1.0) ** 2)
    kernel = blackjax.nuts(density, 0.5, jnp.ones(2))
    state = kernel.init(jnp.zeros(2))
    step = jax.jit(kernel.step)
    for k in range(5):
        state, info = step(jax.random.key(k), state)
    return state.position, info.num_integration_steps
