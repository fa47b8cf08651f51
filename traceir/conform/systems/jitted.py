"""Sessions run by a real `jit`, observed from outside.

Serves: cache.*, level.*
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from traceir.conform.casefiles.outcomes import Outcome, class_name
from traceir.conform.casefiles.sessions import Call, Probe, Session, Setting, Step
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.host import Host, HostError
from traceir.conform.systems.systems import System as System
from traceir.conform.systems.systems import Target as Target
from traceir.conform.systems.systems import TraceirSystem as TraceirSystem
from traceir.pytrees.flatten import leaves
from traceir.text.syntax import ProgramNode

# Transforms whose calls return the results of the function itself.
RETURNING = ("jit", "eager", "compiled", "exported")


class Jitted:
    """One session on one system. Functions are jitted when they are first used."""

    def __init__(self, session: Session, system: System) -> None:
        self.session = session
        self.system = system
        self.host = Host(
            system.bind,
            namespaces=system.namespaces,
            array=system.array,
            evaluated=lambda: system.namespaces["api"].ensure_compile_time_eval(),
            compiled=lambda name: system.via("compiled", self._target(name)),
            clear=lambda name: self._clear(name),
            typed=lambda program: system.function(program),
            jit=system.jit,
        )
        self.hosts = self.host.define(session)
        self.jitted: dict[str, Callable[..., Any]] = {}
        self.scopes = ExitStack()
        for name in session.functions:
            self.host.functions[name] = partial(self._nested, name)

    def _nested(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._jit(name)(*args, **kwargs)

    def _jit(self, name: str) -> Callable[..., Any]:
        if name not in self.jitted:
            function = self.session.functions.get(name)
            options = function.options if function else {}
            static = static_parameters(self.session, name)
            self.jitted[name] = self.system.jit(self.hosts[name], static, options)
        return self.jitted[name]

    def _target(self, name: str) -> Target:
        static = static_parameters(self.session, name)
        return Target(self.hosts[name], static, self._jit(name))

    def run(self) -> Sequence[Outcome]:
        """The outcome of every call and every probe, in order."""
        with self.scopes:
            found = [self.step(step) for step in self.session.steps]
        return [outcome for outcome in found if outcome is not None]

    def step(self, step: Step) -> Outcome | None:
        """The outcome of one step; a setting has none."""
        match step:
            case Setting():
                self._set(step)
                return None
            case Probe("notes", ()):
                barrier = getattr(
                    self.system.namespaces["api"], "effects_barrier", None
                )
                if barrier is not None:  # what was asked of the host may still wait
                    barrier()
                return Outcome("answers", answer=[*self.host.notes])
            case Probe():
                answer = self.system.probe(step.name, self._named(step.args))
                return Outcome("answers", answer=answer)
        return self._call(step)

    def _clear(self, name: str) -> None:
        self.system.setting("clear_cache", (self._jit(name),))

    def _drop(self, name: str) -> None:
        """Let go of a function, which then dies unless another one refers to it."""
        kept = self.hosts, self.jitted, self.host.functions, self.host.plain
        for names in kept:
            names.pop(name, None)
        gc.collect()

    def _set(self, step: Setting) -> None:
        if step.name == "drop":
            self._drop(*step.args)
            return
        if self.host.change(step.name, step.args):
            return
        scope = self.system.setting(step.name, self._named(step.args))
        if scope is not None:
            self.scopes.enter_context(scope)

    def _named(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        names = self.session.functions
        return tuple(
            self._jit(a) if isinstance(a, str) and a in names else a for a in args
        )

    def _call(self, call: Call) -> Outcome:
        runs = self.host.runs
        try:
            found = self._found(call)
            returned = leaves(found) if call.via in RETURNING else []
            values = tuple(map(self.system.value, returned))
        except HostError as error:
            return Outcome("raises", error.rule)
        except Unsupported:
            raise
        except Exception as error:
            rule, said = self.system.rule(error), str(error).partition("\n")[0]
            return Outcome("raises", rule, cls=class_name(error), text=said)
        event = "traces" if self.host.runs > runs else "hits"
        program = self.system.program(found) if call.gives else None
        return Outcome(event, None, values, program=program)

    def _found(self, call: Call) -> Any:
        argument = self.host.argument
        function = self._function(call)
        if call.types is not None:
            function = function(*argument(call.types))
        return function(*argument(call.args), **argument(dict(call.kwargs)))

    def _function(self, call: Call) -> Callable[..., Any]:
        match call.via:
            case "jit":
                return self._jit(call.function)
            case "eager":
                fun: Callable[..., Any] = self.hosts[call.function]
                return fun
        return self.system.via(call.via, self._target(call.function))


def program_of(session: Session, name: str) -> ProgramNode | None:
    """The program that a function of a session runs, None where it is no function."""
    function = session.functions.get(name)
    while function is not None and function.same_as is not None:
        function = session.functions.get(function.same_as)
    return function.program if function else None


def static_parameters(session: Session, name: str) -> tuple[str, ...]:
    """The parameters that a case marks as static."""
    program = program_of(session, name)
    return static_names(program) if program else ()


def static_names(program: ProgramNode) -> tuple[str, ...]:
    """The parameters that a program marks as static."""
    return tuple(binder.name for binder in program.inputs if binder.static)
