"""The steps from an array to its view: index, reshape, transpose. Serves: face.view

To read a view is to apply its step to the base's value; to write is to make the base's
new value, so an update is one equation, or one for each step. Whoever takes an operand
takes its value of that moment (`Tracer.now`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from traceir import lax
from traceir import numpy as jnp
from traceir.base.fast_dataclass import dataclass
from traceir.face.arrays.layouts import address, dense_order, same_place
from traceir.numpy.indexing import getitem, index_plan


class ViewStep(Protocol):
    """One way from an array to a view of it."""

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""

    def read(self, base: Any) -> Any:
        """The elements of the view of a traced array."""

    def write(self, base: Any, value: Any) -> Any:
        """The base with a view's new elements."""


def indexing_shape(shape: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """The shape of `x[index]` for an `x` of this shape; raises NumPy's IndexError.

    >>> indexing_shape((3, 4), (slice(1, 3), None))
    (2, 1, 4)
    """
    found: tuple[int, ...] = np.broadcast_to(np.int8(0), shape)[index].shape
    return found


@dataclass(frozen=True, slots=True)
class IndexView:
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
        return getitem.getitem(base, self.index)

    def write(self, base: Any, value: Any) -> Any:
        """The base with new elements where the index takes them.

        A box of the array is written by one equation, which backends do in place. Every
        k-th element is a box, too: the first column of an array with k columns.
        """
        parts = index_plan.entries(self.index, base.ndim)
        cuts = list(index_plan.cuts_of(parts, base.shape))
        shape = indexing_shape(base.shape, self.index)
        sizes = [cut.size for cut in cuts]
        box = jnp.reshape(jnp.broadcast_to(value, shape), sizes)
        if 0 in sizes:
            return base
        back = [d for d, cut in enumerate(cuts) if cut.step < 0]
        box = lax.rev(box, back) if back else box
        return _write_box(base, box, [cut.forward for cut in cuts])


def _write_box(base: Any, box: Any, cuts: Sequence[index_plan.SliceOfDimension]) -> Any:
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
class ReshapeView:
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
class TransposeView:
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
class PartView:
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


@dataclass(frozen=True, slots=True)
class BroadcastView:
    """The elements, repeated along new or wider dimensions; nothing is written."""

    shape: tuple[int, ...]

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""
        return np.broadcast_to(value, self.shape)

    def read(self, base: Any) -> Any:
        """The elements, repeated."""
        return jnp.broadcast_to(base, self.shape)

    def write(self, base: Any, value: Any) -> Any:
        """Whoever writes has asked before whether places share an element."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class StridedView:
    """Elements at a regular distance in memory: diagonals, windows, any strides.

    `order` are the dimensions of the base from the outermost to the innermost; `first`
    and `strides` are counted in elements of the base.
    """

    order: tuple[int, ...]
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""
        flat = value.transpose(self.order).reshape(-1)
        unit = flat.strides[0]
        strides = [s * unit for s in self.strides]
        return as_strided(flat[self.first :], self.shape, strides)

    def read(self, base: Any) -> Any:
        """The elements, one by one."""
        flat = self._flat(base)
        return flat.at[self._places()].get(mode="clip")

    def write(self, base: Any, value: Any) -> Any:
        """The base with new elements at these places."""
        flat = self._flat(base).at[self._places()].set(value, mode="clip")
        turned = jnp.reshape(flat, [base.shape[d] for d in self.order])
        return TransposeView(self.order).write(turned, turned)

    def _flat(self, base: Any) -> Any:
        return jnp.reshape(jnp.transpose(base, self.order), (-1,))

    def _places(self) -> Any:
        last = self.first + sum(
            abs(s) * n for s, n in zip(self.strides, self.shape, strict=True)
        )
        dtype = np.dtype(np.int32 if last < 2**31 else np.int64)
        found: Any = jnp.full(self.shape, self.first, dtype)
        for axis, stride in enumerate(self.strides):
            count = lax.broadcasted_iota(dtype, self.shape, axis)
            found = lax.add(found, lax.mul(count, lax.full_like(count, stride)))
        return found


@dataclass(frozen=True, slots=True)
class EmptyView:
    """A view without elements."""

    shape: tuple[int, ...]

    def of(self, value: np.ndarray) -> np.ndarray:
        """The view of a NumPy array."""
        return as_strided(value, self.shape, (0,) * len(self.shape))

    def read(self, base: Any) -> Any:
        """No elements."""
        return jnp.zeros(self.shape, base.dtype)

    def write(self, base: Any, value: Any) -> Any:
        """The base as it is."""
        return base


def steps_between(base: np.ndarray, view: np.ndarray) -> list[ViewStep] | None:
    """The steps from an array to a view of it, by their addresses and strides.

    None if the elements of the view do not lie at regular places of the base's.

    >>> steps_between(a := np.zeros((2, 3)), a[1, ::-1])
    [IndexView(index=(slice(1, 2, 1), slice(2, None, -1))),
     IndexView(index=(0, slice(None, None, None)))]
    """
    if not view.size:
        return [EmptyView(view.shape)]
    if base.dtype != view.dtype:
        return _by_part(base, view)
    for way in (_by_axes, _by_reshape, _by_places):
        steps = way(base, view)
        if steps is None:
            continue
        found = base
        for step in steps:
            found = step.of(found)
        if same_place(found, view):
            return steps
    return None


def _by_part(base: np.ndarray, view: np.ndarray) -> list[ViewStep] | None:
    """A view of the real or the imaginary parts."""
    names = ("real", "imag") if base.dtype.kind == "c" else ()
    for name in names:
        part = getattr(base, name)
        steps = steps_between(part, view) if part.dtype == view.dtype else None
        if steps is not None:
            return [PartView(name), *steps]
    return None


def _by_axes(base: np.ndarray, view: np.ndarray) -> list[ViewStep] | None:
    """Cut, turned and repeated: each dimension of the view is one of the base."""
    axes = _matched(base, view)
    if axes is None:
        return None
    cuts = []
    for d, start in enumerate(_starts(base, address(view) - address(base))):
        k = axes.index(d) if d in axes else None
        step = 1 if k is None else view.strides[k] // base.strides[d]
        stop = start + (0 if k is None else (view.shape[k] - 1) * step)
        stop += 1 if step > 0 else -1
        cuts.append(slice(start, None if stop < 0 else stop, step))
    used = [d for d in axes if d is not None]
    rest = [d for d in range(base.ndim) if d not in used]
    steps: list[ViewStep] = [IndexView(tuple(cuts))]
    if (*rest, *used) != tuple(range(base.ndim)):
        steps.append(TransposeView((*rest, *used)))
    index = [0] * len(rest) + [None if d is None else slice(None) for d in axes]
    if rest or None in axes:
        steps.append(IndexView(tuple(index)))
    if any(d is None and n > 1 for d, n in zip(axes, view.shape, strict=True)):
        steps.append(BroadcastView(view.shape))
    return steps


def _starts(base: np.ndarray, offset: int) -> list[int]:
    """The place of the element so many bytes after the first, if there is one."""
    found = [0] * base.ndim
    wide = [d for d, n in enumerate(base.shape) if n > 1 and base.strides[d]]
    offset -= sum(min(base.strides[d], 0) * (base.shape[d] - 1) for d in wide)
    for d in sorted(wide, key=lambda d: -abs(base.strides[d])):
        last = base.shape[d] - 1
        forward = min(offset // abs(base.strides[d]), last)
        offset -= forward * abs(base.strides[d])
        found[d] = forward if base.strides[d] > 0 else last - forward
    return found


def _matched(base: np.ndarray, view: np.ndarray) -> list[int | None] | None:
    """The dimension of the base along which each dimension of a view runs."""
    found: list[int | None] = []
    free = [d for d, n in enumerate(base.shape) if n > 1 and base.strides[d]]
    free.sort(key=lambda d: -abs(base.strides[d]))
    for stride, extent in zip(view.strides, view.shape, strict=True):
        if extent == 1 or not stride:
            found.append(None)
            continue
        fits = [
            d
            for d in free
            if stride % base.strides[d] == 0
            and abs(stride // base.strides[d]) * (extent - 1) < base.shape[d]
        ]
        if not fits:
            return None
        found.append(fits[0])
        free.remove(fits[0])
    return found


def _by_reshape(base: np.ndarray, view: np.ndarray) -> list[ViewStep] | None:
    """The same elements under another shape."""
    step = ReshapeView(view.shape, base.shape)
    try:
        step.of(base)
    except ValueError:
        return None
    return [step]


def _by_places(base: np.ndarray, view: np.ndarray) -> list[ViewStep] | None:
    """Elements at regular distances in a base whose own are dense."""
    order = dense_order(base)
    if order is None:
        return None
    wide = [base.strides[d] for d in order if base.shape[d] > 1]
    unit = wide[-1] if wide else base.itemsize
    first, rest = divmod(address(view) - address(base), unit)
    strides = [s for s, n in zip(view.strides, view.shape, strict=True) if n > 1]
    if rest or any(s % unit for s in strides):
        return None
    counted = tuple(
        s // unit if n > 1 else 0 for s, n in zip(view.strides, view.shape, strict=True)
    )
    ends = [(n - 1) * s for s, n in zip(counted, view.shape, strict=True)]
    low = first + sum(e for e in ends if e < 0)
    high = first + sum(e for e in ends if e > 0)
    if low < 0 or high >= base.size:
        return None
    return [StridedView(order, first, view.shape, counted)]
