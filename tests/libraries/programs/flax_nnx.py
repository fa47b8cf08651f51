"""A network with state, trained by its own optimizer."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


def main() -> object:
    """The losses of some steps."""
    model = nnx.Sequential(
        nnx.Linear(2, 8, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(8, 1, rngs=nnx.Rngs(1))
    )
    optimizer = nnx.Optimizer(model, optax.adam(0.05), wrt=nnx.Param)
    x = jax.random.normal(jax.random.key(0), (16, 2))
    y = x[:, :1] * x[:, 1:]

    @nnx.jit
    def step(model: object, optimizer: object) -> object:
        value, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, grads)
        return value

    return [step(model, optimizer) for _ in range(10)]
