"""Shapes and axes, checked. Serves: face.shape, face.axis"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import is_tracer
from traceir.tracing.concretization import advice, demanded, origin
from traceir.tracing.trace import current_trace

ShapeLike = Any


def shape_tuple(shape: ShapeLike) -> tuple[int, ...]:
    """A requested shape as a tuple; one int is one extent.

    Raises TypeError (face.shape) for what is no int, a traced value among them.

    >>> shape_tuple(3), shape_tuple([2, 3])
    ((3,), (2, 3))
    """
    if isinstance(shape, (Array, np.ndarray)) and not is_tracer(shape):
        shape = np.asarray(shape).tolist()
    extents = shape if is_sequence(shape) else (shape,)
    if any(map(is_tracer, extents)):
        raise _traced(extents)
    try:
        return tuple(map(index, extents))
    except TypeError:
        raise rules.error("face.shape", got=repr(shape)) from None


def is_sequence(shape: Any) -> bool:
    """True for what has a length and elements, as classes for shapes have; no text.

    >>> is_sequence((2, 3)), is_sequence("23"), is_sequence(b"23"), is_sequence({2: 3})
    (True, False, False, False)
    """
    if isinstance(shape, tuple | list):
        return True
    if isinstance(shape, str | bytes | bytearray | Mapping) or is_tracer(shape):
        return False
    return hasattr(shape, "__len__") and hasattr(shape, "__getitem__")


def _traced(extents: Sequence[Any]) -> BaseException:
    traced = [extent for extent in extents if is_tracer(extent)]
    listed = "[" + ", ".join(map(repr, extents)) + "]"
    error = rules.error(
        "face.shape",
        got=f"{listed}, {origin(traced[0])}",
        hint=advice(traced[0], "face.shape"),
    )
    return demanded(error, *traced)


def axis_in(axis: Any, rank: int) -> int:
    """An axis counted from 0.

    Raises ValueError (face.axis) for one that the rank does not have,
    TracerIntegerConversionError for a traced one.

    >>> axis_in(-1, 3)
    2
    """
    try:
        found = index(axis)
    except TypeError as error:
        if isinstance(error, rules.TraceirError):
            raise
        raise rules.error("face.axis-type", got=repr(axis)) from None
    if not -rank <= found < rank:
        raise rules.error("face.axis", got=f"axis {found} of {rank} dimensions")
    return found % rank


def axes_in(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from 0: all for None, in the order given.

    Raises ValueError (face.axis, face.axis-repeated).

    >>> axes_in(None, 2), axes_in((-1, 0), 2)
    ((0, 1), (1, 0))
    """
    return _all_in(axis, rank, axis_in)


def axes_or_names_in(axis: Any, rank: int) -> tuple[Any, ...]:
    """As `axes_in`, where an axis may be the name of one that is mapped over here."""
    trace = current_trace()
    bound = trace.axes if trace else {}

    def one(axis: Any, rank: int) -> Any:
        return axis if isinstance(axis, str) and axis in bound else axis_in(axis, rank)

    return _all_in(axis, rank, one)


def _all_in(axis: Any, rank: int, one: Callable[[Any, int], Any]) -> tuple[Any, ...]:
    if axis is None:
        return tuple(range(rank))
    asked = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(one(a, rank) for a in asked)
    if len(set(found)) != len(found):
        raise rules.error("face.axis-repeated", got=f"axes {tuple(asked)}")
    return found
