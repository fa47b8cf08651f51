"""Transforms in sessions: outcomes confirmed by the level rows. Serves: level.*

Functions are transformed by the rules alone where they can be (`derived`), and else by
the reference; either way their programs are run by the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import (
    Call,
    Function,
    Probe,
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
from traceir.oracle.transforms.builder import Beyond, NamedFunction
from traceir.oracle.transforms.functions import TermFunctions
from traceir.oracle.transforms.named_axes import DeviceAxes, DividingAxes
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
    if None in found:
        others = Jitted(session, TraceirSystem("oracle")).run()
        pairs = zip(found, confirmed(session, others, rules), strict=True)
        found = [own or other for own, other in pairs]
    return [outcome for outcome in found if outcome is not None]


def derived(session: Session, rules: Rules) -> list[Outcome | None]:
    """The outcomes by the rules alone, None where these do not say what a step gives.

    They speak of what a function gives and asks, not of the equations of its traces.
    After a step that they do not speak of, what is kept or noted is not known.
    """
    count = sum(not isinstance(step, Setting) for step in session.steps)
    found: list[Outcome | None] = []
    try:
        sessions = Jitted(session, RulesSystem(rules, session.is_typed))
    except (Beyond, Unsupported):
        return [None] * count
    beyond = False
    with sessions.scopes:
        for step in session.steps:
            outcome = None
            try:
                if isinstance(step, Probe) and beyond:
                    raise Beyond("what was done")
                outcome = sessions.step(step)
            except (Beyond, Unsupported):
                if isinstance(step, Setting):  # all that follows may depend on it
                    return found + [None] * (count - len(found))
                beyond = True
            if not isinstance(step, Setting):
                found.append(outcome)
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
    *("jit", "jvp", "vjp", "grad", "value_and_grad", "vmap", "pmap"),
    *("linearize", "linear_transpose", "jacfwd", "jacrev", "hessian", "checkpoint"),
    *("custom_jvp", "custom_vjp", "shard_map"),
)


class RulesSystem:
    """Transforms by the inference rules alone; raises Beyond where there is none."""

    def __init__(self, rules: Rules, is_typed: bool = False) -> None:
        self.is_typed = is_typed
        self.functions = TermFunctions(rules, evaluate_eqn)
        self.bind = self.functions.bind
        api = {name: getattr(self.functions, name) for name in TRANSFORMS}
        self.namespaces: Mapping[str, Any] = {
            "api": SimpleNamespace(
                **api,
                devices=lambda: list(range(self.functions.devices)),
                sharding=SimpleNamespace(
                    Mesh=DeviceAxes.of, PartitionSpec=DividingAxes.of
                ),
                pure_callback=self.pure_callback,
                debug=SimpleNamespace(callback=self.told),
                experimental=SimpleNamespace(io_callback=self.io_callback),
                ensure_compile_time_eval=self.functions.evaluated,
            )
        }

    def told(self, function: AnyFunction, *values: Any, ordered: bool = False) -> None:
        """Values told to a function of the host when the program runs."""

        def callback(*arrays: Any) -> tuple[()]:
            function(*arrays)
            return ()

        effect = "OrderedDebug" if ordered else "Debug"
        params = {"effect": effect, "partitioned": False}
        told = NamedFunction("told", callback)
        self.bind("debug_callback", *values, callback=told, **params)

    def pure_callback(
        self,
        function: AnyFunction,
        like: Term,
        *values: Any,
        vmap_method: str | None = None,
    ) -> Any:
        """The result of a function of the host, which is of a known type."""
        methods = "sequential", "sequential_unrolled", "expand_dims", "broadcast_all"
        if vmap_method not in (*methods, "legacy_vectorized", None):
            raise self.functions.rules.error("callback.vmap-method")
        params = {"sharding": None, "vmap_method": vmap_method}
        return self.asked("pure_callback", function, like, values, params)

    def io_callback(
        self, function: AnyFunction, like: Term, *values: Any, ordered: bool = False
    ) -> Any:
        """The result of a function of the host, which is called each time."""
        params = {"sharding": None, "ordered": ordered}
        return self.asked("io_callback", function, like, values, params)

    def asked(
        self,
        primitive: str,
        function: AnyFunction,
        like: Term,
        values: Sequence[Any],
        params: Mapping[str, Any],
    ) -> Any:
        """The result of a primitive that calls the host."""
        aval = self.functions.aval(like).update(weak_type=False)

        def callback(*arrays: Any) -> tuple[Any]:
            found = function(*arrays)
            if isinstance(found, tuple):
                raise self.functions.rules.error("callback.tree")
            if np.shape(found) != aval.shape or np.asarray(found).dtype != aval.dtype:
                raise self.functions.rules.error("callback.result")
            return (np.asarray(found),)

        asked = NamedFunction("asked", callback)
        given = {**params, "callback": asked, "result_avals": (aval,)}
        (found,) = self.bind(primitive, *values, **given)
        return found

    def jit(self, fun: AnyFunction, static: Static, options: JitOptions) -> AnyFunction:
        """The function as a program that is kept."""
        if static or options:
            raise Beyond("options of jit")
        return self.functions.jit(fun)

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
        return self.functions.term_of(value.array, value.aval)

    def value(self, leaf: Any) -> TypedValue:
        """A result with its type."""
        return TypedValue(self.functions.aval(leaf), self.functions.array(leaf))

    def program(self, staged: Any) -> ClosedJaxpr:
        """None is shown: the rules are about values."""
        raise Unsupported("the program of a function")

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """Changes the flags that rules speak of."""
        match name, args:
            # What is typed has no numbers of Python's, whose types the flag changes.
            case "enable_x64", (True,) if self.is_typed:
                return None
            case "config", ("disable_jit", value):
                self.functions.disabled = value
                return None
            case "config", ("num_cpu_devices", value):
                self.functions.devices = value
                return None
        raise Unsupported(f"the setting {name}")

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """There is nothing to ask."""
        raise Unsupported(f"the probe {name}")

    def rule(self, error: Exception) -> str | None:
        """The rule of an error; any other one is of what the rules do not define."""
        if isinstance(error, TraceirError):
            return error.rule
        raise error if isinstance(error, Beyond) else Beyond(repr(error)) from error
