"""Adapters with mistakes that are easily made; what is said of them is tested."""

from __future__ import annotations

import inspect
from typing import Any

from traceir.conform import Rejected
from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.systems.implementations import Reference
from traceir.ir.jaxpr import ClosedJaxpr


class TextProfile(Reference):
    """Claims a text, whose letters are no profiles."""

    profiles = "core"


class NumberProfile(Reference):
    """Claims a number."""

    profiles = 1


class AsksNothing(Reference):
    """Has Python's library raise."""

    def type(self, program: ClosedJaxpr) -> Any:
        return inspect.signature(None)

    session = type


class RejectsByClass(Reference):
    """Says by which class it rejects with the class itself, not with its name."""

    def type(self, program: ClosedJaxpr) -> Any:
        raise Rejected(TypeError, "odd")


class RejectsOtherwise(Reference):
    """Names what is no rule."""

    def type(self, program: ClosedJaxpr) -> Any:
        error = TypeError("two")
        error.rule = "odd"
        raise error


class Retraces(Reference):
    """Traces in each call."""

    def session(self, session: Session) -> Any:
        return [Outcome("traces")] * len(session.steps)


class RaisesOdd(Reference):
    """Raises an exception of its own in each call."""

    def session(self, session: Session) -> Any:
        return [Outcome("raises", cls="Odd")] * len(session.steps)
