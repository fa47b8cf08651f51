"""Divisions among the programs that a program calls.

Serves: index.bounds
"""

from __future__ import annotations

import functools

from traceir.base import config
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Jaxpr
from traceir.ir.structs import struct_of
from traceir.jit.make_jaxpr import make_jaxpr
from traceir.numpy.elementwise.composites import floor_divide, remainder

# Functions of `traceir.numpy` that are too much for interval arithmetic.
_DIVISIONS = {"remainder": remainder, "floor_divide": floor_divide}


def is_division(jaxpr: Jaxpr, name: str) -> bool:
    """True if a program is that of `floor_divide` or `remainder` of `traceir.numpy`.

    Those of integers: others have no ranges. The name alone says little, since users'
    functions and derivatives of divisions have it, too.
    """
    if name not in _DIVISIONS or not _may_be_divided(jaxpr.in_avals):
        return False
    return _division(name, jaxpr.in_avals) == jaxpr


def _may_be_divided(avals: tuple[ShapedArray, ...]) -> bool:
    """True if these are two operands of one integer dtype, and of shapes that meet."""
    if len(avals) != 2 or avals[0].dtype != avals[1].dtype:
        return False
    x, y = (aval.shape[::-1] for aval in avals)
    meet = all(m == n or 1 in (m, n) for m, n in zip(x, y, strict=False))
    return avals[0].dtype.kind in "iu" and meet


@functools.lru_cache
def _division(name: str, avals: tuple[ShapedArray, ...]) -> Jaxpr:
    """The program of a division of operands of some types, whatever flags say."""
    with config.enable_x64(True):
        eqn = make_jaxpr(_DIVISIONS[name])(*map(struct_of, avals)).eqns[-1]
    found: Jaxpr = eqn.param("jaxpr").jaxpr
    return found
