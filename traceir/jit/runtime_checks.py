"""Programs that also tell which of their checks has failed first.

Serves: index.bounds, staged.raised

A trace of a plain function notes what may fail when the program runs: an index that may
be outside, an `assert`, a `raise`. Each has a number. The program that runs has more
results: the number of the first that failed, in the order in which Python meets them,
or 0, and the values that its error shows.

An entry has the program without these results, too, which other uses of it take, such
as a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, user_frame_summary
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit.list_room import Elements, ListRoom
from traceir.tracing.trace import Tracer

# The row that tells if a number can be asked for.
_KNOWN = "level.concretize.number"
# A result that values of this type share, and its number among these.
Slot = tuple[ShapedArray, int]


@dataclass(frozen=True, eq=False, slots=True)
class Failure:
    """The exception of a check that fails: made of the values that it shows, which are
    in these slots, and of the user's line. It `raises` what the function says, or is
    about a place."""

    make: Callable[[Sequence[Any], Source | None], BaseException]
    slots: tuple[Slot, ...]
    source: Source | None
    raises: bool = True

    def error(self, values: Sequence[Any]) -> BaseException:
        """The exception, with a traceback that ends at the user's line."""
        error = self.make(values, self.source)
        return error if self.source is None else _raised_at(self.source, error)


@dataclass(frozen=True, eq=False, slots=True)
class RuntimeChecks:
    """The checks of a trace, and the program whose last results are the slots and the
    number of the check that failed."""

    closed: ClosedJaxpr
    failures: tuple[Failure, ...]
    slots: tuple[Slot, ...]

    @property
    def raises(self) -> bool:
        """True if there is more to raise than what is about places."""
        return any(failure.raises for failure in self.failures)

    def fills(self, room: ListRoom) -> bool:
        """True if a list may fill this room."""
        return any(full.room is room for full in self._full())

    def _full(self) -> Iterator[Elements]:
        """The lists that may fill their room."""
        for failure in self.failures:
            if isinstance(failure.make, Elements):
                yield replace(failure.make, source=failure.source)

    @property
    def first_line(self) -> str | None:
        """The line of the first thing to raise that is no place."""
        lines = (f.source for f in self.failures if f.raises)
        source = next(lines, None)
        return None if source is None else user_frame_summary(source)

    @property
    def extra(self) -> int:
        """The number of results that the program has for its checks."""
        return len(self.slots) + 1

    def looked_at(self, results: Sequence[Any]) -> Sequence[Any]:
        """The program's own results; raises what has failed, as far as it is known in
        the trace of a transform."""
        number = results[-1]
        known = not isinstance(number, Tracer) or number.knows(_KNOWN)
        if known and int(number):
            raise self.error(results)
        for full in () if known else self._full():
            raise full.error("in a transform that does not know its length")
        return results[: -self.extra]

    def error(self, results: Sequence[np.ndarray]) -> BaseException:
        """The exception of the check that has failed, by the program's results."""
        failure = self.failures[int(results[-1]) - 1]
        found = dict(zip(self.slots, results[-self.extra : -1], strict=True))
        return failure.error([np.asarray(found[slot])[()] for slot in failure.slots])


def _raised_at(source: Source, error: BaseException) -> BaseException:
    code = compile("raise error", source.file, "exec")
    code = code.replace(co_firstlineno=source.line, co_name=source.function)
    try:
        exec(code, {"error": error})
    except BaseException as raised:
        trace = raised.__traceback__
        return raised.with_traceback(None if trace is None else trace.tb_next)
    raise AssertionError(error)  # it is raised


class CheckedExecutable:
    """An executable whose last results tell which check has failed.

    `run` raises the exception of that, and gives the other results.
    """

    def __init__(self, inner: Any, checks: RuntimeChecks) -> None:
        self._inner = inner
        program, count = inner.run, -checks.extra

        def run(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            found: tuple[np.ndarray, ...] = program(*arrays)
            if found[-1]:
                raise checks.error(found)
            return found[:count]

        self.run = run

    def __getattr__(self, name: str) -> Any:
        if name in ("put", "run_there"):  # whose results nobody on the host looks at
            raise AttributeError(name)
        return getattr(self._inner, name)
