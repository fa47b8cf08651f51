"""Exceptions of a program: made while it is traced, raised afterwards.

Serves: staged.raised

The program gives the numbers that an exception shows. Where a text is made of traced
numbers while the exception is, marks stand in it for them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, is_users_code
from traceir.face.arrays.texts import MARKS, DeferredText, marked
from traceir.face.checks.handlers import HANDLERS, Handler, handler_of
from traceir.face.checks.status import note
from traceir.tracing.trace import Tracer, current_trace

# What stands for a value in a text that `%` is applied to.
_FORM = re.compile("%[-#0 +]*\\d*(?:\\.\\d+)?[a-zA-Z%]")
_MARK = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Shown:
    """A value of the program's: its place among those, and how a text has it.

    It is a Python number or one of NumPy's.
    """

    place: int
    python: bool
    form: Callable[[Any], Any]

    def of(self, values: Sequence[Any]) -> Any:
        """The value that is shown."""
        value = values[self.place]
        return self.form(value.item() if self.python else value)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with marks, and what stands for them."""

    text: str
    shown: tuple[Shown, ...]

    def of(self, values: Sequence[Any]) -> str:
        """The text."""
        return _MARK.sub(lambda m: self.shown[int(m[1])].of(values), self.text)


class _NumberMarks:
    """The traced numbers that are read while an exception is made."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.shown: list[Shown] = []

    def mark(self, value: Tracer, form: Callable[[Any], str]) -> str:
        """A mark for a number in a text."""
        self.shown.append(self.show(value, form))
        return f"\ue000{len(self.shown) - 1}\ue001"

    def show(self, value: Tracer, form: Callable[[Any], Any]) -> Shown:
        """A number."""
        python = value.aval.weak_type
        self.values.append(value.now())
        return Shown(len(self.values) - 1, python, form)

    def kept(self, value: Any) -> Any:
        """A part of an exception without traced values."""
        if isinstance(value, (str, DeferredText)):
            value = str(value)
            return (
                MarkedText(value, tuple(self.shown)) if _MARK.search(value) else value
            )
        if type(value) is tuple:
            return tuple(map(self.kept, value))
        if not isinstance(value, Tracer):
            return value
        if value.aval.shape:
            return value.aval.str_short()
        return self.show(value, lambda number: number)


class Trying:
    """The inside of a `try`, whose `except` has these classes."""

    def __init__(self, kinds: Callable[[], tuple[Any, ...]]) -> None:
        self._handler = Handler(current_trace(), kinds)
        self._outer: Any = None

    def __enter__(self) -> None:
        self._outer = HANDLERS.set((*HANDLERS.get(), self._handler))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        HANDLERS.reset(self._outer)


def note_if(failed: Any, make: Callable[[], Any]) -> BaseException | None:
    """Have the program raise an exception if a truth value holds.

    Gives one that holds and that the function takes itself, in what is recorded now.
    Raises TypeError (staged.handler) for others that it would take.
    """
    marks = _NumberMarks()
    outer = MARKS.set(marks)
    try:
        error = make()
        error = error() if isinstance(error, type) else error
        args = marks.kept(error.args)
        attributes = [(name, marks.kept(value)) for name, value in vars(error).items()]
    finally:
        MARKS.reset(outer)
    handler = handler_of(type(error))
    if handler is not None and failed is True and handler.trace is current_trace():
        return make()  # type: ignore[no-any-return]  # the user's
    make = functools.partial(_made, type(error), args, attributes)
    note(failed, make, marks.values, kind=type(error))
    return None


def note_raised(error: BaseException) -> None:
    """Have the program raise an exception that is raised while it is traced."""
    where, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_users_code(code.co_filename):
            where = Source(code, trace.tb_lasti)
        trace = trace.tb_next
    note(True, later(error), (), type(error), where)


def later(error: BaseException) -> Callable[..., BaseException]:
    """The maker of an exception that shows no values."""
    return functools.partial(_made, type(error), error.args, list(vars(error).items()))


def _made(
    kind: type[BaseException],
    args: tuple[Any, ...],
    attributes: Sequence[tuple[str, Any]],
    values: Sequence[Any],
    source: Source | None,
) -> BaseException:
    """An exception of these parts."""
    given = _filled(args, values)
    made = kind.__new__(kind, *given)
    made.args = given
    vars(made).update((name, _filled(value, values)) for name, value in attributes)
    return made


def formatted(text: str, values: Any) -> str:
    """`text % values`, some of which may be traced."""
    parts = values if isinstance(values, tuple) else (values,)
    if MARKS.get() is None or not any(isinstance(v, Tracer) for v in parts):
        return str(text % values)
    rest = iter(parts)

    def one(found: re.Match[str]) -> str:
        form = found[0]
        if form == "%%":
            return "%"
        value = next(rest)
        if not isinstance(value, Tracer):
            return form % (value,)
        return marked(value, lambda number: form % (number,)) or form % (value,)

    return _FORM.sub(one, text)


def _filled(part: Any, values: Sequence[Any]) -> Any:
    if isinstance(part, (Shown, MarkedText)):
        return part.of(values)
    if type(part) is tuple:
        return tuple(_filled(p, values) for p in part)
    return part
