"""Named axes, and a network whose parts are selected and replaced."""

import jax
import jax.numpy as jnp
from penzai import pz


def main() -> object:
    """Sums over named axes, and the network's result before and after a change."""
    table = pz.nx.wrap(jnp.arange(12.0).reshape(3, 4), "rows", "columns")
    sums = pz.nx.nmap(jnp.sum)(table.untag("rows")).unwrap("columns")
    outer = (table + pz.nx.wrap(jnp.ones(2), "more")).unwrap("more", "rows", "columns")
    network = pz.nn.Sequential(
        [
            pz.nn.Affine.from_config(
                "first",
                jax.random.key(0),
                input_axes={"in": 3},
                output_axes={"hidden": 4},
            ),
            pz.nn.Elementwise(jax.nn.relu),
            pz.nn.Affine.from_config(
                "last",
                jax.random.key(0),
                input_axes={"hidden": 4},
                output_axes={"out": 2},
            ),
        ]
    )
    x = pz.nx.wrap(jnp.array([1.0, -2.0, 0.5]), "in")
    before = network(x).unwrap("out")
    changed = (
        pz.select(network)
        .at_instances_of(pz.nn.Elementwise)
        .apply(lambda layer: pz.nn.Elementwise(jnp.tanh))
    )
    slope = jax.jit(
        jax.grad(lambda v: network(pz.nx.wrap(v, "in")).unwrap("out").sum())
    )
    return sums, outer, before, changed(x).unwrap("out"), slope(x.unwrap("in"))
