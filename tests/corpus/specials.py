"""Programs of special functions and their derivatives."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

P = "f32[3]{0.5 1.25 3.0}"
Q = "f32[3]{0.125 0.3125 0.75}"
ONE = "f32[]{1.5}"


@program(P)
def gammas(jax: Library, x: Array) -> Array:
    """The gamma function, complete and incomplete."""
    special = jax.scipy.special
    parts = special.gammainc(x, 2.0), special.gammaincc(x, 2.0)
    return special.gammaln(x), special.digamma(x), *parts


@program(Q)
def betas(jax: Library, x: Array) -> Array:
    """The incomplete beta function."""
    return jax.scipy.special.betainc(2.0, 3.0, x)


@program(P)
def bessel_functions(jax: Library, x: Array) -> Array:
    """Of imaginary arguments, also with their growth taken away."""
    special = jax.scipy.special
    return special.i0(x), special.i0e(x), special.i1(x), special.i1e(x)


@program(P)
def polygammas(jax: Library, x: Array) -> Array:
    """Derivatives of the gamma function's logarithm."""
    special = jax.scipy.special
    return special.polygamma(1, x), special.polygamma(2, x)


@program(Q)
def odds(jax: Library, x: Array) -> Array:
    """Probabilities and their logarithms."""
    special = jax.scipy.special
    products = special.xlogy(x, x), special.xlog1py(x, x)
    return special.expit(x), special.logit(x), special.entr(x), *products


@program(f"{P} {Q}")
def divergences(jax: Library, x: Array, y: Array) -> Array:
    """How far one distribution is from another."""
    special = jax.scipy.special
    return special.kl_div(x, y), special.rel_entr(x, y)


@program("f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5} f32[2,3]{1 2 3 -1 0.5 4}")
def weighted_exponentials(jax: Library, x: Array, weights: Array) -> Array:
    """The logarithm of a weighted sum of exponentials."""
    return jax.scipy.special.logsumexp(x, 1, b=weights)


@program(P)
def gradient_of_gammaln(jax: Library, x: Array) -> Array:
    """The slope of the gamma function's logarithm."""
    return jax.grad(lambda x: jax.numpy.sum(jax.scipy.special.gammaln(x)))(x)


@program(ONE)
def gradient_of_digamma(jax: Library, x: Array) -> Array:
    """The slope of the slope."""
    return jax.grad(jax.scipy.special.digamma)(x)


@program("f32[]{0.25}")
def gradient_of_betainc(jax: Library, x: Array) -> Array:
    """The density of the beta distribution."""
    return jax.grad(lambda x: jax.scipy.special.betainc(2.0, 3.0, x))(x)


@program(ONE)
def gradients_of_bessels(jax: Library, x: Array) -> Array:
    """Each by the other."""
    special = jax.scipy.special
    return jax.grad(special.i0e)(x), jax.grad(special.i1e)(x)


@program("f32[]{0.0}")
def gradient_of_xlogy(jax: Library, x: Array) -> Array:
    """The rule of a product that is zero where its first factor is."""
    return jax.grad(jax.scipy.special.xlogy)(x, x)


@program(P)
def mapped_gammaln(jax: Library, x: Array) -> Array:
    """The slope at each of several places."""
    return jax.vmap(jax.grad(jax.scipy.special.gammaln))(x)
