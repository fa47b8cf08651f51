"""State machines over sessions: the tables say what each step does, a system does it.

The model is `traceir.conform.systems.model.Model`, which decides by the rows of the
key, the levels and the machine. A system is anything that runs sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine

from traceir.conform.casefiles.outcomes import Outcome, expected_class
from traceir.conform.casefiles.sessions import (
    Call,
    Function,
    Probe,
    Session,
    SessionReader,
    Setting,
    Step,
)
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.systems.host import host_function
from traceir.conform.systems.jitted import Jitted
from traceir.conform.systems.model import Model
from traceir.conform.systems.systems import System, TraceirSystem
from traceir.rules import default
from traceir.text.lexer import SourceText


def given(texts: Sequence[str]) -> Session:
    """The functions and objects of these `given`, without a step yet."""
    found = dict(SessionReader(SourceText(text)).given() for text in texts)
    functions = {n: f for n, f in found.items() if isinstance(f, Function)}
    objects = {n: v for n, v in found.items() if n not in functions}
    return Session(functions, (), objects)


class SessionMachine(RuleBasedStateMachine):
    """Takes each step twice, by the tables and on a system, and compares.

    `system` makes the system. `texts` are the functions and objects that are given.
    """

    texts: ClassVar[Sequence[str]] = ()
    system: ClassVar[Callable[[], System]] = partial(TraceirSystem, "reference")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model(given(self.texts), default())
        self.real = Jitted(given(self.texts), type(self).system())

    @property
    def names(self) -> Sequence[str]:
        """The functions that can be called."""
        return sorted(n for n in self.model.hosts if n in self.model.session.functions)

    def define(self, text: str) -> None:
        """Define a function that the steps after this one can use."""
        name, function = SessionReader(SourceText(text)).given()
        assert isinstance(function, Function) and function.program is not None
        note(f"given {text}")
        for side in (self.model, self.real):
            assert isinstance(side.session.functions, dict)
            side.session.functions[name] = function
            made = host_function(function, function.program, side.host)
            side.hosts[name] = made
            side.host.functions[name] = partial(side._nested, name)
        self.model.functions.define(name, self.model.hosts[name])

    def take(self, step: Step) -> None:
        """Take one step on both sides."""
        note(show_step(step))
        wanted, got = outcome(self.model, step), outcome(self.real, step)
        if wanted is None or got is None:
            assert wanted is got
            return
        wrong = self.compared(wanted, got)
        assert not wrong, wrong

    def call(self, name: str, *args: Any, via: str = "jit", **kwargs: Any) -> None:
        """Call a function on both sides."""
        self.take(Call(name, args, kwargs, via))

    def set(self, name: str, *args: Any) -> None:
        """Change what surrounds the calls on both sides."""
        self.take(Setting(name, args))

    def sizes(self) -> None:
        """Ask both sides how many traces are kept."""
        for name in self.names:
            probe = Probe("cache_size", (name,), None)
            wanted, got = self.model.step(probe), self.real.step(probe)
            assert wanted is not None and got is not None
            assert got.answer == wanted.answer, name

    def compared(self, wanted: Outcome, got: Outcome) -> str | None:
        """The first outcome that is not the one that the tables want."""
        if wanted.event != got.event or wanted.answer != got.answer:
            return f"{got}, the tables say {wanted}"
        if wanted.event == "raises":
            same = wanted.rule == got.rule
            if got.rule is None and got.cls:
                name = wanted.rule
                same = expected_class(got.cls, name) if name else got.cls == wanted.cls
            return None if same else f"{got}, the tables say {wanted}"
        pairs = zip(wanted.values or (), got.values or (), strict=True)
        wrong = [f"{b}, the tables say {a}" for a, b in pairs if not b.same(a)]
        return "; ".join(wrong) or None

    def teardown(self) -> None:
        """Leave the scopes that the settings have entered."""
        self.model.scopes.close()
        self.real.scopes.close()


def outcome(side: Model | Jitted, step: Step) -> Outcome | None:
    """The outcome of a step; Python's own errors, without a row, by their class."""
    try:
        return side.step(step)
    except (AttributeError, TypeError, ValueError) as error:
        return Outcome("raises", None, cls=type(error).__name__)


def show_step(step: Step) -> str:
    """A step as a case writes it."""
    match step:
        case Call(name, args, kwargs, via):
            given = [*map(show, args), *(f"{k}={show(v)}" for k, v in kwargs.items())]
            word = "" if via == "jit" else f"{via} "
            return f"{word}{name}({', '.join(given)})"
    return f"{step.name}{step.args}"


def show(value: Any) -> str:
    """An argument as a case writes it."""
    match value:
        case TypedValue():
            return str(value)
        case tuple() | list():
            return f"{type(value).__name__}({', '.join(map(show, value))})"
        case Mapping():
            return f"{{{', '.join(f'{k!r}: {show(v)}' for k, v in value.items())}}}"
    return repr(value)
