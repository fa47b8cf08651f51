"""Collectives over axes that are dimensions of the operand.

A named axis has no value here: its batch is gone, and the program is about one example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.reference.kernels.registry import KERNELS, kernel

Axes = tuple[Any, ...]


def _fold(primitive: str, x: np.ndarray, axes: Axes) -> Any:
    if names := [a for a in axes if not isinstance(a, int)]:
        raise _unbound(primitive, names)
    return KERNELS[primitive](x, axes=axes)


def _unbound(primitive: str, names: list[Any]) -> Exception:
    listed = ", ".join(map(str, names))
    return rules.error("axis.unbound", got=f"{listed} of {primitive}")


@kernel("psum")
def psum(x: np.ndarray, *, axes: Axes, axis_index_groups: None = None) -> Any:
    """The sum over dimensions."""
    return _fold("reduce_sum", x, axes)


@kernel("pmax")
def pmax(x: np.ndarray, *, axes: Axes, axis_index_groups: None = None) -> Any:
    """The greatest element over dimensions."""
    return _fold("reduce_max", x, axes)


@kernel("pmin")
def pmin(x: np.ndarray, *, axes: Axes, axis_index_groups: None = None) -> Any:
    """The least element over dimensions."""
    return _fold("reduce_min", x, axes)


@kernel("all_gather", "reduce_scatter", "ppermute", "all_to_all", "axis_index")
def named(*operands: np.ndarray, axis_name: Any, **params: Any) -> Any:
    """Raise an error: the axis has a name alone."""
    names = list(axis_name) if isinstance(axis_name, tuple) else [axis_name]
    raise _unbound("a collective", names)
