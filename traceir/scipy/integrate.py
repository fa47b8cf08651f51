"""Integrals of samples, as `jax.scipy.integrate` has them."""

from traceir.numpy import trapezoid

__all__ = ["trapezoid"]
