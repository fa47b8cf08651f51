"""One of several arrays or functions for each element. Serves: index.choices"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.array import Array
from traceir.lax.operands import Operand, as_array, convert, operand, promoted
from traceir.numpy.composites import where
from traceir.numpy.creation import asarray
from traceir.numpy.logic import logical_not, logical_or, truth


def select(
    condlist: Sequence[Operand], choicelist: Sequence[Operand], default: Operand = 0
) -> Array:
    """For each element the choice of the first condition that holds, else the default.

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

    One more function than conditions is for where none holds. Functions are applied to
    all of `x`, with `args` and `kw`. Raises ValueError (index.choices).

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([-2.0, 0.0, 3.0])
    >>> piecewise(x, [x < 0, x > 0], [jnp.abs, lambda y: 2 * y])
    Array([2., 0., 6.], dtype=float32)
    """
    value = as_array(operand("piecewise", x))
    conditions = _conditions(condlist, value)
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        held = conditions[0]
        for condition in conditions[1:]:
            held = logical_or(held, condition)
        conditions.append(logical_not(held))
    if len(functions) != len(conditions):
        got = f"{len(conditions)} conditions, {len(functions)} functions"
        raise rules.error("index.choices", got=got)
    found: Operand = convert(0, value.dtype)
    for condition, function in zip(conditions, functions):
        given = function(value, *args, **kw) if callable(function) else function
        found = where(condition, convert(asarray(given), value.dtype), found)
    return as_array(where(True, found, value)) if not conditions else as_array(found)


def _conditions(given: Any, x: Array) -> list[Array]:
    """The conditions of a list, or the only one."""
    several = isinstance(given, (list, tuple))
    if not several:
        array = asarray(given)
        several = array.ndim > x.ndim
        given = array if several else [array]
    return [truth(asarray(condition)) for condition in given]
