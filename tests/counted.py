"""Counting how often a traced function's Python body runs."""

from __future__ import annotations

import inspect
from typing import Any


class Counted:
    """A function that counts how often its Python body runs."""

    def __init__(self, fun: Any) -> None:
        self.traces = 0

        def body(*args: Any, **kwargs: Any) -> Any:
            self.traces += 1
            return fun(*args, **kwargs)

        body.__signature__ = inspect.signature(fun)
        body.__name__ = fun.__name__
        self.fun = body

    def new(self) -> int:
        """Traces since the last time this was asked."""
        count, self.traces = self.traces, 0
        return count
