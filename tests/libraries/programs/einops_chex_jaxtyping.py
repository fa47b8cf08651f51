"""Rearrangements, assertions and annotations."""

import chex
import einops
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


@chex.dataclass
class Point:
    """Two arrays."""

    x: Float[Array, " n"]
    y: Float[Array, " n"]


def main() -> object:
    """Means of patches, and a step of a dataclass."""
    image = jnp.arange(64.0).reshape(8, 8)
    patches = einops.rearrange(image, "(a i) (b j) -> (a b) i j", i=4, j=4)
    chex.assert_shape(patches, (4, 4, 4))
    chex.assert_tree_all_finite(patches)
    point = Point(x=jnp.ones(2), y=jnp.arange(2.0))
    step = jax.jit(lambda p: jax.tree.map(lambda v: v + 1, p))(point)
    return einops.reduce(patches, "n i j -> n", "mean"), step.x, step.y
