"""A rigid motion that is fitted to a rotation along the manifold."""

import jax
import jax.numpy as jnp
import jaxlie


def main() -> object:
    """The motion, its gradient, and groups of rotations."""
    pose = jaxlie.SE3.exp(jnp.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    turn = jaxlie.SO3.from_rpy_radians(0.1, 0.2, 0.3)

    def cost(pose: jaxlie.SE3) -> jax.Array:
        return jnp.sum((pose.inverse() @ jaxlie.SE3.from_rotation(turn)).log() ** 2)

    value, slope = jaxlie.manifold.value_and_grad(cost)(pose)
    for _ in range(10):
        step = -0.1 * jaxlie.manifold.grad(cost)(pose)
        pose = jaxlie.manifold.rplus(pose, step)
    several = jax.vmap(jaxlie.SO3.exp)(jnp.linspace(0, 1, 6).reshape(2, 3))
    return (
        (value, slope, pose.log(), pose.jlog()),
        (several.as_matrix(), (several @ several.inverse()).log()),
        jaxlie.SE2.from_xy_theta(1.0, 2.0, 0.3).adjoint(),
        jaxlie.SO2.exp(jnp.array([0.4])).as_matrix(),
        jaxlie.SO3.sample_uniform(jax.random.PRNGKey(0)).wxyz,
    )
