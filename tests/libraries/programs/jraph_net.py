"""A graph network over two graphs at once, and the gradient by its weights."""

import jax
import jax.numpy as jnp
import jraph


def main() -> object:
    """The nodes after a step, and the gradients."""
    graph = jraph.GraphsTuple(
        nodes=jnp.arange(6.0).reshape(3, 2),
        edges=jnp.array([[1.0], [0.5], [-1.0]]),
        senders=jnp.array([0, 1, 2]),
        receivers=jnp.array([1, 2, 0]),
        n_node=jnp.array([3]),
        n_edge=jnp.array([3]),
        globals=jnp.array([[1.0]]),
    )
    batch = jraph.pad_with_graphs(jraph.batch([graph, graph]), 8, 8, 3)
    key = jax.random.key(0)
    weights = {
        "edge": jax.random.normal(key, (6, 3)),
        "node": jax.random.normal(key, (9, 2)),
    }

    @jax.jit
    def step(weights: object, graph: object) -> object:
        net = jraph.GraphNetwork(
            update_edge_fn=jraph.concatenated_args(lambda x: x @ weights["edge"]),
            update_node_fn=jraph.concatenated_args(
                lambda x: jnp.tanh(x @ weights["node"])
            ),
        )
        attended = jraph.segment_softmax(
            graph.edges[:, 0], graph.receivers, num_segments=8
        )
        return net(graph), attended

    def loss(weights: object) -> object:
        out, attended = step(weights, batch)
        kept = jraph.get_node_padding_mask(batch)
        return jnp.sum(jnp.where(kept[:, None], out.nodes, 0.0) ** 2) + attended.sum()

    return step(weights, batch)[0].nodes, jax.value_and_grad(loss)(weights)
