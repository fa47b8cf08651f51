"""One-hot vectors. Serves: face.axis, level.concretize.index"""

from __future__ import annotations

from operator import index

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    convert,
    default_dtype,
    dtype_of,
    shape_of,
)
from traceir.lax.checks.shapes import axis_in
from traceir.lax.structural.index_dtypes import widened
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.logic import equal
from traceir.tracing.trace import typeof


def one_hot(
    x: Operand, num_classes: int, *, dtype: DTypeLike = None, axis: int = -1
) -> Array:
    """1 at the place that an element names, along a new axis, and 0 elsewhere.

    An element that names no place has zeros only. Raises
    TracerIntegerConversionError (level.concretize.index) for a traced `num_classes`,
    ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> one_hot(jnp.array([2, 0, 7]), 3)
    Array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    wanted = default_dtype(float) if dtype is None else dtype_of(dtype, "one_hot")
    value = asarray(x)
    place = axis_in(axis, len(shape_of(value)) + 1)
    return _one_hot(value, index(num_classes), dtype=wanted, axis=place)


@composite(static_argnames=["num_classes", "dtype", "axis"])
def _one_hot(x: Operand, num_classes: int, *, dtype: np.dtype, axis: int) -> Array:
    extents = [1] * (len(shape_of(x)) + 1)
    extents[axis] = num_classes
    named = widened(x, num_classes - 1) if kind_of(typeof(x).dtype) in "iu" else x
    known = lax.expand_dims(named, (axis,))
    places = lax.broadcasted_iota(typeof(known).dtype, extents, axis)
    return convert(equal(known, places), dtype)
