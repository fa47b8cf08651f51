"""The protocol of implementations, and what they raise. Serves: every table"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.judging.messages import Messages
from traceir.conform.judging.witness import Arrays
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr


class Unsupported(Exception):
    """Raised by an adapter for a feature that its implementation lacks."""


class Rejected(Exception):
    """Raised by an adapter whose implementation rejects without saying by which rule.

    It is right where the exception's class is the one that the rule's row names, or a
    class derived from it, and its text is not known to be about another rule.

    >>> raise Rejected("TypeError", "shapes (2,) and (3,)")
    Traceback (most recent call last):
    traceir.conform.judging.implementation.Rejected: TypeError: shapes (2,) and (3,)
    """

    rule = None

    def __init__(self, class_: str | type[Exception], text: str = "") -> None:
        class_ = class_.__name__ if isinstance(class_, type) else class_
        super().__init__(f"{class_}: {text}" if text else class_)
        self.class_ = class_
        self.text = text


class Implementation(Protocol):
    """An implementation to be judged: three methods over parsed programs.

    A rejection is an exception with the violated rule's id as `rule`, or `Rejected`.
    It may also have `version`, a text; `choices`, what it declares of the choices that
    the tables leave open, by their ids; `profiles`, the names of those that it claims;
    and `text(program, full)`, where it reads and prints programs as the tables say;
    `parse(text)`, where it reads them itself; `reads = False` where it prints alone;
    `shares`, the parts of this project that it is made of, see `borrowed.PARTS`;
    `messages`, the rules that texts of `Rejected` speak of; `plain(function)`, its
    decorator of plain functions, `recorded(function, *args)`, which loops and choices
    the program of a call has, and `decorators`, its counterparts of Numba's.
    """

    @property
    def name(self) -> str:
        """The name under which verdicts are reported."""

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types of the results; raises for an ill-typed program."""

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results for some arguments of the inputs' types."""

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of calls and probes, in order; settings have none."""


def declared_choices(implementation: Any) -> Mapping[str, str]:
    """The choices that an implementation declares."""
    found: Mapping[str, str] = getattr(implementation, "choices", {})
    return found


def told_messages(implementation: Any) -> Messages:
    """The rules that the texts of an implementation's rejections speak of."""
    found: Messages = getattr(implementation, "messages", ())
    return found


def shared_parts(implementation: Any) -> Sequence[str]:
    """The parts of this project that an implementation says it is made of."""
    found: Sequence[str] = getattr(implementation, "shares", ())
    return found
