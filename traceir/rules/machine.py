"""The life of a trace as a state machine.

Serves: cache.state.*, cache.event.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import product
from typing import Any

from traceir.base.caches import cached_property
from traceir.base.fast_dataclass import dataclass
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import RowReader
from traceir.rules.rows import Clause

PLACES = ("nothing", "function", "trace")
OUTCOMES = ("", "traces", "hits", "waits", "raises")
# What events say besides the machine's variables.
OF_EVENTS = ("caller", "depth", "captures")
# What the formulas of demands speak of.
OF_DEMANDS = FormulaNames(
    (
        *("made", "limit", "no_tracing", "strict"),
        *("objects", "objects_then", "reads", "reads_then"),
    )
)
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a machine keeps, and its value at first."""

    name: str
    start: Formula
    says: str


@dataclass(frozen=True, slots=True)
class State:
    """A state as an event finds it; `place` is what holds the trace then."""

    id: str
    name: str
    holds: Formula
    place: str
    says: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition that a transition may depend on."""

    name: str
    holds: Formula
    says: str


@dataclass(frozen=True, slots=True)
class Effect:
    """A change that an event makes: the variable that it sets, and the value."""

    name: str
    sets: str
    to: Formula
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

    `does` are the effects, in their order. `outcome` is what the call does, "" for an
    event that is no call.
    """

    id: str
    sources: tuple[str, ...]
    event: str
    when: Formula | None
    does: tuple[str, ...]
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
    """Variables, states and events; what an event does is the one row that matches."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    states: Mapping[str, State] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    effects: Mapping[str, Effect] = field(default_factory=dict)
    demands: tuple[Demand, ...] = ()
    transitions: Mapping[str, Transition] = field(default_factory=dict)
    impossible: tuple[Impossible, ...] = ()

    @cached_property
    def raised(self) -> frozenset[str]:
        """The ids of the clauses that it raises."""
        found = {t.raises for t in self.transitions.values() if t.raises}
        return frozenset(found | {d.raises for d in self.demands})

    @cached_property
    def start(self) -> Values:
        """The value that each variable has at first."""
        return {v.name: v.start({}) for v in self.variables.values()}

    def state(self, values: Values) -> str:
        """The state that an event finds, given the variables; "" if there is none."""
        return next((s.name for s in self.states.values() if s.holds(values)), "")

    def step(self, event: str, values: Values) -> Transition:
        """The one transition of an event.

        `values` are those of the variables, and what the event says: `caller`, the
        thread; `depth`, the number of traces in force there; `captures` of a trace that
        has ended. RuleTableError (table.machine) where there is none.

        >>> from traceir.rules import default
        >>> values = {"caller": 1, "depth": 0, "captures": ()}
        >>> row = default().machine.step("call", {**default().machine.start, **values})
        >>> row.id, row.does
        ('cache.event.first-call', ('begin',))
        """
        state, facts = self._seen(values)
        rows = self.matching(state, event, facts)
        if not rows:
            raise problem("table.machine", "machine.toml", f"{event} when {state}")
        return rows[0]

    def found(self, event: str, **values: Any) -> tuple[str, Transition]:
        """The holder of the trace that an event finds, and its transition.

        The values are few in all and can be hashed; variables that are not given are as
        at first, and the thread is 0.
        """
        asked = event, *values.items()
        known = self._asked.get(asked)
        if known is None:
            given = {**self.start, "caller": 0, **values}
            place = self.states[self.state(given)].place
            known = self._asked[asked] = place, self.step(event, given)
        return known

    @cached_property
    def _asked(self) -> dict[tuple[Any, ...], tuple[str, Transition]]:
        return {}

    def after(self, row: Transition, values: Values) -> Values:
        """The values of the variables after a transition.

        >>> from traceir.rules import default
        >>> machine = default().machine
        >>> values = {**machine.start, "caller": 1}
        >>> machine.after(machine.transitions["cache.event.first-call"], values)
        {'kept': False, 'makers': (1,), 'here': False, 'dead': False}
        """
        found = dict(values)
        for name in row.does:
            effect = self.effects[name]
            found[effect.sets] = effect.to(found)
        return {name: found[name] for name in self.variables}

    def matching(
        self, state: str, event: str, facts: tuple[bool, ...]
    ) -> list[Transition]:
        """The transitions of an event in a state, given which facts are true."""
        found = self._matching.get((state, event, facts))
        if found is None:
            truths = dict(zip(self.facts, facts, strict=True))
            found = self._matching[state, event, facts] = [
                row
                for row in self.transitions.values()
                if event == row.event and state in row.sources
                if row.when is None or row.when(truths)
            ]
        return found

    @cached_property
    def _matching(self) -> dict[tuple[str, str, tuple[bool, ...]], list[Transition]]:
        return {}

    def _seen(self, values: Values) -> tuple[str, tuple[bool, ...]]:
        facts = tuple(bool(f.holds(values)) for f in self.facts.values())
        return self.state(values), facts

    def refused(self, outcome: str, **names: Any) -> str | None:
        """The clause that an outcome violates, or None."""
        failed = (d for d in self.demands if d.of == outcome and not d.holds(names))
        return next((d.raises for d in failed), None)

    def is_impossible(self, state: str, event: str) -> bool:
        """True if a row says that the event cannot happen in the state."""
        return any(state in i.sources and event in i.events for i in self.impossible)

    def targets(self, row: Transition, source: str) -> tuple[str, ...]:
        """The states that a transition may lead to from a state, in their order."""
        found = {
            self.state({**values, **self.after(row, values)})
            for values, state, facts in self._tried
            if state == source and row in self.matching(state, row.event, facts)
        }
        return tuple(name for name in self.states if name in found)

    @cached_property
    def _tried(self) -> list[tuple[Values, str, tuple[bool, ...]]]:
        return [(values, *self._seen(values)) for values in _VALUES]

    def faults(self) -> Iterator[str]:
        """The faults of the rows: choices left open, states that nothing leads to."""
        seen = dict.fromkeys((state, facts) for _, state, facts in self._tried)
        for event, (state, facts) in product(self.events, seen):
            rows = self.matching(state, event, facts)
            if len(rows) != (not self.is_impossible(state, event)):
                true = [name for name, fact in zip(self.facts, facts) if fact]
                got = ", ".join(r.id for r in rows) or "no transition"
                yield f"{event} when {state} and {', '.join(true) or 'no fact'}: {got}"
        for row in self.transitions.values():
            if (row.outcome == "raises") != bool(row.raises):
                outcome, clause = row.outcome or "no outcome", row.raises or "no clause"
                yield f"{row.id}: {outcome} and {clause}"
        for event in self.events:
            rows = [t for t in self.transitions.values() if t.event == event]
            if len({bool(row.outcome) for row in rows}) > 1:
                yield f"{event}: an outcome in some rows and none in others"
        for name in self.states.keys() - self._reached():
            yield f"{name}, which nothing leads to"

    def _reached(self) -> set[str]:
        steps = {
            (source, target)
            for row in self.transitions.values()
            for source in row.sources
            for target in self.targets(row, source)
        }
        reached = {self.state(self.start)}
        for _ in self.states:  # a path has at most so many steps
            reached |= {target for source, target in steps if source in reached}
        return reached


# Values of the variables and of events for which rows are tried: `caller` is thread 0.
_VALUES: tuple[Values, ...] = tuple(
    dict(zip(("kept", "makers", "here", "dead", *OF_EVENTS), found, strict=True))
    for found in product(
        *((False, True), ((), (0,), (1,), (0, 1)), (False, True), (False, True)),
        *((0,), (0, 1), ((), ("x",))),
    )
)


def read_machine(
    table: RowReader, plain: Callable[[RowReader], Clause], lenient: bool = False
) -> Machine:
    """The machine of `machine.toml`; `plain` enters a row under its id.

    Unless `lenient`, every event has one transition in every state that it can happen
    in, and every state can be reached.
    """
    variables = {v.name: v for v in map(_variable, table.rows("variable"))}
    names = FormulaNames((*variables, *OF_EVENTS))
    states = {s.name: s for s in (_state(r, plain, names) for r in table.rows("state"))}
    events = dict(map(_event, table.rows("event")))
    facts = {f.name: f for f in (_fact(r, names) for r in table.rows("fact"))}
    effects = {
        e.name: e for e in (_effect(r, variables, names) for r in table.rows("effect"))
    }
    machine = Machine(
        variables,
        states,
        events,
        facts,
        effects,
        tuple(map(_demand, table.rows("demand"))),
        {
            t.id: t
            for t in (
                _transition(r, plain, states, events, facts, effects)
                for r in table.rows("transition")
            )
        },
        tuple(_impossible(r, states, events) for r in table.rows("impossible")),
    )
    table.done()
    if not lenient:
        for got in machine.faults():
            raise problem("table.machine", "machine.toml", got)
    return machine


def _variable(row: RowReader) -> Variable:
    return Variable(
        row.text("name"), row.formula("start", FormulaNames(())), row.says()
    )


def _state(
    row: RowReader, plain: Callable[[RowReader], Clause], names: FormulaNames
) -> State:
    clause, place = plain(row), row.one_of("place", PLACES)
    name = clause.id.rpartition(".")[2]
    return State(clause.id, name, row.formula("holds", names), place, clause.says)


def _event(row: RowReader) -> tuple[str, str]:
    return row.text("name"), row.says()


def _fact(row: RowReader, names: FormulaNames) -> Fact:
    return Fact(row.text("name"), row.formula("holds", names), row.says())


def _effect(
    row: RowReader, variables: Mapping[str, Variable], names: FormulaNames
) -> Effect:
    sets = row.one_of("sets", variables)
    return Effect(row.text("name"), sets, row.formula("to", names), row.says())


def _demand(row: RowReader) -> Demand:
    of = row.one_of("of", OUTCOMES)
    return Demand(of, row.formula("holds", OF_DEMANDS), row.text("raises"))


def _transition(
    row: RowReader,
    plain: Callable[[RowReader], Clause],
    states: Mapping[str, State],
    events: Mapping[str, str],
    facts: Mapping[str, Fact],
    effects: Mapping[str, Effect],
) -> Transition:
    """A row of the machine as data."""
    clause = plain(row)
    return Transition(
        clause.id,
        _all_of(row, "from", states),
        row.one_of("event", events),
        row.maybe("when", FormulaNames(facts)),
        _all_of(row, "does", effects) if row.has("does") else (),
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
