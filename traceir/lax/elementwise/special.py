"""Gamma, Bessel and beta functions under their `jax.lax` names. Serves: special1.*

Serves: special2.*, regularized_incomplete_beta.*
"""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, operands
from traceir.lax.elementwise.arithmetic import _binary, _unary
from traceir.tracing.trace import bind_one


def lgamma(x: Operand) -> Array:
    """Logarithm of the magnitude of gamma of each element; floating.

    >>> lgamma(3.0)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return _unary("lgamma", x)


def digamma(x: Operand) -> Array:
    """Derivative of `lgamma` at each element; floating, NaN at poles.

    >>> digamma(1.0)
    Array(-0.5772157, dtype=float32, weak_type=True)
    """
    return _unary("digamma", x)


def bessel_i0e(x: Operand) -> Array:
    """Modified Bessel function of order 0, by `exp(|x|)`, of each element; floating.

    >>> bessel_i0e(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _unary("bessel_i0e", x)


def bessel_i1e(x: Operand) -> Array:
    """Modified Bessel function of order 1, by `exp(|x|)`, of each element; floating.

    >>> bessel_i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _unary("bessel_i1e", x)


def polygamma(m: Operand, x: Operand) -> Array:
    """Derivative of order m of `digamma` at x; NaN where m is no whole number from 0.

    >>> polygamma(1.0, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    return _binary("polygamma", m, x)


def zeta(x: Operand, q: Operand) -> Array:
    """Sum of (q + k)**-x for k from 0 on: the zeta function of Hurwitz; floating.

    >>> zeta(2.0, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    return _binary("zeta", x, q)


def igamma(a: Operand, x: Operand) -> Array:
    """Lower incomplete gamma function of each pair, as a share of gamma(a); floating.

    >>> igamma(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _binary("igamma", a, x)


def igammac(a: Operand, x: Operand) -> Array:
    """Upper incomplete gamma function of each pair, as a share of gamma(a); floating.

    >>> igammac(1.0, 0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _binary("igammac", a, x)


def igamma_grad_a(a: Operand, x: Operand) -> Array:
    """Derivative of `igamma` by its first operand; floating.

    >>> igamma_grad_a(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _binary("igamma_grad_a", a, x)


def random_gamma_grad(a: Operand, x: Operand) -> Array:
    """Derivative by a of a sample x of the gamma distribution with shape a; floating.

    The sample is thought of as that for which `igamma` stays what it is.

    >>> random_gamma_grad(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _binary("random_gamma_grad", a, x)


def betainc(a: Operand, b: Operand, x: Operand) -> Array:
    """Incomplete beta function, as a share of beta(a, b); floating, x from 0 to 1.

    >>> betainc(1.0, 1.0, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    name = "regularized_incomplete_beta"
    return bind_one(name, *operands(name, (a, b, x)))
