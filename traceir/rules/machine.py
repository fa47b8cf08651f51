"""The life of a trace as a state machine.

Serves: cache.state.*, cache.event.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from itertools import product
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import FormulaNames, RowReader
from traceir.rules.rows import Clause

PLACES = ("nothing", "function", "trace")
OUTCOMES = ("", "traces", "hits", "waits", "raises")
# What the formulas of facts and demands speak of.
SCOPE = FormulaNames(
    (
        *("caller", "maker", "stage", "captures", "made", "limit", "no_tracing"),
        *("strict", "objects", "objects_then", "reads", "reads_then"),
    )
)


@dataclass(frozen=True, slots=True)
class State:
    """A state: `place` is the holder of the trace while in it."""

    id: str
    name: str
    place: str
    says: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition that a transition may depend on; false outside of `states`."""

    name: str
    holds: Formula
    states: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Demand:
    """A condition of an outcome; if it fails, the clause `raises` is raised."""

    of: str
    holds: Formula
    raises: str


@dataclass(frozen=True, slots=True)
class Transition:
    """One row: in these states, on this event, `when` its formula of facts is true.

    Without `to` the state stays. `outcome` is what the call does, "" for an event that
    is no call.
    """

    id: str
    sources: tuple[str, ...]
    event: str
    when: Formula | None
    to: str | None
    outcome: str
    raises: str
    says: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """Events that cannot happen in some states, and why."""

    sources: tuple[str, ...]
    events: tuple[str, ...]
    says: str


@dataclass(frozen=True)
class Machine:
    """States, events and transitions; `start` is where every machine begins."""

    states: Mapping[str, State] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    demands: tuple[Demand, ...] = ()
    transitions: Mapping[str, Transition] = field(default_factory=dict)
    impossible: tuple[Impossible, ...] = ()

    @cached_property
    def raised(self) -> frozenset[str]:
        """The ids of the clauses that it raises."""
        found = {t.raises for t in self.transitions.values() if t.raises}
        return frozenset(found | {d.raises for d in self.demands})

    @cached_property
    def start(self) -> str:
        """The first state."""
        return next(iter(self.states))

    def step(self, state: str, event: str, **names: Any) -> Transition:
        """The one transition of an event in a state.

        `names` are what the facts speak of. RuleTableError (table.machine) where there
        is none.

        >>> from traceir.rules import default
        >>> row = default().machine.step("tracing", "return", captures=())
        >>> row.id, row.to
        ('cache.event.keep', 'kept')
        """
        found = self.matching(state, event, lambda fact: self._known(fact, names))
        row = next(found, None)
        if row is None:
            raise problem("table.machine", "machine.toml", f"{event} when {state}")
        return row

    def matching(
        self, state: str, event: str, known: Callable[[Fact], bool]
    ) -> Iterator[Transition]:
        """The transitions of an event in a state, given which facts are true."""
        for row in self.transitions.values():
            if event != row.event or state not in row.sources:
                continue
            facts = {f.name: state in f.states and known(f) for f in self._of(row)}
            if row.when is None or row.when(facts):
                yield row

    def _of(self, row: Transition) -> Iterator[Fact]:
        return (self.facts[n] for n in (row.when.names if row.when else ()))

    def _known(self, fact: Fact, names: Mapping[str, Any]) -> bool:
        return bool(fact.holds(names))

    def refused(self, outcome: str, **names: Any) -> str | None:
        """The clause that an outcome violates, or None."""
        failed = (d for d in self.demands if d.of == outcome and not d.holds(names))
        return next((d.raises for d in failed), None)

    def is_impossible(self, state: str, event: str) -> bool:
        """True if a row says that the event cannot happen in the state."""
        return any(state in i.sources and event in i.events for i in self.impossible)


