"""Conversions of traced values to Python's, and their refusal.

Serves: level.concretize.*, level.shape
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from traceir import rules
from traceir.base.source_info import Source, capture_shown, user_frame_summary
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Var
from traceir.rules.hints import face, hint_at

# What hints say of a function under `jit`; other transforms have other ways.
_STATIC = re.compile(r"make the \w+ static with `static_argnames`")
# A choice or a loop may be recorded, under `jit`; a plain function's is.
_RECORDED = re.compile(
    r"(have the \w+ recorded, with )`(control_flow=.+?)` of `jit`, ?(?:or )?"
)
# An array can never be static: what else there is to be done is left.
_OR_STATIC = re.compile(rf", or {_STATIC.pattern}")


class TracedValue(Protocol):
    """A tracer, as far as it is asked here."""

    aval: ShapedArray
    _source: Source | None

    @property
    def _trace(self) -> Tracing: ...

    def arguments(self) -> list[str]:
        """The arguments that the value is computed from."""

    def could_be_static(self) -> bool:
        """True if none of those arguments is an array."""

    def demandable(self) -> frozenset[Var]:
        """The inputs to know for the value to be known; none if that can't be."""


class Tracing(Protocol):
    """A trace, as far as it is asked here: the function's name, and the transform."""

    name: str
    transform: str


class ArgumentDemand(BaseException):
    """Ends a trace in which an argument's value was asked for; nobody sees it raised.

    The function is traced again with the arguments of these inputs known, or `error`
    is raised. No handler of exceptions stops it, such as that of a loop that can't be
    recorded: whatever that did instead would ask again.
    """

    def __init__(self, error: TraceirError, inputs: frozenset[Var]) -> None:
        super().__init__(error)
        self.error = error
        self.inputs = inputs
        self.where = f"at {error.where}" if error.where else "at an unknown line"
        # The numbers of the leaves of the function that is to be traced again.
        self.leaves: tuple[int, ...] = ()


def demanded(error: Exception, *values: Any) -> BaseException:
    """The demand of the arguments that traced values are computed from, or the error
    if knowing arguments would not tell the values."""
    found = [v.demandable() for v in values if getattr(v, "is_traced", False)]
    if not found or not all(found) or not isinstance(error, TraceirError):
        return error
    return ArgumentDemand(error, frozenset().union(*found))


def refusal(tracer: TracedValue, row_id: str, what: str = "") -> BaseException:
    """The error of a question to a traced value that its transform does not answer, or
    the demand of the arguments that answer it."""
    return demanded(refused(tracer, row_id, what), tracer)


def refused(tracer: TracedValue, row_id: str, what: str = "") -> TraceirError:
    """The error of a question to a traced value, whatever would answer it.

    `what` names the Python operation, for the text. The error's class is the row's.
    """
    got = f"{what + ' of ' if what else ''}{tracer.aval.str_short()}, {origin(tracer)}"
    return rules.error(row_id, got=got, hint=advice(tracer, row_id))


def misspelled(error: TraceirError, name: str, names: Iterable[str]) -> TraceirError:
    """The error, whose hint is the name that was probably meant, if there is one."""
    import difflib  # not on the way of an import

    near = difflib.get_close_matches(name, [n for n in names if n[0] != "_"], 1)
    if hasattr(np.ndarray, name):  # it is what was meant
        near = []
    hint = f"did you mean `{near[0]}`?" if near else error.hint
    return rules.error(error.rule, got=error.got, hint=hint, where=error.where)


def origin(tracer: TracedValue) -> str:
    """The reason why the value is not known: the arguments or operation behind it."""
    trace = tracer._trace
    where = f"in the trace of {trace.name} for {trace.transform}"
    paths = arguments(tracer)
    row = rules.default().levels.way(trace.transform)
    if not paths and row.handles == "own":
        return f"{where}, which follows what becomes of the arguments"
    if not paths:
        made = user_frame_summary(tracer._source) or "an unknown line"
        return (
            f"{where}; it became a tracer because every operation inside "
            f"{trace.transform} is recorded: {made}"
        )
    names = paths[0] if len(paths) == 1 else f"{', '.join(paths[:-1])} and {paths[-1]}"
    noun = "value of the argument" if len(paths) == 1 else "values of the arguments"
    return f"{where}; it depends on the {noun} {names}"


def arguments(tracer: TracedValue) -> list[str]:
    """The arguments that a traced value is computed from, as the user spells them."""
    return tracer.arguments()


def advice(tracer: TracedValue, row_id: str) -> str:
    """The row's hint at the user's line for the transform, with the call for `jit`
    spelled out."""
    clauses = rules.default().clauses
    name = tracer._trace.name
    hint = hint_at(clauses[row_id], capture_shown(3))
    other = clauses[rules.default().levels.way(tracer._trace.transform).id].hint
    if other:
        return _STATIC.sub(other, _RECORDED.sub("", hint))
    plain = face() == "numpy"
    hint = _RECORDED.sub("" if plain else rf"\1`jit({name}, \2)`, or ", hint)
    if not tracer.could_be_static():
        return _OR_STATIC.sub("", hint)
    names = [path for path in arguments(tracer) if path.isidentifier()]
    if not names or len(names) > 3:
        return hint
    call = f"`jit({name}, static_argnames={names})`"
    return hint.replace("`static_argnames`", call)
