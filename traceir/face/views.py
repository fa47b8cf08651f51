"""Steps from an array to a view of it, and back. Serves: face.view"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from traceir import lax
from traceir import numpy as jnp
from traceir.numpy import indexers, indexing
from traceir.records import dataclass


class Strided(Protocol):
    """What is known of an array's memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    strides: tuple[int, ...] | None


class Step(Protocol):
    """One way from an array to a view of it."""

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""

    def read(self, base: Any) -> Any:
        """The elements of the view of a traced array."""

    def write(self, base: Any, value: Any) -> Any:
        """The base with a view's new elements."""

    def strides(self, base: Any) -> tuple[int, ...] | None:
        """The view's strides, counted in elements; None for those of C."""


def indexing_shape(shape: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """The shape of `x[index]` for an `x` of this shape; raises NumPy's IndexError.

    >>> indexing_shape((3, 4), (slice(1, 3), None))
    (2, 1, 4)
    """
    found: tuple[int, ...] = np.broadcast_to(np.int8(0), shape)[index].shape
    return found


class _Strides:
    """Strides as NumPy has them."""

    __slots__ = ()

    def strides(self: Any, base: Strided) -> tuple[int, ...] | None:
        """The view's strides, counted in elements; None for those of C."""
        made = self.of(memory(base))
        return None if made.flags.c_contiguous else made.strides


@dataclass(frozen=True, slots=True)
class Index(_Strides):
    """A basic index: ints, slices, None and Ellipsis."""

    index: Any

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array; without dimensions it is an array, too."""
        index = self.index if isinstance(self.index, tuple) else (self.index,)
        if any(part is Ellipsis for part in index):
            return value[index]
        return value[(*index, ...)]

    def read(self, base: Any) -> Any:
        """The elements that the index takes."""
        return indexing.getitem(base, self.index)

    def write(self, base: Any, value: Any) -> Any:
        """The base with new elements where the index takes them.

        A box of the array is written by one equation, which backends do in place. Every
        k-th element is a box, too: the first column of an array with k columns.
        """
        parts = indexers.entries(self.index, base.ndim)
        cuts = list(indexers.cuts_of(parts, base.shape))
        shape = indexing_shape(base.shape, self.index)
        sizes = [cut.size for cut in cuts]
        box = jnp.reshape(jnp.broadcast_to(value, shape), sizes)
        if 0 in sizes:
            return base
        back = [d for d, cut in enumerate(cuts) if cut.step < 0]
        box = lax.rev(box, back) if back else box
        return _write_box(base, box, [cut.forward for cut in cuts])


def _write_box(base: Any, box: Any, cuts: Sequence[indexers.Cut]) -> Any:
    """The base with a box of new elements, `cut.step` apart in each dimension."""
    if all(cut.step == 1 or cut.size <= 1 for cut in cuts):
        return lax.dynamic_update_slice(base, box, [cut.start for cut in cuts])
    short = [-n % cut.step for n, cut in zip(base.shape, cuts, strict=True)]
    zero = np.zeros((), base.dtype)
    padded = lax.pad(base, zero, [(0, n, 0) for n in short]) if any(short) else base
    split: list[int] = []
    sizes: list[int] = []
    starts: list[int] = []
    for extent, cut in zip(padded.shape, cuts, strict=True):
        split += (extent // cut.step, cut.step)
        sizes += (cut.size, 1)
        starts += divmod(cut.start, cut.step)
    table = jnp.reshape(padded, split)
    table = lax.dynamic_update_slice(table, jnp.reshape(box, sizes), starts)
    whole = jnp.reshape(table, padded.shape)
    return lax.slice(whole, [0] * base.ndim, base.shape) if any(short) else whole


@dataclass(frozen=True, slots=True)
class Reshape(_Strides):
    """The same elements under another shape."""

    shape: tuple[int, ...]
    before: tuple[int, ...]

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array; ValueError if there is only a copy."""
        if value.flags.c_contiguous:
            return value.reshape(self.shape)
        view = value.view()
        try:
            view.shape = self.shape
        except AttributeError:
            raise ValueError("no view has this shape") from None
        return view

    def read(self, base: Any) -> Any:
        """The elements in order."""
        return jnp.reshape(base, self.shape)

    def write(self, base: Any, value: Any) -> Any:
        """New elements under the old shape."""
        return jnp.reshape(value, self.before)


@dataclass(frozen=True, slots=True)
class Transpose(_Strides):
    """The dimensions in another order."""

    axes: tuple[int, ...]

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""
        return value.transpose(self.axes)

    def read(self, base: Any) -> Any:
        """The elements, moved."""
        return jnp.transpose(base, self.axes)

    def write(self, base: Any, value: Any) -> Any:
        """New elements, moved back."""
        return jnp.transpose(value, tuple(np.argsort(self.axes).tolist()))


@dataclass(frozen=True, slots=True)
class Part:
    """The real or the imaginary parts of complex numbers."""

    name: str

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""
        found: np.ndarray = getattr(value, self.name)
        return found

    def read(self, base: Any) -> Any:
        """The parts."""
        return getattr(jnp, self.name)(base)

    def write(self, base: Any, value: Any) -> Any:
        """The numbers with new parts of this name, and the others as they were."""
        if self.name == "real":
            return lax.complex(value, lax.imag(base))
        return lax.complex(lax.real(base), value)

    def strides(self, base: Strided) -> tuple[int, ...] | None:
        """Twice those of the numbers: between two parts lies one of the other name."""
        return tuple(2 * s for s in base.strides or contiguous(base.shape))


def memory(array: Strided) -> np.ndarray:
    """A NumPy array with an array's shape and strides, and no elements to look at."""
    strides = array.strides
    if strides is None:
        strides = contiguous(array.shape)
    return as_strided(np.zeros(1, np.int8), array.shape, strides)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a C-contiguous array, counted in elements.

    >>> contiguous((2, 3, 4))
    (12, 4, 1)
    """
    found = [1]
    for extent in reversed(shape[1:]):
        found.append(found[-1] * max(extent, 1))
    return tuple(reversed(found)) if shape else ()


def ordered_like(
    shape: tuple[int, ...], operands: Sequence[Strided]
) -> tuple[int, ...] | None:
    """The strides of what a universal function makes of these arrays.

    NumPy puts the elements in memory in the order that the operands have; the order of
    the dimensions is found with arrays of extents up to 2.
    """
    if all(array.strides is None for array in operands):
        return None
    small = np.broadcast_arrays(*[_small(array) for array in operands])
    found = functools.reduce(operator.add, small)
    return None if found.flags.c_contiguous else laid_out(shape, found.strides)


def _small(array: Strided) -> np.ndarray:
    """A NumPy array with the same order of dimensions, of extents up to 2."""
    least = tuple(min(n, 2) for n in array.shape)
    strides = laid_out(least, array.strides or contiguous(array.shape))
    last = sum((n - 1) * s for n, s in zip(least, strides, strict=True))
    return as_strided(np.empty(max(last, 0) + 1, np.int8), least, strides)


def laid_out(shape: Sequence[int], like: Sequence[int]) -> tuple[int, ...]:
    """The strides of a dense array whose dimensions lie in the order of others'.

    >>> laid_out((2, 3), (1, 5))
    (1, 2)
    """
    order = np.argsort([-abs(s) for s in like], kind="stable")
    dense = contiguous([shape[d] for d in order])
    return tuple(dense[k] for k in np.argsort(order, kind="stable"))
