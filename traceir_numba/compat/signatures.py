"""Numba's types and signatures: `float64[:]`, `"f8(f8, i4)"`.

Serves: compat.signature

A signature says as which numbers a call's numbers are taken, and which arrays it takes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

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
        if all(isinstance(arg, SomeType) for arg in args):
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

    def converted(self, value: Any) -> Any:
        """A value of this type: a number as it has it, anything else as it is."""
        return value if self.ndim or self.dtype is None else self.number(value)

    def is_exact(self, value: Any) -> bool:
        """True if a value has the very dtype of this type."""
        return bool(np.result_type(value) == self.dtype)

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


class TupleType:
    """The type of tuples of so many values, each of a type."""

    dtype: np.dtype[Any] | None = None
    ndim = 0

    def __init__(self, parts: Sequence[SomeType]) -> None:
        self.parts = tuple(parts)

    def __call__(self, *args: SomeType) -> Signature:
        return Signature(self, args)

    def __repr__(self) -> str:
        return f"Tuple(({', '.join(map(repr, self.parts))}))"

    def _pairs(self, value: Sequence[Any]) -> Iterable[tuple[SomeType, Any]]:
        return zip(self.parts, value, strict=True)

    def converted(self, value: Any) -> Any:
        """A tuple of this type; one of named parts keeps its class."""
        parts = [t.converted(v) for t, v in self._pairs(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)

    def is_exact(self, value: Any) -> bool:
        """True if the values have the very dtypes of this type."""
        return all(t.is_exact(v) for t, v in self._pairs(value))

    def takes(self, value: Any) -> bool:
        """True if a value is a tuple of so many values, each of its type."""
        same = isinstance(value, tuple) and len(value) == len(self.parts)
        return same and all(t.takes(v) for t, v in self._pairs(value))


SomeType: TypeAlias = NumbaType | TupleType


def Tuple(parts: Sequence[SomeType]) -> TupleType:  # the name that users know
    """The type of tuples of values of these types."""
    return TupleType(parts)


def UniTuple(part: SomeType, count: int) -> TupleType:  # the name that users know
    """The type of tuples of so many values of one type."""
    return TupleType([part] * count)


class Signature:
    """The type of a result, if it is said, and those of the arguments."""

    def __init__(self, result: SomeType | None, args: Sequence[SomeType]) -> None:
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
        return all(t.is_exact(v) for t, v in pairs)

    def converted(self, values: Sequence[Any]) -> list[Any]:
        """The arguments, numbers as the signature has them."""
        pairs = zip(self.args, values, strict=True)
        return [t.converted(v) for t, v in pairs]


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
} | {"Tuple": Tuple, "UniTuple": UniTuple}
_TEXT = re.compile(r"[\w\s(),:\[\]]*")
_NUMBAS = ("numba.core.types.", "numba.core.typing.")


def is_signature(value: Any) -> bool:
    """True if a decorator's argument is a signature, and no function."""
    kinds = (str, tuple, list, NumbaType, TupleType, Signature)
    return isinstance(value, kinds) or _is_numbas(value)


def _is_numbas(value: Any) -> bool:
    return f"{type(value).__module__}.".startswith(_NUMBAS)


def _translated(value: Any) -> Any:
    """A type or a signature of Numba's own as one of these; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(map(_translated, value))
    if not _is_numbas(value):
        return value
    if hasattr(value, "return_type"):
        result = value.return_type
        args = tuple(map(_translated, value.args))
        return Signature(None if result is None else _translated(result), args)
    from numba.core.errors import NumbaError
    from numba.np.numpy_support import as_dtype

    types: Any = importlib.import_module("numba.core.types")
    if isinstance(value, types.NoneType):
        return void
    if isinstance(value, (types.UniTuple, types.Tuple)):
        return TupleType([_translated(part) for part in value])
    array = isinstance(value, types.Array)
    try:
        dtype = as_dtype(value.dtype if array else value)
    except (NumbaError, NotImplementedError) as error:
        raise rules.error("compat.signature", got=str(value)) from error
    return NumbaType(dtype, value.ndim if array else 0)


def signature(value: Any) -> Signature:
    """A signature; or one written as text, as a tuple of types, in Numba's own types.

    Raises TypeError (compat.signature) for anything else.

    >>> signature("f8(f8[:], i4)")
    (float64[:], int32) -> float64
    """
    found = _translated(value)
    if isinstance(value, str) and _TEXT.fullmatch(value):
        try:
            found = eval(value, {"__builtins__": {}, **TYPES})
        except (SyntaxError, NameError, TypeError) as error:
            raise rules.error("compat.signature", got=f"{value!r}: {error}") from None
    if isinstance(found, tuple) and all(isinstance(t, SomeType) for t in found):
        return Signature(None, found)
    if isinstance(found, SomeType):
        return Signature(None, (found,))
    if not isinstance(found, Signature):
        raise rules.error("compat.signature", got=repr(value))
    return found


def numbers_signature(value: Any) -> Signature:
    """A signature of numbers and arrays, without tuples.

    Raises TypeError (compat.signature) for any other, and for what is none.
    """
    found = signature(value)
    if any(isinstance(t, TupleType) for t in (found.result, *found.args)):
        raise rules.error("compat.signature", got=repr(found))
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
    if isinstance(value, tuple):
        return f"Tuple(({', '.join(map(_shown, value))}))"
    return repr(
        NumbaType(getattr(value, "dtype", np.result_type(value)), np.ndim(value))
    )
