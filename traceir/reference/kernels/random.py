"""Kernels of keys and random bits. Serves: random_*

An array of keys is held as `KeyDType.dtype`, so that what moves elements about needs
no kernel of its own for them. Words of all keys at once are those of
`threefry2x32`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.dtypes import KEYS, word_count
from traceir.reference.kernels.registry import kernel
from traceir.reference.kernels.threefry import hashes

WORD = np.dtype("uint32")
WORD_BITS = 32


def words_of(keys: np.ndarray) -> np.ndarray:
    """The words of keys, along a last dimension."""
    count = word_count(keys.dtype)
    flat = np.ascontiguousarray(keys).reshape(-1).view(WORD)
    return flat.reshape(*keys.shape, count)


def keys_of(words: np.ndarray, impl: str = "fry") -> np.ndarray:
    """Keys of their words, which stand along the last dimension."""
    whole = np.ascontiguousarray(words, WORD).reshape(-1)
    return whole.view(KEYS[impl].dtype).reshape(words.shape[:-1])


def joined(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Keys of their first and their second words."""
    return keys_of(np.stack([high, low], -1))


@kernel("random_seed")
def random_seed(x: np.ndarray, *, impl: str) -> np.ndarray:
    """The bits of a number, as often as there is room for them; of fewer than 64, the
    first word is 0."""
    wide = x.dtype.itemsize == 8
    high = (x >> x.dtype.type(WORD_BITS)).astype(WORD) if wide else np.zeros_like(x)
    words = [high, x.astype(WORD)] * (KEYS[impl].words // 2)
    return keys_of(np.stack(words, -1), impl)


@kernel("random_wrap")
def random_wrap(x: np.ndarray, *, impl: str) -> np.ndarray:
    """Keys of the words along the last dimension."""
    return keys_of(x, impl)


@kernel("random_unwrap")
def random_unwrap(x: np.ndarray) -> np.ndarray:
    """The words of keys, along a last dimension."""
    return words_of(x)


@kernel("random_clone")
def random_clone(x: np.ndarray) -> np.ndarray:
    """The same keys."""
    return x


@kernel("random_fold_in")
def random_fold_in(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The hash of a number by each key."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    words = words_of(np.broadcast_to(x, shape))
    zero = np.zeros((), WORD)
    return joined(*hashes(words[..., 0], words[..., 1], zero, y))


@kernel("random_split")
def random_split(
    x: np.ndarray, *, shape: Sequence[int], partitionable: bool = True
) -> np.ndarray:
    """As many keys of each key as the shape has elements."""
    size = math.prod(shape)
    if partitionable:
        words = np.stack(_hashed(x, *_counters(size)), -1)
    else:
        words = _in_halves(x, 2 * size)
    return keys_of(words.reshape(*x.shape, *shape, 2))


@kernel("random_bits")
def random_bits(
    x: np.ndarray, *, bit_width: int, shape: Sequence[int], partitionable: bool = True
) -> np.ndarray:
    """Random integers of so many bits, so many of each key as the shape says."""
    size = math.prod(shape)
    if bit_width > WORD_BITS:
        first = _counters(size) if partitionable else _halves(2 * size)
        high, low = (w.astype("uint64") for w in _hashed(x, *first))
        bits = high << np.uint64(WORD_BITS) | low
    elif partitionable:
        high, low = _hashed(x, *_counters(size))
        bits = np.bitwise_xor(high, low).astype(f"uint{bit_width}", copy=False)
    else:
        words = _in_halves(x, (size * bit_width + WORD_BITS - 1) // WORD_BITS)
        # The first of several numbers in a word are its lowest bits.
        lanes = words.astype("<u4").view(f"<u{bit_width // 8}")
        bits = lanes[..., :size].astype(f"uint{bit_width}", copy=False)
    found: np.ndarray = bits.reshape((*x.shape, *shape))
    return found


def _counters(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The words of the numbers from 0 on."""
    if size <= 1 << WORD_BITS:
        return np.zeros((), WORD), np.arange(size, dtype=WORD)
    numbers = np.arange(size, dtype="uint64")
    return (numbers >> np.uint64(WORD_BITS)).astype(WORD), numbers.astype(WORD)


def _halves(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers below `size`, and a 0 if they are odd many, cut in the middle."""
    numbers = np.arange(size + size % 2, dtype=WORD)
    numbers[size:] = 0
    half = len(numbers) // 2
    return numbers[:half], numbers[half:]


def _in_halves(keys: np.ndarray, size: int) -> np.ndarray:
    """So many words of each key: first the first words of pairs, then the second."""
    found: np.ndarray = np.concatenate(_hashed(keys, *_halves(size)), -1)
    return found[..., :size]


def _hashed(keys: np.ndarray, high: np.ndarray, low: np.ndarray) -> tuple[Any, Any]:
    """The counters' hashes by each key, along a last dimension."""
    words = words_of(keys)[..., None, :]
    return hashes(words[..., 0], words[..., 1], high, low)
