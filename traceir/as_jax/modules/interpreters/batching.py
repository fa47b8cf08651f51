"""Batching of users' primitives."""

from __future__ import annotations

from typing import Any

from traceir.transforms.custom.custom_primitive import (
    AXIS_BATCHERS as axis_primitive_batchers,
)
from traceir.transforms.custom.custom_primitive import BATCHERS as primitive_batchers
from traceir.transforms.custom.custom_primitive import Primitive
from traceir.transforms.rules import axes

__all__ = [
    "axis_primitive_batchers",
    "bdim_at_front",
    "defvectorized",
    "moveaxis",
    "not_mapped",
    "primitive_batchers",
]

# The batched dimension of an operand that is the same for all examples.
not_mapped = None


def moveaxis(value: Any, source: int | None, target: int) -> Any:
    """The operand with its batched dimension elsewhere; as it is where it has none.

    >>> import traceir.numpy as jnp
    >>> moveaxis(jnp.ones((2, 3)), 0, 1).shape
    (3, 2)
    """
    return value if source is None else axes.move(value, source, target)


def bdim_at_front(value: Any, dim: int | None, size: int) -> Any:
    """The operand with a leading batched dimension, repeated where it has none.

    >>> import traceir.numpy as jnp
    >>> bdim_at_front(jnp.ones(3), None, 2).shape
    (2, 3)
    """
    return axes.at_front(value, dim, size)


def defvectorized(primitive: Primitive) -> None:
    """Register a primitive that is applied to each element: it takes a batch as it is.

    >>> each_p = Primitive("each")
    >>> defvectorized(each_p)
    >>> primitive_batchers[each_p] is not None
    True
    """

    def rule(values: Any, dims: Any, **params: Any) -> tuple[Any, Any]:
        (dim,) = set(dims)
        return primitive.bind(*values, **params), dim

    primitive_batchers[primitive] = rule
