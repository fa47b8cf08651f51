"""Outcomes of a call, compared with those that a case demands.

Serves: cache.*, level.*
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from traceir.conform.casefiles.sessions import Call, Probe
from traceir.conform.casefiles.values import TypedValue
from traceir.errors import CLASSES
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import default


@dataclass(frozen=True)
class Outcome:
    """The result of an implementation's call: an event, a rule, the results.

    An implementation that rejects but cannot say by which rule gives the name of the
    exception's class as `cls`, see `class_name`, and its first
    line as `text`. The event of a probe is `answers`.
    """

    event: str
    rule: str | None = None
    values: tuple[TypedValue, ...] | None = None
    cls: str | None = None
    answer: Any = None
    program: ClosedJaxpr | None = None
    text: str = ""

    def meets(self, step: Call | Probe) -> str | None:
        """The reason why the step's verdict is missed, or None."""
        if isinstance(step, Probe):
            return self._answers(step)
        return self._event(step) or self._values(step) or self._program(step)

    def _answers(self, probe: Probe) -> str | None:
        if self.event == "answers" and self.answer == probe.answer:
            return None
        return f"{probe.name}{probe.args}: {self.answer}, expected {probe.answer}"

    def _event(self, call: Call) -> str | None:
        wanted = " ".join(filter(None, (call.verdict, call.rule)))
        got = " ".join(filter(None, (self.event, self.rule or self.cls)))
        got += no_such_rule(self.rule)
        if call.verdict is None:
            return f"{call.function}: {got}" if self.event == "raises" else None
        same = self.rule == call.rule
        if self.rule is None and self.cls and call.rule:
            same = expected_class(self.cls, call.rule)
        if self.event == call.verdict and same:
            return None
        row = default().clauses.get(call.rule or "")
        if self.cls and row:
            wanted += f" ({row.class_})"
        return f"{call.function}: {got}, expected {wanted}"

    def _values(self, call: Call) -> str | None:
        if call.values is None or (self.values is None and call.verdict == "raises"):
            return None
        given = self.values or ()
        if len(given) != len(call.values):
            return f"{call.function}: {len(given)} results, not {len(call.values)}"
        for value, want in zip(given, call.values):
            if not value.same(want):
                return f"{call.function}: {value}, expected {want}"
        return None

    def _program(self, call: Call) -> str | None:
        if call.program is None or str(self.program) == str(call.program):
            return None
        return f"{call.function}: {self.program}, expected {call.program}"


def no_such_rule(rule: str | None) -> str:
    """A remark about a name that is no rule's; none for a rule.

    >>> no_such_rule("add.numeric"), no_such_rule("add.numerical")
    ('', ' (no rule has this name; a rule is called add.numeric)')
    """
    clauses = default().clauses
    if rule is None or rule in clauses:
        return ""
    near = get_close_matches(rule, clauses, 1)
    alike = f"; a rule is called {near[0]}" if near else ""
    return f" (no rule has this name{alike})"


def expected_class(cls: str, rule: str) -> bool:
    """True if the rule's row asks for an exception class of that name.

    >>> expected_class("TracerBoolConversionError", "jit.argument")
    True
    >>> expected_class("ValueError", "jit.argument")
    False
    >>> expected_class("ValueError", "face.broadcast")
    True
    """
    row, found = default().clauses.get(rule), _class(cls)
    if row is None or found is None:
        return False
    wanted = (_class(name) for name in row.class_.split(", "))
    return any(issubclass(found, one) for one in wanted if one is not None)


def class_name(error: BaseException) -> str:
    """The class of an exception, or the nearest that it inherits which is known here.

    >>> class_name(type("ShapeError", (IndexError,), {})())
    'IndexError'
    """
    names = (c.__name__ for c in type(error).__mro__)
    return next((n for n in names if _class(n)), type(error).__name__)


def _class(name: str) -> type | None:
    found = getattr(builtins, name, CLASSES.get(name))
    return found if isinstance(found, type) else None
