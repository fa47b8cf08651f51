"""Gathers and scatters: windows at rows of indices.

Serves: gather, scatter, scatter-add, scatter-sub, scatter-mul, scatter-min, scatter-max
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.dtypes import iinfo, is_key, kind_of
from traceir.ir.params import CHOICES, NAMED_NUMBERS, NamedInPrograms
from traceir.lax.checks.operands import Operand, as_array
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.shapes import shape_tuple
from traceir.lax.checks.warnings import refuse_part
from traceir.tracing.trace import bind_one

Shape = tuple[int, ...]


class GatherScatterMode(NamedInPrograms):
    """The treatment of index rows whose window does not lie inside the array.

    CLIP moves the window. FILL_OR_DROP fills what is read, and leaves out what is
    written. PROMISE_IN_BOUNDS says that there is none; if there is, it is moved.

    >>> GatherScatterMode.CLIP.value
    'clip'
    """

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"

    @classmethod
    def from_any(
        cls, mode: Any, usual: GatherScatterMode | None = None
    ) -> GatherScatterMode:
        """The mode of a name: "clip", "fill" or "drop", "promise_in_bounds", or None.

        For None it is the usual one, FILL_OR_DROP; with `sanitize`, nobody asked to be
        outside. Raises ValueError (index.mode).

        >>> from traceir import lax
        >>> lax.GatherScatterMode.from_any("drop").name
        'FILL_OR_DROP'
        """
        if mode is None:
            if local.context.sanitize:
                return cls.PROMISE_IN_BOUNDS
            return usual or cls.FILL_OR_DROP
        try:
            return cls("fill" if mode == "drop" else mode)
        except ValueError:
            raise rules.error("index.mode", got=repr(mode)) from None


class GatherDimensionNumbers(NamedTuple):
    """The correspondence of dimensions of the operand, the indices and the result of
    `gather`.

    >>> GatherDimensionNumbers((1,), (0,), (0,)).operand_batching_dims
    ()
    """

    offset_dims: Shape
    collapsed_slice_dims: Shape
    start_index_map: Shape
    operand_batching_dims: Shape = ()
    start_indices_batching_dims: Shape = ()


class ScatterDimensionNumbers(NamedTuple):
    """The correspondence of dimensions of the operand, the indices and the updates.

    >>> ScatterDimensionNumbers((1,), (0,), (0,)).operand_batching_dims
    ()
    """

    update_window_dims: Shape
    inserted_window_dims: Shape
    scatter_dims_to_operand_dims: Shape
    operand_batching_dims: Shape = ()
    scatter_indices_batching_dims: Shape = ()


CHOICES["mode"] = GatherScatterMode
NAMED_NUMBERS["slice_sizes"] = GatherDimensionNumbers
NAMED_NUMBERS["update_consts"] = ScatterDimensionNumbers


def check_inside(places: Any, extent: int) -> None:
    """Raise IndexError (sanitize.index) for places outside, if `sanitize` is set."""
    if not local.context.sanitize:
        return
    given = np.asarray(places)
    outside = (given < -extent) | (given >= extent)
    if outside.any():
        got = f"place {given[outside].flat[0]} of {extent} elements"
        raise rules.error("sanitize.index", got=got)


def _numbers(given: Sequence[Sequence[int]]) -> tuple[Shape, ...]:
    return tuple(map(shape_tuple, given))


def gather(
    operand: Operand,
    start_indices: Operand,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Array:
    """A window of the operand for each row of the indices, which lie along their last
    dimension: `start_index_map[k]` is the dimension that its entry k is a place in.

    Of each window those dimensions are left out that are collapsed, or batching ones;
    the others become the `offset_dims` of the result. Windows outside are filled by
    NaN, the least or the greatest integer or True, unless a value is given. Raises the
    clauses of gather, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = GatherDimensionNumbers((1,), (0,), (0,))
    >>> gather(jnp.eye(3), jnp.array([[2], [0]]), numbers, (1, 3))
    Array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """
    x = as_array(checked("gather", operand))
    places = as_array(checked("gather", start_indices, 1))
    found = GatherScatterMode.from_any(mode, GatherScatterMode.PROMISE_IN_BOUNDS)
    fill = None
    if found is GatherScatterMode.FILL_OR_DROP:
        fill = fill_of(x.dtype) if fill_value is None else _number(fill_value, x.dtype)
    return bind_one(
        "gather",
        x,
        places,
        dimension_numbers=_numbers(dimension_numbers),
        slice_sizes=shape_tuple(slice_sizes),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=str(found),
        fill_value=fill,
    )


def fill_of(dtype: np.dtype) -> Any:
    """The value of an element out of bounds, unless something else is asked for.

    >>> fill_of(np.dtype("float32")), fill_of(np.dtype("int8")), fill_of(np.dtype("u1"))
    (nan, -128, 255)

    All words of a key are the greatest ones.
    """
    if is_key(dtype):
        return fill_of(np.dtype("uint32"))
    match kind_of(dtype):
        case "f" | "c":
            return float("nan")
        case "b":
            return True
        case "i":
            return int(iinfo(dtype).min)
    return int(iinfo(dtype).max)


def _number(value: Any, dtype: np.dtype) -> Any:
    """A number as a param: as it was given, or as an array of integers has it.

    Raises TypeError (face.imaginary).
    """
    plain = type(value) in (bool, int, float, complex)
    number = value if plain else np.asarray(value).item()
    if is_key(dtype):
        dtype = np.dtype("uint32")
    refuse_part((number,), dtype)
    return number if kind_of(dtype) == "f" else np.asarray(number).astype(dtype).item()


def _scatter(
    name: str,
    x: Operand,
    indices: Operand,
    updates: Operand,
    numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: str | GatherScatterMode | None,
) -> Array:
    given = [checked(name, v, k) for k, v in enumerate((x, indices, updates))]
    found = GatherScatterMode.from_any(mode, GatherScatterMode.FILL_OR_DROP)
    return bind_one(
        name,
        *map(as_array, given),
        dimension_numbers=_numbers(numbers),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=str(found),
    )


def scatter(
    operand: Operand,
    scatter_indices: Operand,
    updates: Operand,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """A copy of the operand with a window of the updates written over for each row of
    the indices, in the order of the rows.

    Raises the clauses of scatter, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> new = jnp.array([1.0, 2.0, 3.0])
    >>> scatter(jnp.zeros(3), jnp.array([[2], [0], [2]]), new, numbers)
    Array([2., 0., 3.], dtype=float32)
    """
    options = indices_are_sorted, unique_indices, mode
    return _scatter(
        "scatter", operand, scatter_indices, updates, dimension_numbers, *options
    )


def scatter_add(
    operand: Operand,
    scatter_indices: Operand,
    updates: Operand,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """As `scatter`, but each update is added to it.

    Raises the clauses of scatter-add, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> new = jnp.array([1.0, 2.0, 3.0])
    >>> scatter_add(jnp.ones(3), jnp.array([[2], [0], [2]]), new, numbers)
    Array([3., 1., 5.], dtype=float32)
    """
    options = indices_are_sorted, unique_indices, mode
    return _scatter(
        "scatter-add", operand, scatter_indices, updates, dimension_numbers, *options
    )


def scatter_sub(
    operand: Operand,
    scatter_indices: Operand,
    updates: Operand,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """As `scatter`, but each update is subtracted from it.

    Raises the clauses of scatter-sub, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> new = jnp.array([1.0, 2.0, 3.0])
    >>> scatter_sub(jnp.ones(3), jnp.array([[2], [0], [2]]), new, numbers)
    Array([-1.,  1., -3.], dtype=float32)
    """
    options = indices_are_sorted, unique_indices, mode
    return _scatter(
        "scatter-sub", operand, scatter_indices, updates, dimension_numbers, *options
    )


def scatter_mul(
    operand: Operand,
    scatter_indices: Operand,
    updates: Operand,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """As `scatter`, but each update is multiplied into it.

    Raises the clauses of scatter-mul, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> new = jnp.array([1.0, 2.0, 3.0])
    >>> scatter_mul(jnp.ones(3), jnp.array([[2], [0], [2]]), new, numbers)
    Array([2., 1., 3.], dtype=float32)
    """
    options = indices_are_sorted, unique_indices, mode
    return _scatter(
        "scatter-mul", operand, scatter_indices, updates, dimension_numbers, *options
    )


def scatter_min(
    operand: Operand,
    scatter_indices: Operand,
    updates: Operand,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """As `scatter`, but each update is taken where it is less.

    Raises the clauses of scatter-min, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> new = jnp.array([1.0, 2.0, 3.0])
    >>> scatter_min(jnp.ones(3), jnp.array([[2], [0], [2]]), new, numbers)
    Array([1., 1., 1.], dtype=float32)
    """
    options = indices_are_sorted, unique_indices, mode
    return _scatter(
        "scatter-min", operand, scatter_indices, updates, dimension_numbers, *options
    )


def scatter_max(
    operand: Operand,
    scatter_indices: Operand,
    updates: Operand,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """As `scatter`, but each update is taken where it is greater.

    Raises the clauses of scatter-max, ValueError (index.mode).

    >>> import traceir.numpy as jnp
    >>> numbers = ScatterDimensionNumbers((), (0,), (0,))
    >>> new = jnp.array([1.0, 2.0, 3.0])
    >>> scatter_max(jnp.ones(3), jnp.array([[2], [0], [2]]), new, numbers)
    Array([2., 1., 3.], dtype=float32)
    """
    options = indices_are_sorted, unique_indices, mode
    return _scatter(
        "scatter-max", operand, scatter_indices, updates, dimension_numbers, *options
    )
