"""Random truth values, signs, and the first success. Serves: random.probability

Serves: face.choice, random.shape, random.counted
"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    aligned,
    convert,
    default_dtype,
    dtype_of,
    like,
    operand,
    typed,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.composites import where
from traceir.random.keys import Key, one_key
from traceir.random.real import uniform
from traceir.random.requests import Shape, ShapeLike, counted, shaped, spread
from traceir.tracing.trace import typeof

MODES = ("high", "low")


@takes_out_sharding
def bernoulli(
    key: Key,
    p: Operand = 0.5,
    shape: ShapeLike = None,
    mode: str = "low",
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """True with probability `p`, by default once for each.

    `mode` "high" draws twice the bits, which tells probabilities below 1e-7 apart.
    Raises TypeError (random.probability), ValueError (random.shape, face.choice).

    >>> import traceir
    >>> traceir.random.bernoulli(traceir.random.key(0), 0.3, (3,))
    Array([False, False, False], dtype=bool)
    """
    check_mode(mode, "bernoulli")
    key = one_key("bernoulli", key)
    chance = operand("bernoulli", p, 1)
    dtype = typeof(chance).dtype
    if kind_of(dtype) != "f":
        raise rules.error("random.probability", got=f"{dtype.name} for bernoulli")
    shape = shaped("bernoulli", shape, chance)
    return _bernoulli(key, convert(chance, dtype), shape, mode)


def check_mode(mode: object, asker: str) -> None:
    """Raises ValueError (face.choice) unless the mode is "high" or "low"."""
    if mode not in MODES:
        listed = " or ".join(MODES)
        raise rules.error("face.choice", got=f"mode={mode!r} of {asker}; {listed}")


@composite(static_argnames=["shape", "mode"])
def _bernoulli(key: Key, p: Operand, shape: Shape, mode: str) -> Array:
    dtype = typeof(p).dtype
    if mode == "low":
        return _below(uniform(key, shape, dtype), p)
    high, low = uniform(key, (2, *shape), dtype)
    step = typed(float(finfo(dtype).eps), dtype, False)
    return _below(lax.mul(low, step), lax.sub(*_met(p, high)))


def _below(x: Operand, y: Operand) -> Array:
    return lax.lt(*_met(x, y))


def _met(x: Operand, y: Operand) -> tuple[Operand, Operand]:
    """Operands of one rank, but for scalars."""
    one, other = aligned("bernoulli", (x, y))
    return one, other


@takes_out_sharding
def rademacher(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """One of -1 and 1, by default as int32.

    Raises TypeError (face.shape, face.dtype).

    >>> import traceir
    >>> traceir.random.rademacher(traceir.random.key(0), (3,))
    Array([-1, -1,  1], dtype=int32)
    """
    key = one_key("rademacher", key)
    found = default_dtype(int) if dtype is None else dtype_of(dtype, "rademacher")
    return _rademacher(key, shaped("rademacher", shape), found)


@composite(static_argnames=["shape", "dtype"])
def _rademacher(key: Key, shape: Shape, dtype: np.dtype) -> Array:
    happened = lax.convert_element_type(bernoulli(key, 0.5, shape), dtype)
    if kind_of(dtype) == "b":
        return lax.full(shape, np.True_)
    return lax.sub(lax.mul(like(2, happened), happened), like(1, happened))


@takes_out_sharding
def geometric(
    key: Key,
    p: Operand,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The number of the first trial that succeeds, each with probability `p`.

    By default int32, the greatest one where it has no greater. Raises ValueError
    (random.counted, random.shape).

    >>> import traceir
    >>> traceir.random.geometric(traceir.random.key(0), 0.3, (3,))
    Array([1, 1, 4], dtype=int32)
    """
    key = one_key("geometric", key)
    found = counted("geometric", dtype)
    chance = operand("geometric", p, 1)
    shape = shaped("geometric", shape, chance)
    if kind_of(typeof(chance).dtype) != "f":
        chance = convert(chance, default_dtype(float))
    return _geometric(key, chance, shape, found)


@composite(static_argnames=["shape", "dtype"])
def _geometric(key: Key, p: Operand, shape: Shape, dtype: np.dtype) -> Array:
    u = uniform(key, shape, typeof(p).dtype)
    u = where(lax.eq(u, like(0.0, u)), 1, u)
    log = lax.log(u)
    failed = spread(lax.log1p(lax.neg(p)), shape)
    trials = lax.add(lax.floor(lax.div(log, failed)), like(1.0, u))
    return lax.convert_element_type(trials, dtype)
