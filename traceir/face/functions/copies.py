"""Functions that copy where there can be no view. Serves: face.view, face.size

`aliasing` has decided before if there can be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.aliasing import order_of
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.layouts import elementwise
from traceir.face.functions.functions import OWN, apply, own


@own(np.reshape)
def reshaped(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """The elements under another shape, copied. Raises ValueError (face.size)."""
    extents = _extents(shape, a)
    if copy is False:
        got, hint = f"{a.aval.str_short()} with copy=False", "leave `copy` out"
        raise rules.error("face.size", got=got, hint=hint)
    if order_of(a.memory, order) == "F":
        turned = jnp.reshape(jnp.transpose(a.now()), extents[::-1])
        return traced(jnp.transpose(turned), number=False)
    return traced(jnp.reshape(a.now(), extents), number=False)


@own(np.ravel)
def raveled(a: Any, order: str = "C") -> Any:
    """The elements in one dimension, copied."""
    if order != "K":
        return reshaped(a, -1, order)
    strides = elementwise([a.memory], np.dtype(np.int8))
    axes = sorted(range(a.ndim), key=lambda d: -strides[d])
    moved = traced(jnp.transpose(a.now(), axes), number=False)
    return reshaped(moved, -1)


def _extents(shape: Any, a: NumpyTracer) -> tuple[int, ...]:
    """The shape with its -1 worked out. Raises ValueError (face.size)."""
    given: Sequence[Any] = shape if isinstance(shape, (tuple, list)) else (shape,)
    asked = tuple(int(n) for n in given)
    rest = prod(n for n in asked if n != -1)
    found = tuple(a.size // max(rest, 1) if n == -1 else n for n in asked)
    if prod(found) != a.size or asked.count(-1) > 1:
        raise rules.error("face.size", got=f"{a.aval.str_short()} to {asked}")
    return found


def duplicate(a: Any, order: str = "C") -> Any:
    """The elements in memory of their own, as the method `copy` gives them."""
    return apply(np.copy, (a,), {"order": order})


def flatten(a: Any, order: str = "C") -> Any:
    """The elements in one dimension, copied."""
    flat = apply(np.ravel, (a, order), {})
    return duplicate(flat)


@own(np.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return traced(a, number=False)


OWN[np.ndim] = lambda a: a.ndim
OWN[np.shape] = lambda a: a.shape
OWN[np.size] = lambda a, axis=None: a.size if axis is None else a.shape[axis]
