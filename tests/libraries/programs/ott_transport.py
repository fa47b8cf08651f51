"""Points that are carried to others at the least cost, by Sinkhorn's iterations."""

import jax
import jax.numpy as jnp
from ott.geometry.pointcloud import PointCloud
from ott.problems.linear.linear_problem import LinearProblem
from ott.solvers.linear.sinkhorn import Sinkhorn


def main() -> object:
    """The cost and its gradient, the plan, and the errors on the way."""
    a, b = jax.random.split(jax.random.key(0))
    x, y = jax.random.normal(a, (12, 2)), jax.random.normal(b, (9, 2)) + 1

    def cost(x: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        found = Sinkhorn()(LinearProblem(PointCloud(x, y, epsilon=0.1)))
        return found.reg_ot_cost, (found.matrix, jnp.asarray(found.errors[:3]))

    return jax.value_and_grad(cost, has_aux=True)(x)
