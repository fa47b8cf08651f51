"""A dataclass as a tree, with a static field, trained for some steps."""

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc


@jdc.pytree_dataclass
class Model:
    """A polynomial."""

    weights: jax.Array
    offset: jax.Array
    degree: jdc.Static[int]

    def __call__(self, x: object) -> object:
        """The values."""
        powers = jnp.stack([x**k for k in range(1, self.degree + 1)], axis=-1)
        return powers @ self.weights + self.offset


def main() -> object:
    """The model after training, and a copy with other values."""
    x = jnp.linspace(-1.0, 1.0, 8)
    y = 1.0 + x - 2.0 * x**2

    @jdc.jit
    def step(model: Model, rate: jdc.Static[float]) -> Model:
        slope = jax.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        return jax.tree.map(lambda a, b: a - rate * b, model, slope)

    model = Model(jnp.zeros(2), jnp.array(0.0), 2)
    for _ in range(20):
        model = step(model, 0.3)
    with jdc.copy_and_mutate(model) as other:
        other.weights = other.weights.at[0].set(7.0)
    return model, other
