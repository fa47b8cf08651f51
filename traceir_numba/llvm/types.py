"""The types of generated code, and how arithmetic mixes them.

Integers compute in 64 bits, signed where one operand is. A truth is `i1` in registers
and never in memory. Mixtures whose meaning would be float64 by surprise are refused.
"""

from __future__ import annotations

import struct
from ctypes import c_float
from math import isfinite, isnan
from typing import NamedTuple

LLVM = {
    "bool": "i1",
    **{
        f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    },
    "float32": "float",
    "float64": "double",
}
FLOATS = frozenset(("float32", "float64"))
BITS = {name: int(text[1:]) for name, text in LLVM.items() if text[0] == "i"}
# What does not widen a float32. (In a choice a uint16 does not, either.)
_SMALL = frozenset(("bool", "int8", "int16", "uint8"))


class NotInLanguage(Exception):
    """A construct that generated code does not have."""


class IRValue(NamedTuple):
    """A register or a constant. `literal` is the number as written, not yet cast."""

    text: str
    dtype: str  # "float32", or "float32*" for a pointer
    literal: int | float | None = None


def llvm_type(dtype: str) -> str:
    """LLVM's name of a type."""
    return "ptr" if dtype[-1] == "*" else LLVM[dtype]


def is_signed(dtype: str) -> bool:
    """True if an integer type has negative numbers."""
    return dtype[0] == "i"


def arithmetic(x: str, y: str) -> str:
    """The type in which two numbers are added.

    >>> arithmetic("int8", "uint8"), arithmetic("uint8", "uint64")
    ('int64', 'uint64')
    """
    if x in FLOATS or y in FLOATS:
        return _floating(x, y, _SMALL)
    if x not in BITS or y not in BITS:
        raise NotInLanguage(f"arithmetic of {x} and {y}")
    return "uint64" if x[0] == "u" and y[0] == "u" else "int64"


def common(x: str, y: str) -> str:
    """The type of a value that is one or the other, and in which two are compared.

    >>> common("int8", "uint8"), common("float32", "int64")
    ('int16', 'float64')
    """
    if x == y:
        return x
    if x in FLOATS or y in FLOATS:
        return _floating(x, y, _SMALL | {"uint16"})
    if x not in BITS or y not in BITS:
        raise NotInLanguage(f"{x} or {y}")
    if "bool" in (x, y):
        return y if x == "bool" else x
    if is_signed(x) == is_signed(y):
        return max(x, y, key=BITS.__getitem__)
    signed, unsigned = (x, y) if is_signed(x) else (y, x)
    bits = max(BITS[signed], 2 * BITS[unsigned])
    if bits > 64:
        raise NotInLanguage(f"{x} or {y}: no integer type holds both")
    return f"int{bits}"


def _floating(x: str, y: str, small: frozenset[str]) -> str:
    if x not in LLVM or y not in LLVM:
        raise NotInLanguage(f"{x} with {y}")
    narrow = all(t == "float32" or t in small for t in (x, y))
    return "float32" if narrow else "float64"


def literal(number: object) -> IRValue:
    """A number as written: bool, int64 (uint64 beyond), float64."""
    if isinstance(number, bool):
        return IRValue("true" if number else "false", "bool", number)
    if isinstance(number, int) and -(1 << 63) <= number < 1 << 64:
        return IRValue(str(number), "int64" if number < 1 << 63 else "uint64", number)
    if isinstance(number, float):
        return IRValue(float_text(number), "float64", number)
    raise NotInLanguage(f"the constant {number!r}")


def constant(number: int | float, dtype: str) -> IRValue | None:
    """A literal cast to a type, where that is known without an instruction."""
    if dtype in FLOATS:
        if abs(number) <= 1 << 53 or isinstance(number, float):
            wide = float(number)
            narrow = c_float(wide).value if dtype == "float32" else wide
            return IRValue(float_text(narrow), dtype)
        return None
    if dtype == "bool":
        return IRValue("true" if number else "false", dtype)
    if isinstance(number, float):
        return None
    bits = BITS[dtype]
    wrapped = int(number) & ((1 << bits) - 1)
    if is_signed(dtype) and wrapped >> (bits - 1):
        wrapped -= 1 << bits
    return IRValue(str(wrapped), dtype)


def float_text(number: float) -> str:
    """A float64, or a float32's value, as LLVM writes it: by bits.

    >>> float_text(1.5)
    '0x3FF8000000000000'
    """
    if isnan(number):
        return "0x7FF8000000000000"
    if not isfinite(number):
        return "0x7FF0000000000000" if number > 0 else "0xFFF0000000000000"
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
