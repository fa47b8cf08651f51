"""A regression trained by Adam with a warm-up and clipped gradients."""

import jax
import jax.numpy as jnp
import optax


def main() -> object:
    """The last loss, and the parameters."""
    x = jax.random.normal(jax.random.key(0), (64, 3))
    y = x @ jnp.array([1.0, -2.0, 0.5]) + 0.3
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 10, 100)
    step = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    state = step.init(params)

    def loss(params: object) -> object:
        return optax.l2_loss(x @ params["w"] + params["b"], y).mean()

    @jax.jit
    def update(params: object, state: object) -> object:
        value, grads = jax.value_and_grad(loss)(params)
        updates, state = step.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    for _ in range(60):
        params, state, value = update(params, state)
    return value, params
