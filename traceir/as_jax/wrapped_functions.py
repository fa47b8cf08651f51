"""A function with keyword arguments that it is always given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class WrappedFun:
    """A function with keyword arguments that it is always given."""

    def __init__(self, fun: Callable[..., Any], params: dict[str, Any]) -> None:
        self.f = fun
        self.params = params

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.f(*args, **self.params, **kwargs)

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed function>")


def wrap_init(
    f: Callable[..., Any],
    params: dict[str, Any] | None = None,
    *,
    debug_info: Any = None,
) -> WrappedFun:
    """A function as functions of `api_util` take it.

    >>> wrap_init(abs).call_wrapped(-1)
    1
    """
    return WrappedFun(f, params or {})
