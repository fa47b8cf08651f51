"""Splines through points, in one dimension and two, with derivatives."""

import interpax
import jax
import jax.numpy as jnp


def main() -> object:
    """Values between the points, and gradients."""
    x = jnp.linspace(0.0, 3.0, 9)
    y = jnp.sin(x)
    between = jnp.array([0.1, 1.3, 2.9])
    cubic = interpax.interp1d(between, x, y, method="cubic2")
    shaped = interpax.interp1d(between, x, y, method="monotonic", derivative=1)
    table = jnp.outer(y, jnp.cos(x))
    plane = interpax.interp2d(between, between[::-1], x, x, table, method="cubic")
    spline = interpax.PchipInterpolator(x, y)
    slope = jax.jit(jax.grad(lambda y: interpax.interp1d(between, x, y).sum()))(y)
    return cubic, shaped, plane, spline(between), slope
