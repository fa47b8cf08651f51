"""Functions that change an object in place.

Serves: staged.effect

That is no part of a program: inside of what is recorded they would change it once,
while the function is traced.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from types import GeneratorType
from typing import Any

from traceir.face.control_flow.rewriting.rewrite import CHANGING
from traceir.face.control_flow.runtime import changed, method


def _of_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that changes its first argument."""

    @functools.wraps(function)
    def called(value: Any, *args: Any) -> Any:
        return function(changed(value), *args)

    return called


def next(iterator: Any, /, *default: Any) -> Any:
    """The next item of an iterator, which has one less then."""
    own = isinstance(iterator, GeneratorType)
    return builtins.next(iterator if own else changed(iterator), *default)


def getattr(value: Any, name: str, /, *default: Any) -> Any:
    """An attribute, which may be a method that changes its object."""
    is_known = type(name) is str and name in CHANGING and hasattr(value, name)
    return method(value, name) if is_known else builtins.getattr(value, name, *default)


BUILTINS: dict[str, Callable[..., Any]] = {
    "next": next,
    "getattr": getattr,
    "setattr": _of_first(setattr),
    "delattr": _of_first(delattr),
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    function: _of_first(function)
    for function in (operator.setitem, operator.delitem, operator.iadd)
}
