"""Literals of program text, and the types of bare numbers.

Serves: text.literal
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Literal
from traceir.text.lexer import SourceText
from traceir.text.syntax import NumberNode
from traceir.text.words import Scalar, number_value

_DEFAULTS = {"b": "bool", "i": "int32", "f": "float32", "c": "complex64"}


def literal(source: SourceText, number: NumberNode, aval: ShapedArray) -> Literal:
    """The literal of that type; raises JaxprSyntaxError where it does not fit.

    A type that is no scalar's is for checking to report (program.literal).
    """
    return Literal(element_value(source, number, aval.dtype), aval)


def element_value(source: SourceText, number: NumberNode, dtype: np.dtype) -> Scalar:
    """The value of a number as one of that dtype; raises JaxprSyntaxError."""
    value = number_value(number.text, dtype)
    if value is None:
        got = f"`{number.text[:40]}` as a value of {dtype.name}"
        raise source.error("text.literal", got, number.at)
    return value


def untyped_dtype(text: str, known: Iterable[np.dtype]) -> np.dtype:
    """The dtype of a literal written without one: that of its like among `known`.

    >>> untyped_dtype("2.0", [np.dtype("int32"), np.dtype("float64")])
    dtype('float64')
    """
    kind = _kind(text)
    likes = "iu" if kind == "i" else kind
    found = next((d for d in known if d.kind in likes), None)
    return found or np.dtype(_DEFAULTS[kind])


def _kind(text: str) -> str:
    if text.lower() in ("true", "false"):
        return "b"
    if text.rstrip(")").endswith("j"):
        return "c"
    return "i" if text.lstrip("-").isdecimal() else "f"
