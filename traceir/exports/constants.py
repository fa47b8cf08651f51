"""Constants as bytes: row-major, little-endian.

Serves: export.constants
"""

from __future__ import annotations

import numpy as np

from traceir.dtypes import is_key, kind_of, part_dtype
from traceir.exports.container import broken
from traceir.ir.avals import ShapedArray


def _word(dtype: np.dtype) -> int:
    """The bytes of the numbers that make up an element."""
    if is_key(dtype):
        return 4
    return part_dtype(dtype).itemsize if kind_of(dtype) == "c" else dtype.itemsize


def to_bytes(array: np.ndarray) -> bytes:
    """The bytes of an array's elements.

    >>> to_bytes(np.array([1, 256], np.uint16))
    b'\\x01\\x00\\x00\\x01'
    """
    word = _word(array.dtype)
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"u{word}").astype(f"<u{word}").tobytes()


def from_bytes(data: bytes, aval: ShapedArray) -> np.ndarray:
    """The array of that type with these bytes; ValueError (export.file) if none has.

    >>> from_bytes(to_bytes(np.ones(2)), ShapedArray((2,), "float64"))
    array([1., 1.])
    """
    if len(data) != aval.size * aval.dtype.itemsize:
        raise broken(f"a constant {aval.str_short()} of {len(data)} bytes")
    word = _word(aval.dtype)
    words = np.frombuffer(data, f"<u{word}").astype(f"u{word}")
    found = words.view(aval.dtype).reshape(aval.shape)
    if aval.dtype.kind == "b" and words.max(initial=0) > 1:
        raise broken("a truth value that is neither 0 nor 1")
    found.flags.writeable = False
    return found


class Blocks:
    """Constants, and other bytes, by number, each kept once.

    >>> blocks = Blocks()
    >>> [blocks.keep(np.zeros(n, bool)) for n in (1, 2, 1)], blocks.found
    ([0, 1, 0], [b'\\x00', b'\\x00\\x00'])
    """

    def __init__(self) -> None:
        self.found: list[bytes] = []
        self._numbers: dict[bytes, int] = {}

    def keep(self, array: np.ndarray) -> int:
        """The number of an array's bytes."""
        return self.keep_bytes(to_bytes(np.asarray(array)))

    def keep_bytes(self, data: bytes) -> int:
        """The number of the bytes."""
        number = self._numbers.setdefault(data, len(self.found))
        if number == len(self.found):
            self.found.append(data)
        return number
