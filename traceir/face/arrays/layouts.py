"""Memory layouts: strides and overlaps, told by arrays of NumPy's. Serves: face.view

An array of the trace has no elements, but NumPy decides by its addresses, strides and
flags what is a view of it. So it is shown an array that has these, of zeros.

The array of zeros is made when it is asked for (`NumpyTracer.memory`); a large one
takes address space and no memory. A new result lies as NumPy would put it: for
universal functions NumPy's own iterator is asked, other functions are called on zeros,
and only when a later function depends on it. Where NumPy refuses to write, or the order
of the writes would count, an update is refused.

That an argument is C-contiguous is taken for granted and noted where a decision depends
on it; if what was decided about is written to later, each call checks the argument's
flags (update.layout).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Layout = np.ndarray | Callable[[], Sequence[int] | None] | None


class LayoutQuery:
    """A layout that decisions depend on: how an argument lies in memory.

    It matters if the array, or what was made of it, a view or a copy, is written to
    afterwards, or if the function was told.
    """

    def __init__(self) -> None:
        self.told = False
        self._decided: list[tuple[Any, int]] = []

    def decided(self, *arrays: Any) -> None:
        """Keep arrays of the trace, and how often they have been written to."""
        self._decided += [(array, array.version) for array in arrays]

    @property
    def matters(self) -> bool:
        """True if the arguments of a call have to lie as that of the trace."""
        return self.told or any(a.version != v for a, v in self._decided)


def placed(
    shape: Sequence[int],
    dtype: np.dtype,
    strides: Sequence[int] | None = None,
    writeable: bool = True,
) -> np.ndarray:
    """An array of zeros of which only the layout counts; large ones take no memory.

    Without `strides`, in bytes, it is C-contiguous.

    >>> placed((2, 3), np.dtype("int8")).T.strides
    (1, 3)
    """
    # The dtype of keys is none of NumPy's, and elements do not count.
    own = dtype if isinstance(dtype, np.dtype) else np.dtype(f"V{dtype.itemsize}")
    if strides is None or 0 in shape:
        made = np.zeros(shape, own)
    else:
        steps = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
        low = sum(step for step in steps if step < 0)
        buffer = np.zeros(sum(map(abs, steps)) + own.itemsize, np.uint8)
        made = np.ndarray(shape, own, buffer, -low, strides)
    made.flags.writeable = writeable
    return made


def elementwise(operands: Sequence[np.ndarray], dtype: np.dtype) -> tuple[int, ...]:
    """The strides of a universal function's result for these arrays, in bytes.

    >>> a = np.zeros((2, 3), order="F")
    >>> elementwise([a, np.zeros(3)], np.dtype("int8"))
    (1, 2)
    """
    flags = [["readonly"]] * len(operands) + [["writeonly", "allocate"]]
    dtypes = [*(None for _ in operands), dtype]
    given = [*operands, None]
    options: Any = {"flags": ["zerosize_ok"], "op_flags": flags, "op_dtypes": dtypes}
    with np.nditer(given, order="K", **options) as iterator:
        found: tuple[int, ...] = iterator.operands[-1].strides
    return found


def dense_order(memory: np.ndarray) -> tuple[int, ...] | None:
    """The dimensions from the outermost to the innermost, if the elements lie so.

    Between one and the next there may be room, as between the real parts of complex
    numbers, but it is everywhere the same.

    >>> dense_order(np.zeros((2, 3)).T), dense_order(np.zeros((4, 4))[:2, :2])
    ((1, 0), None)
    """
    order = sorted(range(memory.ndim), key=lambda d: -memory.strides[d])
    wide = [d for d in order if memory.shape[d] > 1]
    for outer, inner in itertools.pairwise(wide):
        if memory.strides[outer] != memory.shape[inner] * memory.strides[inner]:
            return None
    if wide and memory.strides[wide[-1]] <= 0:
        return None
    return (*(d for d in order if memory.shape[d] <= 1), *wide)


def overlapping(memory: np.ndarray) -> bool:
    """True if two places of an array may have one element.

    >>> overlapping(np.broadcast_to(1.0, 3)), overlapping(np.zeros(6)[::-2])
    (True, False)
    """
    if memory.flags.c_contiguous or not memory.size:
        return False
    strides, shape = memory.strides, memory.shape
    wide = sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1)
    reach = memory.itemsize
    for step, extent in wide:
        if step < reach:
            return True
        reach += (extent - 1) * step
    return False


def same_place(one: np.ndarray, other: np.ndarray) -> bool:
    """True if two arrays have their elements at the same addresses, in order."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    wide = [d for d, n in enumerate(one.shape) if n > 1]
    alike = all(one.strides[d] == other.strides[d] for d in wide)
    return not one.size or (alike and address(one) == address(other))


def address(memory: np.ndarray) -> int:
    """The address of the first element."""
    found: int = memory.__array_interface__["data"][0]
    return found
