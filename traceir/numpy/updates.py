"""`x.at[index].set(y)`: a changed copy of an array. Serves: index.*, update.*

Made of `scatter` and its kin. The same equations serve traced and eager calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax, rules, source
from traceir.array import Array
from traceir.dtypes import kind_of
from traceir.lax.indexing import ScatterDimensionNumbers
from traceir.lax.operands import Operand, convert, is_tracer, joined, shape_of
from traceir.numpy.composites import power
from traceir.numpy.creation import asarray, broadcast_to
from traceir.numpy.elementwise import add, divide, maximum, minimum, multiply, subtract
from traceir.numpy.indexers import Plan, entries, indices_of, plan_of, unmasked
from traceir.numpy.indexing import read
from traceir.records import dataclass
from traceir.trace import typeof

Combine = Callable[[Any, Any], Any]
Scatter = Callable[..., Array]


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
class _Options:
    """How an update is done, besides what it does."""

    indices_are_sorted: bool
    unique_indices: bool
    mode: Any
    wrap: bool


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """What `x.at[index]` is: the elements of a copy that a method updates.

    The index is one that `x[index]` can have, and besides, together with a scalar, a
    traced mask. The result has the array's dtype; an update meets the array in the
    dtype in which both are promoted, and broadcasts to the shape of `x[index]`
    (face.broadcast-to). Where an index names an element more than once, updates follow
    one another in the order of the index.

    Options of every method: `mode`, by default "drop": a place outside is left out;
    with "clip" it is the nearest one inside. `indices_are_sorted` and `unique_indices`
    promise what they say. Without `wrap_negative_indices`, negative places are outside.
    """

    array: Array
    index: Any

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """The elements themselves, as `x[index]`.

        With `mode="fill"`, what is outside is `fill_value`, by default NaN, the least
        integer, the greatest unsigned one, or True.

        >>> import traceir.numpy as jnp
        >>> jnp.arange(4).at[1].get()
        Array(1, dtype=int32)
        >>> jnp.arange(4).at[jnp.array([1, 7])].get(mode="fill", fill_value=-1)
        Array([ 1, -1], dtype=int32)
        """
        flags = indices_are_sorted, unique_indices
        wrap = wrap_negative_indices
        return read(self.array, self.index, *flags, mode, fill_value, wrap)

    def set(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy with `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.zeros(3).at[1:].set(jnp.array([5.0, 6.0]))
        Array([0., 5., 6.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter, lambda old, new: new, values, *flags)

    def add(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy with `values` added at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[jnp.array([0, 0])].add(2)
        Array([5., 1., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_add, add, values, *flags)

    def subtract(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy with `values` subtracted at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].subtract(2)
        Array([-1.,  1.,  1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_sub, subtract, values, *flags)

    def multiply(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy multiplied by `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].multiply(2)
        Array([2., 1., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_mul, multiply, values, *flags)

    mul = multiply

    def min(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy with the lesser of itself and `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].min(-2)
        Array([-2.,  1.,  1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_min, minimum, values, *flags)

    def max(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy with the greater of itself and `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].max(2)
        Array([2., 1., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_max, maximum, values, *flags)

    def divide(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy divided by `values` at the index, in the array's dtype.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].divide(2)
        Array([0.5, 1. , 1. ], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._by_product(divide, values, *flags)

    def power(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy raised to the power of `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.array([3, 4]).at[0].power(2)
        Array([9, 4], dtype=int32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._by_product(power, values, *flags)

    def apply(
        self,
        func: Callable[[Array], Array],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """A copy with `func` of the elements at the index, which gives as many.

        It is applied once, also where the index names an element more than once.

        >>> import traceir.numpy as jnp
        >>> jnp.arange(3.0).at[1:].apply(jnp.negative)
        Array([ 0., -1., -2.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        if (mask := _traced_mask(self.index)) is not None:
            return _masked(self.array, mask, lambda old, new: func(old), 0)
        old = read(self.array, self.index, *flags[:3], None, flags[3])
        new = convert(func(old), self.array.dtype, self.array.weak_type)
        return self.set(
            new,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            wrap_negative_indices=wrap_negative_indices,
        )

    def _apply(
        self,
        scatter: Scatter,
        combine: Combine,
        values: Operand,
        *flags: Any,
    ) -> Array:
        """Updates by a scatter; through a traced mask by `combine` and a choice."""
        x, new = self.array, asarray(values)
        if (mask := _traced_mask(self.index)) is not None:
            _warn_of_loss(new, x)
            return _masked(x, mask, combine, new)
        _warn_of_loss(new, x)
        return _scattered(scatter, x, self.index, new, _Options(*flags))

    def _by_product(self, combine: Combine, values: Operand, *flags: Any) -> Array:
        """`combine` of the array and the product of all updates of each element."""
        x, new = self.array, asarray(values)
        _warn_of_loss(new, x)
        if (mask := _traced_mask(self.index)) is not None:
            return _masked(x, mask, combine, new)
        ones = lax.full(x.shape, 1, x.dtype)
        options = _Options(*flags)
        dtype, _ = joined((x, new))
        factors = _scattered(lax.scatter_mul, ones, self.index, new, options, dtype)
        found: Array = convert(combine(x, factors), x.dtype, x.weak_type)
        return found


def _warn_of_loss(values: Array, x: Array) -> None:
    """Warn (FutureWarning) where the array's dtype has no fractions, or no imaginary
    parts, and the values' has; raises ValueError (promote.strict)."""
    joined((values, x))
    have, kind = kind_of(values.dtype), kind_of(x.dtype)
    if (have == "f" and kind not in "fc") or (have == "c" and kind != "c"):
        lost = "imaginary part" if have == "c" else "fraction"
        text = (
            f"an update of dtype {values.dtype.name} loses its {lost} in an array of "
            f"dtype {x.dtype.name}; convert it before to say that this is meant"
        )
        place = source.capture(3)
        if place is not None:
            warnings.warn_explicit(text, FutureWarning, place.file, place.line)


def _scattered(
    scatter: Scatter,
    x: Array,
    index: Any,
    values: Operand,
    options: _Options,
    dtype: np.dtype | None = None,
) -> Array:
    """A copy with values written at an index by some scatter; in that dtype, if given.

    It is computed in the dtype in which the two meet.
    """
    plain, parts = unmasked(x, entries(index, x.ndim))
    plan = plan_of(plain.shape, parts, options.wrap)
    indices = indices_of(plan)
    wide, weak = joined((x, values))
    given = _fitted(convert(values, wide, weak), plan)
    if any(plain.shape[d] == 0 for d in plan.collapsed) or plan.empty:
        return x
    numbers = ScatterDimensionNumbers(
        plan.windows, plan.collapsed, tuple(c.dim for c in plan.columns)
    )
    changed = scatter(
        convert(plain, wide, weak),
        indices,
        given,
        numbers,
        indices_are_sorted=options.indices_are_sorted or plan.apart,
        unique_indices=options.unique_indices or plan.apart,
        mode=options.mode,
    )
    if plain is not x:
        changed = lax.reshape(changed, x.shape)
    found: Array = convert(changed, dtype or x.dtype, dtype is None and x.weak_type)
    return found


def _fitted(values: Operand, plan: Plan) -> Operand:
    """Values in the shape of what the plan takes; ValueError (face.broadcast-to)."""
    shape = list(plan.shape)
    for d in plan.new:
        shape.insert(d, 1)
    given = values
    if shape_of(values) != tuple(shape):
        given = broadcast_to(values, tuple(shape))
    given = lax.squeeze(given, plan.new)
    return lax.rev(given, plan.turned) if plan.turned else given


# --- masks that are traced ------------------------------------------------------------


def _traced_mask(index: Any) -> Any:
    """The mask that an index is, if its elements are not known, or None."""
    return index if is_tracer(index) and index.dtype == bool else None


def _masked(x: Array, mask: Array, combine: Combine, new: Any) -> Array:
    """A choice, element by element, which keeps the shape."""
    if mask.shape != x.shape[: mask.ndim]:
        raise rules.error("index.mask-shape", got=f"{mask.shape} on {x.shape}")
    if shape_of(new):
        raise rules.error("update.mask", got=typeof(new).str_short())
    which = lax.broadcast_in_dim(mask, x.shape, range(mask.ndim))
    changed = convert(combine(x, new), x.dtype, x.weak_type)
    return lax.select_n(which, x, broadcast_to(changed, x.shape))
