"""Truth values packed as the bits of bytes.

Serves: face.integers, face.choice, face.axis
"""

from __future__ import annotations

from math import prod

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, convert, like, operand, shape_of, typed
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.tracing.trace import typeof

BYTE = np.dtype("uint8")
ORDERS = ("big", "little")


def _last(name: str, x: Operand, axis: int | None) -> tuple[Operand, int]:
    """The array with the axis last, without one as a vector; and where the axis was."""
    shape = shape_of(x)
    if axis is None:
        return lax.reshape(x, (prod(shape),)), 0
    at = axis_in(axis, len(shape))
    return moveaxis(x, at, -1), at


def _places(bitorder: str) -> Array:
    """The shifts of a byte's bits, the first truth's first."""
    if bitorder not in ORDERS:
        raise rules.error("face.choice", got=f"{bitorder!r}, not one of {ORDERS}")
    places = lax.iota(BYTE, 8)
    return lax.rev(places, (0,)) if bitorder == "big" else places


@composite(static_argnames=["axis", "bitorder"])
def packbits(a: Operand, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight truths to a byte along an axis, or of all elements; zeros fill the last.

    `"big"` has the first truth in the highest bit, `"little"` in the lowest. Raises
    TypeError (face.integers), ValueError (face.choice, face.axis).

    >>> import traceir.numpy as jnp
    >>> packbits(jnp.array([True, False, True]))
    Array([160], dtype=uint8)
    """
    value = operand("packbits", a)
    dtype = typeof(value).dtype
    if kind_of(dtype) not in "biu":
        raise rules.error("face.integers", got=f"{dtype.name} in packbits")
    shifts = _places(bitorder)
    truths = convert(lax.ne(value, like(0, value)), BYTE)
    line, at = _last("packbits", truths, axis)
    lead, extent = shape_of(line)[:-1], shape_of(line)[-1]
    count = -(-extent // 8)
    config = [*[(0, 0, 0)] * len(lead), (0, 8 * count - extent, 0)]
    line = lax.pad(line, typed(0, BYTE, False), config)
    rows = lax.reshape(line, (*lead, count, 8))
    by = lax.broadcast_in_dim(shifts, (*[1] * (len(lead) + 1), 8), (len(lead) + 1,))
    found = lax.reduce_sum(lax.shift_left(rows, by), (len(lead) + 1,))
    return moveaxis(found, -1, at)


@composite(static_argnames=["axis", "count", "bitorder"])
def unpackbits(
    a: Operand,
    axis: int | None = None,
    count: int | None = None,
    bitorder: str = "big",
) -> Array:
    """The bits of bytes, as bytes 0 and 1, along an axis or of all elements.

    Of these there are `count`, filled with zeros; a negative one leaves out so many at
    the end. Otherwise as `packbits`; raises TypeError (face.integers) unless uint8.

    >>> import traceir.numpy as jnp
    >>> unpackbits(jnp.array([160], "uint8"), count=3)
    Array([1, 0, 1], dtype=uint8)
    """
    value = operand("unpackbits", a)
    if typeof(value).dtype != BYTE:
        got = f"{typeof(value).dtype.name} in unpackbits, which takes uint8"
        raise rules.error("face.integers", got=got)
    bits = lax.shift_left(np.uint8(1), _places(bitorder))
    line, at = _last("unpackbits", value, axis)
    lead = len(shape_of(line)) - 1
    shape = shape_of(line)
    wide = lax.broadcast_in_dim(line, (*shape, 1), range(lead + 1))
    own = lax.broadcast_in_dim(bits, (*[1] * (lead + 1), 8), (lead + 1,))
    found = convert(lax.gt(lax.bitwise_and(wide, own), np.uint8(0)), BYTE)
    extent = 8 * shape[-1]
    found = lax.reshape(found, (*shape[:-1], extent))
    if count is not None:
        after = count if count < 0 else count - extent
        config = [*[(0, 0, 0)] * lead, (0, max(after, -extent), 0)]
        found = lax.pad(found, typed(0, BYTE, False), config)
    return moveaxis(found, -1, at)
