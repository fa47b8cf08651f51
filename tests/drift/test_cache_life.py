"""The life of a trace, searched whole: three threads, two functions.

Cites cache.event.*, cache.state.*, cache.recursion
"""

from __future__ import annotations

import weakref
from collections import Counter
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from cache_life import Step, World, begin, steps, taken, values, worlds

from traceir.errors import RuleTableError, TraceirError
from traceir.ir.jaxpr import ClosedJaxpr, Jaxpr
from traceir.jit.cache.trace_cache import FunctionCache, TraceCacheEntry, TraceMaker
from traceir.pytrees import flatten
from traceir.rules import default
from traceir.rules.machine import Machine, Transition

KEY: Any = ("key",)
TREE = flatten.flatten(())[1]
PROGRAM = ClosedJaxpr(Jaxpr((), (), (), ()), ())
Found = list[tuple[World, Step, list[Transition], World]]


def entry(lifts: bool = False) -> TraceCacheEntry:
    captures = ("a tracer",) if lifts else ()
    call: Any = None
    return TraceCacheEntry(call, KEY, PROGRAM, TREE, captures)


@cache
def found() -> Found:
    return list(worlds(default().machine, begin("fg", 3)))


class Real:
    """The cache of each function, put into the state of a world."""

    def __init__(self, world: World) -> None:
        self.alive = {name: lambda: None for name, _ in world.functions}
        self.caches = {n: FunctionCache(weakref.ref(f)) for n, f in self.alive.items()}
        for name, shared in world.functions:
            if shared.dead:
                del self.alive[name]
        self.makers = {
            (n, t.function): TraceMaker(n)
            for n, thread in enumerate(world.threads)
            for t in thread.traces
        }
        for name, shared in world.functions:
            if shared.kept:
                self.caches[name].entries[KEY] = entry()
            if shared.makers:
                makers = [self.makers[n, name] for n in shared.makers]
                self.caches[name]._makers[KEY] = makers
        self.traces = [
            [self.trace(t.function, t.keeps) for t in thread.traces]
            for thread in world.threads
        ]

    def trace(self, function: str, keeps: frozenset[str] = frozenset()) -> Any:
        nested = {(self.caches[name], KEY): entry(lifts=True) for name in keeps}
        return SimpleNamespace(function=function, nested=nested)

    def take(self, step: Step) -> str:
        """Let it happen; what a call does."""
        cache, traces = self.caches[step.function], self.traces[step.thread]
        with cache._lock:
            return self.taken(step, cache, traces)

    def taken(self, step: Step, cache: FunctionCache, traces: list[Any]) -> str:
        """As `take`, under the lock of the function's cache."""
        match step.event:
            case "clear":
                cache.clear()
            case "die":
                del self.alive[step.function]
                assert cache.owner() is None
            case "call":
                return self.call(step, cache, traces)
            case _:
                traces.pop()
                around = traces[-1] if traces else None
                maker = self.makers[step.thread, step.function]
                made = entry(step.lifts) if step.event == "return" else None
                cache.end(KEY, maker, around, made)
        return ""

    def call(self, step: Step, cache: FunctionCache, traces: list[Any]) -> str:
        """The outcome of a call, or the rule that it raises."""
        maker = TraceMaker(step.thread)
        try:
            outcome = cache.begin(KEY, maker, traces[-1] if traces else None)
        except TraceirError as error:
            return error.rule
        if isinstance(outcome, TraceCacheEntry):
            return "hits"
        if outcome == "traces":
            traces.append(self.trace(step.function))
        return outcome

    def shows(self, world: World) -> bool:
        """True if this is the state of the world, as far as functions live."""
        for name, shared in world.functions:
            if shared.dead == (name in self.alive):
                return False
            if shared.dead:  # its cache has gone with it
                continue
            cache = self.caches[name]
            makers = tuple(m.thread for m in cache._makers.get(KEY, ()))
            if (KEY in cache.entries, makers) != (shared.kept, shared.makers):
                return False
        keys = {name: (cache, KEY) for name, cache in self.caches.items()}
        kept = [
            [
                {name for name, key in keys.items() if key in trace.nested}
                for trace in one
            ]
            for one in self.traces
        ]
        return kept == [[set(t.keeps) for t in th.traces] for th in world.threads]


def test_the_cache_does_what_the_rows_say_in_every_world() -> None:
    for world, step, rows, then in found():
        real = Real(world)
        did = real.take(step)
        assert did == (rows[-1].raises or rows[-1].outcome), (world, step)
        assert real.shows(then), (world, step)


