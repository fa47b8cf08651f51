"""The gamma distribution, and those that are made of it.

Serves: random_gamma, random.floating, random.shape, face.least-rank
"""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    like,
    operands,
    shape_of,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.random.keys import Key, one_key, partitionable, split, threefry_key
from traceir.random.requests import (
    Shape,
    ShapeLike,
    drawn,
    fitting,
    floating,
    real,
    spread,
)
from traceir.tracing.named_primitives import builtin
from traceir.tracing.trace import bind_one

random_gamma_p = builtin("random_gamma")


@takes_out_sharding
def gamma(
    key: Key,
    a: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The gamma distribution: x**(a - 1) exp(-x), from 0 on.

    Drawn by Threefry, of keys of another generator from their first two words
    (random.rbg). Derivatives with respect to `a` follow the number drawn. Raises
    ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.gamma(traceir.random.key(0), 2.0, (3,))
    Array([1.5897877, 1.7599413, 1.1290071], dtype=float32)
    """
    return drawn("gamma", partial(_gamma, log_space=False), key, shape, dtype, a)


@takes_out_sharding
def loggamma(
    key: Key,
    a: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The logarithm of a gamma number, finite where that itself would be 0.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.loggamma(traceir.random.key(0), 1e-30)
    Array(-1.1013899e+29, dtype=float32)
    """
    draw = partial(_gamma, log_space=True)
    return drawn("loggamma", draw, key, shape, dtype, a)


@composite(static_argnames=["shape", "dtype", "log_space"])
def _gamma(
    key: Key, a: Operand, shape: Shape, dtype: np.dtype, log_space: bool
) -> Array:
    (form,) = real("gamma", dtype, a)
    return bind_one(
        "random_gamma",
        threefry_key(key),
        spread(form, shape),
        log_space=log_space,
        partitionable=partitionable(),
    )


@takes_out_sharding
def beta(
    key: Key,
    a: Operand,
    b: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The beta distribution: x**(a - 1) (1 - x)**(b - 1), between 0 and 1.

    Raises ValueError (random.floating, random.shape).

    >>> import traceir
    >>> traceir.random.beta(traceir.random.key(0), 2.0, 3.0, (2,))
    Array([0.23627363, 0.4904596 ], dtype=float32)
    """
    return drawn("beta", _beta, key, shape, dtype, a, b)


@composite(static_argnames=["shape", "dtype"])
def _beta(key: Key, a: Operand, b: Operand, shape: Shape, dtype: np.dtype) -> Array:
    forms = real("beta", dtype, a, b)
    keys = tuple(split(key))
    forms = [spread(form, shape) for form in forms]
    x, y = (
        loggamma(own, form, shape, dtype) for own, form in zip(keys, forms, strict=True)
    )
    # Of the greater one alone exp is taken where the other is far below.
    most = lax.max(x, y)
    first, second = lax.exp(lax.sub(x, most)), lax.exp(lax.sub(y, most))
    return lax.div(first, lax.add(first, second))


@takes_out_sharding
def dirichlet(
    key: Key,
    alpha: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Vectors of positive numbers with sum 1, of forms `alpha` along the last axis.

    `shape` is that of the vectors. Raises ValueError (random.floating, random.shape,
    face.least-rank).

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.random.dirichlet(traceir.random.key(0), jnp.ones(3))
    Array([0.36472058, 0.42828935, 0.2069901 ], dtype=float32)
    """
    key = one_key("dirichlet", key)
    found = floating("dirichlet", dtype)
    (forms,) = operands("dirichlet", (alpha,))
    own = shape_of(forms)
    if not own:
        got = "alpha of shape () for dirichlet; at least 1 dimension"
        raise rules.error("face.least-rank", got=got)
    asked = fitting("dirichlet", shape, own[:-1])
    return _dirichlet(key, forms, asked, found)


@composite(static_argnames=["shape", "dtype"])
def _dirichlet(key: Key, alpha: Array, shape: Shape, dtype: np.dtype) -> Array:
    forms = as_array(convert(alpha, dtype))
    logs = loggamma(key, forms, (*shape, forms.shape[-1]), dtype)
    last = logs.ndim - 1
    most = lax.reduce_max(logs, (last,))
    most = lax.max(like(-inf, most), most)
    most = lax.stop_gradient(lax.expand_dims(most, (last,)))
    sizes = lax.exp(lax.sub(logs, most))
    total = lax.expand_dims(lax.reduce_sum(sizes, (last,)), (last,))
    return lax.div(sizes, total)
