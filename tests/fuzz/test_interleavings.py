"""Threads that call one function: every order of events does what the rows say.

Real threads call `FunctionCache.lookup`; a trace stops until it is told how to end.
Cites cache.event.*
"""

from __future__ import annotations

import queue
import threading
import weakref
from types import SimpleNamespace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from soak import examples

from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr
from traceir.jit.cache.trace_cache import FunctionCache, TraceCacheEntry
from traceir.pytrees import flatten
from traceir.rules import default

FEW = examples(5)
KEY = ("key",)
LATE = 60
SOON = 0.002  # what a thread should not do it would have done by then
TREE = flatten.flatten(())[1]


def around(nested: bool) -> Any:
    """A new trace around a call, which keeps nothing yet."""
    return SimpleNamespace(nested={}) if nested else None


class Worker:
    """A thread that makes one call at a time and says what it did."""

    def __init__(self, cache: FunctionCache) -> None:
        self.cache = cache
        self.calls: queue.Queue[bool | None] = queue.Queue()
        self.orders: queue.Queue[Any] = queue.Queue()
        self.said: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (nested := self.calls.get()) is not None:
            try:
                found = self.cache.lookup(KEY, self._make, around(nested))
            except Exception as error:
                self.said.put(("raises", error))
            else:
                self.said.put(("returns", found))

    def _make(self) -> TraceCacheEntry:
        self.said.put(("traces", None))
        while (order := self.orders.get()) == "again":
            try:
                self.cache.lookup(KEY, self._make, around(True))
            except TraceirError as error:
                self.said.put(("refused", error))
        if isinstance(order, Exception):
            raise order
        captures = ("a tracer",) if order == "lift" else ()
        closed = ClosedJaxpr(Jaxpr((), (), (), ()), ())
        call: Any = None
        return TraceCacheEntry(call, KEY, closed, TREE, captures)

    def says(self) -> tuple[str, Any]:
        """The next event; fails if there is none."""
        return self.said.get(timeout=LATE)

    def is_silent(self) -> bool:
        """True if it does nothing for a while."""
        try:
            self.said.get(timeout=SOON)
        except queue.Empty:
            return True
        return False


class Interleavings(RuleBasedStateMachine):
    """One key, a few threads; `values` are those of the machine's variables."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = default().machine
        self.function = lambda: None
        self.cache = FunctionCache(weakref.ref(self.function))
        self.workers = [Worker(self.cache) for _ in range(4)]
        self.values = self.machine.start
        self.kept: TraceCacheEntry | None = None
        self.idle = {*range(4)}
        self.tracing: dict[int, bool] = {}  # and whether inside another trace
        self.waiting: set[int] = set()

    # --- what the rows say ------------------------------------------------------------

    def take(self, event: str, n: int, nested: bool, lift: bool = False) -> str:
        """The outcome of an event in a thread, by the rows."""
        told = {"caller": n, "depth": int(nested), "captures": ("x",) * lift}
        row = self.machine.step(event, {**self.values, **told})
        after = self.machine.after(row, {**self.values, **told})
        # Each trace around a call is a new one, and what it keeps ends with it.
        self.values = {**after, "here": False}
        return row.outcome

    def look_again(self) -> None:
        """Threads that wait call again, where what they find has changed."""
        again, self.waiting = self.waiting, set()
        if self.values["kept"]:
            for n in again:
                assert self.take("call", n, False) == "hits"
                self.hits(n)
            return
        if again and not self.values["makers"]:
            (first,) = self.who_traces(again)
            assert self.take("call", first, False) == "traces"
            self.tracing[first] = False
            again.remove(first)
        for n in again:
            assert self.take("call", n, False) == "waits"
            self.waiting.add(n)

    # --- what the threads do ----------------------------------------------------------

    def who_traces(self, threads: set[int]) -> set[int]:
        """The thread among these that begins to trace; the others do nothing."""
        found: set[int] = set()
        for _ in range(int(LATE / SOON)):
            for n in threads - found:
                if not self.workers[n].is_silent():
                    found.add(n)
            if found:
                break
        silent = [self.workers[n].is_silent() for n in threads - found]
        assert all(silent)
        return found

    def hits(self, n: int) -> None:
        """The call of a thread returns what is kept."""
        what, entry = self.workers[n].says()
        assert what == "returns" and entry is self.kept
        self.idle.add(n)

    @precondition(lambda self: self.idle)
    @rule(data=st.data(), nested=st.booleans())
    def begin(self, data: st.DataObject, nested: bool) -> None:
        n = data.draw(st.sampled_from(sorted(self.idle)))
        outcome = self.take("call", n, nested)
        self.idle.discard(n)
        self.workers[n].calls.put(nested)
        if outcome == "hits":
            self.hits(n)
        elif outcome == "waits":
            assert self.workers[n].is_silent()
            self.waiting.add(n)
        else:
            assert outcome == "traces" and self.workers[n].says()[0] == "traces"
            self.tracing[n] = nested

    @precondition(lambda self: self.tracing and not self.values["kept"])
    @rule(data=st.data())
    def call_again_inside(self, data: st.DataObject) -> None:
        n = data.draw(st.sampled_from(sorted(self.tracing)))
        assert self.take("call", n, True) == "raises"
        self.workers[n].orders.put("again")
        what, error = self.workers[n].says()
        assert what == "refused" and error.rule == "cache.recursion"

    @precondition(lambda self: self.tracing)
    @rule(data=st.data(), lift=st.booleans())
    def end(self, data: st.DataObject, lift: bool) -> None:
        n = data.draw(st.sampled_from(sorted(self.tracing)))
        nested = self.tracing.pop(n)
        lift = nested and lift  # there is nothing to lift outside
        new = not self.values["kept"] and not lift
        self.take("return", n, nested, lift)
        self.workers[n].orders.put("lift" if lift else "end")
        what, entry = self.workers[n].says()
        assert what == "returns" and bool(entry.captures) == lift
        self.idle.add(n)
        if new:
            self.kept = entry
        assert lift or entry is self.kept
        self.look_again()

    @precondition(lambda self: self.tracing)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        n = data.draw(st.sampled_from(sorted(self.tracing)))
        self.take("raise", n, self.tracing.pop(n))
        error = ArithmeticError("from the body")
        self.workers[n].orders.put(error)
        assert self.workers[n].says() == ("raises", error)
        self.idle.add(n)
        self.look_again()

    @rule()
    def clear(self) -> None:
        self.take("clear", -1, False)
        self.cache.clear()

    def teardown(self) -> None:
        """Let every thread come to its end."""
        for worker in self.workers:
            for _ in range(8):
                worker.orders.put("end")
            worker.calls.put(None)
        for worker in self.workers:
            worker.thread.join(LATE)
            assert not worker.thread.is_alive()


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=FEW, stateful_step_count=25)
