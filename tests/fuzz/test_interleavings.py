"""Threads that call one function: every order of events does what the rows say.

Real threads call `FunctionCache.lookup`; a trace stops until it is told how to end.
Cites cache.event.*
"""

from __future__ import annotations

import queue
import threading
import weakref
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
                found = self.cache.lookup(KEY, self._make, nested)
            except Exception as error:
                self.said.put(("raises", error))
            else:
                self.said.put(("returns", found))

    def _make(self) -> TraceCacheEntry:
        self.said.put(("traces", None))
        while (order := self.orders.get()) == "again":
            try:
                self.cache.lookup(KEY, self._make, True)
            except TraceirError as error:
                self.said.put(("refused", error))
        if isinstance(order, Exception):
            raise order
        captures = ("a tracer",) if order == "lift" else ()
        closed = ClosedJaxpr(Jaxpr((), (), (), ()), ())
        return TraceCacheEntry(None, KEY, closed, TREE, captures)

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
    """One key, a few threads; `state` and `maker` are those of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = default().machine
        self.function = lambda: None
        self.cache = FunctionCache(weakref.ref(self.function))
        self.workers = [Worker(self.cache) for _ in range(4)]
        self.state = self.machine.start
        self.maker: int | None = None
        self.kept: TraceCacheEntry | None = None
        self.idle = {*range(4)}
        self.tracing: dict[int, bool] = {}  # and whether inside another trace
        self.waiting: set[int] = set()

    # --- what the rows say ------------------------------------------------------------

    def call(self, n: int, nested: bool) -> str:
        """A call by the machine: its outcome."""
        names = {"caller": n, "maker": self.maker, "stage": int(nested)}
        row = self.machine.step(self.state, "call", **names)
        if row.to is not None:
            self.state, self.maker = row.to, n
        return row.outcome

    def move(self, to: str | None) -> None:
        """The machine goes to a state; the waiting call again when it is another."""
        if to is None:
            return
        place = self.machine.states[to].place
        # What is kept with a trace is nothing to calls from elsewhere.
        self.state = to if place != "trace" else self.machine.start
        self.maker = None
        again, self.waiting = self.waiting, set()
        if self.state == "kept":
            for n in again:
                self.hits(n)
        elif again:
            (first,) = self.who_traces(again)
            assert self.call(first, False) == "traces"
            self.tracing[first] = False
            for n in again - {first}:
                assert self.call(n, False) == "waits"
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
        outcome = self.call(n, nested)
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

    @precondition(lambda self: self.maker is not None)
    @rule()
    def call_again_inside(self) -> None:
        assert self.maker is not None
        assert self.call(self.maker, True) == "raises"
        self.workers[self.maker].orders.put("again")
        what, error = self.workers[self.maker].says()
        assert what == "refused" and error.rule == "cache.recursion"

    @precondition(lambda self: self.tracing)
    @rule(data=st.data(), lift=st.booleans())
    def end(self, data: st.DataObject, lift: bool) -> None:
        n = data.draw(st.sampled_from(sorted(self.tracing)))
        lift = self.tracing.pop(n) and lift  # there is nothing to lift outside
        row = self.machine.step(self.state, "return", captures=("x",) * lift)
        self.workers[n].orders.put("lift" if lift else "end")
        what, entry = self.workers[n].says()
        assert what == "returns" and bool(entry.captures) == lift
        self.idle.add(n)
        if lift:
            self.move(row.to if n == self.maker else None)
            return
        if row.to is not None:
            self.kept = entry
        assert entry is self.kept
        self.move(row.to)

    @precondition(lambda self: self.tracing)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        n = data.draw(st.sampled_from(sorted(self.tracing)))
        del self.tracing[n]
        row = self.machine.step(self.state, "raise", caller=n, maker=self.maker)
        error = ArithmeticError("from the body")
        self.workers[n].orders.put(error)
        assert self.workers[n].says() == ("raises", error)
        self.idle.add(n)
        self.move(row.to)

    @rule()
    def clear(self) -> None:
        row = self.machine.step(self.state, "clear")
        self.cache.clear()
        self.state = row.to or self.state

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
