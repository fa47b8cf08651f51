"""The shape and the dtype that a caller asks for, checked.

Serves: random.floating, random.counted, random.shape, face.shape
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    operands,
    refuse_complex,
    shape_of,
)
from traceir.lax.checks.shapes import shape_tuple
from traceir.random.keys import Key, one_key

Shape = tuple[int, ...]
ShapeLike = Any


def floating(name: str, dtype: DTypeLike, kinds: str = "f") -> np.dtype:
    """The floating dtype that is asked for, by default that of Python's floats.

    With "fc" as its `kinds` it may be complex. Raises ValueError (random.floating),
    TypeError (face.dtype).

    >>> floating("normal", None), floating("normal", "float16")
    (dtype('float32'), dtype('float16'))
    """
    if dtype is None:
        return default_dtype(float)
    found = dtype_of(dtype, name)
    if kind_of(found) not in kinds:
        raise rules.error("random.floating", got=f"{found.name} for {name}")
    return found


def counted(name: str, dtype: DTypeLike) -> np.dtype:
    """The integer dtype that is asked for, by default that of Python's integers.

    Raises ValueError (random.counted), TypeError (face.dtype).

    >>> counted("poisson", None)
    dtype('int32')
    """
    if dtype is None:
        return default_dtype(int)
    found = dtype_of(dtype, name)
    if kind_of(found) not in "iu":
        raise rules.error("random.counted", got=f"{found.name} for {name}")
    return found


def shaped(name: str, shape: ShapeLike, *params: Operand) -> Shape:
    """The shape that is asked for, or that to which the parameters broadcast.

    Raises ValueError (random.shape) where they do not broadcast to it and
    (random.extents) for a negative extent, TypeError (face.shape) for what is no shape.

    >>> shaped("gamma", None, np.ones((3, 1)), np.ones(2))
    (3, 2)
    """
    return fitting(name, shape, *(shape_of(p) for p in params))


def fitting(name: str, shape: ShapeLike, *shapes: Shape) -> Shape:
    """As `shaped`, for the shapes of parameters."""
    asked = None if shape is None else shape_tuple(shape)
    if asked and min(asked) < 0:
        raise rules.error("random.extents", got=f"{asked} for {name}")
    try:
        found = np.broadcast_shapes(*shapes)
    except ValueError:
        found = None
    if found is not None and asked is None:
        return found
    if found is not None and asked is not None and _stretches(found, asked):
        return asked
    listed = " and ".join(map(str, shapes))
    wanted = "" if asked is None else f" for a result of {asked}"
    raise rules.error("random.shape", got=f"{name} of {listed}{wanted}")


def _stretches(shape: Shape, to: Shape) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def drawn(
    name: str,
    draw: Callable[..., Array],
    key: Key,
    shape: ShapeLike,
    dtype: DTypeLike,
    *params: Operand,
) -> Array:
    """Floating numbers of a distribution, once what a caller gives is checked.

    `draw` takes the key, the parameters, the shape to which they broadcast, and the
    dtype. Raises what `one_key`, `floating` and `shaped` raise.
    """
    key = one_key(name, key)
    found = floating(name, dtype)
    given = operands(name, params)
    return draw(key, *given, shaped(name, shape, *given), found)


def ranked(x: Operand, rank: int) -> Operand:
    """The operand with so many dimensions, the new ones in front and of extent 1.

    >>> shape_of(ranked(2.0, 2))
    (1, 1)
    """
    shape = shape_of(x)
    new = rank - len(shape)
    if not new:
        return x
    return lax.broadcast_in_dim(x, (1,) * new + shape, range(new, rank))


def spread(x: Operand, shape: Shape) -> Array:
    """The operand in all of a shape to which it broadcasts.

    >>> shape_of(spread(2.0, (2, 3)))
    (2, 3)
    """
    own = shape_of(x)
    if own == shape:
        return as_array(x)
    return lax.broadcast_in_dim(x, shape, range(len(shape) - len(own), len(shape)))


# Distributions that convert complex parameters, as JAX has them.
CAST = {"gamma", "truncated_normal", "uniform"}


def real(name: str, dtype: np.dtype, *params: Operand) -> list[Operand]:
    """Parameters in the dtype of the result.

    Raises ValueError (face.complex) for complex ones but in `CAST`.
    """
    if name not in CAST and kind_of(dtype) != "c":
        refuse_complex(name, *params)
    return [convert(p, dtype) for p in operands(name, params)]
