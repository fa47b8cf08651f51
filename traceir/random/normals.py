"""Distributions made of normal numbers. Serves: random.floating, random.shape

Serves: random.covariance, face.least-rank, face.choice
"""

from __future__ import annotations

import operator

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    inexact,
    joined,
    like,
    operands,
    shape_of,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.arithmetic import add, multiply
from traceir.numpy.linalg import cholesky, eigh, norm, qr, svd
from traceir.numpy.products.einsum import einsum
from traceir.numpy.reductions.diagonals import diagonal
from traceir.random.keys import Key, one_key, split
from traceir.random.real import normal, uniform
from traceir.random.requests import (
    Shape,
    ShapeLike,
    drawn,
    fitting,
    floating,
    real,
    shaped,
    spread,
)
from traceir.random.trials import rademacher

# Of no effect on the dtype of what it multiplies.
ONE = np.float32(1.0)
METHODS = ("cholesky", "eigh", "svd")


@takes_out_sharding
def lognormal(
    key: Key,
    sigma: Operand = ONE,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """exp of a normal number with standard deviation `sigma`.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.lognormal(traceir.random.key(0), 2.0, (3,))
    Array([25.669006  , 57.427853  ,  0.42013094], dtype=float32)
    """
    key = one_key("lognormal", key)
    found = floating("lognormal", dtype)
    (wide,) = real("lognormal", found, sigma)
    asked = shaped("lognormal", shape, wide)
    return lax.exp(multiply(normal(key, asked, found), wide))


@takes_out_sharding
def maxwell(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The length of a vector of three normal numbers.

    Raises ValueError (random.floating), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.maxwell(traceir.random.key(0), (2,))
    Array([2.6310966, 0.9910329], dtype=float32)
    """
    return drawn("maxwell", _maxwell, key, shape, dtype)


@composite(static_argnames=["shape", "dtype"])
def _maxwell(key: Key, shape: Shape, dtype: np.dtype) -> Array:
    return norm(normal(key, (*shape, 3), dtype), axis=-1)


def double_sided_maxwell(
    key: Key,
    loc: Operand,
    scale: Operand,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
) -> Array:
    """`loc`, and `scale` times a Maxwell number to either side.

    `shape` comes before that of the parameters. Raises ValueError (random.floating,
    random.shape), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.double_sided_maxwell(traceir.random.key(0), 0.0, 1.0, (2,))
    Array([1.5457209, 1.5741276], dtype=float32)
    """
    key = one_key("double_sided_maxwell", key)
    found = floating("double_sided_maxwell", dtype)
    at, wide = operands("double_sided_maxwell", (loc, scale))
    own = shaped("double_sided_maxwell", None, at, wide)
    asked = (shaped("double_sided_maxwell", shape) or own) + own
    return _double_sided_maxwell(key, at, wide, asked, found)


@composite(static_argnames=["shape", "dtype"])
def _double_sided_maxwell(
    key: Key, loc: Operand, scale: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    first, second = split(key)
    distance = maxwell(first, shape, dtype)
    side = rademacher(second, shape, dtype)
    return add(multiply(lax.mul(side, distance), scale), loc)


@takes_out_sharding
def wald(
    key: Key,
    mean: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The inverse Gaussian distribution of scale 1: when a drifting walk arrives.

    John Michael, William Schucany, Roy Haas, "Generating random variates using
    transformations with multiple roots" (1976). Raises ValueError (random.floating,
    random.shape).

    >>> import traceir
    >>> traceir.random.wald(traceir.random.key(0), 2.0, (3,))
    Array([0.533422  , 0.59811544, 0.7254839 ], dtype=float32)
    """
    return drawn("wald", _wald, key, shape, dtype, mean)


@composite(static_argnames=["shape", "dtype"])
def _wald(key: Key, mean: Operand, shape: Shape, dtype: np.dtype) -> Array:
    first, second = split(key)
    (value,) = real("wald", dtype, mean)
    middle = spread(value, shape)
    n, u = normal(first, shape, dtype), uniform(second, shape, dtype)
    y = lax.integer_pow(n, 2)
    squared, square = lax.integer_pow(y, 2), lax.integer_pow(middle, 2)
    four, two = like(4.0, y), like(2.0, y)
    inside = lax.mul(lax.mul(four, middle), y)
    root = lax.sqrt(lax.add(inside, lax.mul(square, squared)))
    further = lax.add(middle, lax.div(lax.mul(square, y), two))
    x = lax.sub(further, lax.mul(lax.div(middle, two), root))
    small = lax.le(u, lax.div(middle, lax.add(middle, x)))
    return lax.select_n(small, lax.div(square, x), x)


@takes_out_sharding
def multivariate_normal(
    key: Key,
    mean: Operand,
    cov: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    method: str = "cholesky",
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Vectors of normal numbers with these means and covariances.

    `shape` is that of the vectors; `mean` and the matrices `cov` broadcast to it. The
    root of a matrix is found by `method`: "cholesky", or "eigh" or "svd", which also
    take singular ones. Raises ValueError (random.floating, random.covariance,
    random.shape, face.least-rank, face.choice).

    >>> import traceir, traceir.numpy as jnp
    >>> key = traceir.random.key(0)
    >>> traceir.random.multivariate_normal(key, jnp.zeros(2), jnp.eye(2), (2,))
    Array([[ 1.6226422 ,  2.0252647 ],
           [-0.43359444, -0.07861735]], dtype=float32)
    """
    name = "multivariate_normal"
    key = one_key(name, key)
    middle, spreads = operands(name, (mean, cov))
    if dtype is None:
        found = inexact(joined((middle, spreads))[0])
    else:
        found = floating(name, dtype)
    if method not in METHODS:
        listed = ", ".join(METHODS)
        raise rules.error("face.choice", got=f"method={method!r}; one of {listed}")
    asked = _vectors(name, shape_of(middle), shape_of(spreads), shape)
    at, around = convert(middle, found), convert(spreads, found)
    return _multivariate_normal(key, at, around, asked, found, method)


def _vectors(name: str, mean: Shape, cov: Shape, shape: ShapeLike) -> Shape:
    """The shape of the vectors that are asked for."""
    for least, given, what in ((1, mean, "mean"), (2, cov, "cov")):
        if len(given) < least:
            got = f"{what} of shape {given} for {name}; at least {least} dimensions"
            raise rules.error("face.least-rank", got=got)
    if cov[-2:] != (mean[-1], mean[-1]):
        got = f"cov of shape {cov} with a mean of shape {mean}"
        raise rules.error("random.covariance", got=got)
    return fitting(name, shape, mean[:-1], cov[:-2])


@composite(static_argnames=["shape", "dtype", "method"])
def _multivariate_normal(
    key: Key, mean: Array, cov: Array, shape: Shape, dtype: np.dtype, method: str
) -> Array:
    root = _root(cov, method)
    drawn = normal(key, (*shape, mean.shape[-1]), dtype)
    return mean + einsum("...ij,...j->...i", root, drawn)


def _root(cov: Array, method: str) -> Array:
    """A matrix that, times its own transpose, is the covariance."""
    if method == "cholesky":
        return cholesky(cov)
    if method == "eigh":
        sizes, vectors = eigh(cov)
    else:
        vectors, sizes, _ = svd(cov)
    return multiply(vectors, lax.sqrt(lax.expand_dims(sizes, (sizes.ndim - 1,))))


@takes_out_sharding
def orthogonal(
    key: Key,
    n: int,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    m: int | None = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Matrices with orthonormal rows or columns, all of which are as probable.

    They have `n` rows and `m` columns, by default as many. They are those of a QR
    factorization of normal numbers. Raises ValueError (random.floating,
    random.extents), TypeError (face.shape).

    >>> import traceir, traceir.numpy as jnp
    >>> q = traceir.random.orthogonal(traceir.random.key(0), 2)
    >>> bool(jnp.allclose(q @ q.T, jnp.eye(2), atol=1e-6))
    True
    """
    key = one_key("orthogonal", key)
    found = floating("orthogonal", dtype)
    rows, columns = operator.index(n), operator.index(n if m is None else m)
    if rows < 0 or columns < 0:
        got = f"{rows} and {columns} for orthogonal"
        raise rules.error("random.extents", got=got)
    asked = shaped("orthogonal", shape)
    return _orthogonal(key, asked, rows, columns, found)


@composite(static_argnames=["shape", "n", "m", "dtype"])
def _orthogonal(key: Key, shape: Shape, n: int, m: int, dtype: np.dtype) -> Array:
    drawn = normal(key, (*shape, max(n, m), min(n, m)), dtype)
    q, r = qr(drawn)
    sides = lax.sign(diagonal(r, axis1=-2, axis2=-1))
    found = multiply(q, lax.expand_dims(sides, (sides.ndim - 1,)))
    if n >= m:
        return found
    order = (*range(found.ndim - 2), found.ndim - 1, found.ndim - 2)
    return lax.transpose(found, order)
