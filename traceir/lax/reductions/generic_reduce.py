"""`reduce`: reductions by any function of two elements. Serves: control.*"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import behind
from traceir.lax.checks.operands import as_array, convert
from traceir.lax.checks.shapes import axes_in
from traceir.lax.control.bodies import called, demand_callable, flat
from traceir.lax.elementwise.arithmetic import (
    add,
    bitwise_and,
    bitwise_or,
    max,
    min,
    mul,
)
from traceir.lax.elementwise.bits import bitwise_xor
from traceir.lax.reductions.reductions import (
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_xor,
)
from traceir.lax.reductions.windows import extremes, want_start
from traceir.lax.structural.shapes import (
    broadcast_in_dim,
    concatenate,
    reshape,
    slice_in_dim,
    transpose,
)
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer, Value, typeof
from traceir.transforms.batching.vmap import vmap


@takes_out_sharding
def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: OutSharding = None,
) -> Any:
    """Arrays folded over dimensions by a function of two elements.

    `operands` is an array, or a tree of arrays of one shape; `init_values` is a scalar
    for each, and what `computation` takes twice and returns has that structure. It must
    be associative: neighbours are combined, then their results, and `init_values` with
    the last of them. Results have the operands' dtypes. Raises TypeError
    (control.callable, control.carry-types, control.start), ValueError
    (face.axis, control.branch-tree, control.length).

    >>> import traceir.numpy as jnp
    >>> from traceir import lax
    >>> x = jnp.array([[1, 2, 3], [4, 5, 6]])
    >>> reduce(x, 0, lax.add, (0,))
    Array([5, 7, 9], dtype=int32)
    >>> reduce((x, x), (1, 10), lambda a, b: (a[0] * b[0], lax.min(a[1], b[1])), (0, 1))
    (Array(720, dtype=int32), Array(1, dtype=int32))
    """
    demand_callable("reduce", computation=computation)
    given = flat(operands, "reduce", "operands")
    starts = flat(init_values, "reduce", "init_values")
    _check_alike(given.tree, starts.tree)
    shapes = {x.shape for x in given.leaves}
    if len(shapes) > 1:
        raise rules.error("control.length", got=f"operands of shapes {shapes}")
    if not given.leaves:
        return operands
    (shape,) = shapes
    axes = axes_in(tuple(dimensions), len(shape))
    if given.tree.num_nodes == 1:  # an array and no tree
        (first,) = given.leaves
        known = _known(computation, init_values, typeof(starts.leaves[0]).dtype)
        if known is not None:
            return known(first, axes)
    for x, start in zip(given.leaves, starts.leaves, strict=True):
        want_start("reduce", x, start)
    folder = _Folder(given, computation, axes, shape)
    return given.tree.unflatten(folder.fold(starts.leaves))


class _Folder:
    """A function that combines the elements of arrays."""

    def __init__(
        self,
        given: Any,
        computation: Callable[[Any, Any], Any],
        axes: Sequence[int],
        shape: Sequence[int],
    ) -> None:
        self.given = given
        self.computation = computation
        kept = [d for d in range(len(shape)) if d not in axes]
        self.order = (*axes, *kept)
        self.count = prod(shape[d] for d in axes)
        self.kept = tuple(shape[d] for d in kept)

    def fold(self, starts: Sequence[Value]) -> list[Value]:
        """The results: neighbours combined until one is left, and then the starts."""
        size = prod(self.kept)
        dtypes = [typeof(x).dtype for x in self.given.leaves]
        firsts = [
            broadcast_in_dim(convert(as_array(s), d), (1, size), ())
            for s, d in zip(starts, dtypes, strict=True)
        ]
        found = firsts
        if self.count and size:
            rows = [
                reshape(transpose(x, self.order), (self.count, size))
                for x in self.given.leaves
            ]
            found = self.combine(firsts, self.tree(rows))
        return [reshape(row, self.kept) for row in found]

    def tree(self, rows: list[Value]) -> list[Value]:
        """All rows as one."""
        count = self.count
        while count > 1:
            even = count - count % 2
            left, right = ([slice_in_dim(x, k, even, 2) for x in rows] for k in (0, 1))
            found = self.combine(left, right)
            if count % 2:
                last = [slice_in_dim(x, even, count) for x in rows]
                found = [concatenate(pair, 0) for pair in zip(found, last, strict=True)]
            rows, count = found, count - even // 2
        return rows

    def combine(self, left: list[Value], right: list[Value]) -> list[Value]:
        """Two elements as one, everywhere."""
        tree = self.given.tree

        def scalars(*leaves: Value) -> list[Value]:
            half = len(leaves) // 2
            two = (tree.unflatten(part) for part in (leaves[:half], leaves[half:]))
            found, structure = flatten.flatten(self.computation(*two))
            _check_alike(tree, structure)
            for path, x, y in zip(self.given.paths, leaves, found, strict=False):
                if typeof(y).shape:
                    got = f"{typeof(x).str_short()}, comes back as "
                    got += typeof(y).str_short()
                    got = f"reduce by {called(self.computation)}: {path} is {got}"
                    raise rules.error("control.carry-types", got=got)
            return found

        extent = left[0].shape
        flat_ = [reshape(x, (prod(extent),)) for x in (*left, *right)]
        found = vmap(scalars)(*flat_)
        return [
            convert(reshape(y, extent), typeof(x).dtype)
            for x, y in zip(left, found, strict=True)
        ]


def _check_alike(wanted: Any, found: Any) -> None:
    if wanted != found:
        got = f"operands of reduce are {wanted}, and there is {found}"
        raise rules.error("control.branch-tree", got=got)


def _known(
    computation: Any, start: Value, dtype: np.dtype
) -> Callable[[Any, Any], Any] | None:
    """The fold of a primitive from its neutral element; None for any other."""
    if isinstance(start, Tracer) or np.ndim(start):
        return None
    low, high = extremes(dtype)
    known: list[tuple[Any, Any, Callable[[Any, Any], Any]]] = [
        (add, 0, reduce_sum),
        (mul, 1, reduce_prod),
        (max, low, reduce_max),
        (min, high, reduce_min),
        (bitwise_and, -1 if low < 0 else high, reduce_and),
        (bitwise_or, 0, reduce_or),
        (bitwise_xor, 0, reduce_xor),
    ]
    first = np.asarray(start).item()
    computation = behind(computation)
    for function, neutral, fold in known:
        if computation is behind(function) and first == neutral:
            return fold
    return None
