"""Dataclasses, assertions and trees of chex around a training step."""

import chex
import jax
import jax.numpy as jnp


@chex.dataclass
class State:
    """The state of training."""

    weights: chex.Array
    steps: chex.Numeric


def main() -> object:
    """The state after some steps."""
    chex.clear_trace_counter()
    x = jax.random.normal(jax.random.key(0), (6, 3))
    y = x @ jnp.array([1.0, -1.0, 0.5])

    @jax.jit
    @chex.assert_max_traces(n=1)
    def step(state: State) -> State:
        chex.assert_shape(state.weights, (3,))
        chex.assert_type(state.weights, float)
        slope = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(state.weights)
        chex.assert_equal_shape([slope, state.weights])
        return state.replace(weights=state.weights - 0.1 * slope, steps=state.steps + 1)

    state = State(weights=jnp.zeros(3), steps=0)
    for _ in range(5):
        state = step(state)
    chex.assert_tree_all_finite(state)
    chex.assert_trees_all_close(state, jax.tree.map(lambda v: v + 0, state))
    chex.assert_rank([x, y], [2, 1])
    return state
