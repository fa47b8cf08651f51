"""`associative_scan`: prefix scans in few parallel steps. Serves: control.*"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.lax.checks.operands import Operand, typed
from traceir.lax.checks.shapes import axis_in
from traceir.lax.control.bodies import called, demand_callable, flat
from traceir.lax.elementwise.arithmetic import add, bitwise_or
from traceir.lax.structural.shapes import concatenate, pad, rev, slice_in_dim
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, typeof

Combine = Callable[[list[Value], list[Value]], list[Value]]


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """The results of combining the first element, the first two, and so on.

    `fn` takes two trees of the structure of `elems`, of arrays of equal extent along
    `axis`, and combines them element by element; it must be associative, not
    commutative. The results are found in a number of steps that grows as the logarithm
    of the extent. With `reverse`, elements are combined from the last one on.

    Raises TypeError (control.callable, control.carry-types where `fn` returns arrays of
    other shapes), ValueError (face.axis, control.length,
    control.branch-tree where `fn` returns another number of arrays).

    >>> import traceir.numpy as jnp
    >>> from traceir import lax
    >>> lax.associative_scan(lambda a, b: a * b, jnp.arange(1, 6))
    Array([  1,   2,   6,  24, 120], dtype=int32)
    """
    demand_callable("associative_scan", fn=fn)
    given = flat(elems, "associative_scan", "elems")
    dim = _common_axis(given.leaves, given.paths, axis)
    leaves = given.leaves
    if reverse:
        leaves = [rev(x, (dim,)) for x in leaves]

    def combine(a: list[Value], b: list[Value]) -> list[Value]:
        results = fn(given.tree.unflatten(a), given.tree.unflatten(b))
        found, tree = flatten.flatten(results)
        if len(found) != len(given.leaves):
            got = f"{called(fn)} takes {given.tree}, returns {tree}"
            raise rules.error("control.branch-tree", got=got)
        for path, x, y in zip(given.paths, a, found, strict=True):
            if typeof(x).shape != typeof(y).shape:
                got = f"{typeof(x).str_short()}, comes back as {typeof(y).str_short()}"
                got = f"associative_scan of {called(fn)}: {path} is {got}"
                raise rules.error("control.carry-types", got=got)
        return found

    found = _scanned(combine, leaves, dim) if leaves else []
    if reverse:
        found = [rev(x, (dim,)) for x in found]
    return given.tree.unflatten(found)


def _common_axis(leaves: Sequence[Value], paths: Sequence[str], axis: int) -> int:
    """The axis, counted from the front; all arrays have one extent along it."""
    if not leaves:
        return 0
    dim = axis_in(axis, leaves[0].ndim)
    extents = [x.shape[dim] if dim < x.ndim else None for x in leaves]
    if len(set(extents)) > 1:
        listed = [f"{path} has {n}" for path, n in zip(paths, extents, strict=True)]
        raise rules.error("control.length", got=", ".join(listed))
    return dim


def _scanned(combine: Combine, leaves: list[Value], axis: int) -> list[Value]:
    """Pairs are combined, and the results of half as many found in the same way: those
    are every second result. Each of the others is one more element combined."""
    count = leaves[0].shape[axis]
    if count < 2:
        return leaves

    def part(xs: Sequence[Value], first: int, last: int, step: int) -> list[Value]:
        return [slice_in_dim(x, first, last, step, axis) for x in xs]

    pairs = combine(part(leaves, 0, count - 1, 2), part(leaves, 1, count, 2))
    odd = _scanned(combine, pairs, axis)
    before = odd if count % 2 else part(odd, 0, count // 2 - 1, 1)
    even = combine(before, part(leaves, 2, count, 2))
    even = [
        concatenate([slice_in_dim(x, 0, 1, 1, axis), y], axis)
        for x, y in zip(leaves, even, strict=True)
    ]
    return [_interleaved(a, b, axis) for a, b in zip(even, odd, strict=True)]


def _interleaved(a: Value, b: Value, axis: int) -> Value:
    """The elements of two arrays in turn; `a` has as many as `b`, or one more."""
    same = int(a.shape[axis] == b.shape[axis])
    join = bitwise_or if a.dtype == np.dtype(bool) else add
    return join(_spaced(a, 0, same, axis), _spaced(b, 1, 1 - same, axis))


def _spaced(x: Operand, low: int, high: int, axis: int) -> Value:
    """Zeros between the elements, so many before and after."""
    config = [(0, 0, 0)] * x.ndim
    config[axis] = (low, high, 1)
    return pad(x, typed(0, x.dtype, False), config)
