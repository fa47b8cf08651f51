"""Targets and losses of reinforcement learning along trajectories."""

import jax
import jax.numpy as jnp
import rlax


def main() -> object:
    """Returns, losses and their gradients."""
    rewards = jnp.array([1.0, 0.0, -1.0, 2.0])
    discounts = jnp.array([0.9, 0.9, 0.5, 0.0])
    values = jnp.array([0.5, 0.2, -0.3, 0.8, 0.1])
    returns = rlax.lambda_returns(rewards, discounts, values[1:], 0.8)
    traced = rlax.vtrace(
        values[:-1], values[1:], rewards, discounts, jnp.array([0.8, 1.2, 1.0, 0.5])
    )

    def loss(q: object) -> object:
        targets = jnp.roll(q, 1, axis=0)
        actions = jnp.array([0, 1, 1, 0])
        errors = jax.vmap(rlax.double_q_learning)(
            q, actions, rewards, discounts, targets, q
        )
        return jnp.mean(rlax.huber_loss(errors))

    q = jax.random.normal(jax.random.key(0), (4, 2))
    policy = rlax.policy_gradient_loss(q, jnp.array([0, 1, 0, 1]), rewards, jnp.ones(4))
    return returns, traced, jax.jit(jax.value_and_grad(loss))(q), policy
