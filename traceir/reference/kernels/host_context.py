"""Calls of the user's functions, in the caller's context.

Serves: debug_callback.*, pure_callback.*, io_callback.*
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Caller(threading.local):
    # Kernels run with NumPy's warnings off; what they call runs as its caller does.
    context: contextvars.Context | None = None


_caller = _Caller()


@contextmanager
def called_from_here() -> Iterator[None]:
    """Within the `with`, callbacks of kernels see the context variables from here."""
    outer, _caller.context = _caller.context, contextvars.copy_context()
    try:
        yield
    finally:
        _caller.context = outer


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of the user's, in its caller's context."""
    if _caller.context is None:
        return function(*args)
    return _caller.context.copy().run(function, *args)
