"""Results whose extents values decide: cut when the program has run.

Serves: slice.length, index.mask
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.loop_steps import TracedList
from traceir.face.arrays.stacked import column_of
from traceir.face.control_flow.growing_tables import GrowingTable
from traceir.face.functions.selection import Selection, Unsized
from traceir.face.slices.dynamic_array import DynamicArray
from traceir.face.slices.extents import SlicedAxis
from traceir.pytrees.registry import register_pytree_node
from traceir.pytrees.treedef import TreeDef
from traceir.tracing.trace import Tracer

# The parts of an index: a `mask`, a `place`, or the two bounds of a `slice`.
Form = tuple[str, ...]
_DEVICE = "__cuda_array_interface__"


@dataclass(frozen=True, eq=False, slots=True)
class DynamicResult:
    """An array that a program gives, and the index of the result in it.

    `parts` are the values in the index, of the kinds in `form`; `dims` are the
    dimensions that the result has, in order, None a new one.
    """

    base: Any
    parts: tuple[Any, ...]
    form: Form
    dims: tuple[int | None, ...] | None

    def cut(self) -> Any:
        """The result, of an array and numbers; itself of what only describes these.

        Raises TypeError (slice.length) in a trace that isn't NumPy's, or on a device.
        """
        if not isinstance(self.base, (np.ndarray, NumpyTracer)):
            if isinstance(self.base, Tracer) or hasattr(self.base, _DEVICE):
                got = "a result in a transform, or on a device"
                raise rules.error("slice.length", got=got)
            return self
        parts = map(_plain, self.parts)
        index = tuple(
            slice(next(parts), next(parts)) if kind == "slice" else next(parts)
            for kind in self.form
        )
        found = self.base[index if len(index) > 1 else index[0]]
        return found if self.dims is None else _ordered(found, self.form, self.dims)


def _plain(value: Any) -> Any:
    """A number of a program as Python's, which an index takes."""
    return value.item() if isinstance(value, np.ndarray) and not value.ndim else value


def _ordered(found: Any, form: Form, dims: Sequence[int | None]) -> Any:
    """An array with the dimensions that are left in another order, and new ones."""
    left = [axis for axis, kind in enumerate(form) if kind == "slice"]
    order = [left.index(axis) for axis in dims if axis is not None]
    if order != sorted(order):
        found = found.transpose(order)
    if None in dims:
        found = found[tuple(None if d is None else slice(None) for d in dims)]
    return found


@dataclass(frozen=True, eq=False, slots=True)
class DynamicList:
    """A list that a program gives as the array of its elements: tuples or numbers, of
    Python's or of NumPy's."""

    array: Any
    of_tuples: tuple[np.dtype, ...]
    pythons: bool

    def listed(self) -> Any:
        """The list, of an array; itself of what only describes one."""
        if not isinstance(self.array, np.ndarray):
            return self
        columns = [self.array]
        if self.of_tuples:
            pairs = zip(self.array.T, self.of_tuples, strict=True)
            columns = [column.astype(dtype) for column, dtype in pairs]
        found = [c.tolist() if self.pythons else list(c) for c in columns]
        return list(zip(*found, strict=True)) if self.of_tuples else found[0]


register_pytree_node(
    DynamicList,
    lambda node: ((node.array,), (node.of_tuples, node.pythons)),
    lambda kinds, children: DynamicList(children[0], *kinds).listed(),
)
register_pytree_node(
    DynamicResult,
    lambda node: ((node.base, node.parts), (node.form, node.dims)),
    lambda kinds, children: DynamicResult(*children, *kinds).cut(),
)


@dataclass(frozen=True, eq=False, slots=True)
class DynamicTable:
    """A dict or a set that a program gives as lists of its keys and values."""

    keys: Any
    values: Any

    def made(self) -> Any:
        """The dict or the set, of lists; itself of what only describes one."""
        if not isinstance(self.keys, list):
            return self
        if self.values is None:
            return set(self.keys)
        return dict(zip(self.keys, self.values, strict=True))


register_pytree_node(
    DynamicTable,
    lambda node: ((node.keys, node.values), None),
    lambda _, children: DynamicTable(*children).made(),
)


def with_columns(results: Any) -> Any:
    """Results, in which lists that loops have made are each the array of its elements:
    a program would have a result for each element."""
    if type(results) in (list, tuple):
        column = column_of(results)
        if column is not None and column.ndim == 1:
            return DynamicList(column.copy(), (), False)
        return type(results)(map(with_columns, results))
    if type(results) is dict:
        return {key: with_columns(value) for key, value in results.items()}
    return results


def has_dynamic_lists(tree: TreeDef) -> bool:
    """True if there are lists, dicts or sets that values decide among some results."""
    if tree.node_type in (DynamicList, DynamicTable):
        return True
    return any(map(has_dynamic_lists, tree.below))


def result(value: Any, cuts: bool) -> Any:
    """A result as a program gives it, which `cuts` what it gives when it has run.

    Raises the demand of the arguments that tell the extents; else, if it does not cut,
    TypeError (slice.length, index.mask).
    """
    if isinstance(value, TracedList):
        return DynamicList(
            result(value.array(), cuts), value.of_tuples, value.of_pythons
        )
    if isinstance(value, GrowingTable):
        found = value.result()
        if not isinstance(found, tuple):
            return found
        return DynamicTable(*(v if v is None else result(v, cuts) for v in found))
    if not isinstance(value, Unsized):
        return value
    try:
        return value.or_sized("a result", value.made)
    except TraceirError:
        if not cuts:
            raise
    if isinstance(value, DynamicArray):
        return _slice_of(value)
    if isinstance(value, Selection):
        return DynamicResult(value.full, (value.mask,), ("mask",), None)
    raise NotImplementedError(type(value))


def _slice_of(value: DynamicArray) -> DynamicResult:
    view = value.view
    if any(isinstance(a, SlicedAxis) and not a.has_neighbours for a in view.axes):
        view = value.copy().view
    parts: list[Any] = []
    form = []
    for axis in view.axes:
        is_slice = isinstance(axis, SlicedAxis)
        form.append("slice" if is_slice else "place")
        parts += [axis.start, axis.start + axis.extent.length] if is_slice else [axis]
    return DynamicResult(view.base, tuple(parts), tuple(form), tuple(view.dims))
