"""Interpolation on grids, as `jax.scipy.interpolate` has it.

Serves: face.choice, face.shape
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import traceir.numpy as jnp
from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import entry_points
from traceir.lax.checks.operands import Operand, is_tracer

__all__ = ["RegularGridInterpolator"]


@entry_points()
class RegularGridInterpolator:
    """Values between those on a grid, whose lines need not be evenly spaced.

    `points` are the coordinates of the lines along each dimension, increasing, and
    `values` has a value, or an array of them, for each crossing. `method` is "linear"
    or "nearest". Places outside of the grid have `fill_value`, or, where that is None,
    what the outermost cell gives beyond its end. Raises ValueError (face.choice) for
    other methods, with `bounds_error`, and for lines that do not increase; TypeError
    (face.shape) for shapes that do not fit.

    >>> import traceir.numpy as jnp
    >>> x, y = jnp.array([0.0, 1.0]), jnp.array([0.0, 2.0])
    >>> plane = RegularGridInterpolator((x, y), x[:, None] + 10 * y[None])
    >>> plane(jnp.array([[0.5, 1.0], [0.5, 3.0]]))
    Array([10.5,  nan], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[Operand],
        values: Operand,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: float | None = float("nan"),
    ) -> None:
        _check_method(method)
        if bounds_error:
            hint = "compiled code cannot raise: leave it out"
            raise rules.error("face.choice", got=f"{bounds_error=}", hint=hint)
        found = jnp.asarray(values)
        if not jnp.issubdtype(found.dtype, jnp.inexact):
            found = found.astype(float)
        self.grid = tuple(map(jnp.asarray, points))
        shapes = [line.shape for line in self.grid]
        if len(shapes) > found.ndim or any(
            shape != (extent,) for shape, extent in zip(shapes, found.shape)
        ):
            got = f"lines of {shapes} for values of {found.shape}"
            raise rules.error("face.shape", got=got)
        for line in self.grid:
            if not is_tracer(line) and not np.all(np.diff(np.asarray(line)) > 0):
                hint = "the coordinates of lines increase"
                raise rules.error("face.choice", got=f"points {line}", hint=hint)
        self.method, self.values, self.fill_value = method, found, fill_value

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The values at places, by this method or by the one that the grid has.

        `xi` is an array of shape (..., n) for n dimensions, or a tuple of n arrays that
        broadcast; the result has the shape without the n, and that of a value.
        """
        _check_method(method or self.method)
        axes = jnp.broadcast_arrays(*xi) if isinstance(xi, tuple) else None
        places = jnp.asarray(xi) if axes is None else jnp.stack(axes, axis=-1)
        count = len(self.grid)
        if not places.ndim or places.shape[-1] != count:
            got = f"places of {places.shape} for {count} dimensions"
            raise rules.error("face.shape", got=got)
        lead = places.shape[:-1]
        flat = places.reshape(-1, count)
        cells = [_cell(line, flat[:, d]) for d, line in enumerate(self.grid)]
        if (method or self.method) == "nearest":
            near = [jnp.where(far <= 0.5, at, at + 1) for at, far in cells]
            found = self.values[tuple(near)]
        else:
            found = self._between(cells)
        if self.fill_value is not None:
            outside = jnp.zeros(len(flat), bool)
            for d, line in enumerate(self.grid):
                x = flat[:, d]
                outside = outside | (x < line[0]) | (x > line[-1])
            wide = outside.reshape(-1, *(1,) * (found.ndim - 1))
            found = jnp.where(wide, self.fill_value, found)
        return found.reshape(lead + self.values.shape[count:])

    def _between(self, cells: Sequence[tuple[Array, Array]]) -> Array:
        """The sum over the corners of each cell, by the nearness of the place."""
        rest = self.values.ndim - len(self.grid)
        total: Any = 0.0
        for corner in product((0, 1), repeat=len(cells)):
            weight: Any = 1.0
            for side, (_, far) in zip(corner, cells, strict=True):
                weight = weight * (far if side else 1 - far)
            at = tuple(at + side for side, (at, _) in zip(corner, cells, strict=True))
            total = total + self.values[at] * weight.reshape(-1, *(1,) * rest)
        found: Array = total
        return found


def _check_method(method: str) -> None:
    if method not in ("linear", "nearest"):
        hint = '"linear" or "nearest"'
        raise rules.error("face.choice", got=f"{method=}", hint=hint)


def _cell(line: Array, x: Array) -> tuple[Array, Array]:
    """The number of the line before each place, and how far it is to the next."""
    at = jnp.clip(jnp.searchsorted(line, x) - 1, 0, line.size - 2)
    return at, (x - line[at]) / (line[at + 1] - line[at])
