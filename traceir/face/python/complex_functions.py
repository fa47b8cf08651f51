"""Functions of the module `cmath` on traced numbers.

Serves: python.argument, python.domain
"""

from __future__ import annotations

import cmath
import functools
from collections.abc import Callable
from typing import Any

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.array import traced
from traceir.face.python.numbers import (
    as_complex,
    as_float,
    is_traced,
    number,
    real,
    require,
)
from traceir.lax.checks.operands import convert, default_dtype

Function = Callable[..., Any]


def _operand(value: Any, name: str) -> Any:
    given = number(value, f"cmath.{name}", "biufc")
    return traced(convert(given, default_dtype(complex)))


def _unary(name: str, function: Function) -> Function:
    return lambda z, /: as_complex(function(_operand(z, name)))


def _test(name: str, function: Function) -> Function:
    return lambda z, /: traced(function(_operand(z, name)), number=True)


def _logarithm(name: str, function: Function) -> Function:
    def found(z: Any, /) -> Any:
        value = _operand(z, name)
        require(jnp.equal(value, 0), "python.domain", f"cmath.{name}")
        return as_complex(function(value))

    return found


def _log(z: Any, base: Any = None, /) -> Any:
    found = _LOG(z)
    return found if base is None else as_complex(jnp.divide(found, _LOG(base)))


_LOG = _logarithm("log", jnp.log)


def _phase(z: Any, /) -> Any:
    value = _operand(z, "phase")
    return as_float(jnp.arctan2(jnp.imag(value), jnp.real(value)))


def _polar(z: Any, /) -> Any:
    return as_float(jnp.abs(_operand(z, "polar"))), _phase(z)


def _rect(r: Any, phi: Any, /) -> Any:
    length, angle = real(r, "cmath.rect"), real(phi, "cmath.rect")
    parts = [jnp.multiply(length, f(angle)) for f in (jnp.cos, jnp.sin)]
    return as_complex(lax.complex(*map(jnp.asarray, parts)))


_SAME = ("sqrt", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_MADE: dict[str, Function] = {
    **{name: _unary(name, getattr(jnp, name)) for name in _SAME},
    **{
        name: _unary(name, getattr(jnp, name.replace("a", "arc", 1)))
        for name in ("acos", "asin", "atan", "acosh", "asinh", "atanh")
    },
    **{n: _test(n, getattr(jnp, n)) for n in ("isnan", "isinf", "isfinite")},
    "log": _log,
    "log10": _logarithm("log10", jnp.log10),
    "phase": _phase,
    "polar": _polar,
    "rect": _rect,
}


def _seen(name: str) -> Function:
    own = getattr(cmath, name)

    @functools.wraps(own)
    def called(*args: Any) -> Any:
        return (_MADE[name] if is_traced(*args) else own)(*args)

    return called


FUNCTIONS: dict[Function, Function] = {
    getattr(cmath, name): _seen(name) for name in _MADE
}
