"""The traces that the model keeps, by the rows of the cache's machine.

Serves: cache.state.*, cache.event.*
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from traceir.conform.systems.traced import ModelTracer, TraceLevel
from traceir.jit.cache.cache_key import Key
from traceir.jit.cache.captured_state import innermost
from traceir.pytrees import flatten
from traceir.rules import Rules
from traceir.rules.machine import Transition

ME = 0  # the thread of a session: there is one


@dataclass
class ModelEntry:
    """A trace that has ended, of one function and key.

    `statics` are the static arguments of the trace, `then` what they and the globals of
    the function were when it ended.
    """

    function: Any
    inputs: Sequence[ModelTracer] = ()
    results: Sequence[Any] = ()
    tree: flatten.TreeDef | None = None
    statics: Sequence[tuple[str, Any]] = ()
    then: Mapping[str, Any] = field(default_factory=dict)
    # The arguments that are known by demand.
    known: frozenset[str] = frozenset()

    def now(self) -> dict[str, Any]:
        """The values that the demands on hits ask for: static arguments and globals."""
        seen = surroundings(self.function, self.statics)
        return {**seen, **{f"{name}_then": self.then.get(name) for name in seen}}


def surroundings(function: Any, statics: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The contents of static arguments, and of the globals that a function reads."""
    plain = innermost(function)
    names = plain.__code__.co_names if plain else ()
    known = plain.__globals__ if plain else {}
    return {
        "objects": [contents(value) for _, value in statics],
        "reads": [contents(known.get(name)) for name in names],
    }


def contents(value: Any) -> Any:
    """The contents of a value, for a later comparison, when it may have changed.

    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> before = contents((array, 1))
    >>> array[0] = 1
    >>> contents((array, 1)) == before, contents(1) == contents(1.0)
    (False, False)
    """
    kind = type(value)
    if isinstance(value, tuple | list):
        return kind, [contents(v) for v in value]
    if hasattr(value, "dtype"):
        return str(value.dtype), value.shape, np.asarray(value).tobytes()
    if hasattr(value, "number"):
        return kind, contents(value.number)
    return kind, repr(value)


class Entries:
    """The traces that the machines of all functions and keys keep."""

    def __init__(self, rules: Rules, stack: Sequence[TraceLevel]) -> None:
        self.rules = rules
        self.machine = rules.machine
        self.stack = stack
        self.functions: dict[Key, Any] = {}
        self.makers: dict[Key, tuple[int, ...]] = {}
        self.kept: dict[Key, ModelEntry] = {}
        # What would be kept with a trace where there is none.
        self.outside: dict[Key, ModelEntry] = {}

    @property
    def here(self) -> dict[Key, ModelEntry]:
        """The traces that the innermost trace keeps."""
        found: dict[Key, ModelEntry]
        found = self.stack[-1].entries if self.stack else self.outside
        return found

    def call(
        self, key: Key, function: Any, **demanded: Any
    ) -> tuple[Transition, ModelEntry | None]:
        """The transition of a call, and the trace that it finds; raises an error that
        the rows demand.

        `demanded` is what the demands speak of, besides static arguments and globals.
        """
        values = self._values(key)
        row = self.machine.step("call", values)
        place = self.machine.states[self.machine.state(values)].place
        holders = {"trace": self.here, "function": self.kept}
        entry = holders.get(place, {}).get(key)
        found = entry if entry is not None else ModelEntry(function)
        refused = self.machine.refused(row.outcome, **demanded, **found.now())
        if row.raises or refused:
            raise self.rules.error(row.raises or str(refused))
        if row.outcome == "waits":
            raise RuntimeError("the only thread waits")
        self.functions.setdefault(key, function)
        self._move(key, row, values, entry)
        return row, entry

    def failed(self, key: Key) -> None:
        """The trace of a key has raised."""
        self._event("raise", key)

    def ended(
        self, key: Key, made: ModelEntry, captures: Sequence[ModelTracer]
    ) -> ModelEntry:
        """The trace of a key has ended; it is kept where the rows say."""
        self._event("return", key, made, captures=captures)
        return made

    def left(self, level: TraceLevel) -> None:
        """End a trace, and what it keeps."""
        for key, entry in level.entries.items():
            values = {**self._values(key), "here": True}
            row = self.machine.step("leave", values)
            if self.machine.after(row, values)["here"]:
                self.here.setdefault(key, entry)

    def cleared(self, function: Any) -> None:
        """Everything of a function is cleared."""
        for key in self._of(function):
            self._event("clear", key)

    def died(self, function: Any) -> None:
        """Note that a function is dead; a function equal to it begins anew."""
        for key in self._of(function):
            self._event("die", key)

    def size(self, function: Any) -> int:
        """The number of traces kept with a function."""
        return sum(key in self.kept for key in self._of(function))

    def _of(self, function: Any) -> list[Key]:
        return [k for k, owner in self.functions.items() if owner == function]

    def _values(self, key: Key) -> dict[str, Any]:
        """The variables of a key's machine, and what every event says."""
        return {
            **self.machine.start,
            "makers": self.makers.get(key, ()),
            "kept": key in self.kept,
            "here": key in self.here,
            "caller": ME,
            "depth": len(self.stack),
            "captures": (),
        }

    def _event(
        self, event: str, key: Key, made: ModelEntry | None = None, **names: Any
    ) -> None:
        values = {**self._values(key), **names}
        self._move(key, self.machine.step(event, values), values, made)

    def _move(
        self,
        key: Key,
        row: Transition,
        values: Mapping[str, Any],
        made: ModelEntry | None,
    ) -> None:
        """Keep what the rows say: a trace that was made, or what is kept already."""
        after = self.machine.after(row, values)
        if after["dead"]:
            self.functions.pop(key, None)
        self.makers[key] = after["makers"]
        for store, name in ((self.kept, "kept"), (self.here, "here")):
            if not after[name]:
                store.pop(key, None)
            elif made is not None:
                store.setdefault(key, made)
