"""Random bits. Serves: random.unsigned"""

from __future__ import annotations

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.bit_generators import rng_bit_generator
from traceir.lax.checks.operands import DTypeLike, default_dtype, dtype_of
from traceir.lax.checks.shapes import ShapeLike, shape_tuple
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.random.keys import Key, is_threefry, one_key, partitionable, used_words
from traceir.tracing.trace import bind_one


@takes_out_sharding
def bits(
    key: Key,
    shape: ShapeLike = (),
    dtype: DTypeLike = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Random integers of an unsigned dtype, all of them equally likely.

    The dtype is by default uint32 or, with 64-bit types on, uint64. Raises ValueError
    (random.one, random.unsigned, random_bits.shape, random_bits.size), TypeError
    (random.key, face.shape, face.dtype).

    >>> import traceir
    >>> traceir.random.bits(traceir.random.key(123), (3,))
    Array([4076244552, 3434997474, 2185388702], dtype=uint32)
    """
    found = one_key("bits", key)
    if dtype is None:
        width = default_dtype(int).itemsize * 8
    else:
        asked = dtype_of(dtype, "bits")
        if kind_of(asked) != "u":
            raise rules.error("random.unsigned", got=f"{asked.name} for bits")
        width = asked.itemsize * 8
    return words(found, width, shape_tuple(shape))


def words(key: Array, width: int, shape: tuple[int, ...]) -> Array:
    """Random integers of so many bits, made of one key."""
    if not is_threefry(key):
        return rng_bit_generator(used_words(key), shape, unsigned(width))[1]
    return bind_one(
        "random_bits",
        key,
        bit_width=width,
        shape=shape,
        partitionable=partitionable(),
    )


def unsigned(width: int) -> np.dtype:
    """The unsigned dtype of so many bits."""
    return np.dtype(f"uint{width}")
