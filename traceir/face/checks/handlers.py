"""The `except` clauses around what is traced, and what they can't take.

Serves: staged.handler
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import NamedTuple

from traceir import rules
from traceir.tracing.trace import Trace, current_trace


class Handler(NamedTuple):
    """An `except` around what is traced: the trace of its `try`, and its classes."""

    trace: Trace | None
    kinds: Callable[[], tuple[type[BaseException], ...]]


HANDLERS: ContextVar[tuple[Handler, ...]] = ContextVar("traceir_handlers", default=())


def handler_of(kind: type[BaseException]) -> Handler | None:
    """The handler in the function that is traced which takes exceptions of a class."""
    trace = current_trace()
    around = [trace]
    while trace is not None and trace.writes_outside:
        trace = trace.parent
        around.append(trace)
    for handler in reversed(HANDLERS.get()):
        is_around = any(handler.trace is one for one in around)
        if is_around and issubclass(kind, handler.kinds()):
            return handler
    return None


def refuse_handled(kind: type[BaseException]) -> None:
    """Raise TypeError (staged.handler) for an exception of the program that an `except`
    of the function would take."""
    if HANDLERS.get() and handler_of(kind) is not None:
        raise rules.error("staged.handler", got=kind.__name__.removeprefix("Rule"))