def test_what_a_trace_keeps_ends_with_it() -> None:
    machine = default().machine
    for world, step, rows, _ in found():
        for row in rows[:-1]:
            around = {**values(world, step), "here": True}
            assert row.id == "cache.event.leave"
            assert not machine.after(row, around)["here"]


def test_every_row_is_taken_and_no_impossible_one() -> None:
    taken = Counter(row.id for _, _, rows, _ in found() for row in rows)
    assert taken.keys() == default().machine.transitions.keys()


def test_no_thread_traces_a_function_within_itself() -> None:
    for _, _, _, then in found():
        for thread in then.threads:
            functions = [trace.function for trace in thread.traces]
            assert len(functions) == len(set(functions))


def test_the_makers_of_a_function_are_those_that_trace_it() -> None:
    for _, _, _, then in found():
        for name, shared in then.functions:
            tracing = {
                n
                for n, thread in enumerate(then.threads)
                if name in [t.function for t in thread.traces]
            }
            assert set(shared.makers) == tracing and len(shared.makers) == len(tracing)


def test_whoever_waits_is_outside_of_all_traces_and_another_can_go_on() -> None:
    for _, _, _, then in found():
        waiting = [thread for thread in then.threads if thread.waits]
        assert not any(thread.traces for thread in waiting)
        for thread in waiting:
            shared = then.of(thread.waits)
            # What is waited for is under way in a thread that waits for nothing, or is
            # over: the thread will look again.
            busy = [m for m in shared.makers if not then.threads[m].waits]
            assert busy or not shared.makers or shared.kept


def test_what_is_kept_stays_until_it_is_cleared_or_dies() -> None:
    for world, step, _, then in found():
        for name, shared in world.functions:
            if shared.kept and not then.of(name).kept:
                assert step.function == name and step.event in ("clear", "die")


def test_a_trace_that_lifted_is_found_directly_within_its_trace_alone() -> None:
    for world, step, rows, _ in found():
        if step.event == "call":
            traces = world.threads[step.thread].traces
            here = bool(traces) and step.function in traces[-1].keeps
            assert (rows[-1].id == "cache.event.hit-lifted") == here


def altered(**changes: Any) -> Machine:
    """The machine with one transition changed."""
    machine, name = default().machine, changes.pop("row")
    row = replace(machine.transitions[name], **changes)
    return replace(machine, transitions={**machine.transitions, name: row})


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("cache.event.trace-too", {"does": ()}),
    ("cache.event.first-call", {"does": ()}),
    ("cache.event.keep", {"does": ("end",)}),
    ("cache.event.keep", {"does": ("keep",)}),
    ("cache.event.first-insert", {"does": ()}),
    ("cache.event.lift", {"does": ("end", "hold", "forget")}),
    ("cache.event.lift", {"does": ("end", "keep")}),
    ("cache.event.raise", {"does": ()}),
    ("cache.event.raise-too", {"does": ("end", "forget")}),
    ("cache.event.clear", {"does": ()}),
    ("cache.event.clear-nothing", {"does": ("end",)}),
    ("cache.event.die", {"does": ()}),
    ("cache.event.hit", {"outcome": "traces", "does": ("begin",)}),
    ("cache.event.hit-lifted", {"outcome": "traces", "does": ("begin",)}),
    ("cache.event.recursion", {"outcome": "waits", "raises": ""}),
    ("cache.event.wait", {"outcome": "traces", "does": ("begin",)}),
]


def differs(machine: Machine) -> bool:
    """True if the cache, which has the right rows, does otherwise in some world."""
    try:
        for world, step, rows, then in worlds(machine, begin("fg", 2)):
            real = Real(world)
            if real.take(step) != (rows[-1].raises or rows[-1].outcome):
                return True
            if not real.shows(then):
                return True
    except (RuleTableError, KeyError, ValueError):
        return True  # a world that can't be
    return False


@pytest.mark.parametrize("row, changes", WRONG)
def test_a_wrong_row_shows(row: str, changes: dict[str, Any]) -> None:
    assert differs(altered(row=row, **changes))


def test_the_right_rows_do_not() -> None:
    assert not differs(default().machine)


def test_who_waits_would_call_again() -> None:
    """A thread that waits waits by the same row as long as nothing has changed."""
    machine = default().machine
    for _, _, _, then in found():
        for step in steps(then):
            if step.event == "call" and then.threads[step.thread].waits:
                rows = list(taken(machine, then, step))
                assert rows[-1].outcome in ("waits", "hits", "traces")
                assert values(then, step)["depth"] == 0
