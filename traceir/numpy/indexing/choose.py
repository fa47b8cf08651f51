"""Selection among several arrays or functions for each element.

Serves: index.choices
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, convert, operand, promoted
from traceir.numpy.arrays.creation import asarray
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import logical_not, logical_or, truth


def select(
    condlist: Sequence[Operand], choicelist: Sequence[Operand], default: Operand = 0
) -> Array:
    """The choice of the first condition that holds for each element, else the default.

    All broadcast together, and meet in one dtype. Raises ValueError (index.choices),
    TypeError (face.argument, face.broadcast).

    >>> import traceir.numpy as jnp
    >>> x = jnp.arange(4)
    >>> select([x < 1, x < 3], [10, 20 * x], 7)
    Array([10, 20, 40,  7], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        got = f"{len(condlist)} conditions, {len(choicelist)} choices"
        raise rules.error("index.choices", got=got)
    *choices, found = promoted("select", *choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        found = where(truth(asarray(condition)), choice, found)
    return as_array(found)


def piecewise(
    x: Operand,
    condlist: Any,
    funclist: Sequence[Operand | Callable[..., Any]],
    *args: Any,
    **kw: Any,
) -> Array:
    """For each element of `x` what the function, or the number, of the last condition
    that holds gives, in the dtype of `x`; 0 where none holds.

    Conditions are arrays of one shape, which broadcasts with that of `x`, in a list or
    along the first axis of an array. One more function than conditions is for where
    none holds. Functions are applied to all of `x`, with `args` and `kw`. Raises
    ValueError (index.choices), TypeError (index.conditions).

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([-2.0, 0.0, 3.0])
    >>> piecewise(x, [x < 0, x > 0], [jnp.abs, lambda y: 2 * y])
    Array([2., 0., 6.], dtype=float32)
    """
    value = as_array(operand("piecewise", x))
    conditions = [truth(asarray(condition)) for condition in condlist]
    shapes = {condition.shape for condition in conditions}
    if len(shapes) > 1:
        raise rules.error("index.conditions", got=f"shapes {sorted(shapes)}")
    functions = list(funclist)
    if conditions and len(functions) == len(conditions) + 1:
        held = conditions[0]
        for condition in conditions[1:]:
            held = logical_or(held, condition)
        conditions.append(logical_not(held))
    if not conditions or len(functions) != len(conditions):
        got = f"{len(conditions)} conditions, {len(functions)} functions"
        raise rules.error("index.choices", got=got)
    found: Operand = lax.full_like(value, 0)
    for condition, function in zip(conditions, functions):
        given = function(value, *args, **kw) if callable(function) else function
        found = where(condition, convert(asarray(given), value.dtype), found)
    return as_array(found)
