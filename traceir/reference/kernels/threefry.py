"""The kernel that hashes counters to random bits. Serves: threefry2x32"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir.base import cost_model
from traceir.exact.threefry import INJECTIONS, PARITY, ROTATIONS
from traceir.reference.kernels.registry import kernel

Words = Sequence[np.ndarray]


@kernel("threefry2x32")
def threefry2x32(
    k1: np.ndarray, k2: np.ndarray, x1: np.ndarray, x2: np.ndarray
) -> list[np.ndarray]:
    """Two words for each counter, which has two, by keys of two words."""
    return list(hashes(k1, k2, x1, x2))


def hashes(
    k1: np.ndarray, k2: np.ndarray, x1: np.ndarray, x2: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second word of each counter's hash.

    >>> zero = np.zeros(1, "uint32")
    >>> hashes(zero, zero, zero, zero)
    (array([1797259609], dtype=uint32), array([2579123966], dtype=uint32))
    """
    shape = np.broadcast_shapes(k1.shape, k2.shape, x1.shape, x2.shape)
    high, low = np.empty(shape, np.uint32), np.empty(shape, np.uint32)
    if high.size:
        first, second, *counter = (_line(x, shape) for x in (k1, k2, x1, x2))
        third = first ^ second ^ np.uint32(PARITY)
        _hash((first, second, third), counter, (high.reshape(-1), low.reshape(-1)))
    return high, low


def _line(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """All elements in a row; of one element that is all of them, only that one."""
    return x.reshape(-1) if x.size == 1 else np.broadcast_to(x, shape).reshape(-1)


def _hash(key: Words, counter: Words, results: Words) -> None:
    """Write the words of all elements, piece by piece."""
    size = results[0].size
    spare = np.empty(min(cost_model.THREEFRY_PIECE, size), np.uint32)
    for start in range(0, size, cost_model.THREEFRY_PIECE):
        piece = slice(start, start + cost_model.THREEFRY_PIECE)
        keys = [k if k.size == 1 else k[piece] for k in key]
        x, y = (word[piece] for word in results)
        for word, given, k in zip((x, y), counter, keys):
            np.add(given if given.size == 1 else given[piece], k, out=word)
        _rounds(keys, x, y, spare[: x.size])


def _rounds(key: Words, x: np.ndarray, y: np.ndarray, t: np.ndarray) -> None:
    """Twenty rounds over both words, in their place; `t` is memory of that size."""
    for number in range(1, INJECTIONS + 1):
        for by in ROTATIONS[(number - 1) % 2]:
            np.add(x, y, out=x)
            np.left_shift(y, np.uint32(by), out=t)
            np.right_shift(y, np.uint32(32 - by), out=y)
            np.bitwise_or(y, t, out=y)
            np.bitwise_xor(x, y, out=y)
        np.add(x, key[number % 3], out=x)
        np.add(y, key[(number + 1) % 3], out=y)
        np.add(y, np.uint32(number), out=y)
