"""The traces that the model keeps, by the rows of the cache's machine.

Serves: cache.state.*, cache.event.*
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
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
    """The state of one function and key, and the trace in states that hold one.

    `statics` are the static arguments of the trace, `then` what they and the globals of
    the function were when it ended.
    """

    function: Any
    state: str
    maker: int | None = None
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
    """All entries: those that any call finds, and those that an open trace keeps."""

    def __init__(self, rules: Rules, stack: Sequence[TraceLevel]) -> None:
        self.rules = rules
        self.machine = rules.machine
        self.stack = stack
        self.shared: dict[Key, ModelEntry] = {}

    def find(self, key: Key, function: Any) -> ModelEntry:
        """The entry that a call from here finds."""
        if self.stack and key in self.stack[-1].entries:
            found: ModelEntry = self.stack[-1].entries[key]
            return found
        return self.shared.get(key) or ModelEntry(function, self.machine.start)

    def call(self, key: Key, entry: ModelEntry, **demanded: Any) -> Transition:
        """The transition of a call that finds the entry; raises an error that the rows
        demand.

        `demanded` is what the demands speak of, besides static arguments and globals.
        """
        names = {"caller": ME, "maker": entry.maker, "stage": len(self.stack)}
        row = self.machine.step(entry.state, "call", **names)
        demanded |= entry.now()
        refused = self.machine.refused(row.outcome, **demanded)
        if row.raises or refused:
            raise self.rules.error(row.raises or str(refused))
        if row.outcome == "waits":
            raise RuntimeError("the only thread waits")
        if row.to is not None:
            entry.state, entry.maker = row.to, ME
            self._place(key, entry)
        return row

    def failed(self, key: Key) -> None:
        """The trace of a key has raised."""
        entry = self.shared[key]
        self._move(key, entry, "raise", caller=ME, maker=entry.maker)

    def ended(
        self, key: Key, trace: ModelEntry, captures: Sequence[ModelTracer]
    ) -> ModelEntry:
        """The trace of a key has ended; it is kept where the rows say."""
        entry = self.shared[key]
        row = self.machine.step(entry.state, "return", captures=captures)
        trace.state = row.to or entry.state
        self._place(key, trace)
        return trace

    def left(self, level: TraceLevel) -> None:
        """End a trace, and the entries that it keeps."""
        for key, entry in level.entries.items():
            self._move(key, entry, "leave")
            self.shared.setdefault(key, entry)

    def cleared(self, function: Any) -> None:
        """Everything of a function is cleared."""
        for key, entry in self._of(function):
            self._move(key, entry, "clear")

    def died(self, function: Any) -> None:
        """Note that a function is dead; a function equal to it begins anew."""
        for key, entry in self._of(function):
            self._move(key, entry, "die")
            if self._holder(entry) == "nothing":
                self.shared.pop(key, None)

    def size(self, function: Any) -> int:
        """The number of traces kept with a function."""
        kept = (e for e in self.shared.values() if e.function == function)
        return sum(self._holder(entry) == "function" for entry in kept)

    def _of(self, function: Any) -> list[tuple[Key, ModelEntry]]:
        stores = [self.shared, *(level.entries for level in self.stack)]
        found = chain.from_iterable(store.items() for store in stores)
        return [(k, e) for k, e in found if e.function == function]

    def _move(self, key: Key, entry: ModelEntry, event: str, **names: Any) -> None:
        row = self.machine.step(entry.state, event, **names)
        if row.to is not None:
            entry.state, entry.maker = row.to, None
            self._place(key, entry)

    def _place(self, key: Key, entry: ModelEntry) -> None:
        """Keep an entry with the holder of its state's trace, or its state alone."""
        self.shared.pop(key, None)
        match self._holder(entry):
            case "function":
                self.shared[key] = entry
            case "trace":
                self.stack[-1].entries[key] = entry
            case _:
                self.shared[key] = ModelEntry(entry.function, entry.state)

    def _holder(self, entry: ModelEntry) -> str:
        return self.machine.states[entry.state].place
