"""Composites that are one NumPy call for known types. Serves: level.bind

A composite is several primitives, each of which allows for every operand. For the usual
operands of a call a single function of NumPy's does the work of all of them; others go
by the fallback, the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.reference.kernels.elementwise.ufunc_shortcuts import UfuncShortcut

Types = Sequence[ShapedArray]
Others = tuple[Any, ...]
Kernels = Callable[..., Any]
# From the types of the operands, the other arguments, and the kernels one by one.
CompositeRule = Callable[[Types, Others, Kernels], UfuncShortcut | None]


def _two_integers(types: Types, others: Others) -> bool:
    dtypes = {t.dtype for t in types}
    return not others and len(types) == 2 and len(dtypes) == 1 and _is_int(types[0])


def _is_int(aval: ShapedArray) -> bool:
    return aval.dtype.kind in "iu"


def _floor_divide(
    types: Types, others: Others, fallback: Kernels
) -> UfuncShortcut | None:
    """NumPy's quotients, but for those by zero."""
    if not _two_integers(types, others):
        return None
    size, nonzero, divide = types[1].size, np.count_nonzero, np.floor_divide

    def run(x: np.ndarray, y: np.ndarray) -> Any:
        return divide(x, y) if nonzero(y) == size else fallback(x, y)

    return UfuncShortcut(run)


def _remainder(types: Types, others: Others, fallback: Kernels) -> UfuncShortcut | None:
    """NumPy's remainders, which are 0 for a divisor of 0, too."""
    return UfuncShortcut(np.remainder) if _two_integers(types, others) else None


# The arguments of `take` after the axis: what is outside the array is filled.
FILLED = {(mode, False, False, None) for mode in (None, "fill")}


def _take(types: Types, others: Others, fallback: Kernels) -> UfuncShortcut | None:
    """NumPy's reads where all places are inside: negative ones count from the end."""
    axis, *rest = others
    x, places = types
    known = tuple(rest) in FILLED and (axis is None or type(axis) is int)
    fits = _is_int(places) and np.can_cast(places.dtype, np.intp, "safe")
    if not known or not fits or not x.size:
        return None

    def run(x: np.ndarray, places: np.ndarray) -> Any:
        try:
            return x.take(places, axis)
        except IndexError:
            return fallback(x, places)

    return UfuncShortcut(run, silent=True)


SHORTCUTS: dict[str, CompositeRule] = {
    "traceir.numpy.elementwise.composites.floor_divide": _floor_divide,
    "traceir.numpy.elementwise.composites.remainder": _remainder,
    "traceir.numpy.indexing.take_put._take": _take,
}


def composite_shortcut(
    function: Callable[..., Any], types: Types, others: Others, fallback: Kernels
) -> UfuncShortcut | None:
    """A shortcut for a composite; None for one that is no more than its parts.

    >>> import traceir.numpy as jnp
    >>> two = [ShapedArray((2,), "int32")] * 2
    >>> remainder = jnp.remainder.__wrapped__
    >>> composite_shortcut(remainder, two, (), lambda x, y: None).function
    <ufunc 'remainder'>
    """
    rule = SHORTCUTS.get(f"{function.__module__}.{function.__qualname__}")
    return None if rule is None else rule(types, others, fallback)
