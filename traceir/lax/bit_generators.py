"""Random bits by a counter: Philox and Threefry, as XLA lays them out.

A key is four words: the first two are the key of a hash, the others a counter. Block n
is the hash of the counter plus n.

Serves: random.bit-generator, threefry2x32
"""

from __future__ import annotations

from enum import IntEnum
from math import prod
from typing import Any, Final

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.base.tracebacks import entry_point
from traceir.jit.composite import composite
from traceir.lax.checks.operands import DTypeLike, Operand, as_array, dtype_of
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.shapes import ShapeLike, shape_tuple
from traceir.lax.composites import mulhi
from traceir.lax.elementwise.selection import convert_element_type
from traceir.lax.structural.shapes import (
    concatenate,
    full,
    iota,
    reshape,
    slice_in_dim,
    stack,
)
from traceir.tracing.trace import bind, typeof

# Operators of words are those of arrays; checkers need not know of which.
Words = Any


class RandomAlgorithm(IntEnum):
    """The algorithms of `rng_bit_generator`."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


WORD: Final = np.dtype("uint32")
# Philox 4x32: the factors of its rounds, what is added to the key after each, and how
# many there are (Salmon, Moraes, Dror and Shaw, "Parallel random numbers", 2011).
FACTORS: Final = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
ROUNDS: Final = 10


@entry_point
def rng_bit_generator(
    key: Operand,
    shape: ShapeLike,
    dtype: DTypeLike = WORD,
    algorithm: RandomAlgorithm | int = RandomAlgorithm.RNG_DEFAULT,
) -> tuple[Array, Array]:
    """The key for the next call, and bits of a shape and an unsigned dtype.

    `key` has shape (4,) in uint32, or (2,) in uint64. Equal keys give equal bits, those
    of XLA's algorithm on a CPU; `RNG_DEFAULT` is Philox. Raises TypeError
    (random.bit-generator) for another key or dtype, ValueError for no algorithm.

    >>> import numpy as np
    >>> rng_bit_generator(np.arange(4, dtype="uint32"), (2,))
    (Array([0, 1, 3, 3], dtype=uint32), Array([ 895509795, 3230209149], dtype=uint32))
    """
    words = as_array(checked("rng_bit_generator", key))
    aval = typeof(words)
    kind = dtype_of(dtype, "rng_bit_generator")
    forms = ((4,), "uint32"), ((2,), "uint64")
    if (aval.shape, aval.dtype.name) not in forms or kind.kind != "u":
        got = f"a key {aval.str_short()}, and bits of dtype {kind.name}"
        raise rules.error("random.bit-generator", got=got)
    extents, chosen = shape_tuple(shape), RandomAlgorithm(algorithm)
    found: tuple[Array, Array] = _rng_bit_generator(
        words, shape=extents, dtype=kind, algorithm=chosen
    )
    return found


# Of so many blocks of bits one is a key: those between are left out.
APART: Final = 10


@composite(static_argnames=["shape", "mixed"])
def split_words(key: Words, *, shape: tuple[int, ...], mixed: bool) -> Words:
    """The words of keys made of the four words of one, as many as the shape says.

    Either half of the words is split by Threefry; `mixed`, they are bits of the key.
    """
    if mixed:
        blocks = rng_bit_generator(key, (APART * prod(shape), 4))[1]
        return reshape(blocks[::APART], (*shape, 4))
    flag = local.context.threefry_partitionable
    found = bind("random_split", _half_keys(key), shape=shape, partitionable=flag)
    halves = bind("random_unwrap", found)
    return concatenate([halves[0], halves[1]], len(shape))


@composite(static_argnames=["mixed"])
def fold_words(key: Words, data: Words, *, mixed: bool) -> Words:
    """The four words of another key, made of those of one and of a number.

    The number is folded by Threefry into either half; `mixed`, bits of it as a seed
    change the words.
    """
    if mixed:
        seed = bind("random_unwrap", bind("random_seed", data, impl="rbg"))
        return key ^ rng_bit_generator(seed, (APART, 4))[1][APART - 1]
    found = bind("random_fold_in", _half_keys(key), data)
    return reshape(bind("random_unwrap", found), (4,))


def _half_keys(key: Words) -> Words:
    """The halves of four words as two keys of Threefry's."""
    return bind("random_wrap", reshape(key, (2, 2)), impl="fry")


