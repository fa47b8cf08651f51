"""A small network of modules, trained."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def main() -> object:
    """The last loss, and the results at some points."""
    model = eqx.nn.MLP(2, 1, 8, 2, key=jax.random.key(0))
    x = jax.random.uniform(jax.random.key(1), (32, 2))
    y = jnp.sin(x.sum(1, keepdims=True))
    step = optax.sgd(0.1)
    state = step.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_value_and_grad
    def loss(model: object) -> object:
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @eqx.filter_jit
    def update(model: object, state: object) -> object:
        value, grads = loss(model)
        updates, state = step.update(grads, state)
        return eqx.apply_updates(model, updates), state, value

    for _ in range(30):
        model, state, value = update(model, state)
    return value, jax.vmap(model)(x[:4])
