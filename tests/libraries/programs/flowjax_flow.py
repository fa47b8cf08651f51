"""A masked autoregressive flow that is fitted to points, and a conditional one."""

import jax
import jax.numpy as jnp
from flowjax.distributions import Normal
from flowjax.flows import coupling_flow, masked_autoregressive_flow
from flowjax.train import fit_to_data


def main() -> object:
    """Losses, densities and samples."""
    key, sub = jax.random.split(jax.random.key(0))
    x = jax.random.normal(sub, (200, 2)) @ jnp.array([[1.0, 0.5], [0.0, 0.7]]) + 1
    base = Normal(jnp.zeros(2))
    flow = masked_autoregressive_flow(key, base_dist=base, nn_width=8, flow_layers=2)
    flow, losses = fit_to_data(
        key, flow, data=x, max_epochs=3, batch_size=50, show_progress=False
    )
    base = Normal(jnp.zeros(3))
    other = coupling_flow(key, base_dist=base, cond_dim=2, flow_layers=2)
    return (
        jnp.array(losses["train"]),
        flow.log_prob(x[:5]),
        flow.sample(key, (4,)),
        other.log_prob(jnp.ones((3, 3)), jnp.ones(2)),
        other.sample(key, (2,), condition=jnp.ones(2)),
    )
