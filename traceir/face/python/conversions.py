"""Python's classes of numbers in a traced function: a call converts.

Serves: python.argument, python.overflow, face.reach

They are classes, as elsewhere: `isinstance(x, int)`, `np.zeros(3, float)` and
`map(int, x)` ask for one.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.control_flow.choices import truth_of
from traceir.face.objects import SeenClass
from traceir.face.python.numbers import (
    as_complex,
    as_float,
    as_integer,
    is_traced,
    number,
    whole,
)
from traceir.lax.checks.operands import convert, default_dtype
from traceir.tracing.trace import typeof


def _int(value: Any) -> Any:
    given = number(value, "int()", "biuf")
    is_float = typeof(given).dtype.kind == "f"
    return whole(given, "int()") if is_float else as_integer(given)


def _float(value: Any = 0.0) -> Any:
    return as_float(number(value, "float()", "biuf"))


def _complex(real: Any = 0.0, imag: Any = 0.0) -> Any:
    parts = [number(part, "complex()", "biufc") for part in (real, imag)]
    (a, b), (c, d) = (map(_part, (jnp.real(p), jnp.imag(p))) for p in parts)
    if all(typeof(p).dtype.kind != "c" for p in parts):
        return as_complex(lax.complex(a, c))
    return as_complex(lax.complex(jnp.subtract(a, d), jnp.add(b, c)))


def _part(value: Any) -> Any:
    return jnp.asarray(convert(value, default_dtype(float)))


def _bool(value: Any = False) -> Any:
    truth = truth_of(value)
    return truth if isinstance(truth, builtins.bool) else traced(truth, number=True)


class PythonNumber(SeenClass):
    """The class of Python's classes of numbers in a traced function."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if "_traced" not in vars(cls):  # a class that a user derives from it
            return builtins.type.__call__(cls, *args, **options)
        kind = cls._traced[0]
        if is_traced(*args, *options.values()):
            return _CONVERSIONS[kind](*args, **options)
        return kind(*args, **options)

    def __instancecheck__(cls, instance: Any) -> builtins.bool:
        kind = cls._traced[0] if "_traced" in vars(cls) else cls
        if isinstance(instance, NumpyTracer):
            return issubclass(instance.stands_for, kind)
        if kind is cls:
            return builtins.type.__instancecheck__(cls, instance)
        return isinstance(instance, kind)

    def __subclasscheck__(cls, subclass: builtins.type) -> builtins.bool:
        if "_traced" not in vars(cls):
            return builtins.type.__subclasscheck__(cls, subclass)
        own = vars(subclass).get("_traced", (subclass,))[0]
        return issubclass(own, cls._traced[0])


_CONVERSIONS: dict[type, Callable[..., Any]] = {
    builtins.int: _int,
    builtins.float: _float,
    builtins.complex: _complex,
    builtins.bool: _bool,
}


def _seen(kind: type) -> type:
    base = builtins.int if kind is builtins.bool else kind
    members = {
        "__slots__": (),
        "__qualname__": kind.__qualname__,
        "dtype": np.dtype(kind),
    }
    made: type = PythonNumber(
        kind.__name__, (base,), {**members, "__module__": "builtins"}
    )
    type.__setattr__(made, "_traced", (kind, []))
    return made


# Python's classes of numbers, with what stands for them in a traced function.
CLASSES: dict[type, type] = {kind: _seen(kind) for kind in _CONVERSIONS}
