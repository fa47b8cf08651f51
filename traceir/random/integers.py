"""Random integers between bounds. Serves: face.integers, random.shape"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import iinfo, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    operands,
    shape_of,
    typed,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.composites import clip
from traceir.random.keys import Key, one_key, split
from traceir.random.requests import Shape, ShapeLike, ranked, shaped
from traceir.random.words import bits
from traceir.tracing.trace import typeof


@takes_out_sharding
def randint(
    key: Key,
    shape: ShapeLike,
    minval: Operand,
    maxval: Operand,
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Integers from `minval` to less than `maxval`, which broadcast to `shape`.

    By default int32. If `maxval` is not greater, the result is `minval`. Two draws of
    bits are reduced modulo the number of integers, so that none is preferred by more
    than one in so many. Raises TypeError (face.integers), ValueError (random.shape).

    >>> import traceir
    >>> traceir.random.randint(traceir.random.key(0), (3,), 0, 10)
    Array([9, 0, 2], dtype=int32)
    """
    key = one_key("randint", key)
    wanted = default_dtype(int) if dtype is None else dtype_of(dtype, "randint")
    if kind_of(wanted) not in "iu":
        raise rules.error("face.integers", got=f"{wanted.name} for randint")
    low, high = (_whole(v) for v in operands("randint", (minval, maxval)))
    shape = shaped("randint", shape, low, high)
    if wanted.itemsize > 2:
        return _randint(key, low, high, shape, wanted)
    info = iinfo(wanted)
    least, most = int(info.min), int(info.max)
    low = clip(low, min=least, max=most)
    high = clip(high, min=least, max=most + 1)
    found = _randint(key, low, high, shape, np.dtype("int32"))
    return lax.convert_element_type(found, wanted)


def _whole(bound: Operand) -> Operand:
    """A bound as an integer."""
    if kind_of(typeof(bound).dtype) in "iu":
        return bound
    return convert(bound, default_dtype(int))


@composite(static_argnames=["shape", "dtype"])
def _randint(
    key: Key, minval: Operand, maxval: Operand, shape: Shape, dtype: np.dtype
) -> Array:
    top = typed(int(iinfo(dtype).max), dtype, False)
    # One more than the greatest number has no place in the dtype.
    beyond = lax.gt(maxval, _fitted(top, typeof(maxval).dtype))
    rank = len(shape)
    ends = [_fitted(v, dtype) for v in (minval, maxval)]
    low, high = (ranked(end, rank) for end in ends)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    keys = tuple(split(key))
    first, second = (bits(k, shape, unsigned) for k in keys)
    span = lax.convert_element_type(lax.sub(high, low), unsigned)
    one = typed(1, unsigned, False)
    span = lax.select_n(lax.le(high, low), span, _filled(one, span))
    # Of one number it goes with every shape; else it has the dimensions of the others.
    beyond = ranked(beyond, rank) if beyond.shape else beyond
    further = lax.bitwise_and(beyond, lax.gt(high, low))
    span = lax.select_n(further, span, lax.add(span, one))
    half = lax.rem(typed(1 << 4 * dtype.itemsize, unsigned, False), span)
    factor = lax.rem(lax.mul(half, half), span)
    offset = lax.mul(lax.rem(first, span), factor)
    offset = lax.rem(lax.add(offset, lax.rem(second, span)), span)
    return lax.add(low, lax.convert_element_type(offset, dtype))


def _filled(number: Operand, x: Operand) -> Operand:
    shape = shape_of(x)
    return lax.broadcast(number, shape) if shape else number


def _fitted(value: Operand, dtype: np.dtype) -> Operand:
    """Integers of a dtype, the nearest ones where they are not in its range."""
    own, other = iinfo(typeof(value).dtype), iinfo(dtype)
    low, high = max(own.min, other.min), min(own.max, other.max)
    weak = typeof(value).weak_type
    ends = (typed(int(n), typeof(value).dtype, weak) for n in (low, high))
    return convert(clip(value, *ends), dtype)
