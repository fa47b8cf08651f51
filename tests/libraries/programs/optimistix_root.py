"""A root by Newton's method and a least squares fit, with a gradient through it."""

import jax
import jax.numpy as jnp
import optimistix as optx


def main() -> object:
    """The root, its derivative, and the fit."""

    def root(k: object) -> object:
        solver = optx.Newton(rtol=1e-6, atol=1e-6)
        return optx.root_find(lambda y, args: y**2 - args, solver, 1.0, args=k).value

    x = jnp.linspace(0.0, 1.0, 10)
    y = jnp.exp(-1.5 * x)
    residual = lambda rate, args: jnp.exp(-rate * x) - y
    solver = optx.LevenbergMarquardt(rtol=1e-6, atol=1e-6)
    fit = optx.least_squares(residual, solver, jnp.array(0.5)).value
    return root(2.0), jax.grad(root)(2.0), fit
