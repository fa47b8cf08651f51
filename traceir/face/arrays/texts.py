"""Texts with values in them that are traced: written when the program runs.

Serves: python.print, staged.raised
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.arrays.array import NumpyTracer
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import Tracer

# What makes a mark for a number in a text, while the text of an exception is made.
MARKS: ContextVar[Any] = ContextVar("traceir_marks", default=None)
# What gives a value when the program runs, from the values of the operands.
Decoder = Callable[[Sequence[np.ndarray]], Any]
_CONVERSIONS: dict[int, Callable[[Any], Any]] = {
    -1: lambda v: v,
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}


class DeferredText:
    """A text with traced values: pieces of text, and values with how they are written.

    It can be added to a text, and be printed.
    """

    stands_for = str

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)

    def __add__(self, other: Any) -> Any:
        return DeferredText((*self.parts, other))

    def __radd__(self, other: Any) -> Any:
        return DeferredText((other, *self.parts))

    def __str__(self) -> str:
        if MARKS.get() is not None:
            return _now(self.parts)
        return "".join(str(p[0] if isinstance(p, tuple) else p) for p in self.parts)

    def _unknown(self, what: str) -> BaseException:
        """The error of a request that needs the text, or the demand of the arguments
        that tell it."""
        operands: list[Tracer] = []
        self.decoder(operands)
        error = rules.error("level.concretize.format", got=f"{what} of a text")
        return demanded(error, *operands)

    def __eq__(self, other: object) -> bool:
        raise self._unknown("a comparison")

    def __hash__(self) -> int:
        raise self._unknown("a hash")

    def __len__(self) -> int:
        raise self._unknown("len()")

    def __getitem__(self, index: Any) -> str:
        raise self._unknown("a part")

    def __contains__(self, part: Any) -> bool:
        raise self._unknown("a part")

    def __getattr__(self, name: str) -> Any:
        if hasattr(str, name):
            raise self._unknown(f"the {name!r} attribute")
        raise AttributeError(name)

    def decoder(self, operands: list[Tracer]) -> Decoder:
        """A function that writes the text; the values it needs become operands."""
        made = [_piece(part, operands) for part in self.parts]
        return lambda values: "".join(piece(values) for piece in made)


def _piece(part: Any, operands: list[Tracer]) -> Decoder:
    if not isinstance(part, tuple):
        inner = decoder(part, operands)
        return lambda values: str(inner(values))
    value, conversion, spec = part
    shown, how = decoder(value, operands), _CONVERSIONS[conversion]
    form = decoder(spec, operands)
    return lambda values: format(how(shown(values)), form(values))


def decoder(value: Any, operands: list[Tracer]) -> Decoder:
    """A function that gives a value when the program runs: traced ones are operands."""
    kind = type(value)
    if isinstance(value, DeferredText):
        return value.decoder(operands)
    if isinstance(value, NumpyTracer) and value.concrete is not None:
        known = np.array(value.concrete)
        return lambda values: known if known.ndim else known[()]
    if isinstance(value, Tracer):
        number = not value.aval.shape and value.aval.weak_type
        place = len(operands)
        operands.append(value.now())
        if number:
            return lambda values: values[place].item()
        return lambda values: values[place][()]
    if kind in (list, tuple):
        items = [decoder(part, operands) for part in value]
        return lambda values: kind(item(values) for item in items)
    if kind is dict:
        pairs = [(key, decoder(part, operands)) for key, part in value.items()]
        return lambda values: {key: part(values) for key, part in pairs}
    return lambda values: value


def text(*parts: Any) -> Any:
    """An f-string: pieces of text, and values with a conversion and a format."""
    values = [value for part in parts for value in _values(part)]
    traced = any(isinstance(value, (Tracer, DeferredText)) for value in values)
    return DeferredText(parts) if traced and MARKS.get() is None else _now(parts)


def _now(parts: Sequence[Any]) -> str:
    """The text of some pieces, with marks for what is traced."""
    made = []
    for part in parts:
        if isinstance(part, tuple):
            value, conversion, spec = part
            made.append(_shown(value, _CONVERSIONS[conversion], str(spec)))
        else:
            made.append(str(part))
    return "".join(made)


def _shown(value: Any, how: Callable[[Any], Any], spec: str) -> str:
    shown = None
    if isinstance(value, Tracer):
        shown = marked(value, lambda number: format(how(number), spec))
    return format(how(value), spec) if shown is None else shown


def marked(value: Tracer, form: Callable[[Any], str]) -> str | None:
    """A mark for what `form` makes of a traced number later, if there are marks now;
    an array is shown by its type."""
    marks = MARKS.get()
    if marks is None or value.knows("level.concretize.number"):
        return None
    shown: str = value.aval.str_short() if value.aval.shape else marks.mark(value, form)
    return shown


def _values(part: Any) -> Sequence[Any]:
    return (part[0], part[2]) if isinstance(part, tuple) else (part,)
