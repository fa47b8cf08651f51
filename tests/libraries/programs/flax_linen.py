"""A convolutional network with normalization and dropout, one step of training."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Network(nn.Module):
    """Convolution, normalization, dropout, a dense layer."""

    @nn.compact
    def __call__(self, x: object, train: bool) -> object:
        x = nn.Conv(4, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.max_pool(nn.relu(x), (2, 2), (2, 2))
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


def main() -> object:
    """The gradients, and the new statistics."""
    x = jax.random.normal(jax.random.key(0), (4, 8, 8, 1))
    model = Network()
    variables = model.init(jax.random.key(1), x, train=False)

    @jax.jit
    def step(params: object, stats: object) -> object:
        def loss(params: object) -> object:
            out, new = model.apply(
                {"params": params, "batch_stats": stats},
                x,
                train=True,
                rngs={"dropout": jax.random.key(2)},
                mutable=["batch_stats"],
            )
            return jnp.mean(out**2), new

        return jax.value_and_grad(loss, has_aux=True)(params)

    return step(variables["params"], variables["batch_stats"])
