"""Transforms in sessions: outcomes confirmed by the level rows. Serves: level.*

Functions are transformed by the rules alone where they can be (`derived`), and else by
the reference; either way their programs are run by the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import (
    Call,
    Function,
    Session,
    SessionTransform,
    Setting,
)
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.jitted import Jitted, TraceirSystem
from traceir.conform.systems.systems import (
    AnyFunction,
    JitOptions,
    Scope,
    Static,
    Target,
)
from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.oracle.transforms.builder import Beyond
from traceir.oracle.transforms.functions import TermFunctions
from traceir.oracle.transforms.terms import Term
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import Rules, default
from traceir.text.syntax import ProgramNode

# The rows of ways of running that have none of their own, the outermost first.
COMPOSED = {
    "trace": ("jit",),
    "lower": ("jit",),
    "hessian": ("jacfwd", "jacrev"),
    "pmap": ("jit", "vmap"),
}


def outcomes_of(session: Session, rules: Rules) -> Sequence[Outcome]:
    """The outcomes of a session with transforms, by the rules where they suffice."""
    found = derived(session, rules)
    if None in found or is_called_again(session):
        others = Jitted(session, TraceirSystem("oracle")).run()
        pairs = zip(found, others, strict=True)
        found = [_with_event(a, b) if a else b for a, b in pairs]
    return confirmed(session, [o for o in found if o is not None], rules)


def _with_event(own: Outcome, other: Outcome) -> Outcome:
    """An outcome by the rules; whether a call found a trace is for others to say."""
    return own if own.event == "raises" else replace(own, event=other.event)


def is_called_again(session: Session) -> bool:
    """True if a function is called by `jit` twice: the rules do not say what is found
    in its cache then.
    """
    calls = (s for s in session.steps if isinstance(s, Call) and s.via == "jit")
    names = [call.function for call in calls]
    return len(set(names)) < len(names)


def derived(session: Session, rules: Rules) -> list[Outcome | None]:
    """The outcomes by the rules alone, None where these do not say what a call gives.

    They speak of what a function gives, not of what it is traced to or when.
    """
    steps = [step for step in session.steps if not isinstance(step, Setting)]
    calls = [s for s in steps if isinstance(s, Call) and not s.kwargs and not s.types]
    none: list[Outcome | None] = [None] * len(steps)
    if len(calls) < len(session.steps):  # what is around a call is not for these rules
        return none
    try:
        system = RulesSystem(rules)
        sessions = Jitted(session, system)
    except (Beyond, Unsupported):
        return none
    known: dict[object, Outcome | None] = {}
    found: list[Outcome | None] = []
    for step in calls:
        if step.verdict is not None or step.via not in ("jit", "eager"):
            found.append(None)
            continue
        key = step.function, tuple(map(id, step.args))
        if key not in known:  # compiling changes no value
            try:
                known[key] = sessions.step(step)
            except (Beyond, Unsupported):
                known[key] = None
        found.append(known[key])
    return found


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
    rows = [row for name in names for row in COMPOSED.get(name, (name,))]
    return [row for row in rows if row in known], program


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


# The transforms that the rules speak of.
TRANSFORMS = (
    *("jvp", "vjp", "grad", "value_and_grad", "vmap"),
    *("linearize", "linear_transpose", "jacfwd", "jacrev", "hessian", "checkpoint"),
)


class RulesSystem:
    """Transforms by the inference rules alone; raises Beyond where there is none."""

    def __init__(self, rules: Rules) -> None:
        self.functions = TermFunctions(rules, evaluate_eqn)
        self.bind = self.functions.bind
        api = {name: getattr(self.functions, name) for name in TRANSFORMS}
        self.namespaces: Mapping[str, Any] = {"api": SimpleNamespace(**api)}

    def jit(self, fun: AnyFunction, static: Static, options: JitOptions) -> AnyFunction:
        """The function itself: compiling it changes no value."""
        if static or options:
            raise Beyond("options of jit")
        return fun

    def via(self, transform: str, target: Target) -> AnyFunction:
        """None of these is about values."""
        raise Unsupported(f"calls through {transform}")

    def function(self, program: ClosedJaxpr) -> AnyFunction:
        """A function of values that are of the types of a program's inputs."""

        def call(*args: Any) -> Any:
            if [self.functions.aval(a) for a in args] != list(program.in_avals):
                raise Beyond("arguments of other types")
            found = self.functions.applied(program, args)
            return found[0] if len(found) == 1 else tuple(found)

        return call

    def array(self, value: TypedValue) -> Term:
        """An argument."""
        return Term(value.aval, value.array)

    def value(self, leaf: Any) -> TypedValue:
        """A result with its type."""
        return TypedValue(self.functions.aval(leaf), self.functions.array(leaf))

    def program(self, staged: Any) -> ClosedJaxpr:
        """None is shown: the rules are about values."""
        raise Unsupported("the program of a function")

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """There are none."""
        raise Unsupported(f"the setting {name}")

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """There is nothing to ask."""
        raise Unsupported(f"the probe {name}")

    def rule(self, error: Exception) -> str | None:
        """The rule of an error; any other one is of what the rules do not define."""
        if isinstance(error, TraceirError):
            return error.rule
        raise error if isinstance(error, Beyond) else Beyond(repr(error)) from error
