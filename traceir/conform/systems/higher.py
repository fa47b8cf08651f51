"""Transforms in sessions: outcomes confirmed by the level rows. Serves: level.*"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import (
    Call,
    Function,
    Session,
    SessionTransform,
    Setting,
)
from traceir.rules import Rules, default
from traceir.text.syntax import ProgramNode


def confirmed(
    session: Session, outcomes: Sequence[Outcome], rules: Rules
) -> Sequence[Outcome]:
    """The outcomes; where the rows say otherwise, an outcome that says so.

    An error must be a row, each transform must have one, and a question to an argument
    must be refused or answered by the knowledge that the strictest transform leaves.
    """
    for name in _transforms(session):
        if name not in rules.levels.transforms:
            raise LookupError(f"no row for the transform {name}")
    steps = [step for step in session.steps if not isinstance(step, Setting)]
    return [
        _confirmed(session, step, outcome, rules) if isinstance(step, Call) else outcome
        for step, outcome in zip(steps, outcomes, strict=True)
    ]


def _confirmed(session: Session, call: Call, outcome: Outcome, rules: Rules) -> Outcome:
    if outcome.rule not in (None, "host", *rules.clauses):
        raise LookupError(f"no row {outcome.rule}")
    chain, plain = _chain(session, call)
    if plain is None or any(t.params for t in _made_by(session, call)):
        return outcome  # which arguments are transformed is for the params to say
    known = "memory"
    for name in chain:
        known = rules.levels.within(known, rules.levels.transforms[name].knows)
    asked = [a for a in rules.levels.asks.values() if a.action in _actions(plain)]
    if outcome.rule is not None and outcome.rule in rules.levels.asks:
        for name in _within(plain):  # it may be asked there
            known = rules.levels.within(known, rules.levels.transforms[name].knows)
        refused = not rules.levels.permits(known, outcome.rule)
        return outcome if refused else Outcome("answers", answer=outcome.rule)
    for ask in asked:
        if not rules.levels.permits(known, ask.id) and outcome.rule is None:
            return Outcome("raises", ask.id)
    return outcome


def _chain(session: Session, call: Call) -> tuple[list[str], ProgramNode | None]:
    """The transforms of a call, the outermost first, and the function's program."""
    names = [] if call.via == "eager" else [call.via]
    function: Function | None = session.functions[call.function]
    while function is not None and function.program is None:
        names += [t.name for t in function.transforms]
        function = session.functions.get(function.same_as or "")
    known = default().levels.transforms
    program = function.program if function else None
    return [n for n in names if n in known], program


def _made_by(session: Session, call: Call) -> Iterator[SessionTransform]:
    function: Function | None = session.functions[call.function]
    while function is not None and function.program is None:
        yield from function.transforms
        function = session.functions.get(function.same_as or "")


def _actions(program: ProgramNode) -> set[str]:
    return {equation.primitive for equation in program.equations}


def _transforms(session: Session) -> Iterator[str]:
    """The transforms that a session uses, by name or through functions of `lax`."""
    known = default().levels.transforms
    for function in session.functions.values():
        yield from (t.name for t in function.transforms if t.name in known)
        if function.program is not None:
            yield from _within(function.program)


def _within(program: ProgramNode) -> Iterator[str]:
    """The transforms that a program applies as functions of `lax`."""
    for equation in program.equations:
        space, _, name = equation.primitive.rpartition(".")
        if space == "lax" and name in default().levels.transforms:
            yield name
