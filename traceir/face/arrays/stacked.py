"""Lists that a loop has made: elements of one array.

Serves: staged.list
"""

from __future__ import annotations

from typing import Any

from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.views import IndexView


def elements_of(column: Any) -> list[NumpyTracer]:
    """The elements of an array, those of a vector as numbers; each is read where it is
    first used."""
    array = traced(column, number=False)
    if not array.shape[0]:
        return []
    first = array.through(IndexView((0,)))
    first.number = array.ndim == 1
    first.aval = first.aval.update(weak_type=array.aval.weak_type)
    return [first, *(_like(first, k) for k in range(1, array.shape[0]))]


# The attributes of a tracer that was not read yet, without those that are computed.
_SLOTS = [
    name
    for kind in NumpyTracer.__mro__
    for name in vars(kind).get("__slots__", ())
    if name not in ("__weakref__", "_var", "_trace")
]


def _like(first: NumpyTracer, k: int) -> NumpyTracer:
    """Another element of the vector that the first one is of."""
    made = object.__new__(NumpyTracer)
    for name in _SLOTS:
        setattr(made, name, getattr(first, name))
    made._step = IndexView((k,))
    return made


def column_of(values: Any) -> NumpyTracer | None:
    """The array of which these are all elements, in order; None if there is none."""
    first = values[0] if type(values) is list and values else None
    base = first._base if isinstance(first, NumpyTracer) else None
    if base is None or base.shape[:1] != (len(values),):
        return None
    for k, one in enumerate(values):
        if not isinstance(one, NumpyTracer) or one._base is not base:
            return None
        is_element = one.number is (base.ndim == 1)
        if not is_element or one._step != IndexView((k,)):
            return None
    return base
