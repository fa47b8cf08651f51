"""Random imperative programs: functions of Python's loops and choices, as text."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.jit.function import JitFunction, Options

_numbers = itertools.count()


def function_of(text: str, name: str = "f") -> Callable[..., Any]:
    """The function of this name that a text defines, whose source Python finds."""
    file = f"<program {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), scope)
    found: Callable[..., Any] = scope[name]
    return found


def jitted(function: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """A plain function under `jit` with a backend."""
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    return JitFunction(function, None, None, options)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call, and its arguments after it: dtypes and bits; or the class
    of the exception."""
    given = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        found = function(*given)
    except (IndexError, UnboundLocalError, AssertionError, ValueError) as error:
        return next(c for c in OUTCOMES if isinstance(error, c))
    return shown(found), shown([a for a in given if isinstance(a, np.ndarray)])


OUTCOMES = (UnboundLocalError, IndexError, AssertionError, ValueError)


def shown(value: Any) -> Any:
    """A result with the dtype and the bits of each number."""
    if isinstance(value, (tuple, list)):
        return [*map(shown, value)]
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(value)
    return array.dtype.name, array.shape, array.tobytes()
