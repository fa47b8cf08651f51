"""Signals without their trends.

Serves: face.choice, face.axis
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, operand, promoted_inexact
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.manipulation.shapes import concatenate, moveaxis
from traceir.numpy.reductions.mean_var import mean


def detrend(
    data: Operand,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] = 0,
    overwrite_data: None = None,
) -> Array:
    """The array `data` without its mean, or without a line, along an axis.

    The line is the one with the least squares; from each of the places `bp` on there is
    another one. No array is written to. Raises ValueError (face.choice, face.axis).

    >>> import traceir.numpy as jnp
    >>> detrend(jnp.array([1.0, 2.0, 3.0, 10.0]), type="constant")
    Array([-3., -2., -1.,  6.], dtype=float32)
    """
    check_choice("overwrite_data", overwrite_data, (None,))
    check_choice("type", type, ("linear", "constant"))
    (given,) = promoted_inexact("detrend", operand("detrend", data))
    value = as_array(given)
    at = axis_in(axis, value.ndim)
    if type == "constant":
        return value - mean(value, at, keepdims=True)
    rows = moveaxis(value, at, -1)
    count = value.shape[at]
    breaks = sorted({0, count, *np.atleast_1d(bp).tolist()})
    if breaks[0] < 0 or breaks[-1] > count:
        raise rules.error("face.choice", got=f"bp={bp!r}, of places 0 to {count}")
    parts = [_level(rows[..., low:high]) for low, high in pairwise(breaks)]
    return moveaxis(concatenate(parts, -1), -1, at)


def _level(rows: Array) -> Array:
    """The rows without a line."""
    count = rows.shape[-1]
    places = np.arange(count) - (count - 1) / 2
    along = as_array(operand("detrend", places.astype(rows.dtype)))
    centred = rows - mean(rows, -1, keepdims=True)
    if count < 2:
        return centred
    slope = (centred * along).sum(-1, keepdims=True) / float(places @ places)
    return centred - slope * along


def check_choice(name: str, given: object, known: Sequence[object]) -> None:
    """Raise ValueError (face.choice) for an option that is none of those known.

    >>> check_choice("mode", "full", ("full", "same"))
    """
    if given not in known:
        got = f"{name}={given!r}, not one of {tuple(known)}"
        raise rules.error("face.choice", got=got)
