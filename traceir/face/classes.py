"""What a plain function learns of the classes of traced arrays. Serves: face.box

A traced array says that it is an `np.ndarray`, a number that it is one of NumPy's, or
of Python's where it was given as one.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.face.array import NumpyTracer
from traceir.face.captured import CapturedArray
from traceir.face.selection import Selection


def class_of(value: Any) -> builtins.type:
    """The class of a value, of a traced one that of what it stands for."""
    if isinstance(value, (Selection, CapturedArray)):
        return np.ndarray
    if not isinstance(value, NumpyTracer):
        found = builtins.type(value)
        return type if found in (builtins.type, _Class) else found
    return value.stands_for


class _Class(builtins.type):
    """The class of `type` in a traced function, which is called with one argument."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is type and len(args) == 1:
            return class_of(args[0])
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is type:
            return builtins.isinstance(instance, builtins.type)
        return super().__instancecheck__(instance)


class type(builtins.type, metaclass=_Class):  # the name that functions know
    """Python's `type`: of a traced array it gives the class of what that stands for."""


BUILTINS: dict[str, Callable[..., Any]] = {"type": type}
