"""The writer and the reader of a program with its derivative rules.

In the head, `calls` has a number for each call of a function with a rule, in the order
of the text; it is that of an entry of `rules`, which has the numbers of `programs`. A
program has its text in a block, and `calls` of its own, of rules that stand before it.

Serves: export.program, export.derivatives
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.errors import TraceirError
from traceir.exports.calls import calls_of, count_calls, with_rules
from traceir.exports.constants import Blocks, from_bytes
from traceir.exports.container import FileContents, broken
from traceir.exports.derivatives import (
    BackwardProgram,
    ForwardProgram,
    JvpProgram,
    Rule,
    fits,
    rule_of,
)
from traceir.exports.portable import portable
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn
from traceir.ir.typecheck import check
from traceir.text import parse, to_text

Json = dict[str, Any]


class ProgramWriter:
    """Programs on their way to a file: texts, blocks, and rules to some depth."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self._programs: dict[str, int] = {}
        self._rules: dict[str, int] = {}

    def text(self, closed: ClosedJaxpr) -> str:
        """The text of a program, whose constants go to the blocks."""
        return to_text(portable(closed), full=True, keep=self.blocks.keep)

    def derivatives(self, closed: ClosedJaxpr, order: int) -> Json:
        """The part of the head about the rules of a program's calls.

        Raises what tracing a rule raises; TypeError (custom.named, export.whole).
        """
        calls = self._calls(closed, order)
        listed = [[*map(json.loads, known)] for known in (self._rules, self._programs)]
        return {"calls": calls, "rules": listed[0], "programs": listed[1]}

    def _calls(self, closed: ClosedJaxpr, order: int) -> list[int]:
        made: dict[int, int] = {}  # the same equation has the same rule
        if order:
            for eqn in calls_of(closed):
                if id(eqn) not in made:
                    made[id(eqn)] = self._rule(eqn, order)
        return [made[id(eqn)] for eqn in calls_of(closed)] if order else []

    def _rule(self, eqn: Eqn, order: int) -> int:
        rule = rule_of(eqn)
        entry: Json
        if isinstance(rule, JvpProgram):
            entry = {"jvp": self._program(rule.closed, order), "zero": [*rule.zero]}
        else:
            there, back = rule
            entry = {
                "fwd": self._program(there.closed, order),
                "results": there.count,
                "bwd": self._program(back.closed, order),
                "zero": [*back.zero],
            }
        return _number(self._rules, entry)

    def _program(self, closed: ClosedJaxpr, order: int) -> int:
        calls = self._calls(closed, order - 1)
        block = self.blocks.keep_bytes(self.text(closed).encode())
        return _number(self._programs, {"text": block, "calls": calls})


def _number(known: dict[str, int], entry: Json) -> int:
    return known.setdefault(json.dumps(entry), len(known))


class ProgramReader:
    """Programs of a file.

    Raises ValueError: export.file for parts that do not fit together, export.program
    for a program that this version does not know.
    """

    def __init__(self, parts: FileContents) -> None:
        self._blocks = parts.blocks
        self._by = str(parts.head.get("by", "an unknown version"))[:80]

    def program(self, text: str) -> ClosedJaxpr:
        """The program of a text."""
        try:
            closed = parse(text, kept=self._constant)
            check(closed)
        except RecursionError:
            raise broken("its program nests too deeply") from None
        except TraceirError as error:
            if error.rule == "export.file":
                raise
            got = f"{error.rule}: {error.got}; the file was written by {self._by}"
            raise rules.error("export.program", got=got) from error
        return closed

    def _constant(self, number: int, aval: ShapedArray) -> np.ndarray:
        return from_bytes(self._block(number), aval)

    def _block(self, number: int) -> bytes:
        if not 0 <= number < len(self._blocks):
            raise broken(f"there is no constant {number}")
        return self._blocks[number]

    def with_derivatives(self, closed: ClosedJaxpr, head: Any) -> ClosedJaxpr:
        """The program with the rules that the head tells."""
        try:
            programs: list[ClosedJaxpr] = []
            found: list[Rule] = []
            for entry in head["programs"]:
                text = self._block(entry["text"]).decode()
                own = self._ruled(self.program(text), entry["calls"], found)
                programs.append(own)
                # A rule stands before what calls it, so there are no circles.
                for rule in head["rules"][len(found) :]:
                    if max(_numbers(rule)) >= len(programs):
                        break
                    found.append(_rule(rule, programs))
            return self._ruled(closed, head["calls"], found)
        except TraceirError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise broken(f"its derivatives cannot be read: {error!r:.80}") from None

    def _ruled(
        self, closed: ClosedJaxpr, calls: Sequence[int], found: Sequence[Rule]
    ) -> ClosedJaxpr:
        if not calls:
            return closed
        if len(calls) != count_calls(closed) or min(calls) < 0:
            raise broken("it has other rules than calls of functions with rules")
        own = [found[number] for number in calls]
        if not all(map(fits, own, calls_of(closed))):
            raise broken("a rule has not the types of its function")
        return with_rules(closed, own)


def _numbers(entry: Json) -> list[int]:
    names = ("jvp",) if "jvp" in entry else ("fwd", "bwd")
    numbers = [entry[name] for name in names]
    if min(numbers) < 0:
        raise ValueError("a number is negative")
    return numbers


def _rule(entry: Json, programs: Sequence[ClosedJaxpr]) -> Rule:
    parts = [programs[number] for number in _numbers(entry)]
    zero = tuple(map(int, entry["zero"]))
    if len(parts) == 1:
        return JvpProgram(parts[0], zero)
    return (
        ForwardProgram(parts[0], int(entry["results"])),
        BackwardProgram(parts[1], zero),
    )
