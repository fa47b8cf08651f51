"""Texts with values in them that are traced: written when the program runs.

Serves: python.print
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.arrays.array import NumpyTracer
from traceir.tracing.trace import Tracer

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

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)

    def __add__(self, other: Any) -> Any:
        return DeferredText((*self.parts, other))

    def __radd__(self, other: Any) -> Any:
        return DeferredText((other, *self.parts))

    def __str__(self) -> str:
        return "".join(str(p[0] if isinstance(p, tuple) else p) for p in self.parts)

    def __eq__(self, other: object) -> bool:
        raise rules.error("level.concretize.format", got="a comparison of a text")

    __hash__ = None  # type: ignore[assignment]

    def decoder(self, operands: list[Tracer]) -> Decoder:
        """What writes the text; the values that it needs are added to the operands."""
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
    """What gives a value when the program runs: traced ones are operands."""
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
    if any(isinstance(v, (Tracer, DeferredText)) for p in parts for v in _values(p)):
        return DeferredText(parts)
    return "".join(_piece(part, [])(()) for part in parts)


def _values(part: Any) -> Sequence[Any]:
    return (part[0], part[2]) if isinstance(part, tuple) else (part,)
