"""Sessions by the tables alone: keys, levels and the machine. Serves: cache.*, level.*

Nothing is compiled here. A call takes the transition of its key's state; then the host
function runs on values that answer what the level rows permit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from traceir.arrays.array import Array
from traceir.base import config
from traceir.base.caches import LIMITS
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Call as Step
from traceir.conform.casefiles.sessions import Probe, Session, Setting
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.entries import Entries, ModelEntry, surroundings
from traceir.conform.systems.functions import Functions
from traceir.conform.systems.higher import COMPOSED
from traceir.conform.systems.host import Host, HostError
from traceir.conform.systems.jitted import RETURNING, Jitted
from traceir.conform.systems.nest import TraceStack, same
from traceir.conform.systems.systems import (
    NAMESPACES,
    TraceirSystem,
    as_array,
    flag_scope,
    results,
)
from traceir.conform.systems.traced import (
    DemandedArguments,
    ModelTracer,
    TraceLevel,
    ValueOrigin,
    concrete,
    replayed,
)
from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.promotion import canonical_dtype, python_aval
from traceir.jit.cache.cache_key import Key
from traceir.jit.cache.known_arguments import is_data
from traceir.jit.cache.signature import Bound
from traceir.jit.staging import Prepared
from traceir.pytrees import flatten
from traceir.rules import Rules
from traceir.tracing.results import check_outputs
from traceir.tracing.trace import typeof


class Model:
    """One session, by the tables."""

    def __init__(self, session: Session, rules: Rules) -> None:
        self.session = session
        self.rules = rules
        self.nest = TraceStack(rules)
        self.entries = Entries(rules, self.nest.stack)
        self.made: Counter[tuple[str, str]] = Counter()
        # The arguments that calls of a key demand.
        self.demanded: dict[Key, frozenset[str]] = {}
        self.scopes = ExitStack()
        self.host = Host(
            self.nest.bind,
            rules=rules,
            namespaces=NAMESPACES,
            apply=self.nest.apply,
            evaluated=self.nest.evaluated,
            compiled=self._compiled,
            clear=self._clear,
            level=self.nest.level,
            array=as_array,
        )
        self.functions = Functions(session, rules, self.host.define(session))
        self.hosts = self.functions.hosts
        for name in session.functions:
            self.host.functions[name] = partial(self._nested, name)

    def run(self) -> Sequence[Outcome]:
        """The outcome of every call and every probe, in order."""
        with self.scopes:
            found = [self.step(step) for step in self.session.steps]
        return [outcome for outcome in found if outcome is not None]

    def step(self, step: Step | Setting | Probe) -> Outcome | None:
        """The outcome of one step; a setting has none."""
        match step:
            case Setting():
                self._set(step)
                return None
            case Probe("cache_size", (str() as name,)):
                self.functions.check(name)
                size = self.entries.size(self.hosts[name])
                return Outcome("answers", answer=size)
            case Probe():
                raise Unsupported(f"the probe {step.name}")
        try:
            return self._outcome(step)
        except HostError as error:
            return Outcome("raises", error.rule)
        except TraceirError as error:
            # What is raised must be a row of these rules.
            return Outcome("raises", self.rules.error(error.rule, where="").rule)

    def _set(self, step: Setting) -> None:
        match step.name, step.args:
            case "face", (str() as face,):
                self.nest.face = face
            case "clear_cache", (str() as name,):
                self._clear(name)
            case "drop", (str() as name,):
                self._drop(name)
            case _:
                if not self.host.change(step.name, step.args):
                    self._flag(step)

    def _flag(self, step: Setting) -> None:
        name, *values = step.args if step.name == "config" else (step.name, *step.args)
        row = self.rules.flags.get(name)
        known = name in LIMITS or (row and {*map(str, values)} <= {*row.values})
        if not known:
            raise Unsupported(f"the setting {step.name}{step.args}")
        self.scopes.enter_context(flag_scope(step.name, step.args))

    def _drop(self, name: str) -> None:
        for owner in self.functions.dropped(name):
            self.entries.died(owner)

    def _clear(self, name: str) -> None:
        self.functions.check(name)
        self.entries.cleared(self.hosts[name])
        self.made[name, self.nest.face] = 0

    # Calls ---------------------------------------------------------------------------

    def _outcome(self, step: Step) -> Outcome:
        args, kwargs = self.host.argument((step.args, dict(step.kwargs)))
        if step.types is not None:
            types = self.host.argument(step.types)
            event, entry = self.called(step.function, "jit", types, {})
            found = self._run_compiled(step.function, entry, types, args)
        else:
            event, found = self._call(step.function, step.via, args, kwargs)
        returns = step.via in RETURNING
        if not returns:
            return Outcome(event, None, (), program=self._staged(step))
        leaves = list(map(self._read, flatten.leaves(found)))
        return Outcome(event, None, tuple(results(leaves)))

    def _staged(self, step: Step) -> ClosedJaxpr | None:
        """The program that a call is to give, as the reference traces it."""
        if not step.gives:
            return None
        steps = Setting("face", (self.nest.face,)), replace(step, via="trace")
        traced = Jitted(replace(self.session, steps=steps), TraceirSystem("reference"))
        names = self.session.objects
        traced.host.scope.update({n: self.host.scope[n] for n in names})
        (outcome,) = traced.run()
        return outcome.program

    def _read(self, value: Any) -> Any:
        """A result, as its reader gets it."""
        if isinstance(value, ModelTracer) and value.home is not self.nest.eager:
            return self.nest.ask(value, "host_array")
        return concrete(value)

    def _nested(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """A function that another one calls."""
        return self._call(name, "jit", args, kwargs)[1]

    def _call(self, name: str, via: str, args: Any, kwargs: Any) -> tuple[str, Any]:
        """The event of a function's call, and its results."""
        disabled = config.current().disable_jit and via not in COMPOSED
        way = COMPOSED.get(via, (via,))[0]
        if way not in self.rules.levels.transforms:
            raise Unsupported(f"calls through {via}")
        transform = self.rules.levels.run(way, disabled).name
        if via != "eager":
            self.functions.check(name)
        if not self.nest.transform(transform).traces:
            given, named = flatten.map_(
                lambda v: self.nest.argument(v, transform), (args, kwargs)
            )
            return "traces", self.hosts[name](*given, **named)
        event, entry = self.called(name, transform, args, kwargs)
        if event == "traces":  # with these very arguments
            return event, self._made(entry, entry.results)
        _, leaves = self.functions.leaves(name, args, kwargs, entry.known)
        return event, self._results(entry, leaves)

    def called(
        self, name: str, transform: str, args: Any, kwargs: Any
    ) -> tuple[str, ModelEntry]:
        """The event of a call by the machine's rows, and the trace that it uses."""
        self.functions.check(name)
        known: frozenset[str] = frozenset()
        while True:
            try:
                return self._called(name, transform, args, kwargs, known)
            except DemandedArguments as demand:  # the trace starts again
                known |= demand.labels

    def _called(
        self, name: str, transform: str, args: Any, kwargs: Any, known: frozenset[str]
    ) -> tuple[str, ModelEntry]:
        """As `called`, with these arguments known."""
        face = self._face(transform)
        bound, leaves = self.functions.leaves(name, args, kwargs, known)
        self.nest.lift(leaves, capture=False)
        prepared = self.functions.prepared(name, face, args, kwargs, known)
        key = self.functions.key(name, prepared)
        if key in self.demanded:
            raise DemandedArguments(self.demanded[key])
        counted = name, self.nest.face
        limit = self.functions.options(name).get("max_traces")
        limit = None if transform == "make_jaxpr" else limit
        row, entry = self.entries.call(
            key,
            self.hosts[name],
            made=self.made[counted],
            limit=limit,
            no_tracing=config.current().no_tracing,
            strict=prepared.call.strict,
        )
        if row.outcome == "traces":
            self.made[counted] += not known
            try:
                entry = self._trace(key, transform, bound, prepared, leaves)
            except DemandedArguments as demand:
                self.demanded[key] = demand.labels
                raise
        assert entry is not None
        return row.outcome, entry

    def _trace(
        self,
        key: Key,
        transform: str,
        bound: Bound,
        prepared: Prepared,
        leaves: Sequence[Any],
    ) -> ModelEntry:
        function = self.entries.functions[key]
        try:
            with self.nest.entered(transform) as level:
                inputs = [self._entering(v, transform) for v in leaves]
                self._note_numbers(inputs, bound, prepared)
                args, kwargs = bound.rebuild(prepared.call.treedef.unflatten(inputs))
                found = function(*args, **kwargs)
                outputs, tree = flatten.flatten(found)
                check_outputs(list(map(concrete, outputs)), tree)
                self.nest.lift(outputs)
            self._check_leaks(level)
        except Exception:
            self.entries.failed(key)
            raise
        self.entries.left(level)
        statics = prepared.call.statics
        then = surroundings(function, statics)
        known = frozenset(label for label, _ in bound.known)
        made = ModelEntry(function, inputs, outputs, tree, statics, then, known)
        return self.entries.ended(key, made, level.captures)

    def _note_numbers(
        self, inputs: Sequence[Any], bound: Bound, prepared: Prepared
    ) -> None:
        """Note the inputs that are numbers of Python's: these may be known instead."""
        if prepared.call.face != "numpy" or "face.demand" not in self.rules.clauses:
            return
        values = dict(bound.dynamic)
        for tracer, label in zip(inputs, prepared.call.leaf_labels, strict=True):
            if is_data(values[label]):
                self.nest.numbers[id(tracer)] = label

    def _check_leaks(self, level: TraceLevel) -> None:
        """Raises UnexpectedTracerError (leak.held) for values that are still held."""
        held = [v for v in self.host.leaked if isinstance(v, ModelTracer)]
        if config.current().check_tracer_leaks and level in [v.home for v in held]:
            raise self.rules.error("leak.held")

    def _results(self, entry: ModelEntry, leaves: Sequence[Any]) -> Any:
        """The results of a trace for these arguments, as values of the trace around."""
        others = [self._entering(v, "eager") for v in leaves]
        return self._made(entry, replayed(entry.results, entry.inputs, others))

    def _made(self, entry: ModelEntry, found: Sequence[Any]) -> Any:
        assert entry.tree is not None  # a trace that has ended
        return entry.tree.unflatten(
            [self.nest.result(concrete(v), ValueOrigin(same, (v,))) for v in found]
        )

    def _face(self, transform: str) -> str | None:
        """The face of a trace; `make_jaxpr` is of the plain function and has none."""
        return None if transform == "make_jaxpr" else self.nest.face

    def _entering(self, value: Any, transform: str) -> ModelTracer:
        """An argument as the function sees it; a 64-bit one is narrowed while off."""
        if isinstance(value, ModelTracer) and value.home is not self.nest.eager:
            return self.nest.argument(value, transform)
        value = concrete(value)
        x64 = config.current().x64
        if not isinstance(value, Array):
            python_aval(value, x64, self.rules)  # raises for what is no number
            return self.nest.argument(value, transform)
        dtype = canonical_dtype(value.dtype, x64, self.rules)
        array = np.array(value._value, dtype, order="C")
        aval = value.aval.update(dtype=dtype)
        return self.nest.argument(Array._wrap(array, aval), transform)

    # Ahead of time -------------------------------------------------------------------

    def _run_compiled(self, name: str, entry: ModelEntry, types: Any, args: Any) -> Any:
        """Raises TypeError (jit.compiled, jit.compiled-tree, jit.compiled-traced)."""
        if self.nest.stack:
            raise self.rules.error("jit.compiled-traced")
        face, known = self.nest.face, entry.known
        made = self.functions.prepared(name, face, types, {}, known).call
        leaves, tree = flatten.flatten(tuple(args))
        if tree is not made.treedef:
            raise self.rules.error("jit.compiled-tree")
        for leaf, aval in zip(map(typeof, leaves), made.avals):
            if (leaf.shape, leaf.dtype) != (aval.shape, aval.dtype):
                raise self.rules.error("jit.compiled")
        return self._results(entry, leaves)

    def _compiled(self, name: str) -> Callable[..., Any]:
        def lowered(*types: Any) -> Callable[..., Any]:
            _, entry = self.called(name, "jit", types, {})
            return partial(self._run_compiled_on, name, entry, types)

        return lowered

    def _run_compiled_on(
        self, name: str, entry: ModelEntry, types: Any, *args: Any
    ) -> Any:
        return self._run_compiled(name, entry, types, args)
