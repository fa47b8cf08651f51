"""Numba's types and signatures: `float64[:]`, `"f8(f8, i4)"`.

Serves: compat.signature

A signature says as which numbers a call's numbers are taken, and which arrays it takes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.tracing.trace import Tracer


class NumbaType:
    """A type of numbers, or of arrays of them with so many dimensions."""

    def __init__(self, dtype: Any, ndim: int = 0) -> None:
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.ndim = ndim

    def __getitem__(self, index: Any) -> NumbaType:
        parts = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(p, slice) for p in parts):
            raise rules.error("compat.signature", got=f"{self}[{index}]")
        return NumbaType(self.dtype, len(parts))

    def __call__(self, *args: Any) -> Any:
        if all(isinstance(arg, NumbaType) for arg in args):
            return Signature(self, args)
        (value,) = args
        return self.number(value)

    def number(self, value: Any) -> Any:
        """A value as one of this type's numbers."""
        if isinstance(value, Tracer):
            return value.astype(self.dtype)
        return np.asarray(value).astype(self.dtype)[()]

    def __repr__(self) -> str:
        name = "void" if self.dtype is None else self.dtype.name
        return f"{name}[{', '.join(':' * self.ndim)}]" if self.ndim else name

    def takes(self, value: Any) -> bool:
        """True if a value is an array of this type, or a number that it may hold."""
        if np.ndim(value) != self.ndim or self.dtype is None:
            return False
        dtype = getattr(value, "dtype", np.result_type(value))
        return bool(
            dtype == self.dtype
            if self.ndim
            else np.can_cast(dtype, self.dtype, "same_kind") or dtype.kind in "biu"
        )


class Signature:
    """The type of a result, if it is said, and those of the arguments."""

    def __init__(self, result: NumbaType | None, args: Sequence[NumbaType]) -> None:
        self.result = result
        self.args = tuple(args)

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.args))}) -> {self.result}"

    def takes(self, values: Sequence[Any]) -> bool:
        """True if these are arguments of the signature."""
        same = len(values) == len(self.args)
        return same and all(t.takes(v) for t, v in zip(self.args, values, strict=True))

    def is_exact(self, values: Sequence[Any]) -> bool:
        """True if these arguments have the very dtypes of the signature."""
        pairs = zip(self.args, values, strict=True)
        return all(np.result_type(v) == t.dtype for t, v in pairs)

    def converted(self, values: Sequence[Any]) -> list[Any]:
        """The arguments, numbers as the signature has them."""
        pairs = zip(self.args, values, strict=True)
        return [v if t.ndim else t.number(v) for t, v in pairs]


int8, int16, int32, int64 = (NumbaType(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (NumbaType(f"uint{n}") for n in (8, 16, 32, 64))
float32, float64 = NumbaType("float32"), NumbaType("float64")
complex64, complex128 = NumbaType("complex64"), NumbaType("complex128")
boolean, void = NumbaType("bool"), NumbaType(None)
none, b1, bool_ = void, boolean, boolean
intp, uintp, int_, intc = NumbaType(np.intp), NumbaType(np.uintp), int64, int32
i1, i2, i4, i8, u1, u2, u4, u8 = (
    *(int8, int16, int32, int64),
    *(uint8, uint16, uint32, uint64),
)
f4, f8, c8, c16 = float32, float64, complex64, complex128
TYPES: dict[str, Any] = {
    name: value for name, value in globals().items() if isinstance(value, NumbaType)
}
_TEXT = re.compile(r"[\w\s(),:\[\]]*")


def signature(value: Any) -> Signature:
    """A signature, or one written as text or as a tuple of types.

    Raises TypeError (compat.signature) for anything else.

    >>> signature("f8(f8[:], i4)")
    (float64[:], int32) -> float64
    """
    found = value
    if isinstance(value, str) and _TEXT.fullmatch(value):
        try:
            found = eval(value, {"__builtins__": {}, **TYPES})
        except (SyntaxError, NameError, TypeError) as error:
            raise rules.error("compat.signature", got=f"{value!r}: {error}") from None
    if isinstance(found, tuple) and all(isinstance(t, NumbaType) for t in found):
        return Signature(None, found)
    if isinstance(found, NumbaType):
        return Signature(None, (found,))
    if not isinstance(found, Signature):
        raise rules.error("compat.signature", got=repr(value))
    return found


def chosen(signatures: Sequence[Signature], values: Sequence[Any]) -> Signature:
    """The signature for a call: one of the very types, or the first that takes them.

    Raises TypeError (compat.signature) where there is none.
    """
    fitting = [s for s in signatures if s.takes(values)]
    exact = [s for s in fitting if s.is_exact(values)]
    if not fitting:
        shown = ", ".join(map(_shown, values))
        declared = "; ".join(map(repr, signatures))
        raise rules.error("compat.signature", got=f"({shown}) for {declared}")
    return (exact or fitting)[0]


def _shown(value: Any) -> str:
    return repr(
        NumbaType(getattr(value, "dtype", np.result_type(value)), np.ndim(value))
    )
