"""Ways of running a function of arrays, for tests of what all of them must do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traceir

WAYS = ("eager", "reference", "numba")


def runner(way: str) -> Callable[..., Any]:
    """From a function and its arguments to its results: as it is, or by a backend."""
    if way == "eager":
        return lambda f, *args: f(*args)
    return lambda f, *args: traceir.jit(f, backend=way)(*args)


def note(seen: list[Any]) -> Callable[..., None]:
    """A callback that notes its argument as a Python number or a list of them."""
    return lambda *xs: seen.append(*[x.tolist() for x in xs])
