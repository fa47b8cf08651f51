"""Numbers of program text, read and written. Serves: text.literal, text.nan

A number keeps what was written: it is rounded where its value is used.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Final

import numpy as np

from traceir.dtypes import (
    iinfo,
    is_key,
    key_from_number,
    kind_of,
    number_of_key,
    part_dtype,
)

_BITS: Final = re.compile(r"-?nan\(0x([0-9a-fA-F]+)\)")
_REAL: Final = r"(?:0x[0-9a-fA-F.]+(?:p[+-]?\d+)?|\d[\d.]*(?:e[+-]?\d+)?|inf|nan)"
_COMPLEX: Final = re.compile(rf"\(?(-?{_REAL}(?=[+-]))?([+-]?{_REAL})j\)?")
_BOOLEANS: Final = ("True", "true", "1", "False", "false", "0")
_TRUTH: Final = {word: word in _BOOLEANS[:3] for word in _BOOLEANS}
# Digits of the greatest integer that text can have: no dtype has as many.
_LONGEST: Final = 40


def kind_of_number(text: str) -> str:
    """The kind of a number that has no type: b, i, f or c.

    >>> [kind_of_number(text) for text in ("true", "-3", "3.0", "(1+2j)")]
    ['b', 'i', 'f', 'c']
    """
    if text in ("True", "true", "False", "false"):
        return "b"
    if text.endswith(("j", "j)")):
        return "c"
    return "i" if text.lstrip("-").isdecimal() else "f"


def read_number(text: str, dtype: np.dtype) -> Any:
    """The value that a text denotes in a dtype, None where it has none.

    >>> read_number("0x1.8p1", np.dtype("float32"))
    3.0
    >>> read_number("1.5", np.dtype("int8")) is None
    True
    """
    if is_key(dtype):
        number = _integer(text, 0, (1 << 8 * dtype.itemsize) - 1)
        return None if number is None else key_from_number(number, dtype)
    match kind_of(dtype):
        case "b":
            return _TRUTH.get(text)
        case "i" | "u":
            info = iinfo(dtype)
            return _integer(text, int(info.min), int(info.max))
    if bits := _BITS.fullmatch(text):
        return _from_bits(int(bits[1], 16), dtype)
    if kind_of(dtype) == "c":
        return _complex(text, part_dtype(dtype))
    return _rounding_to_infinity(text, dtype)


def _integer(text: str, least: int, most: int) -> int | None:
    if kind_of_number(text) != "i" or len(text) > _LONGEST:
        return None
    return int(text) if least <= int(text) <= most else None


def _rounding_to_infinity(text: str, dtype: np.dtype) -> float | None:
    """A real number; one that is infinite in the dtype is so already."""
    if kind_of_number(text) in "bc":
        return None
    found = _real(text)
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.asarray(found, dtype))
    return rounded if np.isinf(rounded) else found


def _real(text: str) -> float:
    try:
        return float.fromhex(text) if "x" in text else float(text)
    except OverflowError:
        return float("-inf" if text[0] == "-" else "inf")


def _complex(text: str, part: np.dtype) -> complex | None:
    if kind_of_number(text) in "if":
        real = _rounding_to_infinity(text, part)
        return None if real is None else complex(real)
    found = _COMPLEX.fullmatch(text)
    if found is None:
        return None
    real, imag = (_rounding_to_infinity(p or "0.0", part) for p in found.groups())
    return None if real is None or imag is None else complex(real, imag)


def _from_bits(bits: int, dtype: np.dtype) -> Any:
    """A NaN of these bits, None where they are those of no NaN."""
    if bits >> 8 * dtype.itemsize:
        return None
    found = np.frombuffer(bits.to_bytes(dtype.itemsize, sys.byteorder), dtype)[0]
    return found if _is_nan(found) else None


def _is_nan(value: Any) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(value))


def read_plain(text: str) -> bool | int | float | complex | None:
    """A number that has no dtype, as params have it, None where it is none.

    >>> read_plain("3"), read_plain("3.0"), read_plain("True")
    (3, 3.0, True)
    """
    if bits := _BITS.fullmatch(text):
        kind: Any = float if len(bits[1]) <= 16 else complex
        found = _from_bits(int(bits[1], 16), np.dtype(kind))
        return None if found is None else kind(found)
    match kind_of_number(text):
        case "b":
            return _TRUTH[text]
        case "c":
            return _complex(text, np.dtype("float64"))
        case "i":
            return int(text) if len(text) <= 100 else None
    return _real(text)


def number_text(value: Any, dtype: np.dtype, full: bool) -> str:
    """A number as text has it; the full text keeps the bits of a NaN (text.nan).

    >>> number_text(np.float32(0.1), np.dtype("float32"), False)
    '0.10000000149011612'
    """
    if is_key(dtype):
        return str(number_of_key(value))
    kind = kind_of(dtype)
    if full and kind in "fc" and _is_nan(value):
        bits = np.asarray(value, dtype).tobytes()
        with np.errstate(invalid="ignore"):
            usual: Any = complex(np.asarray(value, dtype))
        usual = complex(str(usual)) if kind == "c" else float("nan")
        if np.asarray(usual, dtype).tobytes() != bits:
            digits = int.from_bytes(bits, sys.byteorder)
            return f"nan(0x{digits:0{2 * dtype.itemsize}x})"
    if kind == "c":
        return str(complex(value))
    return str(np.asarray(value).item())
