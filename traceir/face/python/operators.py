"""Operators between two numbers of Python's, of which one is traced.

Serves: python.zero, python.domain, python.overflow

They are those of all tracers, and raise where Python does: a divisor that may be zero,
a count of bits below zero, a power that is no real number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir import numpy as jnp
from traceir.face.functions.ufuncs import signed
from traceir.face.python.numbers import as_float, as_integer, real, require
from traceir.tracing.trace import Tracer, typeof

Function = Callable[..., Any]


def _is_float(*values: Any) -> bool:
    return any(typeof(v).dtype.kind == "f" for v in values)


def _is_complex(*values: Any) -> bool:
    return any(typeof(v).dtype.kind == "c" for v in values)


def _divided(name: str, plain: Function) -> Function:
    def found(x: Any, y: Any) -> Any:
        zero = y == 0
        require(zero, "python.zero", f"a number {_SIGNS[name]} 0")
        found = plain(x, y)
        if not _is_float(x, y) or name not in _WHOLE_QUOTIENTS:
            return found
        return signed(_WHOLE_QUOTIENTS[name], found, x, y)

    return found


_SIGNS = {"truediv": "/", "floordiv": "//", "mod": "%", "divmod": "divmod"}
_WHOLE_QUOTIENTS: dict[str, Function] = {
    "floordiv": jnp.floor_divide,
    "mod": jnp.remainder,
    "divmod": jnp.divmod,
}


def _shifted(name: str, plain: Function) -> Function:
    """A shift by any count that is not below zero: bits beyond an integer are gone."""

    def found(x: Any, y: Any) -> Any:
        require(y < 0, "python.domain", "a shift by a count below zero")
        bits = 8 * typeof(x).dtype.itemsize
        if name == "rshift":
            return plain(x, jnp.minimum(y, bits - 1) if _is_long(y, bits) else y)
        if not _is_long(y, bits):
            return plain(x, y)
        return as_integer(
            jnp.where(jnp.less(y, bits), plain(x, jnp.minimum(y, bits - 1)), 0)
        )

    return found


def _is_long(count: Any, bits: int) -> bool:
    return isinstance(count, Tracer) or count >= bits


def _power(plain: Function) -> Function:
    def found(x: Any, y: Any) -> Any:
        if _is_complex(x, y):
            return plain(x, y)
        if not _is_float(x, y):
            return _of_integers(plain, x, y)
        if not isinstance(y, Tracer):
            if y < 0:
                require(x == 0, "python.zero", f"0.0 ** {y}")
            if y == int(y):
                return plain(x, y)
        return _of_floats(plain, x, y)

    return found


def _of_integers(plain: Function, x: Any, y: Any) -> Any:
    """An integer to an integer's power: a float if that is known to be below zero."""
    if isinstance(y, Tracer):
        require(y < 0, "python.domain", "an integer ** a traced integer below zero")
        return plain(x, jnp.maximum(y, 0))
    if y >= 0:
        return plain(x, y)
    require(x == 0, "python.zero", f"0 ** {y}")
    return as_float(jnp.power(real(x, "**"), y))


def _of_floats(plain: Function, x: Any, y: Any) -> Any:
    found = plain(x, y)
    if isinstance(y, Tracer):
        pole = jnp.logical_and(jnp.equal(x, 0), jnp.less(y, 0))
        require(pole, "python.zero", "0.0 ** a number below zero")
    numbers = jnp.logical_not(jnp.logical_or(jnp.isnan(x), jnp.isnan(y)))
    nowhere = jnp.logical_and(jnp.isnan(found), numbers)
    require(nowhere, "python.domain", "a number below zero ** a fraction")
    return found


def checked(name: str, plain: Function) -> Function:
    """An operator between numbers of Python's; `plain` is that of all tracers."""
    if name in _SIGNS:
        return _divided(name, plain)
    if name in ("lshift", "rshift"):
        return _shifted(name, plain)
    return _power(plain) if name == "pow" else plain
