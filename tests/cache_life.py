"""All that threads can do to traces of functions that call one another, by the rows.

A world is what the machines of some functions keep, one key each, and what each thread
is in the middle of. `worlds` walks all that can be reached, event by event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from traceir.rules.machine import Machine, Transition


@dataclass(frozen=True)
class Traced:
    """A trace under way: of which function, and for which functions it keeps traces."""

    function: str
    keeps: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Thread:
    """The traces that a thread is in, from the outside in, and what it waits for."""

    traces: tuple[Traced, ...] = ()
    waits: str = ""

    @property
    def functions(self) -> set[str]:
        """All functions that it holds."""
        return {t.function for t in self.traces} | ({self.waits} - {""})


@dataclass(frozen=True)
class Shared:
    """A function as all threads see it."""

    kept: bool = False
    makers: tuple[int, ...] = ()
    dead: bool = False


@dataclass(frozen=True)
class World:
    """All functions and all threads."""

    functions: tuple[tuple[str, Shared], ...]
    threads: tuple[Thread, ...]

    def of(self, function: str) -> Shared:
        """A function as all threads see it."""
        return dict(self.functions)[function]

    def same(self) -> World:
        """The least of the worlds that differ in the numbers of the threads alone."""
        found = []
        for order in permutations(range(len(self.threads))):
            functions = tuple(
                (n, replace(s, makers=tuple(sorted(order.index(m) for m in s.makers))))
                for n, s in self.functions
            )
            found.append(World(functions, tuple(self.threads[k] for k in order)))
        return min(found, key=repr)


@dataclass(frozen=True)
class Step:
    """An event: of a thread, about a function; `lifts` is of a return."""

    event: str
    thread: int
    function: str
    lifts: bool = False


def begin(names: str, threads: int) -> World:
    """Functions that nothing has happened to yet."""
    return World(tuple((name, Shared()) for name in names), (Thread(),) * threads)


def steps(world: World) -> Iterator[Step]:
    """All that may happen next."""
    for n, thread in enumerate(world.threads):
        for name, shared in world.functions:
            if thread.waits in ("", name) and not shared.dead:
                yield Step("call", n, name)
            if not thread.waits and not shared.dead:
                yield Step("clear", n, name)
        if thread.traces and not thread.waits:
            function = thread.traces[-1].function
            yield Step("raise", n, function)
            yield Step("return", n, function)
            if len(thread.traces) > 1:
                yield Step("return", n, function, lifts=True)
    for name, shared in world.functions:
        if not shared.dead and not any(name in t.functions for t in world.threads):
            yield Step("die", 0, name)


def values(world: World, step: Step) -> Mapping[str, Any]:
    """The values that the formulas of the machine speak of, at a step."""
    thread, shared = world.threads[step.thread], world.of(step.function)
    around = thread.traces
    if step.event in ("return", "raise"):  # the function's own trace has ended
        around = around[:-1]
    here = bool(around) and step.function in around[-1].keeps
    return {
        "kept": shared.kept,
        "makers": shared.makers,
        "dead": shared.dead,
        "here": here,
        "caller": step.thread,
        "depth": len(around),
        "captures": ("x",) * step.lifts,
    }


def taken(machine: Machine, world: World, step: Step) -> Iterator[Transition]:
    """The transitions of a step: one, and those of what ends with it."""
    if step.event in ("return", "raise"):
        ended = world.threads[step.thread].traces[-1]
        for name in sorted(ended.keeps):
            found = values(world, Step("leave", step.thread, name))
            yield machine.step("leave", found)
    yield machine.step(step.event, values(world, step))


def after(machine: Machine, world: World, step: Step, row: Transition) -> World:
    """The world after a step, whose own transition is `row`."""
    found = machine.after(row, values(world, step))
    shared = Shared(found["kept"], found["makers"], found["dead"])
    functions = dict(world.functions) | {step.function: shared}
    if step.event == "die":  # which no thread does
        return World(tuple(functions.items()), world.threads)
    threads, thread = list(world.threads), world.threads[step.thread]
    traces = thread.traces
    if step.event in ("return", "raise"):
        traces = traces[:-1]
    if traces and step.event in ("call", "return", "raise"):
        keeps = traces[-1].keeps - {step.function}
        if found["here"]:
            keeps |= {step.function}
        traces = (*traces[:-1], replace(traces[-1], keeps=keeps))
    if row.outcome == "traces":
        traces = (*traces, Traced(step.function))
    waits = step.function if row.outcome == "waits" else ""
    threads[step.thread] = Thread(traces, waits if step.event == "call" else "")
    return World(tuple(functions.items()), tuple(threads))


def worlds(
    machine: Machine, first: World, same: Callable[[World], World] = World.same
) -> Iterator[tuple[World, Step, list[Transition], World]]:
    """Every world that can be reached, with each step from it and what that leads to.

    Worlds that are the `same` are one: those that differ in the numbers of threads.
    """
    seen, left = {same(first)}, [same(first)]
    while left:
        world = left.pop()
        for step in steps(world):
            rows = list(taken(machine, world, step))
            then = after(machine, world, step, rows[-1])
            yield world, step, rows, then
            if (found := same(then)) not in seen:
                seen.add(found)
                left.append(found)
