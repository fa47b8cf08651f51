"""A command as an implementation: each question to it is a request. Serves: every table

The judge knows nothing of this: it asks a `CommandClient` as it asks an adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from traceir.base.version import VERSION as SUITE
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.profiles import PROFILES
from traceir.conform.casefiles.sessions import Call, Session
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.judging.answers import Malformed
from traceir.conform.judging.implementation import Rejected, Unsupported
from traceir.conform.judging.witness import Arrays
from traceir.conform.protocol import decoding, encoding
from traceir.conform.protocol.channel import Channel, CommandError, SilentCommand
from traceir.conform.protocol.messages import (
    REQUESTS,
    VERSION,
    CommandRejection,
    NoAnswer,
    line_of,
    read_answer,
    shown,
)
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, UntypedVar, subjaxprs

T = TypeVar("T")
# Seconds that a command has to end by itself.
PATIENCE = 2.0


class CommandClient:
    """An implementation behind a command line; CommandError if it cannot be started.

    `limit` is the seconds that an answer may take. After a breach the command is
    started anew when it is asked again.
    """

    shares = ()

    def __init__(self, command: str, limit: float = 30.0) -> None:
        self.command = command
        self.limit = limit
        self.channel: Channel | None = None
        self.number = 0
        told = self._start()
        self.name = _text(told, "name", command)
        self.version = _text(told, "version", "")
        self.choices: Any = told.get("choices", {})
        self.profiles: Any = told.get("profiles", list(PROFILES))
        claimed: Any = told.get("requests", [])
        if not (isinstance(claimed, list) and all(isinstance(r, str) for r in claimed)):
            why = f"claims the requests {shown(claimed)}, which is no list of texts"
            raise CommandError(why)
        self.requests = frozenset(claimed)
        self.reads = "parse" in self.requests
        if unknown := sorted(self.requests.difference(REQUESTS)):
            raise CommandError(f"claims the requests {', '.join(unknown)}")

    def __getattr__(self, name: str) -> Any:
        # The judge asks for these only where they are there.
        methods = {"parse": ("parse", self._parse), "text": ("print", self._print)}
        if name in methods and methods[name][0] in self.__dict__.get("requests", ()):
            return methods[name][1]
        raise AttributeError(name)

    # Questions ------------------------------------------------------------------------

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types of the results; a program that has types is checked by them."""
        data = {"program": encoding.program_data(program)}
        if _is_typed(program):
            self.ask("check", data, lambda found: None)
            return program.out_avals
        return self.ask("infer", data, _types)

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results for some arguments."""
        data = {
            "program": encoding.program_data(program),
            "arguments": list(map(encoding.of_array, args)),
        }
        return self.ask("evaluate", data, _arrays)

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of calls and questions.

        Who transforms functions and has no `jit` is asked call by call, where the
        outcome is known of every call: it runs the function.
        """
        if "session" in self.requests or "transform" not in self.requests:
            return self.ask("session", encoding.node_data(session), _outcomes)
        called = [step for step in session.steps if isinstance(step, Call)]
        staged = [step.function for step in called if step.via == "jit"]
        if (
            len(called) < len(session.steps)
            or len({*staged}) < len(staged)
            or any(not _is_plain(call) for call in called)
        ):
            raise Unsupported("does not answer `session`")
        functions = encoding.node_data(session)["functions"]
        return [self._called(call, functions) for call in called]

    def _called(self, call: Call, functions: Mapping[str, Any]) -> Outcome:
        """The outcome of a function that is transformed and called."""
        data = {
            "functions": functions,
            "function": call.function,
            "arguments": list(map(encoding.object_data, call.args)),
        }
        try:
            found = self.ask("transform", data, _values)
        except CommandRejection as error:
            return Outcome("raises", error.rule, text=str(error))
        except Rejected as error:
            return Outcome("raises", cls=error.class_, text=error.text)
        return Outcome("traces", values=tuple(found))

    def _parse(self, text: str) -> ClosedJaxpr:
        return self.ask("parse", {"text": text}, _program)

    def _print(self, program: ClosedJaxpr, full: bool) -> str:
        data = {"program": encoding.program_data(program), "full": full}
        return self.ask("print", data, lambda found: decoding.text_of(found["text"]))

    # Messages -------------------------------------------------------------------------

    def ask(self, request: str, data: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """An answer to a request; raises a rejection, Unsupported or CommandError."""
        if request not in self.requests:
            raise Unsupported(f"does not answer `{request}`")
        if self.channel is None:
            self._start()
        kind, found = self._ask(request, data)
        if kind == "gives":
            return decoding.reading(f"answer to `{request}`", read, found)
        if kind == "unsupported":
            raise Unsupported(str(found))
        if kind == "error":
            raise CommandError(f"`{request}`: {found}")
        _reject(request, found)

    def _start(self) -> dict[str, Any]:
        """Start the command; what it says of itself."""
        self.channel = Channel(self.command)
        greeting = {"protocol": VERSION, "suite": SUITE}
        kind, found = self._ask("hello", greeting)
        if kind != "gives" or not isinstance(found, dict):
            self._break("hello", f"no answer to a greeting: {kind} {found}")
        spoken = found.get("protocol")
        if str(spoken).partition(".")[0] != VERSION.partition(".")[0]:
            why = f"speaks version {spoken} of the protocol, the judge {VERSION}"
            self._break("hello", why)
        return found

    def _ask(self, request: str, data: Mapping[str, Any]) -> tuple[str, Any]:
        assert self.channel is not None
        self.number += 1
        message = {"id": self.number, "request": request, **data}
        try:
            line = self.channel.ask(line_of(message), self.limit)
            return read_answer(line, self.number)
        except (CommandError, NoAnswer) as error:
            self._break(request, f"{error}{_advice(request, error)}")

    def _break(self, request: str, why: str) -> NoReturn:
        """End the command, which has broken the protocol."""
        assert self.channel is not None
        self.channel.end()
        self.channel = None
        raise CommandError(f"`{request}`: {why}")

    def close(self) -> None:
        """Ask the command to end, and end it if it does not."""
        if self.channel is None:
            return
        channel, self.channel = self.channel, None
        message = {"id": self.number + 1, "request": "shutdown"}
        with suppress(CommandError):
            channel.ask(line_of(message), PATIENCE)
        channel.end(PATIENCE)


def _text(told: Mapping[str, Any], name: str, usual: str) -> str:
    found = told.get(name, usual)
    return found if isinstance(found, str) else usual


def _is_plain(call: Call) -> bool:
    """True if a call is of the function itself, or of its first `jit`."""
    plain = call.via in ("eager", "jit") and not call.kwargs
    return plain and call.types is None and not call.gives


def _advice(request: str, error: Exception) -> str:
    """A hint for who has not greeted: the commonest reason of silence."""
    silent = request == "hello" and isinstance(error, SilentCommand)
    return "; does it flush its output after each line?" if silent else ""


def _is_typed(program: ClosedJaxpr) -> bool:
    """True if the results of equations have types, in it or in programs within."""
    return any(
        not isinstance(var, UntypedVar) for eqn in program.eqns for var in eqn.outputs
    ) or any(_is_typed(inner) for eqn in program.eqns for inner in subjaxprs(eqn))


def _reject(request: str, found: Any) -> NoReturn:
    """Raise the rejection that an answer is."""
    match found:
        case {"rule": str(rule), **rest}:
            raise CommandRejection(rule, str(rest.get("text", "")))
        case {"class": str(class_), **rest}:
            raise Rejected(class_, str(rest.get("text", "")))
    raise Malformed(
        f"`{request}` is rejected by neither a rule nor a class: {shown(found)}"
    )


def _types(found: Any) -> list[ShapedArray]:
    return list(map(decoding.read_type, decoding.listed(found["types"])))


def _values(found: Any) -> list[TypedValue]:
    return list(map(decoding.read_array, decoding.listed(found["results"])))


def _arrays(found: Any) -> list[Any]:
    return [value.array for value in _values(found)]


def _program(found: Any) -> ClosedJaxpr:
    return decoding.read_program(found["program"])


def _outcomes(found: Any) -> list[Outcome]:
    return list(map(decoding.read_outcome, decoding.listed(found["outcomes"])))
