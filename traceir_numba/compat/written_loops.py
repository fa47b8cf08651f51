"""Loops in Python around a user's function.

Serves: compat.signature
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from traceir_numba import api

Function = Callable[..., Any]


def written(name: str, source: str, names: Mapping[str, Any], like: Function) -> Any:
    """A function from its source, which has these names; it belongs to the module of
    the user's function."""
    file = f"<{name} of {like.__module__}.{like.__qualname__} at {id(like):x}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    module = {**names, "np": np, "__name__": like.__module__}
    exec(compile(source, file, "exec"), module)
    found = module[name]
    found.__name__ = found.__qualname__ = like.__name__
    return api.jit(found)


def result_dtypes(function: Function, scalars: Sequence[Any]) -> list[Any]:
    """The dtypes of a function's results for numbers of these kinds."""
    found = api.jit(function).eval_shape(*scalars)
    parts = found if isinstance(found, tuple) else (found,)
    return [part.dtype for part in parts]


def listed(given: Any) -> Sequence[Any]:
    """Signatures, of which one may stand alone."""
    return given if isinstance(given, (list, tuple)) else [given]
