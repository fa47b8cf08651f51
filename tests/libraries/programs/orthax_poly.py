"""Orthogonal polynomials: values, products, derivatives and quadrature."""

import jax
import jax.numpy as jnp
import orthax


def main() -> object:
    """Values and coefficients, and a gradient."""
    x = jnp.linspace(-0.9, 0.9, 5)
    c = jnp.array([0.5, -1.0, 2.0, 0.25])
    values = orthax.chebyshev.chebval(x, c)
    product = orthax.legendre.legmul(c, c[:2])
    slope = orthax.hermite.hermder(c)
    nodes, weights = orthax.legendre.leggauss(5)
    table = orthax.chebyshev.chebvander(x, 3)
    gradient = jax.jit(jax.grad(lambda c: orthax.polynomial.polyval(x, c).sum()))(c)
    return values, product, slope, nodes, weights, table, gradient
