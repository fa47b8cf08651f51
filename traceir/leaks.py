"""Traced values that are still held when their trace has ended. Serves: leak.held

A trace that records is looked at when it ends; one that differentiates or maps when
the `with` of `checking_leaks` is left, as its own work may hold values until then.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from traceir import config, rules
from traceir.trace import Trace, Tracer

# How far to look for a holder that has a name.
STEPS = 6


@contextmanager
def checking_leaks() -> Iterator[None]:
    """Within `with`: a traced value that outlives its trace is an error (leak.held).

    The error says what the value is, where it was made, and what holds it. What was
    traced before is not traced again, and so not looked at.

    >>> import traceir
    >>> held = []
    >>> with traceir.checking_leaks():
    ...     try:
    ...         traceir.jit(lambda x: held.append(x) or x)(1.0)
    ...     except traceir.errors.UnexpectedTracerError as error:
    ...         print(error.rule)
    leak.held
    """
    before = {id(t) for t in _tracers() if not t._trace.alive}
    with config.scope("check_tracer_leaks", True):
        yield
    check(lambda t: not t._trace.alive and id(t) not in before)


def check_ended(trace: Trace) -> None:
    """Raise UnexpectedTracerError (leak.held) if a value of the trace is still held.

    Nothing is looked at unless the flag `check_tracer_leaks` is set.
    """
    if config.local.context.check_tracer_leaks:
        check(lambda t: t._trace is trace)


def check(leaked: Callable[[Tracer], bool]) -> None:
    """Raise UnexpectedTracerError (leak.held) for such tracers that are held."""
    gc.collect()  # errors and closures hold values in cycles
    found = [tracer for tracer in _tracers() if leaked(tracer)]
    if not found:
        return
    lines = [_told(tracer, found) for tracer in found]
    more = f"; {len(lines) - 1} more" if len(lines) > 1 else ""
    raise rules.error("leak.held", got=lines[0] + more)


def _tracers() -> list[Tracer]:
    return [value for value in gc.get_objects() if isinstance(value, Tracer)]


def _told(tracer: Tracer, found: list[Tracer]) -> str:
    trace = tracer._trace
    made = f", made at {tracer._source}" if tracer._source else ""
    holders = _holders(tracer, found)
    held = f"; held by {', in '.join(holders)}" if holders else ""
    return (
        f"a value of type {tracer.aval.str_short()} of the trace of "
        f"{trace.name} for {trace.transform}{made}{held}"
    )


def _holders(value: Any, ignored: list[Any]) -> list[str]:
    """From a value to the name that holds it: `[0]`, `the variable held of f`."""
    hidden = {id(ignored)}
    found: list[str] = []
    kept = []  # so that no other object gets the identity of one that is hidden
    for _ in range(STEPS):
        steps = list(_steps(value, hidden))
        if not steps:
            break
        kept.append(steps)
        hidden.update(map(id, (*kept, *steps)))
        text, value = steps[0]
        found.append(text)
        if isinstance(value, ModuleType | FunctionType):
            break
        hidden.add(id(value))
    return found


def _steps(value: Any, hidden: set[int]) -> Iterator[tuple[str, Any]]:
    """What refers to a value: how, and the object that does."""
    for holder in gc.get_referrers(value):
        if id(holder) in hidden or isinstance(holder, FrameType | Tracer):
            continue
        match holder:
            case list() | tuple():
                place = _place(enumerate(holder), value)
                yield f"element {place} of a {type(holder).__name__}", holder
            case dict():
                yield _entry(_place(holder.items(), value), holder)
            case CellType():
                yield _variable(holder)
            case FunctionType():
                yield f"the defaults of {holder.__qualname__}", holder
            case _ if not type(holder).__module__.startswith(("traceir", "builtins")):
                yield f"an instance of {type(holder).__name__}", holder


def _place(pairs: Iterable[tuple[Any, Any]], value: Any) -> Any:
    # A loop: a comprehension would hold the value in a cell, and be found itself.
    for place, held in pairs:
        if held is value:
            return place
    return "?"


def _entry(key: Any, holder: dict[Any, Any]) -> tuple[str, Any]:
    """An entry of a dict, which may be the names of a module or of an object."""
    for owner in gc.get_referrers(holder):
        if getattr(owner, "__dict__", None) is holder:
            if isinstance(owner, ModuleType):
                return f"the global `{key}` of {owner.__name__}", owner
            return f"attribute `{key}` of an instance of {type(owner).__name__}", owner
    return f"key {key!r} of a dict", holder


def _variable(cell: CellType) -> tuple[str, Any]:
    for closure in gc.get_referrers(cell):
        for function in gc.get_referrers(closure):
            if isinstance(function, FunctionType):
                place = _place(enumerate(closure), cell)
                name = function.__code__.co_freevars[place]
                return f"the variable `{name}` of {function.__qualname__}", function
    return "a variable", cell
