"""Sessions by the tables alone: keys and levels as data. Serves: cache.*, level.*

Nothing is compiled or cached here. A call traces when its key, computed from the rows,
has not been seen; then its host function runs on values that answer what the level rows
permit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from traceir import config, pytree
from traceir.array import Array
from traceir.conform import faces
from traceir.conform.host import Host, HostError
from traceir.conform.jitted import program_of, static_parameters
from traceir.conform.run import Unsupported
from traceir.conform.sessions import Call as Step
from traceir.conform.sessions import Outcome, Probe, Session, Setting
from traceir.conform.systems import as_array, flag_scope, results
from traceir.conform.traced import EAGER, Home, Traced, concrete, element, known
from traceir.conform.values import Value
from traceir.errors import TraceirError
from traceir.ir import sort_params
from traceir.jit.backends import resolve
from traceir.jit.key import Call as KeyCall
from traceir.jit.key import Key, KeyTable
from traceir.jit.signature import bind_arguments, form_of, resolve_static
from traceir.jit.staging import Prepared, check_outputs, prepare
from traceir.promote import canonical_dtype, python_aval
from traceir.rules import Rules, walk
from traceir.trace import evaluate, typeof


@dataclass(frozen=True)
class Seen:
    """A trace that is kept: its function, and the globals as they were then."""

    function: Any
    read: Mapping[str, Any]


class Model:
    """One session, by the tables."""

    def __init__(self, session: Session, rules: Rules) -> None:
        self.session = session
        self.rules = rules
        self.table = KeyTable(rules)
        self.host = Host(
            self.bind,
            rules=rules,
            namespaces=faces.NAMESPACES,
            apply=self.apply,
            compiled=self._compiled,
            array=as_array,
        )
        self.stack: list[tuple[str, int]] = []
        self.face = "jax"
        self.made = 0
        self.seen: dict[Key, Seen] = {}
        self.open: list[Key] = []
        self.lifting: set[tuple[str, int]] = set()
        self.traces: dict[str, int] = {}
        self.hosts = self.host.define(session)
        for name in session.functions:
            self.traces[name] = 0
            self.host.functions[name] = self._nested(name)

    def _nested(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._check(name)
            outer = self.stack[-1] if self.stack else EAGER
            given, named = pytree.map_(concrete, (args, kwargs))
            key = self._key(name, given, named)
            if key in self.open:
                raise self.rules.error("cache.recursion")
            self.open.append(key)
            try:
                with self.entered("jit") as home:
                    found = self._body(name, given, named, home, concrete)
            finally:
                self.open.pop()
            if home not in self.lifting:
                self._keep(key, name)
            return pytree.map_(lambda v: Traced(self, concrete(v), outer), found)

        return call

    def _keep(self, key: Key, name: str) -> None:
        # What a trace has read of globals stays as it was then.
        read = {n: deepcopy(self.host.scope[n]) for n in self.session.objects}
        self.seen[key] = Seen(self.hosts[name], read)

    def _check(self, name: str) -> None:
        """Raises what `jit` of the function raises (jit.callable, ...)."""
        fun = self.hosts[name]
        if not callable(fun):
            raise self.rules.error("jit.callable")
        if not isinstance(fun, Hashable):
            raise self.rules.error("cache.function.hashable")
        backend = self._options(name).get("backend")
        if backend is not None:
            resolve(backend)

    def _options(self, name: str) -> Mapping[str, Any]:
        function = self.session.functions.get(name)
        return function.options if function else {}

    def run(self) -> Sequence[Outcome]:
        """The outcome of every call and every probe, in order."""
        found = []
        with ExitStack() as settings:
            for step in self.session.steps:
                match step:
                    case Step():
                        found.append(self._step(step))
                    case Probe():
                        found.append(Outcome("answers", answer=self._answer(step)))
                    case Setting():
                        self._set(step, settings)
        return found

    def _answer(self, probe: Probe) -> Any:
        match probe.name, probe.args:
            case "cache_size", (str() as name,):
                fun = self.hosts[name]
                return sum(seen.function == fun for seen in self.seen.values())
        raise Unsupported(f"the probe {probe.name}")

    def _set(self, step: Setting, settings: ExitStack) -> None:
        match step.name, step.args:
            case "face", (str() as face,):
                self.face = face
            case "clear_cache", (str() as name,):
                gone = self.hosts[name]
                kept = {k: s for k, s in self.seen.items() if s.function != gone}
                self.seen = kept
            case _:
                if not self.host.change(step.name, step.args):
                    settings.enter_context(flag_scope(step.name, step.args))

    def _step(self, step: Step) -> Outcome:
        try:
            return self._call(step)
        except HostError as error:
            return Outcome("raises", error.rule)
        except TraceirError as error:
            # What is raised must be a row of these rules.
            return Outcome("raises", self.rules.error(error.rule, where="").rule)

    def _call(self, step: Step) -> Outcome:
        args, kwargs = self.host.argument((step.args, dict(step.kwargs)))
        name = step.function
        if step.via == "eager":
            return Outcome("traces", None, self._results(name, args, kwargs, "eager"))
        self._check(name)
        if step.types is not None:
            return self._ahead(step, self.host.argument(step.types), args)
        key = self._key(name, args, kwargs)
        if key in self.seen:
            event, values = "hits", self._hit(key, name, args, kwargs)
        else:
            event, values = "traces", self._first(key, step, args, kwargs)
        return Outcome(event, None, values if step.via == "jit" else ())

    def _first(self, key: Key, step: Step, args: Any, kwargs: Any) -> tuple[Value, ...]:
        self._count(step)
        self.open.append(key)
        try:
            values = self._results(step.function, args, kwargs, step.via)
        finally:
            self.open.pop()
        self._keep(key, step.function)
        self.traces[step.function] += 1
        return values

    def _ahead(self, step: Step, types: Any, args: Any) -> Outcome:
        """A call of a function that is compiled for other arguments, `types`."""
        key = self._key(step.function, types, {})
        first = key not in self.seen
        if first:
            self._first(key, replace(step, via="jit"), types, {})
        prepared = self._prepared(step.function, types, {})
        self._fits(prepared.call, args)
        given, named = prepared.bound.rebuild(args)
        values = self._results(step.function, given, named, "eager")
        return Outcome("traces" if first else "hits", None, values)

    def _fits(self, made: KeyCall, args: Any) -> None:
        """Raises TypeError (jit.compiled, jit.compiled-tree)."""
        leaves, tree = pytree.flatten(tuple(args))
        if tree is not made.treedef:
            raise self.rules.error("jit.compiled-tree")
        for leaf, aval in zip(map(typeof, leaves), made.avals):
            if (leaf.shape, leaf.dtype) != (aval.shape, aval.dtype):
                raise self.rules.error("jit.compiled")

    def _compiled(self, name: str) -> Callable[..., Any]:
        def lowered(*types: Any) -> Callable[..., Any]:
            def run(*args: Any) -> Any:
                if self.stack:
                    raise self.rules.error("jit.compiled-traced")
                return self.hosts[name](*args)

            return run

        return lowered

    def _prepared(self, name: str, args: Any, kwargs: Any) -> Prepared:
        form, options = form_of(self.hosts[name]), self._options(name)
        names = options.get("static_argnames") or static_parameters(self.session, name)
        static = resolve_static(form.signature, options.get("static_argnums"), names)
        return prepare(bind_arguments(form, static, args, kwargs), self.face)

    def _key(self, name: str, args: Any, kwargs: Any) -> Key:
        call = self._prepared(name, args, kwargs).call
        return self.table.key(replace(call, function=self.hosts[name]))

    def _count(self, step: Step) -> None:
        """Raises RetraceError (cache.max_traces)."""
        limit = self._options(step.function).get("max_traces")
        if limit is not None and self.traces[step.function] >= limit:
            raise self.rules.error("cache.max_traces")

    def _hit(self, key: Key, name: str, args: Any, kwargs: Any) -> tuple[Value, ...]:
        seen, leaked = dict(self.seen), list(self.host.leaked)
        scope = dict(self.host.scope)
        self.host.scope.update(self.seen[key].read)
        found = self._results(name, args, kwargs, "eager")
        # On a hit the body does not run, so it changes nothing.
        self.host.scope.update(scope)
        self.seen, self.host.leaked[:] = seen, leaked
        return found

    def _results(
        self, name: str, args: Any, kwargs: Any, via: str
    ) -> tuple[Value, ...]:
        with self.entered(via) as home:
            found = self._body(name, args, kwargs, home, self._narrowed)
        leaves, tree = pytree.flatten(found)
        leaves = list(map(concrete, leaves))
        if via != "eager":
            check_outputs(leaves, tree)
        return tuple(results(leaves))

    def _body(
        self, name: str, args: Any, kwargs: Any, home: Home, enter: Callable[[Any], Any]
    ) -> Any:
        """Run the host function; its traced arguments enter the trace `home`."""
        program = program_of(self.session, name)
        inputs = program.inputs if program else ()
        static = {binder.name for binder in inputs if binder.static}

        def given(binder: str, value: Any) -> Any:
            if binder in static:
                return value
            return pytree.map_(lambda v: Traced(self, enter(v), home), value)

        positional = [given(b.name, v) for b, v in zip(inputs, args, strict=False)]
        named = {k: given(k, v) for k, v in kwargs.items()}
        return self.hosts[name](*positional, **named)

    def _narrowed(self, value: Any) -> Any:
        """An array of a 64-bit dtype becomes a narrower one while they are off."""
        x64 = config.current().x64
        if not isinstance(value, Array):
            python_aval(value, x64, self.rules)  # raises for what is no number
            return value
        dtype = canonical_dtype(value.dtype, x64, self.rules)
        array = np.array(value._value, dtype, order="C")
        return Array._wrap(array, value.aval.update(dtype=dtype))

    @contextmanager
    def entered(self, transform: str) -> Iterator[tuple[str, int]]:
        """A trace of this transform in force; none for `eager`."""
        if transform == "eager":
            yield EAGER
            return
        self.made += 1
        self.stack.append((transform, self.made))
        try:
            yield self.stack[-1]
        finally:
            self.stack.pop()

    def ask(self, asked: Traced, action: str) -> Any:
        """The value, if the rows permit the action; else the error of the ask's row."""
        levels = self.rules.levels
        row = next(ask for ask in levels.asks.values() if ask.action == action)
        if levels.permits(levels.transforms[asked.home[0]].knows, row.id):
            return asked.value
        raise self.rules.error(row.raises)

    def apply(self, function: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """A function of arrays, applied in the trace that the nesting rows say."""
        homes = [v.home for v in faces.parts((args, params), Traced)]
        self._lift(homes)
        given, named = faces.changed((args, params), known)
        if self.stack:
            faces.refuse(function, given, named, Traced, self.stack[-1][0], self.face)
        home = self._home(homes)
        given, named = faces.changed((args, params), element)
        with config.face(self.face if self.stack else "jax"):
            found = function(*given, **named)
        return faces.changed(
            found, lambda v: Traced(self, v, home) if isinstance(v, Array) else v
        )

    def bind(self, primitive: str, *values: Any, **params: Any) -> Traced:
        """The value of a primitive, in the trace that the nesting rows say."""
        homes = [v.home for v in values if isinstance(v, Traced)]
        self._lift(homes)
        operands = [concrete(v) for v in values]
        (result,) = evaluate(primitive, operands, sort_params(params))
        return Traced(self, result, self._home(homes))

    def _lift(self, homes: Sequence[Home]) -> None:
        """Raises UnexpectedTracerError for a value of a trace that is not open."""
        lift = self.rules.levels.nesting.get("level.lift")
        is_open = (EAGER, *self.stack)
        for home in homes:
            scope = {"home": home, "open": is_open}
            if lift is not None and lift.holds and not walk(lift.holds, scope):
                raise self.rules.error(lift.id)
            if home in self.stack:
                self.lifting.update(self.stack[self.stack.index(home) + 1 :])

    def _home(self, homes: Sequence[tuple[str, int]]) -> tuple[str, int]:
        row = self.rules.levels.nesting.get("level.bind")
        # Without the row, an operation would belong to its operands alone.
        stage = len(self.stack) if row else (len(self.stack) if homes else 0)
        level = walk(row.level, {"stage": stage}) if row and row.level else stage
        return self.stack[level - 1] if level else EAGER
