"""Methods of Python's numbers that traced ones have. Serves: face.reach"""

from __future__ import annotations

from typing import Any

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.python.numbers import as_integer, integer, number
from traceir.tracing.trace import typeof


def is_integer(self: Any) -> Any:
    """True if a number has no fraction."""
    value = number(self, "is_integer()", "biuf")
    if typeof(value).dtype.kind != "f":
        return True
    whole = jnp.equal(jnp.trunc(value), value)
    return traced(jnp.logical_and(whole, jnp.isfinite(value)), number=True)


def bit_length(self: Any) -> Any:
    """The number of bits of an integer without its sign."""
    value = jnp.asarray(integer(self, "bit_length()"))
    bits = 8 * value.dtype.itemsize
    return as_integer(bits - lax.clz(jnp.abs(value)))


def bit_count(self: Any) -> Any:
    """The number of ones among the bits of an integer without its sign."""
    value = jnp.asarray(integer(self, "bit_count()"))
    return as_integer(lax.population_count(jnp.abs(value)))


def tolist(self: NumpyTracer) -> Any:
    """The elements as numbers of Python's, in nested lists."""
    if self.concrete is not None:
        return self.concrete.tolist()
    return [part.tolist() for part in self] if self.ndim else self.item()


METHODS = (is_integer, bit_length, bit_count, tolist)
