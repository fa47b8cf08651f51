"""Trees of arrays as one vector, as `jax.flatten_util` has it. Serves: split.sum"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from traceir import lax
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.operands import as_array, convert, joined, operand
from traceir.numpy.arrays.creation import zeros
from traceir.pytrees import flatten
from traceir.tracing.trace import typeof

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Any], Any]]:
    """All elements of a tree as one vector, and the function that makes a tree of it.

    The vector has the dtype in which the leaves meet. Leaves of several dtypes get them
    back in the tree that is made of a vector; where all had one, those of that tree
    have the vector's. Raises ValueError (split.sum) for a vector of another length.

    >>> import traceir.numpy as jnp
    >>> flat, unravel = ravel_pytree({"a": jnp.arange(2), "b": 0.5})
    >>> flat
    Array([0. , 1. , 0.5], dtype=float32)
    >>> unravel(2 * flat)["b"]
    Array(1., dtype=float32)
    """
    leaves, structure = flatten.flatten(pytree)
    parts = [as_array(operand("ravel_pytree", leaf)) for leaf in leaves]
    if not parts:
        return zeros(0), lambda flat: structure.unflatten(())
    avals = [typeof(part) for part in parts]
    common, _ = joined(parts)
    mixed = any(aval.dtype != common for aval in avals)
    sizes = [prod(aval.shape) for aval in avals]
    rows = []
    for part, size in zip(parts, sizes, strict=True):
        rows.append(lax.reshape(convert(part, common) if mixed else part, (size,)))

    def unravel(flat: Any) -> Any:
        """The tree whose elements are those of a vector."""
        made = []
        for row, aval in zip(lax.split(flat, sizes), avals, strict=True):
            part = lax.reshape(row, aval.shape)
            made.append(convert(part, aval.dtype) if mixed else part)
        return structure.unflatten(made)

    return rows[0] if len(rows) == 1 else lax.concatenate(rows, 0), unravel


_publish(globals())
