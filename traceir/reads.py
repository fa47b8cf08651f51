"""Reading arrays by index outside every trace, by NumPy's own reads. Serves: index.*"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.config import local
from traceir.plans import admits_plans

# How many types of results are remembered.
MOST = 1024
INTS = frozenset({int, *(np.dtype(code).type for code in "bhilqBHILQ")})
ENDS = INTS | {type(None)}
ROOMY = frozenset({type(None), type(Ellipsis)})


def reading(function: Callable[..., Any]) -> Callable[..., Any]:
    """`x[index]`, by NumPy's own where its meaning is the same.

    It is for what is inside the array; of anything else the function knows more.

    >>> import traceir.numpy as jnp
    >>> read = reading(lambda x, index: "more")
    >>> read(jnp.arange(4), slice(1, 3)), read(jnp.arange(4), 4)
    (Array([1, 2], dtype=int32), 'more')
    """
    known: dict[Any, ShapedArray] = {}

    def call(x: Any, index: Any) -> Any:
        if type(x) is Array and local.trace is None:
            plain = index if type(index) in INTS else _plain_index(index)
            if plain is not None:
                try:
                    found = x._value[plain]
                except (IndexError, ValueError):  # outside, or an error of ours
                    return function(x, index)
                key = x.aval, found.shape, local.context
                aval = known.get(key)
                if aval is None:
                    aval = _read_type(known, x.aval, found.shape)
                if aval is not None:
                    return Array._wrap(_owned(found), aval)
        return function(x, index)

    return call


def _plain_index(index: Any) -> Any:
    """An index as NumPy takes it; None where its meaning may be another there."""
    kind = type(index)
    if kind is not tuple:
        return _plain_part(index)
    parts = tuple(part if type(part) in ROOMY else _plain_part(part) for part in index)
    several = any(
        part is None and given is not None
        for part, given in zip(parts, index, strict=True)
    )
    return None if several else parts


def _plain_part(part: Any) -> Any:
    kind = type(part)
    if kind in INTS:
        return part
    if kind is slice:
        ends = type(part.start), type(part.stop), type(part.step)
        return part if ENDS.issuperset(ends) else None
    if kind is Array:
        part = part._value
    elif kind is not np.ndarray:
        return None
    return part if part.ndim and part.dtype.kind in "biu" else None


def _read_type(
    known: dict[Any, ShapedArray], aval: ShapedArray, shape: tuple[int, ...]
) -> ShapedArray | None:
    if not admits_plans(local.context):
        return None
    if len(known) >= MOST:
        known.clear()
    found = ShapedArray(shape, aval.dtype, aval.weak_type)
    known[aval, shape, local.context] = found
    return found


def _owned(found: Any) -> np.ndarray:
    """What NumPy has read, in memory of its own."""
    if type(found) is not np.ndarray:
        return np.asarray(found)
    if found.base is None and found.flags.c_contiguous:
        return found
    return found.copy()
