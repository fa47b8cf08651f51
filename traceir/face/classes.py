"""The classes of traced arrays, as a plain function sees them. Serves: face.reach

A traced array says that it is an `np.ndarray`, a number that it is one of NumPy's, or
of Python's where it was given as one.
"""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.unwrapping import in_numpy_trace, unwrapped, wrapped
from traceir.face.functions.captured import CapturedArray
from traceir.face.functions.creation import array, empty
from traceir.face.functions.selection import Unsized
from traceir.face.objects import SeenClass, derived
from traceir.face.python import conversions


def class_of(value: Any) -> builtins.type:
    """The class of a value; of a traced one, that of the value it stands for."""
    if isinstance(value, (Unsized, CapturedArray)):
        return np.ndarray
    if not isinstance(value, NumpyTracer):
        found = builtins.type(value)
        own = issubclass(found, (_TypeClass, _Scalar, conversions.PythonNumber))
        return type if own or found is builtins.type else _seen(found)
    return _seen(value.stands_for)


def _seen(kind: builtins.type) -> builtins.type:
    """A class, by the name that a traced function has for it."""
    return conversions.CLASSES.get(kind, kind)


class _TypeClass(builtins.type):
    """The class of `type` in a traced function, which is called with one argument."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is type and len(args) == 1:
            return class_of(args[0])
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is type:
            return builtins.isinstance(instance, builtins.type)
        return super().__instancecheck__(instance)


class type(builtins.type, metaclass=_TypeClass):  # the name that functions know
    """Python's `type`: of a traced array, the class of the array it stands for."""


BUILTINS: dict[str, Callable[..., Any]] = {
    "type": type,
}


class _Scalar(SeenClass):
    """The class of NumPy's classes of numbers in a traced function: a call converts."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        kind = cls._traced[0]
        try:
            return wrapped(kind(*unwrapped(args), **options))
        except KeyError:
            if len(args) != 1 or options or not in_numpy_trace():
                return kind(*args, **options)
        made = array(args[0], kind)
        return made if made.ndim else made[()]

    def __instancecheck__(cls, instance: Any) -> bool:
        return issubclass(class_of(instance), cls._traced[0])


class _ArrayClass(_Scalar):
    """The class of `np.ndarray` in a traced function: a call makes an array in it."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if "_traced" not in vars(cls):  # a class that a user derives from it
            return builtins.type.__call__(cls, *args, **options)
        given = dict(zip(_PARAMETERS, args, strict=False)) | options
        laid = sorted({"buffer", "offset", "strides"} & given.keys())
        if not laid and len(args) <= len(_PARAMETERS):
            return empty(**{"dtype": float, **given})
        try:
            return wrapped(np.ndarray(*unwrapped(args), **unwrapped(options)))
        except KeyError:
            got = f"np.ndarray with {' and '.join(laid)}"
            raise rules.error("face.meaning", got=got) from None


# The parameters of `np.ndarray`.
_PARAMETERS = ("shape", "dtype", "buffer", "offset", "strides", "order")

_NUMBERS = (
    *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "complex64", "complex128"),
    *("longlong", "ulonglong"),
)


@functools.wraps(np.isscalar)
def isscalar(element: Any) -> bool:
    """True for a number, traced or not, and for text."""
    if isinstance(element, NumpyTracer):
        return element.number
    return np.isscalar(element)


# NumPy's questions that are not asked of a class.
ASKING: dict[Callable[..., Any], Callable[..., Any]] = {np.isscalar: isscalar}


@functools.cache
def scalars() -> Mapping[Any, builtins.type]:
    """NumPy's classes of numbers and of arrays, with their stand-ins in a traced
    function."""
    kinds = {getattr(np, name) for name in _NUMBERS}
    made = {kind: derived(_Scalar, kind, []) for kind in kinds}
    return {**made, np.ndarray: derived(_ArrayClass, np.ndarray, [])}


@functools.cache
def tells_classes_apart(code: CodeType) -> bool:
    """True if a function may ask if an array's numbers have a certain class.

    It sees NumPy's own classes: `x.dtype.type` is one of those.

    >>> tells_classes_apart((lambda x: x.dtype.type is np.float64).__code__)
    True
    """
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    asks = "type" in code.co_names and any(
        step.opname == "IS_OP" for step in dis.get_instructions(code)
    )
    return asks or any(map(tells_classes_apart, inner))
