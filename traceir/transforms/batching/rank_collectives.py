"""Collectives over a mapped axis with examples in several processes.

What is small, and what has no way of its own, is gathered: then the rule of `OWN` makes
of all examples what it makes of them in one process, and each process takes its part.
So results have the same bits as there. Serves: batch.collective, process.*
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.jaxpr import Params, sort_params
from traceir.tracing.trace import Value, bind, bind_all, typeof
from traceir.transforms.batching.collectives import OWN, ParamDict, Placed
from traceir.transforms.rules.axes import move
from traceir.transforms.rules.registry import BatchAxis, Batched, Dim, Dims, Values
from traceir.transforms.spanning.moves import gather_along, part_along

FOLDS = ("psum", "pmax", "pmin")
# Arrays of so many bytes are not gathered to be folded: each process folds a share of
# the elements, in the same order.
GATHERED_BYTES = 1 << 14
# What only moves elements.
_MOVES = ("ppermute", "all_to_all")


def over_ranks(
    primitive: str, axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """A collective over the batched axis, of which other processes have examples."""
    operand, dim = (values[0], dims[0]) if values else (None, None)
    given = dict(params)
    if primitive == "psum_invariant":
        primitive, given = "psum", {**given, "axis_index_groups": None}
    result, target = _placed(primitive, axis, operand, dim, given)
    return [result], [target]


def _placed(
    primitive: str, axis: BatchAxis, value: Value, dim: Dim, params: ParamDict
) -> Placed:
    every, ranks = BatchAxis(axis.name, axis.total), axis.ranks
    assert ranks is not None
    if primitive == "axis_index":
        numbers = OWN[primitive](value, dim, BatchAxis(axis.name, axis.size), params)
        return bind("add", numbers[0], first_example(axis)), 0
    if primitive == "pvary":
        return OWN[primitive](value, dim, axis, params)
    if dim is not None:
        value = move(value, dim, 0)
        if primitive in FOLDS and _folds_apart(axis, value, params):
            return _folded(primitive, axis, value, params), None
        if axis.size == 1 and _moves_apart(primitive, axis, value):
            return _moved(primitive, axis, value, params), 0
        value, dim = gather_along(ranks, value, 0), 0
    result, target = OWN[primitive](value, dim, every, params)
    if target is None:
        return result, None
    return part_along(ranks, result, target, axis.size), target


def first_example(axis: BatchAxis) -> Value:
    """The number of the first example of this process."""
    place = bind("axis_index", axis_name=axis.ranks)
    return bind("mul", place, np.int32(axis.size))


def _large(value: Value) -> bool:
    """True of a large array, of whose sums each step is of its own dtype.

    Backends add narrow floating numbers in wider ones, and round once.
    """
    shape, dtype = typeof(value).shape, typeof(value).dtype
    narrow = dtype.itemsize < 4 and kind_of(dtype) == "f"
    return not narrow and prod(shape) * dtype.itemsize >= GATHERED_BYTES


def _folds_apart(axis: BatchAxis, value: Value, params: ParamDict) -> bool:
    """True if each process folds a share of the elements: of a large array, over this
    axis alone."""
    return params["axes"] == (axis.name,) and _large(value)


def _folded(primitive: str, axis: BatchAxis, value: Value, params: ParamDict) -> Value:
    """The fold over the processes, and in each over its examples."""
    full = sort_params({**params, "axes": (axis.ranks, 0)})
    return bind_all(primitive, [value], full)[0]


def _moves_apart(primitive: str, axis: BatchAxis, value: Value) -> bool:
    """True if there is a way of MPI's own for one example in each process."""
    return primitive in _MOVES or (primitive == "reduce_scatter" and _large(value))


def _moved(primitive: str, axis: BatchAxis, value: Value, params: ParamDict) -> Value:
    """The primitive itself, over processes; the examples are first again."""
    shape = typeof(value).shape
    example = bind("reshape", value, new_sizes=shape[1:])
    name: Any = axis.ranks
    several = type(params["axis_name"]) is tuple
    full = sort_params({**params, "axis_name": (name,) if several else name})
    result = bind_all(primitive, [example], full)[0]
    return bind("reshape", result, new_sizes=(1, *typeof(result).shape))
