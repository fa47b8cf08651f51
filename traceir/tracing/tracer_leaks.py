"""Traced values still held when their trace has ended. Serves: leak.held

A trace that records is looked at when it ends; one that differentiates or maps when
the `with` of `checking_leaks` is left, as its own work may hold values until then.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.base.tracebacks import entry_points
from traceir.tracing.trace import Trace, Tracer

# How far to look for a holder that has a name.
STEPS = 6
# How many holders at each step.
MOST = 50


def checking_leaks() -> LeakCheck:
    """Within `with`: a traced value that outlives its trace is an error (leak.held).

    The error says what the value is, where it was made, and what holds it. Functions
    traced before are not traced again, and so not looked at.

    >>> import traceir
    >>> held = []
    >>> try:
    ...     with traceir.checking_leaks():
    ...         traceir.jit(lambda x: held.append(x) or x)(1.0)
    ... except traceir.errors.UnexpectedTracerError as error:
    ...     print(error.rule)
    leak.held
    """
    return LeakCheck()


@entry_points()
class LeakCheck(ContextDecorator):
    """A `with` in which no traced value may outlive its trace."""

    def __init__(self) -> None:
        self._entered: list[tuple[config.ConfigScope, list[Any]]] = []

    def __enter__(self) -> None:
        # Weakly: the identity of one that dies may become that of another.
        before = [weakref.ref(t) for t in _tracers() if not t._trace.alive]
        scope = config.scope("check_tracer_leaks", True)
        scope.__enter__()
        self._entered.append((scope, before))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        scope, references = self._entered.pop()
        scope.__exit__(kind, error, trace)
        if kind is None:
            before = (reference() for reference in references)
            known = {id(t) for t in before if t is not None}
            check(lambda t: not t._trace.alive and id(t) not in known)


def check_ended(trace: Trace) -> None:
    """Raise UnexpectedTracerError (leak.held) if a value of the trace is still held.

    Nothing is looked at unless the flag `check_tracer_leaks` is set.
    """
    if config.local.context.check_tracer_leaks:
        check(lambda t: t._trace is trace)


def check(leaked: Callable[[Tracer], bool]) -> None:
    """Raise UnexpectedTracerError (leak.held) for such tracers that are held."""
    if not any(map(leaked, _tracers())):
        return
    gc.collect()  # errors and closures hold values in cycles
    found = [tracer for tracer in _tracers() if leaked(tracer)]
    for tracer in found:
        holders, ours = _holders(tracer, found)
        if not ours:
            raise rules.error("leak.held", got=_told(tracer, holders))


def _tracers() -> list[Tracer]:
    # By type: what an object says of its class may be computed, or wrong.
    return [value for value in gc.get_objects() if issubclass(type(value), Tracer)]


def _told(tracer: Tracer, holders: Sequence[str]) -> str:
    trace = tracer._trace
    made = f", made at {tracer._source}" if tracer._source else ""
    held = f"; held by {', in '.join(holders)}" if holders else ""
    return (
        f"a value of type {tracer.aval.str_short()} of the trace of "
        f"{trace.name} for {trace.transform}{made}{held}"
    )


class _ReferrerStep:
    """A holder, and the words on the way to it; in no container that is looked at."""

    __slots__ = ("holder", "words")

    def __init__(self, holder: Any, words: tuple[str, ...]) -> None:
        self.holder = holder
        self.words = words


def _holders(value: Any, ignored: list[Any]) -> tuple[tuple[str, ...], bool]:
    """The shortest way from a value to a module or function, in words; and whether
    only this package holds it, as what `vjp` returns may.

    Without such a way, the first that was found.
    """
    hidden = {id(ignored)}
    level = [_ReferrerStep(value, ())]
    words: tuple[str, ...] = ()
    ours = False
    for _ in range(STEPS):
        hidden.update(id(step.holder) for step in level)
        following = _steps(level, hidden)
        ours = ours or any(_is_ours(step.holder) for step in following)
        level = [step for step in following[:MOST] if not _is_ours(step.holder)]
        if not level:
            break
        for step in level:
            if isinstance(step.holder, ModuleType | FunctionType):
                return step.words, False
        words = level[0].words
    return words, ours


def _is_ours(holder: Any) -> bool:
    """True if it is a function of this package, or an object of one of its classes."""
    part = holder if isinstance(holder, FunctionType) else type(holder)
    package, *inside = (part.__module__ or "").split(".")
    if package != "traceir" or isinstance(holder, Tracer):
        return False
    return inside[:1] != ["conform"]  # which plays a user


def _steps(level: list[_ReferrerStep], hidden: set[int]) -> list[_ReferrerStep]:
    """The references to some values: their holders; values of traces last."""
    found: list[_ReferrerStep] = []
    later: list[_ReferrerStep] = []
    referrers = _referrers(step.holder for step in level)
    every = [holder for holders in referrers.values() for holder in holders]
    above = _referrers(h for h in every if isinstance(h, dict | CellType))
    for step in level:
        for holder in referrers.get(id(step.holder), ()):
            if id(holder) in hidden or isinstance(holder, FrameType | _ReferrerStep):
                continue
            if isinstance(holder, Tracer):
                later.append(
                    _ReferrerStep(holder, (*step.words, "another traced value"))
                )
            else:
                word, owner = _word(holder, step.holder, above.get(id(holder), []))
                found.append(_ReferrerStep(owner, (*step.words, word)))
    return found + later


def _referrers(values: Iterable[Any]) -> dict[int, list[Any]]:
    """The objects that refer to each of some values, by its identity.

    One look at all objects that there are: each takes as long as there are many.
    """
    wanted = tuple(values)
    found: dict[int, list[Any]] = {id(value): [] for value in wanted}
    for holder in gc.get_referrers(*wanted) if wanted else ():
        if holder is not wanted:
            for held in {id(part) for part in gc.get_referents(holder)} & found.keys():
                found[held].append(holder)
    return found


def _word(holder: Any, value: Any, above: list[Any]) -> tuple[str, Any]:
    """The way in which an object holds a value, and its part in one `above` it."""
    match holder:
        case list() | tuple():
            place = _place(enumerate(holder), value)
            return f"element {place} of a {type(holder).__name__}", holder
        case dict():
            return _entry(_place(holder.items(), value), holder, above)
        case CellType():
            return _variable(holder, above)
        case FunctionType():
            part = "globals" if holder.__globals__ is value else "defaults"
            return f"the {part} of {holder.__qualname__}", holder
    name = _place(getattr(holder, "__dict__", {}).items(), value)
    return f"attribute `{name}` of an instance of {_class(holder)}", holder


def _place(pairs: Iterable[tuple[Any, Any]], value: Any) -> Any:
    # A loop: a comprehension would hold the value in a cell, and be found itself.
    for place, held in pairs:
        if held is value:
            return place
    return "?"


def _entry(key: Any, holder: dict[Any, Any], above: list[Any]) -> tuple[str, Any]:
    """An entry of a dict, which may be the names of a module or of an object."""
    for owner in above:
        if getattr(owner, "__dict__", None) is holder:
            if isinstance(owner, ModuleType):
                return f"the global `{key}` of {owner.__name__}", owner
            return f"attribute `{key}` of an instance of {_class(owner)}", owner
    return f"key {key!r} of a dict", holder


def _class(value: Any) -> str:
    return type(value).__qualname__


def _variable(cell: CellType, closures: list[Any]) -> tuple[str, Any]:
    functions = _referrers(c for c in closures if isinstance(c, tuple))
    for closure in closures:
        for function in functions.get(id(closure), ()):
            if isinstance(function, FunctionType):
                place = _place(enumerate(closure), cell)
                name = function.__code__.co_freevars[place]
                return f"the variable `{name}` of {function.__qualname__}", function
    return "a variable", cell
