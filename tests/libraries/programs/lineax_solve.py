"""Linear systems, solved directly and by conjugate gradients, with gradients."""

import jax
import jax.numpy as jnp
import lineax as lx


def main() -> object:
    """Solutions, and a gradient."""
    a = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    b = jnp.array([1.0, 2.0, 3.0])

    def solve(a: object, solver: object, tag: object = ()) -> object:
        return lx.linear_solve(lx.MatrixLinearOperator(a, tag), b, solver).value

    direct = solve(a, lx.LU())
    iterative = solve(a, lx.CG(1e-6, 1e-6), lx.positive_semidefinite_tag)
    slope = jax.jit(jax.grad(lambda a: solve(a, lx.LU()).sum()))(a)
    return direct, iterative, slope
