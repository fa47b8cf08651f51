"""Arrays, types and host objects as cases write them. Serves: text.literal"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.text.lexer import NUMBER_WORDS
from traceir.text.literals import element_value
from traceir.text.reader import ProgramParser
from traceir.text.words import number_text

_WORDS: dict[str, Any] = {
    "None": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
}


@dataclass(frozen=True)
class TypedValue:
    """An array and its abstract value, which may be weakly typed."""

    aval: ShapedArray
    array: np.ndarray = field(compare=False)

    def __str__(self) -> str:
        """As cases write it.

        >>> str(TypedValue(ShapedArray((2,), "float32"), np.float32([1, 2])))
        'f32[2]{1.0 2.0}'
        """
        inner = (number_text(x, self.aval.dtype, True) for x in self.array.reshape(-1))
        return f"{type_text(self.aval)}{{{' '.join(inner)}}}"

    def same(self, other: TypedValue) -> bool:
        """Equal types and equal bits, one NaN being as good as another."""
        return self.aval is other.aval and same_bits(self.array, other.array)


@dataclass(frozen=True)
class HostName:
    """The name of a function or an object of the case, used as an argument."""

    name: str


def type_text(aval: ShapedArray) -> str:
    """A type as cases write it.

    >>> type_text(ShapedArray((2,), "int8")), type_text(ShapedArray((), "int32", True))
    ('i8[2]', '~i32[]')
    """
    return "~" * aval.weak_type + aval.str_short()


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """True if two arrays of one dtype and shape agree bit for bit, NaNs apart.

    >>> same_bits(np.float32(0.0), np.float32(-0.0))
    False
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if kind_of(a.dtype) == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if kind_of(a.dtype) != "f":
        return bool(np.array_equal(a, b))
    nan = np.isnan(a)
    if not np.array_equal(nan, np.isnan(b)):
        return False
    word = f"u{a.dtype.itemsize}"
    same = np.ascontiguousarray(a).view(word) == np.ascontiguousarray(b).view(word)
    return bool(np.all(same | nan))


class ValueReader(ProgramParser):
    """Reads the values in cases with the grammar of programs."""

    def array(self) -> TypedValue:
        """`f32[2]{1 2}`, or `~f32[]{2}` where it is weakly typed."""
        at = self.peek().at
        aval = self.aval()
        numbers = self.elements()
        if len(numbers) != aval.size:
            got = f"{len(numbers)} elements for {aval.str_short()}"
            raise self.source.error("text.literal", got, at)
        found = np.empty(aval.size, aval.dtype)
        for k, number in enumerate(numbers):
            found[k] = element_value(self.source, number, aval.dtype)
        return TypedValue(aval, found.reshape(aval.shape))

    def arrays(self) -> tuple[TypedValue, ...]:
        """Arrays to the end of the source."""
        return self.to_end(self.array)

    def avals(self) -> tuple[ShapedArray, ...]:
        """Types to the end of the source."""
        return self.to_end(self.aval)

    def object(self) -> Any:
        """An array, or a number, string, None, tuple, list or dict of the host."""
        token = self.peek()
        if self.is_aval():
            return self.array()
        if token.text in ("(", "[", "{"):
            return self.nested(self.collection)
        if token.text in _WORDS:
            return _WORDS[self.take().text]
        if token.kind == "string":
            return ast.literal_eval(self.take().text)
        if token.kind == "number" or token.text in NUMBER_WORDS:
            return host_number(self.number().text)
        raise self.fail("an argument")

    def collection(self) -> Any:
        """A tuple, a list or a dict."""
        opening = self.take().text
        close = {"(": ")", "[": "]", "{": "}"}[opening]
        items = self.separated(close, self.entry if opening == "{" else self.object)
        return {"(": tuple, "[": list, "{": dict}[opening](items)

    def entry(self) -> tuple[Any, Any]:
        """`key: object`."""
        key = self.object()
        self.expect(":")
        return key, self.object()


def host_number(text: str) -> complex | bool:
    """A number of the host language.

    >>> host_number("1"), host_number("1.0"), host_number("-inf")
    (1, 1.0, -inf)
    """
    if text in _WORDS:
        return bool(_WORDS[text])
    if text.lstrip("-").isdecimal():
        return int(text)
    if text.rstrip(")").endswith("j"):
        return complex(text)
    return float.fromhex(text) if "x" in text.lower() else float(text)


def show(values: Sequence[TypedValue]) -> str:
    """Several values as cases write them."""
    return " ".join(map(str, values))
