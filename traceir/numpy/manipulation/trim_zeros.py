"""Arrays without leading and trailing zeros.

Serves: order.size, face.choice, face.axis
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, is_tracer, operand
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.elementwise.logic import known_truth
from traceir.tracing.concretization import demanded, origin


def trim_zeros(
    filt: Operand, trim: str = "fb", axis: int | Sequence[int] | None = None
) -> Array:
    """The array without the zeros in front ("f") and at the back ("b") of axes.

    Along each axis only what is 0 everywhere goes. The shape depends on values, so a
    traced array is a ConcretizationTypeError (order.size). Raises ValueError
    (face.choice, face.axis).

    >>> import traceir.numpy as jnp
    >>> trim_zeros(jnp.array([0, 1, 0, 2, 0]))
    Array([1, 0, 2], dtype=int32)
    """
    value = as_array(operand("trim_zeros", filt))
    nonzero = known_truth(value)
    if is_tracer(nonzero):
        # What is not known is a tracer.
        got = f"trim_zeros of a traced array, {origin(value)}"  # type: ignore[arg-type]
        raise demanded(rules.error("order.size", got=got), value)
    if not set(trim.lower()) <= set("fb"):
        raise rules.error("face.choice", got=f"trim={trim!r}; f, b or both")
    where = np.nonzero(np.asarray(nonzero))
    starts, limits = [0] * value.ndim, list(value.shape)
    for d in axes_in(axis, value.ndim):
        if not where[d].size:
            limits[d] = 0
            continue
        if "f" in trim.lower():
            starts[d] = int(where[d].min())
        if "b" in trim.lower():
            limits[d] = int(where[d].max()) + 1
    return lax.slice(value, starts, limits)
