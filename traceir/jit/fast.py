"""The hot path of a call: a raw key and a runner. Serves: cache.key.*

Equal raw keys imply equal keys by the rows of the table (tested): the context object
stands for the rows per call, an interned aval for shape, dtype and weakness, a Python
type for a weak scalar, `typed` for a static value.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from traceir import pytree, rules
from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.jit.cache import Entry
from traceir.jit.signature import StaticSpec
from traceir.jit.staging import Prepared
from traceir.jit.statics import typed
from traceir.pytree import TreeDef


def _raw_ndarray(array: np.ndarray) -> Any:
    return array.dtype, array.shape


# How a leaf of each type enters the raw key; other types take the slow road.
RAW: dict[type, Callable[[Any], Any]] = {
    Array: attrgetter("aval"),
    np.ndarray: _raw_ndarray,
    bool: type,
    int: type,
    float: type,
}


def raw_key(context: Any, args: Any, kwargs: Any, static: StaticSpec | None) -> Any:
    """A cheap key of a call on plain leaves and static values, or None.

    Raises ValueError (cache.static.hashable).
    """
    positions = static.positions if static else ()
    names = static.names if static else ()
    try:
        return (
            context,
            tuple(kwargs),
            *[
                typed(a) if k in positions else RAW[type(a)](a)
                for k, a in enumerate(args)
            ],
            *[typed(a) if n in names else RAW[type(a)](a) for n, a in kwargs.items()],
        )
    except KeyError:
        return None


def make_fast(
    entry: Entry, exe: Any, prepared: Prepared, numpy_out: bool
) -> Callable[..., Any]:
    """A runner of one entry: from the call's arguments to its results."""
    arrays = all(type(v) is Array for v in prepared.leaves)
    exact = all(
        type(v) is not Array or v.aval is a
        for v, a in zip(prepared.leaves, prepared.call.avals, strict=True)
    )
    in_order = prepared.bound.origins == tuple(range(len(prepared.leaves)))
    plain = arrays and exact and in_order and not prepared.bound.statics
    if plain and _flat(prepared.call.treedef):
        if entry.out_tree.kind is None and not numpy_out:
            return _single(entry, exe.run)
        return _general(entry, exe.run, _values, numpy_out)
    return _general(entry, exe.run, _Take(prepared), numpy_out)


def _flat(treedef: TreeDef) -> bool:
    return all(child.kind is None for child in treedef.children)


def _single(entry: Entry, run: Callable[..., Any]) -> Callable[..., Any]:
    (aval,) = entry.closed.out_avals
    wrap = Array._wrap

    def call(args: Any, kwargs: Any) -> Any:
        entry.hits += 1
        return wrap(run(*[a._value for a in args])[0], aval)

    return call


def _general(
    entry: Entry, run: Callable[..., Any], take: Callable[..., Any], numpy_out: bool
) -> Callable[..., Any]:
    avals, tree = entry.closed.out_avals, entry.out_tree
    wrap: Callable[..., Any] = to_numpy if numpy_out else Array._wrap

    def call(args: Any, kwargs: Any) -> Any:
        entry.hits += 1
        return tree.unflatten(list(map(wrap, run(*take(args, kwargs)), avals)))

    return call


def to_numpy(array: np.ndarray, aval: ShapedArray) -> Any:
    """A result as NumPy would return it: a scalar where there are no dimensions."""
    return array if aval.shape else array[()]


def _values(args: Any, kwargs: Any) -> list[np.ndarray]:
    return [a._value for a in args]


class _Take:
    """From the arguments of a call to its leaves as arrays of the program's types."""

    def __init__(self, prepared: Prepared) -> None:
        self._origins = prepared.bound.origins
        self._flat = _flat(prepared.call.treedef)
        self._avals = prepared.call.avals

    def __call__(self, args: Any, kwargs: Any) -> list[np.ndarray]:
        values = [args[o] if type(o) is int else kwargs[o] for o in self._origins]
        if not self._flat:
            values = pytree.leaves(tuple(values))
        return [as_input(v, a) for v, a in zip(values, self._avals, strict=True)]


def as_input(value: Any, aval: ShapedArray) -> np.ndarray:
    """A traced argument as a C-contiguous array of the program's type.

    Raises OverflowError (jit.overflow) for a Python integer that does not fit.
    """
    if type(value) is Array and value.aval.dtype == aval.dtype:
        return value._value
    try:
        return np.array(value, aval.dtype, order="C", copy=None)
    except OverflowError:
        raise rules.error(
            "jit.overflow", got=f"{value} for {aval.str_short()}"
        ) from None
