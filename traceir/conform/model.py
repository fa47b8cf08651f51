"""Sessions by the tables alone: keys and levels as data. Serves: cache.*, level.*

Nothing is compiled or cached here. A call traces when its key, computed from the rows,
has not been seen; then its host function runs on values that answer what the level rows
permit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from traceir import config, pytree
from traceir.array import Array
from traceir.conform.host import Host, HostError, host_function
from traceir.conform.jitted import argument, results, static_names
from traceir.conform.run import Unsupported
from traceir.conform.sessions import Call as Step
from traceir.conform.sessions import Outcome, Session, Setting
from traceir.conform.values import Value
from traceir.errors import TraceirError
from traceir.ir import sort_params
from traceir.jit.key import Key, KeyTable
from traceir.jit.signature import bind_arguments, form_of, resolve_static
from traceir.jit.staging import prepare
from traceir.promote import canonical_dtype, python_aval
from traceir.rules import Rules, walk
from traceir.text.syntax import Program
from traceir.trace import evaluate

EAGER = ("eager", 0)


class Traced:
    """A value of some trace: what is asked of it is answered by the level rows."""

    def __init__(self, model: Model, value: Any, home: tuple[str, int]) -> None:
        self.model = model
        self.value = value
        self.home = home

    def __bool__(self) -> bool:
        return bool(self.model.ask(self, "host_bool"))

    def __float__(self) -> float:
        return float(self.model.ask(self, "host_number"))

    def __index__(self) -> int:
        return int(self.model.ask(self, "host_index"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.model.ask(self, "host_array").__array__()

    def __repr__(self) -> str:
        return repr(self.model.ask(self, "host_print"))

    def item(self) -> Any:
        """The element, where it may be known."""
        return self.model.ask(self, "host_item").item()

    @property
    def shape(self) -> Any:
        """The shape, where it may be known."""
        return self.model.ask(self, "host_shape").shape

    @property
    def sharding(self) -> Any:
        """An attribute of concrete arrays alone."""
        return self.model.ask(self, "host_attribute").sharding


def concrete(value: Any) -> Any:
    """What a value of a trace stands for; any other value as it is."""
    return value.value if isinstance(value, Traced) else value


class Model:
    """One session, by the tables."""

    def __init__(self, session: Session, rules: Rules) -> None:
        self.session = session
        self.rules = rules
        self.table = KeyTable(rules)
        self.host = Host(self.bind, rules=rules)
        self.stack: list[tuple[str, int]] = []
        self.face = "jax"
        self.made = 0
        self.seen: dict[Key, str] = {}
        self.lifting: set[tuple[str, int]] = set()
        self.traces: dict[str, int] = {}
        self.hosts: dict[str, Callable[..., Any]] = {}
        for name, function in session.functions.items():
            self.traces[name] = 0
            self.hosts[name] = self._host(name)
            if function.program is not None:
                self.host.functions[name] = self._nested(name)

    def _host(self, name: str) -> Callable[..., Any]:
        function = self.session.functions[name]
        if function.same_as is not None:
            return self.hosts[function.same_as]
        assert function.program is not None
        found: Callable[..., Any] = host_function(function, function.program, self.host)
        return found

    def _nested(self, name: str) -> Callable[..., Any]:
        def moved(values: Any, home: tuple[str, int]) -> Any:
            return pytree.map_(lambda v: Traced(self, concrete(v), home), values)

        def call(*args: Any) -> Any:
            outer = self.stack[-1] if self.stack else EAGER
            key = self._key(name, pytree.map_(concrete, args), {})
            with self.entered("jit") as home:
                found = self.hosts[name](*moved(args, home))
            if home not in self.lifting:
                self.seen[key] = self._origin(name)
            return moved(found, outer)

        return call

    def _program(self, name: str) -> Program:
        program = self.session.functions[self._origin(name)].program
        assert program is not None
        return program

    def _origin(self, name: str) -> str:
        return self.session.functions[name].same_as or name

    def run(self) -> Sequence[Outcome]:
        """Every call's outcome, in order."""
        found = []
        with ExitStack() as settings:
            for step in self.session.steps:
                if isinstance(step, Step):
                    found.append(self._step(step))
                else:
                    self._set(step, settings)
        return found

    def _set(self, step: Setting, settings: ExitStack) -> None:
        match step.name, step.args:
            case "face", (str() as face,):
                self.face = face
            case "enable_x64", (bool() as on,):
                settings.enter_context(config.enable_x64(on))
            case "clear_cache", (str() as name,):
                gone = self._origin(name)
                self.seen = {k: f for k, f in self.seen.items() if f != gone}
            case _:
                raise Unsupported(f"the setting {step.name}{step.args}")

    def _step(self, step: Step) -> Outcome:
        try:
            return self._call(step)
        except HostError as error:
            return Outcome("raises", error.rule)
        except TraceirError as error:
            # What is raised must be a row of these rules.
            return Outcome("raises", self.rules.error(error.rule, where="").rule)

    def _call(self, step: Step) -> Outcome:
        args, kwargs = argument(step.args), argument(dict(step.kwargs))
        if step.via != "eager":
            key = self._key(step.function, args, kwargs)
            if key in self.seen:
                return Outcome("hits", None, self._hit(step.function, args, kwargs))
            self._count(step)
        values = tuple(self._results(step.function, args, kwargs, step.via))
        if step.via == "eager":
            return Outcome("traces", None, values)
        self.seen[key] = self._origin(step.function)
        self.traces[step.function] += 1
        return Outcome("traces", None, values if step.via == "jit" else ())

    def _key(self, name: str, args: Any, kwargs: Any) -> Key:
        fun = self.hosts[name]
        form = form_of(fun)
        names = static_names(self._program(name))
        static = resolve_static(form.signature, None, names)
        prepared = prepare(bind_arguments(form, static, args, kwargs), self.face)
        return self.table.key(replace(prepared.call, function=fun))

    def _count(self, step: Step) -> None:
        """Raises RetraceError (cache.max_traces)."""
        limit = self.session.functions[step.function].options.get("max_traces")
        if limit is not None and self.traces[step.function] >= limit:
            raise self.rules.error("cache.max_traces")

    def _hit(self, name: str, args: Any, kwargs: Any) -> tuple[Value, ...]:
        seen, leaked = dict(self.seen), list(self.host.leaked)
        found = tuple(self._results(name, args, kwargs, "eager"))
        # On a hit the body does not run, so it changes nothing.
        self.seen, self.host.leaked[:] = seen, leaked
        return found

    def _results(self, name: str, args: Any, kwargs: Any, via: str) -> Any:
        inputs = self._program(name).inputs
        static = {binder.name for binder in inputs if binder.static}
        with self.entered(via) as home:

            def enter(value: Any) -> Any:
                return Traced(self, self._narrowed(value), home)

            def given(binder: str, value: Any) -> Any:
                return value if binder in static else pytree.map_(enter, value)

            positional = [given(b.name, v) for b, v in zip(inputs, args, strict=False)]
            named = {k: given(k, v) for k, v in kwargs.items()}
            found = self.hosts[name](*positional, **named)
        return results([concrete(v) for v in pytree.leaves(found)])

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

    def bind(self, primitive: str, *values: Any, **params: Any) -> Traced:
        """The value of a primitive, in the trace that the nesting rows say."""
        nesting = self.rules.levels.nesting
        homes = [v.home for v in values if isinstance(v, Traced)]
        lift = nesting.get("level.lift")
        is_open = (EAGER, *self.stack)
        for home in homes:
            scope = {"home": home, "open": is_open}
            if lift is not None and lift.holds and not walk(lift.holds, scope):
                raise self.rules.error(lift.id)
            if home in self.stack:
                self.lifting.update(self.stack[self.stack.index(home) + 1 :])
        operands = [concrete(v) for v in values]
        (result,) = evaluate(primitive, operands, sort_params(params))
        return Traced(self, result, self._home(homes))

    def _home(self, homes: Sequence[tuple[str, int]]) -> tuple[str, int]:
        row = self.rules.levels.nesting.get("level.bind")
        # Without the row, an operation would belong to its operands alone.
        stage = len(self.stack) if row else (len(self.stack) if homes else 0)
        level = walk(row.level, {"stage": stage}) if row and row.level else stage
        return self.stack[level - 1] if level else EAGER
