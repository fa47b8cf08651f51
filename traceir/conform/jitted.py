"""Sessions run by the real `jit`: what each call did, seen from outside.

Serves: cache.*, level.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from traceir import config
from traceir.array import Array
from traceir.avals import ShapedArray
from traceir.conform.host import Host, host_function
from traceir.conform.run import Unsupported
from traceir.conform.sessions import Call, Function, Outcome, Session, Setting
from traceir.conform.values import Value
from traceir.errors import TraceirError
from traceir.jit.api import JitFunction, Options
from traceir.jit.make import eval_shape, make_jaxpr
from traceir.pytree import leaves, map_
from traceir.text.syntax import Program
from traceir.trace import bind, typeof


class Jitted:
    """One session: its host functions, jitted for one backend in every face."""

    def __init__(self, session: Session, backend: str) -> None:
        self.session = session
        self.host = Host(bind)
        self.face = "jax"
        self.hosts: dict[str, Callable[..., Any]] = {}
        self.jitted: dict[tuple[str, str], JitFunction] = {}
        for function in session.functions.values():
            self._define(function, backend)

    def _define(self, function: Function, backend: str) -> None:
        name = function.same_as or function.name
        program = self.session.functions[name].program
        assert program is not None
        if function.same_as is None:
            self.hosts[name] = host_function(function, program, self.host)
        self.hosts[function.name] = self.hosts[name]
        for face in config.FACES:
            self.jitted[function.name, face] = JitFunction(
                self.hosts[name],
                None,
                static_names(program),
                Options(backend=backend, face=face, **function.options),
            )
        self.host.functions[function.name] = self.jitted[function.name, "jax"]

    def run(self) -> Sequence[Outcome]:
        """Every call's outcome, in order."""
        found = []
        with ExitStack() as settings:
            for step in self.session.steps:
                if isinstance(step, Setting):
                    self._set(step, settings)
                else:
                    found.append(self._call(step))
        return found

    def _set(self, step: Setting, settings: ExitStack) -> None:
        match step.name, step.args:
            case "face", (str() as face,):
                self.face = face
            case "enable_x64", (bool() as on,):
                settings.enter_context(config.enable_x64(on))
            case "clear_cache", (str() as name,):
                self.jitted[name, self.face].clear_cache()
            case _:
                raise Unsupported(f"the setting {step.name}{step.args}")

    def _call(self, call: Call) -> Outcome:
        args, kwargs = argument(call.args), argument(dict(call.kwargs))
        runs = self.host.runs
        try:
            result = self._function(call)(*args, **kwargs)
        except TraceirError as error:
            return Outcome("raises", error.rule)
        event = "traces" if self.host.runs > runs else "hits"
        shapes_only = call.via in ("make_jaxpr", "eval_shape")
        return Outcome(event, None, () if shapes_only else tuple(results(result)))

    def _function(self, call: Call) -> Callable[..., Any]:
        fun = self.hosts[call.function]
        match call.via:
            case "jit":
                return self.jitted[call.function, self.face]
            case "eager":
                return fun
            case "make_jaxpr":
                return make_jaxpr(fun)
            case "eval_shape":
                return lambda *args: eval_shape(fun, *args)
        raise Unsupported(f"calls through {call.via}")


def static_names(program: Program) -> tuple[str, ...]:
    """The parameters that a case marks as static."""
    return tuple(binder.name for binder in program.inputs if binder.static)


def argument(value: Any) -> Any:
    """What a case writes as an argument, as the host passes it."""
    return map_(lambda v: as_array(v) if isinstance(v, Value) else v, value)


def as_array(value: Value) -> Array:
    """The array of a case's value, weak where it is."""
    return Array._wrap(np.array(value.array, order="C"), value.aval)


def results(value: Any) -> list[Value]:
    """The leaves of a result as cases write them."""
    found = []
    for leaf in leaves(value):
        aval: ShapedArray = typeof(leaf)
        found.append(Value(aval, np.asarray(leaf, aval.dtype)))
    return found
