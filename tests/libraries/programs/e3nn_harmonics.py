"""Equivariant features: harmonics, a tensor product, a linear layer."""

import e3nn_jax as e3nn
import jax
import jax.numpy as jnp


def main() -> object:
    """Features, and how far they are from turning with their input."""
    x = jnp.array([[1.0, 0.5, -0.3], [0.2, -0.7, 0.9]])
    features = e3nn.spherical_harmonics("0e + 1o + 2e", x, normalize=True)
    product = e3nn.tensor_product(features, features, filter_ir_out="0e + 1o")
    turn = e3nn.rand_matrix(jax.random.PRNGKey(0), ())
    again = e3nn.spherical_harmonics("0e + 1o + 2e", x @ turn.T, normalize=True)
    apart = (features.transform_by_matrix(turn) - again).array
    norm = e3nn.norm(product)
    slope = jax.jit(
        jax.grad(lambda x: e3nn.spherical_harmonics("2e", x, True).array[:, 0].sum())
    )(x)
    return features.array, product.array, jnp.abs(apart).max() < 1e-5, norm.array, slope
