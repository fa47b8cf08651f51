"""Requests and answers, as lines of JSON. Serves: every table

    request  {"id": 7, "request": "infer", "program": P}
    answer   {"id": 7, "gives": {"types": [T]}}
             {"id": 7, "rejected": {"rule": "add.numeric", "text": "..."}}
             {"id": 7, "rejected": {"class": "TypeError", "text": "..."}}
             {"id": 7, "unsupported": "why"}
             {"id": 7, "error": "text"}

The forms of all requests are in `spec/protocol.rst`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from traceir.conform.protocol.encoding import Json

# The first number is raised when who speaks the old one would not understand.
VERSION: Final = "1.0"
# Requests, less `hello` and `shutdown`, which everybody answers.
REQUESTS: Final = (
    *("parse", "print", "check", "infer", "evaluate", "session", "transform"),
)
ANSWERS: Final = ("gives", "rejected", "unsupported", "error")


class CommandRejection(Exception):
    """A rejection of a command's, by the rule that it names."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text or rule)
        self.rule = rule


class NoAnswer(Exception):
    """A line is no answer to the request."""


def line_of(message: Mapping[str, Json]) -> bytes:
    """A message as a line, without its end."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()


def shown(data: Json, longest: int = 40) -> str:
    """JSON that is wrong, as it stands in the line, its beginning where it is long.

    >>> shown({"weak": None, "shape": ["é"]})
    '{"weak": null, "shape": ["é"]}'
    """
    text = json.dumps(data, ensure_ascii=False)
    return text if len(text) <= longest else f"{text[:longest]}..."


def read_line(line: bytes) -> dict[str, Any]:
    """The object of a line; NoAnswer if it is none.

    >>> read_line(b'{"id": 1, "gives": {}}')
    {'id': 1, 'gives': {}}
    >>> read_line(b"[NaN]")
    Traceback (most recent call last):
    traceir.conform.protocol.messages.NoAnswer: no JSON: NaN: [NaN]
    """
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise NoAnswer(f"no UTF-8, at byte {error.start}: {line[:80]!r}") from None
    shown = text if len(text) <= 80 else f"{text[:80]}..."
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NoAnswer(f"no JSON: {error}: {shown}") from None
    if not isinstance(found, dict):
        raise NoAnswer(f"no object of JSON: {shown}")
    return found


def _refuse(word: str) -> None:
    raise ValueError(word)


def read_answer(line: bytes, number: int) -> tuple[str, Any]:
    """The kind of an answer and what it has; NoAnswer unless it is to this request.

    >>> read_answer(b'{"id": 3, "unsupported": "loops"}', 3)
    ('unsupported', 'loops')
    """
    found = read_line(line)
    if found.get("id") != number or isinstance(found.get("id"), bool):
        raise NoAnswer(f"an answer to {shown(found.get('id'))}, asked was {number}")
    kinds = [kind for kind in ANSWERS if kind in found]
    if len(kinds) != 1:
        got = " and ".join(kinds) or "none"
        raise NoAnswer(f"{got} of {', '.join(ANSWERS)}")
    return kinds[0], found[kinds[0]]