@composite(static_argnames=["shape", "dtype", "algorithm"])
def _rng_bit_generator(
    key: Words, *, shape: tuple[int, ...], dtype: np.dtype, algorithm: RandomAlgorithm
) -> tuple[Array, Array]:
    """The key that counts on, and the bits."""
    made = _threefry if algorithm == RandomAlgorithm.RNG_THREE_FRY else _philox
    parts = _halves(key) if key.dtype != WORD else key
    bits, blocks = made([parts[k] for k in range(4)], shape, dtype.itemsize == 8)
    if dtype.itemsize < WORD.itemsize:
        bits = convert_element_type(bits, dtype)
    if key.dtype != WORD:
        return stack([key[0], key[1] + blocks]), bits
    low, carry = _counted(parts[2], blocks)
    return stack([parts[0], parts[1], low, parts[3] + carry]), bits


def _halves(key: Words) -> list[Words]:
    """The words of 64 bits as words of 32, the lower half of each first."""
    numbers = [key[0], key[0] >> 32, key[1], key[1] >> 32]
    return [convert_element_type(number, WORD) for number in numbers]


def _counted(word: Words, number: Words) -> tuple[Words, Words]:
    """The lower word of a sum, and what it carries."""
    total = word + number
    return total, convert_element_type(total < word, WORD)


def _wide(low: Words, high: Words) -> Words:
    """Words of 64 bits by their halves."""
    found = convert_element_type(high, np.uint64) << 32
    return found | convert_element_type(low, np.uint64)


def _philox(key: list[Words], shape: tuple[int, ...], wide: bool) -> tuple[Words, int]:
    """Bits by blocks of four words, and how many blocks they take."""
    size = prod(shape)
    blocks = -(-size * (2 if wide else 1) // 4)
    low, carry = _counted(key[2], iota(WORD, blocks))
    second, more = _counted(key[3], carry)
    third, most = _counted(key[0], more)
    counter = [low, second, third, key[1] + most]
    words = stack(_philox_hash(counter, key[:2]), axis=1)
    if wide:
        words = _wide(words[:, 0::2], words[:, 1::2])
    flat = reshape(words, (words.shape[0] * words.shape[1],))
    return reshape(slice_in_dim(flat, 0, size), shape), blocks


def _philox_hash(counter: list[Words], key: list[Words]) -> list[Words]:
    """The hash of four words by two."""
    a, b, c, d = counter
    for step in range(ROUNDS):
        first, second = (
            k + np.uint32(step * by & 0xFFFFFFFF)
            for k, by in zip(key, KEY_STEPS, strict=True)
        )
        x, y = (np.uint32(factor) for factor in FACTORS)
        a, b, c, d = (
            mulhi(c, full(c.shape, y)) ^ b ^ first,
            c * y,
            mulhi(a, full(a.shape, x)) ^ d ^ second,
            a * x,
        )
    return [a, b, c, d]


def _threefry(
    key: list[Words], shape: tuple[int, ...], wide: bool
) -> tuple[Words, int]:
    """Bits by blocks of two words, and how many blocks they take.

    Words of 32 bits have their two in the halves of pairs along one dimension: the
    first that is even, or else the first of the largest, which is made even.
    """
    if wide:
        blocks = prod(shape)
        low, high = _threefry_hash(key, blocks)
        return reshape(_wide(low, high), shape), blocks
    extents = shape or (1,)
    even = [k for k, extent in enumerate(extents) if extent % 2 == 0]
    axis = even[0] if even else extents.index(max(extents))
    half = -(-extents[axis] // 2)
    before, after = extents[:axis], extents[axis + 1 :]
    blocks = prod(before) * half * prod(after)
    pairs = [reshape(w, (*before, half, *after)) for w in _threefry_hash(key, blocks)]
    words = reshape(stack(pairs, axis=axis + 1), (*before, 2 * half, *after))
    return reshape(slice_in_dim(words, 0, extents[axis], axis=axis), shape), blocks


def _threefry_hash(key: list[Words], blocks: int) -> list[Words]:
    """The two words of so many blocks."""
    low, carry = _counted(key[2], iota(WORD, blocks))
    counter = [low, key[3] + carry]
    spread = [full((blocks,), word) for word in key[:2]]
    found: list[Words] = list(bind("threefry2x32", *spread, *counter))
    return found
