"""Primitives of the tables, and those of other programs, by name."""

from __future__ import annotations

from traceir.tracing.named_primitives import builtin, named

__all__ = ["call_p", "closed_call_p"]

# No program here has an equation of these names.
call_p = builtin("call")
closed_call_p = builtin("closed_call")


def __getattr__(name: str) -> object:
    found = None if name.startswith("__") else named(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
