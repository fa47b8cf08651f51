"""Functions of Threefry's keys as their two words, for keys of others."""

from __future__ import annotations

from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand
from traceir.lax.checks.shapes import ShapeLike, shape_tuple
from traceir.random import keys
from traceir.random.words import words

NAME = "threefry2x32"


def threefry_seed(seed: Operand) -> Array:
    """The words of the key of a seed.

    >>> threefry_seed(123)
    Array([  0, 123], dtype=uint32)
    """
    return keys.key_data(keys.key(seed, impl=NAME))


def threefry_split(key: Operand, shape: ShapeLike) -> Array:
    """The words of keys made of one, in a shape.

    >>> threefry_split(threefry_seed(123), (2,)).shape
    (2, 2)
    """
    return keys.key_data(keys.split(keys.wrap_key_data(key, impl=NAME), shape))


def threefry_random_bits(key: Operand, bit_width: int, shape: ShapeLike) -> Array:
    """Random bits by the words of a key, in unsigned integers of that width.

    >>> threefry_random_bits(threefry_seed(123), 8, (2,)).dtype
    dtype('uint8')
    """
    return words(keys.wrap_key_data(key, impl=NAME), bit_width, shape_tuple(shape))
