"""Choices between elements, and where a condition holds. Serves: index.choices"""

from __future__ import annotations

from typing import Any

from traceir import rules
from traceir.lax.checks.operands import Operand
from traceir.numpy.elementwise.composites import where as where_both


def where(
    condition: Operand,
    x: Operand = None,
    y: Operand = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Elements of `x` where the condition holds, else of `y`, broadcast together.

    Of a condition alone, the places where it holds, as `nonzero` gives them. Raises
    TypeError (face.argument, face.broadcast), ValueError (index.choices),
    ConcretizationTypeError (index.size).

    >>> import traceir.numpy as jnp
    >>> where(True, 1, 2.5), where(jnp.array([False, True]))
    (Array(1., dtype=float32, weak_type=True), (Array([1], dtype=int32),))
    """
    if x is None and y is None:
        # Not for choices between two, which are what most programs ask for.
        from traceir.numpy.indexing.nonzero import nonzero

        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None or size is not None or fill_value is not None:
        raise rules.error("index.choices", got="one of two, or a size beside both")
    return where_both(condition, x, y)
