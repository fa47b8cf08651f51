"""Interpolation in arrays, as `jax.scipy.ndimage` has it.

Serves: face.unsupported, face.broadcast, face.complex, face.empty, face.least-rank
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import is_inexact, kind_of
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    broadcast_shapes,
    convert,
    given,
    like,
    refuse_complex,
)
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.arithmetic import abs as _abs
from traceir.numpy.elementwise.arithmetic import add, multiply, subtract
from traceir.numpy.elementwise.composites import clip, floor_divide, remainder, where
from traceir.numpy.elementwise.logic import greater_equal, less, logical_and
from traceir.numpy.indexing.getitem import gathered

__all__ = ["map_coordinates"]

INDEX = np.dtype(np.int32)


class Node(NamedTuple):
    """Places along one axis that interpolation reads, and how much they count."""

    place: Array
    weight: Array | None = None


def _mirrored(index: Array, extent: int) -> Array:
    """Indices reflected at the middles of the first and the last element."""
    reach = max(extent - 1, 1)
    return _abs(subtract(remainder(add(index, reach), 2 * reach), reach))


def _reflected(index: Array, extent: int) -> Array:
    """Indices reflected at the edges, so that the last element comes twice."""
    halves = _mirrored(index * 2 + 1, 2 * extent + 1)
    return floor_divide(halves, 2)


# The index that is read for one along an axis of some extent.
MODES: Mapping[str, Callable[[Array, int], Array]] = {
    "constant": lambda index, extent: index,
    "nearest": lambda index, extent: clip(index, 0, extent - 1),
    "wrap": remainder,
    "mirror": _mirrored,
    "reflect": _reflected,
}


def map_coordinates(
    input: Operand,
    coordinates: Sequence[Operand],
    order: int,
    mode: str = "constant",
    cval: Operand = 0.0,
) -> Array:
    """The elements of an array at coordinates between those of its elements.

    There are as many arrays of coordinates as `input` has dimensions; they broadcast,
    and the result has their shape and the dtype of `input`. Order 0 takes the nearest
    element, order 1 interpolates linearly. Outside of the array there is `cval` (mode
    "constant"), the nearest element ("nearest"), the array again ("wrap"), turned
    around at the middle ("mirror") or at the edge of its last element ("reflect").

    Raises NotImplementedError (face.unsupported), ValueError (face.least-rank,
    face.empty), TypeError (face.argument, face.broadcast, face.complex).

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([[0.0, 1.0], [2.0, 3.0]])
    >>> map_coordinates(x, [jnp.array([0.5, 1.0]), jnp.array([0.0, 2.0])], 1, "nearest")
    Array([1., 3.], dtype=float32)
    """
    _check_option("order", order, (0, 1))
    _check_option("mode", mode, tuple(MODES))
    value = asarray(input)
    places = _places(value, coordinates)
    outside = given("map_coordinates", cval, value.dtype)
    nodes = _linear if order == 1 else _nearest
    terms = [
        _term(value, corner, mode, outside) for corner in product(*map(nodes, places))
    ]
    total = reduce(add, terms)
    if not is_inexact(value.dtype) and is_inexact(total.dtype):
        total = total if kind_of(value.dtype) == "b" else lax.round(total)
    return as_array(convert(total, value.dtype))


def _check_option(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        had = ", ".join(map(repr, known))
        raise rules.error(
            "face.unsupported",
            got=f"{name}={value!r} of map_coordinates",
            hint=f"there are {had}",
        )


def _places(value: Array, coordinates: Sequence[Operand]) -> list[Array]:
    """The coordinates along each axis, checked and of one shape."""
    given_ = [asarray(place) for place in coordinates]
    if len(given_) != value.ndim or not given_:
        got = f"{len(given_)} arrays of coordinates for {value.ndim} dimensions"
        raise rules.error("face.least-rank", got=got)
    if not value.size:
        got = f"{value.shape} in map_coordinates"
        raise rules.error("face.empty", got=got)
    refuse_complex("map_coordinates", *given_)
    if any(kind_of(place.dtype) == "b" for place in given_):
        got = "bool for coordinates of map_coordinates"
        raise rules.error("face.argument", got=got, hint="convert with `astype(int)`")
    shape = broadcast_shapes("map_coordinates", [place.shape for place in given_])
    return [broadcast_to(place, shape) for place in given_]


def _nearest(place: Array) -> list[Node]:
    whole = lax.round(place) if is_inexact(place.dtype) else place
    return [Node(as_array(convert(whole, INDEX)))]


def _linear(place: Array) -> list[Node]:
    lower = lax.floor(place) if is_inexact(place.dtype) else place
    part = place - lower
    index = as_array(convert(lower, INDEX))
    rest = subtract(like(1, part), part)
    return [Node(index, rest), Node(index + 1, part)]


def _term(value: Array, corner: Sequence[Node], mode: str, outside: Operand) -> Array:
    """The contribution of one corner of the cells around the coordinates."""
    axes = list(zip(corner, value.shape, strict=True))
    indices = [MODES[mode](node.place, extent) for node, extent in axes]
    found = gathered(value, indices, False, False, "clip", None, False)
    if mode == "constant":
        inside = [
            greater_equal(i, 0) & less(i, n)
            for i, n in zip(indices, value.shape, strict=True)
        ]
        found = where(reduce(logical_and, inside), found, outside)
    weights = [node.weight for node in corner if node.weight is not None]
    return reduce(multiply, [reduce(multiply, weights), found] if weights else [found])


_publish(globals())
