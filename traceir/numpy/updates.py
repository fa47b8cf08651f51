"""`x.at[index].set(y)`: a changed copy of an array. Serves: index.*, update.*

Made of primitives: a mask of the places that the index takes, the update spread over
them, and a choice between the two. The same equations serve traced and eager calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax, rules, source
from traceir.array import Array
from traceir.dtypes import kind_of
from traceir.lax.operands import (
    Operand,
    convert,
    default_dtype,
    is_tracer,
    joined,
    shape_of,
    typed,
)
from traceir.numpy import composites, elementwise
from traceir.numpy.creation import asarray, broadcast_to
from traceir.numpy.indexing import Cut, cuts_of, entries, getitem
from traceir.records import dataclass
from traceir.trace import typeof

Combine = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class IndexUpdates:
    """What `x.at` is: index it to say which elements an update is about.

    >>> import traceir.numpy as jnp
    >>> jnp.arange(4).at[1].set(9)
    Array([0, 9, 2, 3], dtype=int32)
    """

    array: Array

    def __getitem__(self, index: Any) -> IndexUpdate:
        return IndexUpdate(self.array, index)


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """What `x.at[index]` is: the elements of a copy that a method updates.

    The index is one of ints, slices, None and Ellipsis, or a boolean mask together
    with a scalar. An update takes the array's dtype, and broadcasts to the shape of
    `x[index]` (face.broadcast-to); a place outside the array is left out.
    """

    array: Array
    index: Any

    def get(self) -> Array:
        """The elements themselves, as `x[index]`.

        >>> import traceir.numpy as jnp
        >>> jnp.arange(4).at[1].get()
        Array(1, dtype=int32)
        """
        return getitem(self.array, self.index)

    def set(self, values: Operand) -> Array:
        """A copy with `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.zeros(3).at[1:].set(jnp.array([5.0, 6.0]))
        Array([0., 5., 6.], dtype=float32)
        """
        return self._apply(lambda old, new: new, values)

    def add(self, values: Operand) -> Array:
        """A copy with `values` added at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].add(2)
        Array([3., 1., 1.], dtype=float32)
        """
        return self._apply(elementwise.add, values)

    def subtract(self, values: Operand) -> Array:
        """A copy with `values` subtracted at the index."""
        return self._apply(elementwise.subtract, values)

    def multiply(self, values: Operand) -> Array:
        """A copy multiplied by `values` at the index."""
        return self._apply(elementwise.multiply, values)

    mul = multiply

    def divide(self, values: Operand) -> Array:
        """A copy divided by `values` at the index, in the array's dtype."""
        return self._apply(elementwise.divide, values)

    def power(self, values: Operand) -> Array:
        """A copy raised to the power of `values` at the index."""
        return self._apply(composites.power, values)

    def min(self, values: Operand) -> Array:
        """A copy with the lesser of itself and `values` at the index."""
        return self._apply(elementwise.minimum, values)

    def max(self, values: Operand) -> Array:
        """A copy with the greater of itself and `values` at the index."""
        return self._apply(elementwise.maximum, values)

    def apply(self, function: Callable[[Array], Array]) -> Array:
        """A copy with `function` of the elements at the index."""
        return self._apply(lambda old, new: function(old), 0)

    def _apply(self, combine: Combine, values: Operand) -> Array:
        x = self.array
        new = _fitting_dtype(asarray(values), x)
        mask = _mask_of(self.index)
        if mask is not None:
            return _masked(x, mask, combine, new)
        parts = entries(self.index, x.ndim)
        if _outside(parts, x.shape):
            return x
        cuts = list(cuts_of(parts, x.shape))
        if any(cut.step < 0 for cut in cuts):
            raise rules.error("index.reverse", got=str(self.index))
        taken = _taken(cuts, parts)
        spread = _spread(broadcast_to(new, taken), cuts, x.shape)
        changed = convert(combine(x, spread), x.dtype, x.weak_type)
        return _choose(cuts, x, changed)


def _fitting_dtype(values: Array, x: Array) -> Operand:
    """The update in the array's dtype; warns (FutureWarning) where that narrows.

    Raises ValueError (promote.strict).
    """
    joined((values, x))
    if kind_of(values.dtype) == "f" and kind_of(x.dtype) != "f":
        text = (
            f"an update of dtype {values.dtype.name} loses its fraction in an array of "
            f"dtype {x.dtype.name}; convert it with astype to say that this is meant"
        )
        place = source.capture(3)
        if place is not None:
            warnings.warn_explicit(text, FutureWarning, place.file, place.line)
    return convert(values, x.dtype, x.weak_type)


def _mask_of(index: Any) -> Any:
    """The mask that an index is, or None."""
    if isinstance(index, (Array, np.ndarray)) and index.dtype == bool:
        return asarray(index)
    return None


def _masked(
    x: Array, mask: Array, combine: Callable[[Any, Any], Any], new: Any
) -> Array:
    if mask.shape != x.shape[: mask.ndim]:
        raise rules.error("index.mask-shape", got=f"{mask.shape} on {x.shape}")
    if shape_of(new):
        raise rules.error("update.mask", got=typeof(new).str_short())
    which = lax.broadcast_in_dim(mask, x.shape, range(mask.ndim))
    changed = convert(combine(x, new), x.dtype, x.weak_type)
    return lax.select_n(which, x, broadcast_to(changed, x.shape))


def _outside(parts: list[Any], shape: tuple[int, ...]) -> bool:
    """Whether an int of the index lies outside the array, which drops the update."""
    places = [p for p in parts if p is not None]
    for part, extent in zip(places, shape, strict=True):
        if is_tracer(part):
            raise rules.error("index.traced", got=part.aval.str_short())
        if isinstance(part, (Array, np.ndarray)) and part.ndim:
            raise rules.error("index.gather", got=f"an array of shape {part.shape}")
        whole = isinstance(part, slice)
        if (
            not whole
            and hasattr(part, "__index__")
            and not (-extent <= part.__index__() < extent)
        ):
            return True
    return False


def _taken(cuts: list[Cut], parts: list[Any]) -> tuple[int, ...]:
    """The shape of `x[index]`."""
    left = iter(cuts)
    shape: list[int] = []
    for part in parts:
        if part is None:
            shape.append(1)
        else:
            cut = next(left)
            shape += [cut.size] if cut.whole else []
    return tuple(shape)


def _spread(values: Array, cuts: list[Cut], shape: tuple[int, ...]) -> Array:
    """The update as an array of the whole shape, right where the index is."""
    values = lax.reshape(values, [cut.size for cut in cuts])
    for axis, cut in enumerate(cuts):
        if cut.size not in (1, cut.extent):
            values = _placed(values, axis, cut)
    return lax.broadcast_in_dim(values, shape, range(len(shape)))


def _placed(values: Array, axis: int, cut: Cut) -> Array:
    """One dimension with its elements where the cut takes them, zeros around them."""
    if cut.step > 1:
        # Element and gap side by side along a new axis, then flat.
        gap = [*values.shape[: axis + 1], cut.step - 1, *values.shape[axis + 1 :]]
        pair = [lax.expand_dims(values, (axis + 1,)), _zeros(gap, values)]
        flat = [*values.shape]
        flat[axis] *= cut.step
        values = lax.reshape(lax.concatenate(pair, axis + 1), flat)
        size = min(flat[axis], cut.extent - cut.start)
        values = lax.slice_in_dim(values, 0, size, axis=axis)
    return _padded(values, axis, cut.start, cut.extent)


def _padded(values: Array, axis: int, start: int, extent: int) -> Array:
    after = extent - start - values.shape[axis]
    parts = []
    for size in (start, after):
        shape = [*values.shape]
        shape[axis] = size
        parts.append(_zeros(shape, values) if size else None)
    before, behind = parts
    joined = [part for part in (before, values, behind) if part is not None]
    return lax.concatenate(joined, axis)


def _zeros(shape: list[int], like: Array) -> Array:
    zero = typed(0, like.dtype, like.weak_type)
    return lax.broadcast_in_dim(zero, shape, ())


def _choose(cuts: list[Cut], x: Array, changed: Array) -> Array:
    """`changed` where all cuts take an element, `x` elsewhere."""
    masks = [_taken_places(d, c, x.ndim) for d, c in enumerate(cuts) if not c.full]
    if not masks:
        return changed
    which = masks[0]
    for mask in masks[1:]:
        which = lax.bitwise_and(which, mask)
    which = lax.broadcast_in_dim(which, x.shape, range(x.ndim))
    return lax.select_n(which, x, changed)


def _taken_places(axis: int, cut: Cut, rank: int) -> Array:
    """Which places of one dimension a cut takes, as booleans of extent 1 elsewhere."""
    integers = default_dtype(int)
    shape = [cut.extent if d == axis else 1 for d in range(rank)]
    places = lax.broadcasted_iota(integers, shape, axis)

    def number(value: int) -> Any:
        return typed(value, integers, False)

    if cut.size == 1:
        return lax.eq(places, number(cut.start))
    inside = lax.bitwise_and(
        lax.ge(places, number(cut.start)),
        lax.lt(places, number(cut.start + cut.size * cut.step)),
    )
    if cut.step == 1:
        return inside
    offset = lax.rem(lax.sub(places, number(cut.start)), number(cut.step))
    return lax.bitwise_and(inside, lax.eq(offset, number(0)))
