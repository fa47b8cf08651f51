"""Uniform and normal numbers.

Serves: random.floating, random.shape
"""

from __future__ import annotations

from functools import cache
from math import sqrt

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import finfo, part_dtype
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, operands, shape_of, typed
from traceir.lax.checks.shapes import ShapeLike, shape_tuple
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.random.keys import Key, one_key, split
from traceir.random.requests import Shape, fitting, floating, ranked, real
from traceir.random.words import unsigned, words
from traceir.tracing.trace import bind


@takes_out_sharding
def uniform(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    minval: Operand = 0.0,
    maxval: Operand = 1.0,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Numbers from `minval` up to `maxval`, equally spaced and equally likely.

    As many as a significand tells apart; `maxval` itself comes only where rounding
    gives it. Raises ValueError (random.one, random.floating, random.shape),
    TypeError (random.key, face.shape, face.dtype).

    >>> import traceir
    >>> traceir.random.uniform(traceir.random.key(123), (3,))
    Array([0.9490746, 0.7997726, 0.5088254], dtype=float32)
    """
    found, dtype = one_key("uniform", key), floating("uniform", dtype)
    low, high = operands("uniform", (minval, maxval))
    return _uniform(found, low, high, shape_tuple(shape), dtype)


@composite(static_argnames=["shape", "dtype"])
def _uniform(
    key: Array, minval: Operand, maxval: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    return between(key, minval, maxval, shape, dtype)


def between(
    key: Array, minval: Operand, maxval: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    """The numbers of `uniform`, without an equation of their own.

    Raises ValueError (random.shape).

    >>> import traceir
    >>> between(traceir.random.key(123), 0.0, 1.0, (), np.dtype("float32"))
    Array(0.9490746, dtype=float32)
    """
    fitting("uniform", shape, shape_of(minval), shape_of(maxval))
    low, high = (ranked(x, len(shape)) for x in real("uniform", dtype, minval, maxval))
    units = lax.sub(_from_one(key, shape, dtype), typed(1.0, dtype, False))
    found = lax.add(lax.mul(units, lax.sub(high, low)), low)
    if not shape:
        found = bind("reshape", found, new_sizes=())
    return lax.max(low, found)


def _from_one(key: Array, shape: Shape, dtype: np.dtype) -> Array:
    """Numbers from 1 up to 2: random digits behind the sign and the exponent of 1."""
    info = finfo(dtype)
    # Eight digits at least: a bfloat16 has fewer of its own.
    width = 8 if info.nmant < 8 else info.bits
    whole = unsigned(info.bits)
    drawn = words(key, width, shape)
    if width != info.bits:
        drawn = lax.convert_element_type(drawn, whole)
    digits = lax.shift_right_logical(drawn, whole.type(width - info.nmant))
    one = np.ones((), dtype).view(whole)[()]
    return lax.bitcast_convert_type(lax.bitwise_or(digits, one), dtype)


@takes_out_sharding
def normal(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Numbers of the normal distribution of mean 0 and variance 1.

    Of a complex dtype both parts are normal, each with variance 1/2. Raises ValueError
    (random.one, random.floating), TypeError (random.key, face.shape,
    face.dtype).

    >>> import traceir
    >>> traceir.random.normal(traceir.random.key(123), (3,))
    Array([1.6359469 , 0.8408094 , 0.02212393], dtype=float32)
    """
    found, dtype = one_key("normal", key), floating("normal", dtype, "fc")
    return _normal(found, shape_tuple(shape), dtype)


@composite(static_argnames=["shape", "dtype"])
def _normal(key: Array, shape: Shape, dtype: np.dtype) -> Array:
    if dtype.kind != "c":
        return _normal_real(key, shape, dtype)
    keys = list(split(key))
    real, imag = (
        lax.convert_element_type(_normal_real(k, shape, part_dtype(dtype)), dtype)
        for k in keys
    )
    found = lax.add(real, lax.mul(typed(1j, dtype, False), imag))
    return lax.div(found, typed(sqrt(2.0), dtype, False))


@composite(static_argnames=["shape", "dtype"])
def _normal_real(key: Array, shape: Shape, dtype: np.dtype) -> Array:
    drawn = _uniform(key, _above_minus_one(dtype), dtype.type(1), shape, dtype)
    return lax.mul(typed(sqrt(2.0), dtype, False), lax.erf_inv(drawn))


@cache
def _above_minus_one(dtype: np.dtype) -> np.generic:
    """The least number above -1, whose inverse error function is finite."""
    one: np.generic = dtype.type(-1) + dtype.type(finfo(dtype).eps) / dtype.type(2)
    return one
