"""A backend of `traceir.jit` that runs programs by the tables.

It is how the oracle runs functions that are transformed: the reference makes their
programs, whose results are those that the `value` formulas define. Serves: every table
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from traceir.ir.jaxpr import ClosedJaxpr
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import default
from traceir.text.printer import to_text

DIALECTS = ("source",)
_guesses: ContextVar[bool] = ContextVar("guesses", default=True)


@contextmanager
def tables_alone() -> Iterator[None]:
    """Within this, results that are known by relations alone are a ValueError."""
    before = _guesses.set(False)
    try:
        yield
    finally:
        _guesses.reset(before)


@dataclass(frozen=True)
class OracleExecutable:
    """A program whose equations are run one element after the other.

    >>> from traceir.text import parse
    >>> program = compile(parse("{ lambda ; a:f32[]. let b:f32[] = neg a in (b,) }"))
    >>> program.run(np.float32(2))
    (array(-2., dtype=float32),)
    """

    program: ClosedJaxpr

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The results that the tables define."""
        given = [np.asarray(a) for a in arrays]
        guess = evaluate_eqn if _guesses.get() else None
        found = scalar_interpreter.run(
            self.program, self.program.consts, given, default(), guess
        )
        return tuple(np.asarray(a) for a in found)

    def as_text(self, form: str) -> str:
        """The program itself: there is no other source."""
        return to_text(self.program)


def compile(program: ClosedJaxpr, name: str = "") -> OracleExecutable:
    """The program as something to run."""
    return OracleExecutable(program)
