"""A tree search by a policy of random weights."""

import jax
import jax.numpy as jnp
import mctx


def main() -> object:
    """The weights of actions at the root, and the action taken."""
    weights = jax.random.normal(jax.random.PRNGKey(1), (3, 3))

    def recurrent(params: object, key: object, action: object, state: object) -> object:
        step = jnp.tanh(state @ params + action[:, None])
        output = mctx.RecurrentFnOutput(
            reward=step.mean(axis=1),
            discount=jnp.full(action.shape, 0.9),
            prior_logits=step,
            value=step.sum(axis=1),
        )
        return output, step

    state = jnp.array([[0.1, -0.2, 0.3], [0.5, 0.4, -0.6]])
    root = mctx.RootFnOutput(
        prior_logits=state, value=state.sum(axis=1), embedding=state
    )

    @jax.jit
    def search(weights: object, key: object) -> object:
        found = mctx.gumbel_muzero_policy(
            params=weights,
            rng_key=key,
            root=root,
            recurrent_fn=recurrent,
            num_simulations=12,
            max_num_considered_actions=3,
        )
        other = mctx.muzero_policy(
            params=weights,
            rng_key=key,
            root=root,
            recurrent_fn=recurrent,
            num_simulations=8,
            dirichlet_fraction=0.0,
        )
        return found.action, found.action_weights, other.action_weights

    return search(weights, jax.random.PRNGKey(0))
