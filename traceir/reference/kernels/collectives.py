"""Collectives over axes that are dimensions of the operand, or processes.

Another named axis has no value here: its batch is gone, and the program is about one
example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.ranks import exchanges
from traceir.ranks.groups import RankAxis
from traceir.reference.kernels.registry import KERNELS, kernel

Axes = tuple[Any, ...]


def _fold(primitive: str, own: str, x: np.ndarray, axes: Axes) -> Any:
    if names := [a for a in axes if not isinstance(a, int | RankAxis)]:
        raise _unbound(own, names)
    fold = KERNELS[primitive]
    ranks = [a for a in axes if isinstance(a, RankAxis)]
    if not ranks:
        return fold(x, axes=axes)
    [axis] = ranks
    here = [a for a in axes if isinstance(a, int)]
    rows = np.moveaxis(x, here, range(len(here)))
    rows = rows.reshape(-1, *rows.shape[len(here) :])
    return exchanges.folded(rows, axis, lambda terms: fold(terms, axes=(0,)), own)


def _unbound(primitive: str, names: list[Any]) -> Exception:
    listed = ", ".join(map(str, names))
    return rules.error("axis.unbound", got=f"{listed} of {primitive}")


def _ranks(primitive: str, axis_name: Any) -> RankAxis:
    """The processes that a collective names; NameError (axis.unbound) for others."""
    names = list(axis_name) if isinstance(axis_name, tuple) else [axis_name]
    if len(names) != 1 or not isinstance(names[0], RankAxis):
        raise _unbound(primitive, names)
    return names[0]


@kernel("psum")
def psum(x: np.ndarray, *, axes: Axes, axis_index_groups: None = None) -> Any:
    """The sum over dimensions, and over processes."""
    return _fold("reduce_sum", "psum", x, axes)


@kernel("pmax")
def pmax(x: np.ndarray, *, axes: Axes, axis_index_groups: None = None) -> Any:
    """The greatest element over dimensions, and over processes."""
    return _fold("reduce_max", "pmax", x, axes)


@kernel("pmin")
def pmin(x: np.ndarray, *, axes: Axes, axis_index_groups: None = None) -> Any:
    """The least element over dimensions, and over processes."""
    return _fold("reduce_min", "pmin", x, axes)


@kernel("pvary")
def pvary(x: np.ndarray, *, axes: Axes) -> Any:
    """Raise NameError (axis.unbound): types tell of named axes alone."""
    raise _unbound("pvary", list(axes))


@kernel("psum_invariant")
def psum_invariant(x: np.ndarray, *, axes: Axes) -> Any:
    """Raise NameError (axis.unbound): types tell of named axes alone."""
    raise _unbound("psum_invariant", list(axes))


@kernel("axis_index")
def axis_index(*, axis_name: Any) -> Any:
    """The place of this process."""
    return np.array(_ranks("axis_index", axis_name).place, np.int32)


@kernel("all_gather")
def all_gather(
    x: np.ndarray, *, axis_name: Any, all_gather_dimension: int, tiled: bool, **_: Any
) -> Any:
    """The arrays of all processes, along a dimension of their own or joined."""
    found = exchanges.gathered(x, _ranks("all_gather", axis_name))
    at = all_gather_dimension
    if not tiled:
        return np.ascontiguousarray(np.moveaxis(found, 0, at))
    return found.reshape(-1, *x.shape[1:]) if at == 0 else np.concatenate(found, at)


@kernel("reduce_scatter")
def reduce_scatter(
    x: np.ndarray, *, axis_name: Any, scatter_dimension: int, tiled: bool, **_: Any
) -> Any:
    """The sum over all processes, of which each gets its part."""
    axis, at = _ranks("reduce_scatter", axis_name), scatter_dimension
    parts = _parts(x, axis, at)
    got = exchanges.exchanged(parts, axis, "psum_scatter")
    total = KERNELS["reduce_sum"](got.reshape(axis.size, -1), axes=(0,))
    total = total.reshape(parts.shape[1:])
    return total if tiled else total.squeeze(at)


@kernel("ppermute")
def ppermute(x: np.ndarray, *, axis_name: Any, perm: Any) -> Any:
    """The array of the process that sends it here; zeros where none does."""
    return exchanges.permuted(x, _ranks("ppermute", axis_name), perm)


@kernel("all_to_all")
def all_to_all(
    x: np.ndarray, *, axis_name: Any, split_axis: int, concat_axis: int, **_: Any
) -> Any:
    """The parts of all processes for this one, joined along a dimension."""
    axis = _ranks("all_to_all", axis_name)
    got = exchanges.exchanged(_parts(x, axis, split_axis), axis)
    return np.concatenate(got, concat_axis)


def _parts(x: np.ndarray, axis: RankAxis, at: int) -> np.ndarray:
    """The parts of an array along a dimension, one after the other."""
    if at == 0:
        return x.reshape(axis.size, x.shape[0] // axis.size, *x.shape[1:])
    return np.stack(np.split(x, axis.size, at))
