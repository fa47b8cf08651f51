"""An array type of a user's own, with a rule for products, through `quaxify`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import quax


class Scaled(quax.ArrayValue):
    """An array and a factor that has not been multiplied yet."""

    array: jax.Array
    factor: float = eqx.field(static=True)

    def aval(self) -> object:
        """The type."""
        return jax.core.ShapedArray(self.array.shape, self.array.dtype)

    def materialise(self) -> object:
        """The array."""
        return self.array * self.factor


@quax.register(jax.lax.mul_p)
def _(x: Scaled, y: Scaled, **params: object) -> Scaled:
    return Scaled(x.array * y.array, x.factor * y.factor)


def main() -> object:
    """The product with its factor, and what is materialised."""
    x = Scaled(jnp.array([1.0, 2.0]), 3.0)
    squared = quax.quaxify(jnp.multiply)(x, x)
    total = quax.quaxify(jax.jit(lambda x: jnp.sum(x + 1.0)))(x)
    return squared.array, squared.factor, total
