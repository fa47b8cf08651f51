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
    """True if a program is that of `floor_divide` or `remainder` of `traceir.numpy`."""
    if name not in _DIVISIONS:
        return False
    return _division(name, jaxpr.in_avals) == jaxpr


@functools.lru_cache
def _division(name: str, avals: tuple[ShapedArray, ...]) -> Jaxpr:
    """The program of a division of operands of some types, whatever flags say."""
    with config.enable_x64(True):
        (eqn,) = make_jaxpr(_DIVISIONS[name])(*map(struct_of, avals)).eqns
    found: Jaxpr = eqn.param("jaxpr").jaxpr
    return found
