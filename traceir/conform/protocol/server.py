"""An adapter of Python's behind the protocol. Serves: every table

It reads requests from standard input and writes answers to standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any, BinaryIO

from traceir.conform.casefiles.sessions import Call, Session
from traceir.conform.judging.adapters import Adapter, load
from traceir.conform.judging.answers import describe
from traceir.conform.judging.implementation import Rejected, Unsupported
from traceir.conform.protocol import decoding, encoding
from traceir.conform.protocol.encoding import Json
from traceir.conform.protocol.messages import (
    REQUESTS,
    VERSION,
    CommandRejection,
    line_of,
    read_line,
)

# The attribute of an adapter that answers a request.
METHODS: Mapping[str, str] = {
    "parse": "parse",
    "print": "text",
    "check": "type",
    "infer": "type",
    "evaluate": "eval",
    "session": "session",
    "transform": "session",
}


class Server:
    """Answers the requests to one adapter, or some of them."""

    def __init__(self, adapter: Adapter, requests: Sequence[str] = REQUESTS) -> None:
        self.adapter = adapter
        self.requests = requests
        self.inner = adapter.implementation
        self.ended = False

    def hello(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The adapter's description of itself."""
        claimed = [r for r in self.requests if hasattr(self.inner, METHODS[r])]
        return {
            "protocol": VERSION,
            "name": self.adapter.name,
            "version": self.adapter.version,
            "choices": dict(self.adapter.choices),
            "profiles": list(self.adapter.profiles),
            "requests": claimed,
        }

    def parse(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The program of a text."""
        return {"program": encoding.program_data(self.inner.parse(asked["text"]))}

    def print(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The text of a program."""
        program = decoding.read_program(asked["program"])
        return {"text": self.inner.text(program, asked["full"])}

    def infer(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The types of results, or of a program that has them."""
        program = decoding.read_program(asked["program"])
        return {"types": list(map(encoding.type_data, self.inner.type(program)))}

    check = infer

    def evaluate(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The results for some arguments."""
        program = decoding.read_program(asked["program"])
        args = [decoding.read_array(data).array for data in asked["arguments"]]
        return {"results": list(map(encoding.of_array, self.inner.eval(program, args)))}

    def session(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The outcomes of a session."""
        outcomes = self.inner.session(decoding.read_session(asked))
        return {"outcomes": list(map(encoding.outcome_data, outcomes))}

    def transform(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The results of one call of a function that may be transformed."""
        functions = asked["functions"].items()
        made = {name: decoding.read_node(data) for name, data in functions}
        args = tuple(map(decoding.read_object, asked["arguments"]))
        call = Call(asked["function"], args, {}, via="eager")
        (outcome,) = self.inner.session(Session(made, (call,)))
        if outcome.event == "raises":
            if outcome.rule is None:
                raise Rejected(outcome.cls or "Exception", outcome.text)
            raise CommandRejection(outcome.rule, outcome.text)
        return {"results": list(map(encoding.array_data, outcome.values or ()))}

    def shutdown(self, asked: Mapping[str, Any]) -> dict[str, Json]:
        """The end."""
        self.ended = True
        return {}

    def answer(self, line: bytes) -> dict[str, Json]:
        """The answer to a line."""
        asked = read_line(line)
        head = {"id": asked.get("id")}
        known: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Json]]] = {
            name: getattr(self, name) for name in ("hello", *METHODS, "shutdown")
        }
        request = known.get(str(asked.get("request")))
        if request is None:
            return {**head, "unsupported": f"the request {asked.get('request')!r}"}
        try:
            return {**head, "gives": request(asked)}
        except Unsupported as reason:
            return {**head, "unsupported": str(reason)}
        except Rejected as error:
            told = {"class": error.class_, "text": error.text}
            return {**head, "rejected": told}
        except Exception as error:
            rule = getattr(error, "rule", None)
            if isinstance(rule, str) and rule:
                return {**head, "rejected": {"rule": rule, "text": str(error)}}
            return {**head, "error": describe(error)}

    def answers(self, lines: BinaryIO) -> Iterator[bytes]:
        """The answers to lines, up to a `shutdown` or the end."""
        for line in lines:
            with redirect_stdout(sys.stderr):
                found = line_of(self.answer(line))
            yield found + b"\n"
            if self.ended:
                return


def serve(spec: str, *requests: str) -> None:
    """Answer for an adapter until there are no more requests.

    Of what can be asked it answers those `requests`, all without any.
    """
    with redirect_stdout(sys.stderr):
        server = Server(load(spec), requests or REQUESTS)
    output = sys.stdout.buffer
    for line in server.answers(sys.stdin.buffer):
        output.write(line)
        output.flush()
