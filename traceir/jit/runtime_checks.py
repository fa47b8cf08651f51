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

from traceir import rules
from traceir.base import cost_model
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, user_frame_summary
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.tracing.trace import Tracer

# The row that tells if a number can be asked for.
_KNOWN = "level.concretize.number"
# A result that values of this type share, and its number among these.
Slot = tuple[ShapedArray, int]


class ListRoom:
    """The elements for which lists of one function have room, to which loops without a
    bound append, and new arrays with as many elements as values decide.

    A program has arrays of known sizes. One that needs more stops, gives nothing and
    changes nothing; the room is made larger, and the call made again.
    """

    __slots__ = ("_elements", "once")

    def __init__(self) -> None:
        self._elements = 0
        self.once = False

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self._elements or cost_model.LIST_ROOM

    def extend_once(self) -> bool:
        """Have much room at once, for programs that have effects, so that a call can't
        be made again; False if it is so by now."""
        if self.once:
            return False
        self.once = True
        many = cost_model.LIST_ROOM * cost_model.LIST_ROOM_FACTOR**2
        self._elements = max(self.elements, many)
        return True

    def extend(self, full: FilledList) -> None:
        """Have more room than a list has filled.

        Raises TypeError (staged.effect) if there can be no more.
        """
        most = cost_model.MOST_LIST_ROOM
        if self.once or full.count >= most:
            raise full.error("of a function that prints or draws" if self.once else "")
        larger = full.count * cost_model.LIST_ROOM_FACTOR
        self._elements = max(self.elements, min(larger, most))


@dataclass(frozen=True, eq=False, slots=True)
class FilledList:
    """So many elements that a list or an array has room for, and no more: a cause of a
    failure."""

    room: ListRoom
    count: int
    source: Source | None = None
    is_array: bool = False

    def __call__(self, values: Sequence[Any], source: Source | None) -> OutOfRoom:
        return OutOfRoom(replace(self, source=source))

    def error(self, where: str) -> Exception:
        """The error of what can't have more."""
        rule = "slice.length" if self.is_array else "staged.effect"
        what = "an array" if self.is_array else "a list"
        got = f"{what} of more than {self.count:,} elements {where}".rstrip()
        line = None if self.source is None else user_frame_summary(self.source)
        return rules.error(rule, got=got, where=line)


class OutOfRoom(BaseException):
    """There is no room in a program; no handler of the function's own takes it."""

    def __init__(self, full: FilledList) -> None:
        super().__init__(f"there is room for {full.count:,} elements")
        self.full = full


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

    def _full(self) -> Iterator[FilledList]:
        """The lists that may fill their room."""
        for failure in self.failures:
            if isinstance(failure.make, FilledList):
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
