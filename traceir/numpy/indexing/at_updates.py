"""`x.at[index].set(y)`: an updated copy of an array. Serves: index.*, update.*

Made of `scatter` and its kin. The same equations serve traced and eager calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base import source_info
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.dtypes import kind_of
from traceir.lax.checks.int_ranges import held
from traceir.lax.checks.operands import Operand, convert, is_tracer, joined
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.arithmetic import divide
from traceir.numpy.elementwise.composites import power
from traceir.numpy.indexing.getitem import read
from traceir.numpy.indexing.scattering import Scatter, ScatterOptions, scattered
from traceir.tracing.eval_trace import ensure_compile_time_eval
from traceir.transforms.batching.vmap import vmap

if TYPE_CHECKING:
    from traceir.arrays.array_interface import Updates

Combine = Callable[[Any, Any], Any]


@entry_points("__setitem__")
@dataclass(frozen=True, slots=True)
class IndexUpdates:
    """The attribute `x.at`: index it to say which elements an update is about.

    >>> import traceir.numpy as jnp
    >>> jnp.arange(4).at[1].set(9)
    Array([0, 9, 2, 3], dtype=int32)
    """

    array: Array

    def __getitem__(self, index: Any) -> IndexUpdate:
        return IndexUpdate(self.array, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise rules.error("array.immutable", got=f"x.at[{index!r}] = {value!r}")


if TYPE_CHECKING:  # arrays declare what this is
    _declared: Callable[[Array], Updates[Array]] = IndexUpdates


@entry_points(
    *("get", "set", "add", "subtract", "multiply", "min", "max", "divide"),
    *("power", "apply"),
)
@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """The value of `x.at[index]`: elements of a copy, which a method updates.

    The index is one that `x[index]` can have. The result has the array's dtype; an
    update meets the array in the dtype in which both are promoted, and broadcasts to
    the shape of `x[index]` (face.broadcast-to); one of no elements changes nothing.
    If an index names an element more than once, updates follow one another in the
    order of the index.

    Options of every method: `mode`, by default "drop": a place outside is left out;
    with "clip" it is the nearest one inside. `indices_are_sorted` and `unique_indices`
    promise what they say. Without `wrap_negative_indices`, negative places are outside.
    """

    array: Array
    index: Any

    @takes_out_sharding
    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
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

    @takes_out_sharding
    def set(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy with `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.zeros(3).at[1:].set(jnp.array([5.0, 6.0]))
        Array([0., 5., 6.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter, values, *flags)

    @takes_out_sharding
    def add(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy with `values` added at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[jnp.array([0, 0])].add(2)
        Array([5., 1., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_add, values, *flags)

    @takes_out_sharding
    def subtract(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy with `values` subtracted at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].subtract(2)
        Array([-1.,  1.,  1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_sub, values, *flags)

    @takes_out_sharding
    def multiply(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy multiplied by `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].multiply(2)
        Array([2., 1., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_mul, values, *flags)

    mul = multiply

    @takes_out_sharding
    def min(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy with the lesser of itself and `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].min(-2)
        Array([-2.,  1.,  1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_min, values, *flags)

    @takes_out_sharding
    def max(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy with the greater of itself and `values` at the index.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].max(2)
        Array([2., 1., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._apply(lax.scatter_max, values, *flags)

    @takes_out_sharding
    def divide(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy divided by `values` at the index: by their product in the array's
        dtype. The result is floating.

        >>> import traceir.numpy as jnp
        >>> jnp.ones(3).at[0].divide(2)
        Array([0.5, 1. , 1. ], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        return self._by_product(divide, values, *flags)

    @takes_out_sharding
    def power(
        self,
        values: Operand,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: OutSharding = None,
    ) -> Array:
        """A copy raised to the power of `values` at the index: of their product in the
        array's dtype.

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
        """A copy with `func` of each element at the index, a scalar to a scalar.

        If the index names an element more than once, it is applied as often. With
        places that are traced this is a loop, which has no reverse derivative unless
        `unique_indices` promises that there are none.

        >>> import traceir.numpy as jnp
        >>> jnp.arange(3.0).at[1:].apply(jnp.negative)
        Array([ 0., -1., -2.], dtype=float32)
        >>> jnp.ones(2).at[jnp.array([0, 0])].apply(lambda v: 2 * v)
        Array([4., 1.], dtype=float32)
        """
        flags = indices_are_sorted, unique_indices, mode, wrap_negative_indices
        if not self.array.size:
            return self._apply(lax.scatter, 0, *flags)
        times = None if unique_indices else self._times(mode, wrap_negative_indices)
        if times is None:
            old = read(self.array, self.index, *flags[:3], None, flags[3])
            new = convert(_each(func, old), self.array.dtype, self.array.weak_type)
            return self._apply(lax.scatter, new, *flags)
        counts, most = times

        def again(round: Any, x: Array) -> Array:
            new = convert(_each(func, x), x.dtype, x.weak_type)
            return lax.select_n(lax.gt(counts, lax.full_like(counts, round)), x, new)

        found: Array = lax.fori_loop(0, most, again, self.array)
        return found

    def _times(self, mode: Any, wrap: bool) -> tuple[Array, Any] | None:
        """The counts of elements in the index, and their bound; None if all are 1."""
        parts = self.index if isinstance(self.index, tuple) else (self.index,)
        arrays = [p for p in parts if isinstance(p, (Array, np.ndarray)) and p.ndim]
        if not any(p.dtype != bool for p in arrays) or not self.array.size:
            return None
        traced = any(map(is_tracer, parts))
        with nullcontext() if traced else ensure_compile_time_eval():
            none = lax.full(self.array.shape, 0, np.dtype("int32"))
            at = IndexUpdate(none, self.index)
            counts = at.add(1, mode=mode, wrap_negative_indices=wrap)
            most = lax.reduce_max(counts, range(counts.ndim))
        if traced:
            return counts, most
        return (counts, int(most)) if int(most) > 1 else None

    def _new(self, values: Operand) -> Array:
        """The values of an update; an int may be any that the array's dtype holds."""
        dtype = self.array.dtype
        own = type(values) is int and kind_of(dtype) in "iu"
        return asarray(held(values, dtype) if own else values)

    def _apply(self, scatter: Scatter, values: Operand, *flags: Any) -> Array:
        """Updates by a scatter."""
        x, new = self.array, self._new(values)
        found = scattered(scatter, x, self.index, new, ScatterOptions(*flags))
        _warn_of_loss(new, x)
        return found

    def _by_product(self, combine: Combine, values: Operand, *flags: Any) -> Array:
        """`combine` of the array and, in its dtype, the product of all updates of each
        element."""
        x, new = self.array, self._new(values)
        _warn_of_loss(new, x)
        ones: Array = lax.full_like(x, 1)
        options = ScatterOptions(*flags)
        factors = scattered(lax.scatter_mul, ones, self.index, new, options)
        found: Array = combine(x, factors)
        return found


def _each(func: Callable[[Array], Array], x: Array) -> Array:
    """`func` of each element by itself."""
    found: Any = vmap(func)(lax.reshape(x, (x.size,)))
    return lax.reshape(found, x.shape)


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
        place = source_info.capture(3)
        if place is not None:
            warnings.warn_explicit(text, FutureWarning, place.file, place.line)
