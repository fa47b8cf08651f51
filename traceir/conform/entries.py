"""What is kept of each function and key, by the rows of the machine.

Serves: cache.state.*, cache.event.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from traceir import pytree
from traceir.conform.traced import Level, Traced
from traceir.jit.key import Key
from traceir.rules import Rules
from traceir.rules.machine import Transition

ME = 0  # the thread of a session: there is one


@dataclass
class Entry:
    """The state of one function and key, and the trace in states that hold one."""

    function: Any
    state: str
    maker: int | None = None
    inputs: Sequence[Traced] = ()
    results: Sequence[Any] = ()
    tree: pytree.TreeDef | None = None


class Entries:
    """All entries: those that any call finds, and those that an open trace keeps."""

    def __init__(self, rules: Rules, stack: Sequence[Level]) -> None:
        self.rules = rules
        self.machine = rules.machine
        self.stack = stack
        self.shared: dict[Key, Entry] = {}

    def find(self, key: Key, function: Any) -> Entry:
        """The entry that a call from here finds."""
        if self.stack and key in self.stack[-1].entries:
            found: Entry = self.stack[-1].entries[key]
            return found
        if key not in self.shared:
            self.shared[key] = Entry(function, self.machine.start)
        return self.shared[key]

    def call(self, entry: Entry, made: int, limit: int | None) -> Transition:
        """What a call that finds the entry does; raises what the rows refuse."""
        names = {"caller": ME, "maker": entry.maker, "stage": len(self.stack)}
        row = self.machine.step(entry.state, "call", **names)
        refused = self.machine.refused(row.outcome, made=made, limit=limit)
        if row.raises or refused:
            raise self.rules.error(row.raises or str(refused))
        if row.to is not None:
            entry.state, entry.maker = row.to, ME
        return row

    def failed(self, key: Key) -> None:
        """The trace of a key has raised."""
        entry = self.shared[key]
        self._move(entry, "raise", caller=ME, maker=entry.maker)

    def ended(self, key: Key, trace: Entry, captures: Sequence[Traced]) -> Entry:
        """The trace of a key has ended; it is kept where the rows say."""
        entry = self.shared[key]
        row = self.machine.step(entry.state, "return", captures=captures)
        trace.state = row.to or entry.state
        if self.machine.states[trace.state].place == "trace":
            self.shared[key] = Entry(entry.function, self.machine.start)
            self.stack[-1].entries[key] = trace
        else:
            self.shared[key] = trace
        return trace

    def left(self, level: Level) -> None:
        """A trace has ended, and with it what it keeps."""
        for entry in level.entries.values():
            self._move(entry, "leave")

    def cleared(self, function: Any) -> None:
        """Everything of a function is cleared."""
        for entry in self._of(lambda other: other == function):
            self._move(entry, "clear")

    def died(self, function: Any) -> None:
        """A function is dead; what is equal to it begins anew."""
        for entry in self._of(lambda other: other is function):
            self._move(entry, "die")
        kept = self.shared.items()
        self.shared = {k: e for k, e in kept if e.function is not function}

    def size(self, function: Any) -> int:
        """How many traces are kept with a function."""
        states = self.machine.states
        kept = (e for e in self.shared.values() if e.function == function)
        return sum(states[e.state].place == "function" for e in kept)

    def _of(self, wanted: Callable[[Any], bool]) -> Iterator[Entry]:
        open_ = (e for level in self.stack for e in level.entries.values())
        return (e for e in (*self.shared.values(), *open_) if wanted(e.function))

    def _move(self, entry: Entry, event: str, **names: Any) -> None:
        row = self.machine.step(entry.state, event, **names)
        if row.to is not None:
            entry.state, entry.maker = row.to, None
