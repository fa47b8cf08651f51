"""Symbols as a module whose numbers are parameters."""

import equinox as eqx
import jax.numpy as jnp
import sympy
import sympy2jax


def main() -> object:
    """Values and the gradient by the numbers in the expressions."""
    x, y = sympy.symbols("x y")
    parts = [sympy.sin(x) * 2.5 + y**2, sympy.exp(-x * y) / 3, sympy.Max(x, y)]
    module = sympy2jax.SymbolicModule([*parts, sympy.tanh(x)])

    @eqx.filter_grad
    def slope(module: sympy2jax.SymbolicModule) -> object:
        return sum(jnp.sum(v) for v in module(x=jnp.array(0.3), y=jnp.array(0.4)))

    return module(x=jnp.linspace(0, 1, 4), y=jnp.array(2.0)), slope(module)
