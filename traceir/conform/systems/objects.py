"""Objects that cases define: static values, arrays, other functions.

Serves: cache.key.static, cache.key.function, cache.function.hashable, jit.dtype
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from traceir.conform.casefiles.sessions import Function, SessionObject
from traceir.conform.casefiles.values import TypedValue


class Valued:
    """A static object that is equal to another when its number is.

    >>> Valued(1) == Valued(1), hash(Valued(1)) == hash(Valued(1))
    (True, True)
    """

    __module__ = "case"  # of the user whose session it is, so strict traces look within

    def __init__(self, number: Any) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Valued) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


class Identity:
    """A static object that is equal to itself alone."""

    __module__ = "case"

    def __init__(self, number: Any) -> None:
        self.number = number


class Uncomparable:
    """A static object whose equality fails."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("raised by __eq__")

    def __hash__(self) -> int:
        return 1


class Wrapper:
    """A callable object with the signature of a function, and that function's name."""

    def __init__(self, function: Callable[..., Any], number: int) -> None:
        self.function = function
        self.number = number
        self.__name__ = function.__name__
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Equal(Wrapper):
    """Equal to another of the same function and number."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Equal):
            return False
        return self.function is other.function and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


class Unhashable(Wrapper):
    """A function that no cache can be keyed by."""

    __hash__ = None  # type: ignore[assignment]


def function_of_kind(function: Function, inner: Callable[..., Any]) -> Any:
    """The object of `partial(f)`, `method(f)`, `equal(f, 1)` or `unhashable(f)` in a
    case.

    >>> from traceir.text.lexer import SourceText
    >>> equal = Function("g", None, "f", {}, SourceText(""), "equal", 1)
    >>> function_of_kind(equal, print) == function_of_kind(equal, print)
    True
    """
    match function.kind:
        case None:
            return inner
        case "partial":
            return functools.partial(inner)
        case "method":
            return _method(inner)
        case "equal":
            return Equal(inner, function.number)
    return Unhashable(inner, function.number)


def _method(inner: Callable[..., Any]) -> Any:
    """A bound method that calls the function."""

    def method(self: Identity, /, *args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    signature = inspect.signature(inner)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = (own, *signature.parameters.values())
    method.__dict__["__signature__"] = signature.replace(parameters=parameters)
    method.__name__ = inner.__name__
    return MethodType(method, Identity(0))


def realise(value: Any, array: Callable[[TypedValue], Any]) -> Any:
    """The object that a `given` defines; an array is a NumPy array, to be written to.

    `array` makes an array of the implementation.
    """
    match value:
        case SessionObject("object", (number,)):
            return Valued(number)
        case SessionObject("identity", (number,)):
            return Identity(number)
        case SessionObject("uncomparable", (number,)):
            return Uncomparable(number)
        case SessionObject("array", (TypedValue() as made,)):
            return array(made)
        case SessionObject("ndarray", (made,)):
            return _ndarray(made)
        case SessionObject("masked", (made,)):
            found = _ndarray(made)
            return np.ma.masked_array(found, np.ones(found.shape, bool))
        case SessionObject(kind, args):
            raise TypeError(f"no object {kind}{args}")
        case TypedValue():
            return _ndarray(value)
    return value


def _ndarray(value: Any) -> np.ndarray:
    array = value.array if isinstance(value, TypedValue) else value
    return np.array(array, order="C")
