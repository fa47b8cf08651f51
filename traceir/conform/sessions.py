"""Sessions: calls of jitted functions one after the other, and what each must do.

Serves: cache.*, level.*
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from traceir.conform.values import Value, ValueReader
from traceir.text.lexer import Source
from traceir.text.syntax import Program

VERDICTS = ("traces", "hits", "raises")


@dataclass(frozen=True)
class Function:
    """A jitted host function: its program, or the other function that it wraps again.

    Parameters without a type are traced, those marked `static` are not.
    """

    name: str
    program: Program | None
    same_as: str | None
    options: Mapping[str, Any]
    source: Source = field(repr=False)


@dataclass(frozen=True)
class Call:
    """One call and its verdict: `traces`, `hits`, `raises` a rule, or nothing said.

    `via` is the transform that is called in place of the function itself.
    """

    function: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    via: str = "jit"
    verdict: str | None = None
    rule: str | None = None
    values: tuple[Value, ...] | None = None


@dataclass(frozen=True)
class Setting:
    """A change of the context, such as `enable_x64(true)`."""

    name: str
    args: tuple[Any, ...]


Step = Call | Setting


@dataclass(frozen=True)
class Session:
    """Functions by name and the steps that use them."""

    functions: Mapping[str, Function]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Outcome:
    """What an implementation did in one call: an event, a rule, the results."""

    event: str
    rule: str | None = None
    values: tuple[Value, ...] | None = None

    def meets(self, call: Call) -> str | None:
        """Why the call's verdict is missed, or None."""
        wanted = " ".join(filter(None, (call.verdict, call.rule)))
        got = " ".join(filter(None, (self.event, self.rule)))
        if call.verdict and wanted != got:
            return f"{call.function}: {got}, expected {wanted}"
        if call.verdict is None and self.event == "raises":
            return f"{call.function}: {got}"
        if call.values is None or (self.values is None and call.verdict == "raises"):
            return None
        given = self.values or ()
        if len(given) != len(call.values):
            return f"{call.function}: {len(given)} results, not {len(call.values)}"
        for value, want in zip(given, call.values):
            if not value.same(want):
                return f"{call.function}: {value}, expected {want}"
        return None


class SessionReader(ValueReader):
    """Reads the functions and steps of sessions."""

    def function(self) -> Function:
        """`f = program` or `g = f`, and the options of `jit` after `with`."""
        name = self.name("the name of a function").text
        self.expect("=")
        program = self.program() if self.has("{") else None
        same_as = None if program else self.name("a program or a function").text
        options: dict[str, Any] = {}
        if self.accept("with"):
            while self.peek().kind != "end":
                key = self.name("an option").text
                self.expect("=")
                options[key] = self.object()
        if self.peek().kind != "end":
            raise self.fail("the end of the function")
        return Function(name, program, same_as, options, self.source)

    def steps(self, functions: Mapping[str, Function]) -> tuple[Step, ...]:
        """Steps separated by `;` to the end of the source."""
        found = [self.step(functions)]
        while self.accept(";"):
            found.append(self.step(functions))
        if self.peek().kind != "end":
            raise self.fail("`;` or the end of the session")
        return tuple(found)

    def step(self, functions: Mapping[str, Function]) -> Step:
        """One call or one setting."""
        first = self.name("a call")
        via = None
        if self.peek().kind == "name":
            via, first = first.text, self.take()
        args, kwargs = self.arguments()
        if first.text not in functions:
            if via or kwargs:
                raise self.fail("a function of this case", first)
            return Setting(first.text, args)
        verdict = self.take().text if self.peek().text in VERDICTS else None
        rule = self.rule() if verdict == "raises" else None
        values = self.values() if self.accept("=") else None
        via = via or "jit"
        return Call(first.text, args, kwargs, via, verdict, rule, values)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`(1, n=2)`."""
        self.expect("(")
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        while not self.accept(")"):
            if self.peek().kind == "name" and self.peek(1).text == "=":
                key = self.take().text
                self.take()
                kwargs[key] = self.object()
            else:
                args.append(self.argument())
            if not self.has(")"):
                self.expect(",", "`,` or `)`")
        return tuple(args), kwargs

    def argument(self) -> Any:
        """An object; the name of a function stands for itself in settings."""
        token = self.peek()
        bare = token.kind == "name" and self.peek(1).text in (",", ")")
        if bare and token.text not in ("None", "true", "false", "True", "False"):
            return self.take().text
        return self.object()

    def rule(self) -> str:
        """A rule's id, such as `cache.key.weak_type`."""
        text = self.name("the id of a rule").text
        while self.accept("-"):
            text += "-" + self.name("the id of a rule").text
        return text

    def values(self) -> tuple[Value, ...]:
        """Arrays up to the next step."""
        found = []
        while self.is_aval():
            found.append(self.array())
        return tuple(found)
