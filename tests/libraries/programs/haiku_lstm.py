"""A recurrent network over a sequence, and its gradient."""

import haiku as hk
import jax
import jax.numpy as jnp


def main() -> object:
    """The result, and the gradients."""

    def network(x: object) -> object:
        core = hk.LSTM(4)
        out, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
        return hk.Linear(1)(out[-1])

    model = hk.without_apply_rng(hk.transform(network))
    x = jax.random.normal(jax.random.key(0), (5, 3, 2))
    params = model.init(jax.random.PRNGKey(1), x)
    loss = lambda params: jnp.mean(model.apply(params, x) ** 2)
    return jax.jit(jax.value_and_grad(loss))(params)