def read_machine(
    table: RowReader, plain: Callable[[RowReader], Clause], lenient: bool = False
) -> Machine:
    """The machine of `machine.toml`; `plain` enters a row under its id.

    Unless `lenient`, every event has one transition in every state that it can happen
    in, and every state can be reached.
    """
    states = {s.name: s for s in (_state(r, plain) for r in table.rows("state"))}
    events = dict(map(_event, table.rows("event")))
    facts = {f.name: f for f in (_fact(r, states) for r in table.rows("fact"))}
    machine = Machine(
        states,
        events,
        facts,
        tuple(map(_demand, table.rows("demand"))),
        {
            t.id: t
            for t in (
                _transition(r, plain, states, events, facts)
                for r in table.rows("transition")
            )
        },
        tuple(_impossible(r, states, events) for r in table.rows("impossible")),
    )
    table.done()
    if not lenient:
        for got in _faults(machine):
            raise problem("table.machine", "machine.toml", got)
    return machine


def _state(row: RowReader, plain: Callable[[RowReader], Clause]) -> State:
    clause, place = plain(row), row.one_of("place", PLACES)
    return State(clause.id, clause.id.rpartition(".")[2], place, clause.says)


def _event(row: RowReader) -> tuple[str, str]:
    return row.text("name"), row.says()


def _fact(row: RowReader, states: Mapping[str, State]) -> Fact:
    where = _all_of(row, "states", states) if row.has("states") else tuple(states)
    return Fact(row.text("name"), row.formula("holds", SCOPE), where, row.says())


def _demand(row: RowReader) -> Demand:
    of = row.one_of("of", OUTCOMES)
    return Demand(of, row.formula("holds", SCOPE), row.text("raises"))


def _transition(
    row: RowReader,
    plain: Callable[[RowReader], Clause],
    states: Mapping[str, State],
    events: Mapping[str, str],
    facts: Mapping[str, Fact],
) -> Transition:
    """A row of the machine as data."""
    clause = plain(row)
    return Transition(
        clause.id,
        _all_of(row, "from", states),
        row.one_of("event", events),
        row.maybe("when", FormulaNames(facts)),
        row.one_of("to", states) if row.has("to") else None,
        row.one_of("outcome", OUTCOMES, ""),
        row.text("raises", ""),
        clause.says,
    )


def _impossible(
    row: RowReader, states: Mapping[str, State], events: Mapping[str, str]
) -> Impossible:
    sources, found = _all_of(row, "from", states), _all_of(row, "event", events)
    return Impossible(sources, found, row.says())


def _all_of(row: RowReader, key: str, known: Mapping[str, Any]) -> tuple[str, ...]:
    found = row.texts(key, ...)
    for name in found:
        if name not in known:
            options = f"some of {', '.join(known)}"
            raise problem("table.key", f"{row.where}: {key}", name, options)
    return found


def _faults(machine: Machine) -> Iterator[str]:
    """The faults of a machine: choices left open, states that nothing leads to."""
    for state, event in product(machine.states, machine.events):
        never = machine.is_impossible(state, event)
        for true in _truths(machine, state):
            rows = [r.id for r in machine.matching(state, event, true.__contains__)]
            if len(rows) != (not never):
                facts = ", ".join(f.name for f in true) or "no fact"
                got = ", ".join(rows) or "no transition"
                yield f"{event} when {state} and {facts}: {got}"
    for row in machine.transitions.values():
        if (row.outcome == "raises") != bool(row.raises):
            outcome, clause = row.outcome or "no outcome", row.raises or "no clause"
            yield f"{row.id}: {outcome} and {clause}"
    for event in machine.events:
        rows_of = [t for t in machine.transitions.values() if t.event == event]
        if len({bool(row.outcome) for row in rows_of}) > 1:
            yield f"{event}: an outcome in some rows and none in others"
    reached = {machine.start} if machine.states else set()
    for _ in machine.states:  # a path has at most so many steps
        for row in machine.transitions.values():
            if row.to and reached & {*row.sources}:
                reached.add(row.to)
    for name in machine.states.keys() - reached:
        yield f"{name}, which nothing leads to"


def _truths(machine: Machine, state: str) -> Iterator[list[Fact]]:
    facts = [f for f in machine.facts.values() if state in f.states]
    for bits in product((False, True), repeat=len(facts)):
        yield [f for f, bit in zip(facts, bits) if bit]
