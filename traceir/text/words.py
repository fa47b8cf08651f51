"""Numbers, dtypes and param values, written and read back.

Serves: text.literal, text.nan, text.opaque
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from traceir.dtypes import (
    KeyDType,
    as_dtype,
    iinfo,
    is_key,
    key_from_number,
    kind_of,
    number_of_key,
    part_dtype,
)
from traceir.ir.jaxpr import ClosedJaxpr, HostFunction
from traceir.rules import Rules, default
from traceir.text.objects import writable

Scalar = Any
BARE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|<(?:[^<>\n]|<[^<>\n]*>)*>")
_INTEGER = re.compile(r"-?\d{1,40}")
_TRUTH = {"True": True, "true": True, "False": False, "false": False}
_PART = r"(?:0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?|[\d.]+(?:[eE][+-]?\d+)?|inf|nan)"
_PARTS = re.compile(rf"(?:(-?{_PART})(?=[+-]))?([+-]?{_PART})j")
_PAYLOAD = re.compile(r"-?nan\(0[xX]([0-9a-fA-F]{1,32})\)")


class StoredDTypes(Mapping[str, np.dtype]):
    """Dtypes by a name, each made when it is first read: some take an import."""

    __slots__ = ("_stored",)

    def __init__(self, stored: dict[str, str]) -> None:
        self._stored = stored

    def __getitem__(self, name: str) -> np.dtype:
        return as_dtype(self._stored[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


@lru_cache(maxsize=16)
def _short_dtypes(rules: Rules) -> StoredDTypes:
    return StoredDTypes({d.short: d.stored for d in rules.dtypes.values()})


def short_dtypes(rules: Rules | None = None) -> Mapping[str, np.dtype]:
    """The dtypes of the lattice by their short names.

    >>> short_dtypes()["f32"]
    dtype('float32')
    """
    return _short_dtypes(rules or default())


def number_text(value: Scalar, dtype: np.dtype, exact: bool = False) -> str:
    """A scalar as program text has it; `exact` keeps the bits of a NaN.

    The words of a key, the first above the second, are one number.
    A number of Python stands as the user wrote it, not yet rounded to the dtype.

    >>> number_text(np.float32(1.67), np.dtype("float32"))
    '1.6699999570846558'
    >>> number_text(1.67, np.dtype("float32"))
    '1.67'
    """
    if is_key(dtype):
        return str(number_of_key(value))
    if exact and kind_of(dtype) in "fc" and _is_nan(value):
        scalar = np.asarray(value, dtype)
        if not _plain_nan(scalar):
            return f"nan(0x{_bits(scalar):0{2 * scalar.itemsize}x})"
    if kind_of(dtype) == "c":
        return str(complex(value))
    return str(np.asarray(value).item())


def number_value(text: str, dtype: np.dtype) -> Scalar | None:
    """The scalar that a text denotes, or None when `dtype` has no such value.

    It is not yet rounded to the dtype, so that it prints as it was read.

    >>> number_value("0x1.8p1", np.dtype("float32"))
    3.0
    >>> number_value("300", np.dtype("uint8")) is None
    True
    """
    if is_key(dtype):
        number = int(text) if _INTEGER.fullmatch(text) else -1
        return key_from_number(number, dtype)
    if kind_of(dtype) == "b":
        return _TRUTH.get(text, {"0": False, "1": True}.get(text))
    if kind_of(dtype) in "iu":
        return _integer(text, dtype)
    if digits := nan_digits(text):
        return _from_bits(int(digits, 16), dtype)
    if kind_of(dtype) == "c":
        return _complex(text, dtype)
    value = _real(text)
    if value is None:
        return None
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.asarray(value, dtype))
    return rounded if np.isinf(rounded) else value


def _integer(text: str, dtype: np.dtype) -> int | None:
    if not _INTEGER.fullmatch(text):
        return None
    limits = iinfo(dtype)
    value = int(text)
    return value if limits.min <= value <= limits.max else None


def _complex(text: str, dtype: np.dtype) -> complex | None:
    """A complex number of two parts, or of one; each may be any real number."""
    inner = text.removeprefix("(").removesuffix(")")
    if not inner.endswith("j"):
        real = number_value(inner, part_dtype(dtype))
        return None if real is None else complex(real)
    found = _PARTS.fullmatch(inner)
    if found is None:
        return None
    real, imag = (number_value(p or "0.0", part_dtype(dtype)) for p in found.groups())
    return None if real is None or imag is None else complex(real, imag)


def _real(text: str) -> float | None:
    try:
        return float.fromhex(text) if "x" in text.lower() else float(text)
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")
    except ValueError:
        return None


def _is_nan(value: Any) -> bool:
    with np.errstate(invalid="ignore"):  # a NaN that signals
        return bool(np.isnan(value))


def _bits(scalar: np.ndarray) -> int:
    return int.from_bytes(scalar.tobytes(), sys.byteorder)


def _plain_nan(scalar: np.ndarray) -> bool:
    """True if a NaN's text without bits says which it is."""
    with np.errstate(invalid="ignore"):
        text = str(complex(scalar))
    plain = complex(text) if kind_of(scalar.dtype) == "c" else float("nan")
    return _bits(scalar) == _bits(np.asarray(plain, scalar.dtype))


def nan_digits(text: str) -> str | None:
    """The hexadecimal digits of a NaN that is written with its bits.

    >>> nan_digits("nan(0x7fc00001)"), nan_digits("nan")
    ('7fc00001', None)
    """
    found = _PAYLOAD.fullmatch(text)
    return found and found[1]


def _from_bits(bits: int, dtype: np.dtype) -> Scalar | None:
    if bits >= 1 << 8 * dtype.itemsize:
        return None
    stored = bits.to_bytes(dtype.itemsize, sys.byteorder)
    scalar = np.frombuffer(stored, dtype)[0]
    return scalar if _is_nan(scalar) else None


def value_text(value: object, lists: bool = False, exact: bool = False) -> str:
    """A parameter's value without programs in it.

    `lists` brackets inner tuples; `exact` tells texts from other words and keeps the
    bits of a NaN.

    >>> value_text((((1,), (0,)), ((), ())), lists=True)
    '(([1], [0]), ([], []))'
    >>> value_text(("None", None), exact=True)
    "('None', None)"
    """
    if exact and isinstance(value, float | complex):
        return number_text(value, np.dtype(type(value)), exact=True)
    match value:
        case str():
            return value if BARE.fullmatch(value) and not exact else repr(value)
        case np.dtype() | KeyDType():
            return value.name
        case tuple():
            inner = [value_text(v, lists, exact) for v in value]
            if lists and not any(isinstance(v, tuple) for v in value):
                return f"[{', '.join(inner)}]"
            return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
    return repr(value)


def own_text(value: object) -> str:
    """A param of a user's primitive, as JAX has it: Python's text without addresses.

    >>> own_text((1, "text", None)), own_text("text"), own_text(np.dtype("int8"))
    ("(1, 'text', None)", 'text', 'int8')
    """
    return re.sub(r"\b0x[0-9a-f]{4,}\b", "0xXXXXXXXXXXXX", str(value))


def opaque(value: object) -> object | None:
    """The part of a parameter's value that no text can stand for, or None.

    >>> opaque((1, None, len)) is len, opaque((1, "text", np.dtype("int32")))
    (True, None)
    """
    if isinstance(value, tuple) and type(value) is tuple:
        return next((o for o in map(opaque, value) if o is not None), None)
    if isinstance(value, HostFunction):
        return value.function
    if writable(value):
        return None
    if isinstance(value, np.dtype | KeyDType):
        return None if _is_named(value) else value
    plain = value is None or type(value) in (bool, int, float, complex, str)
    return None if plain or isinstance(value, ClosedJaxpr) else value


def _is_named(dtype: np.dtype | KeyDType) -> bool:
    """True if a dtype is one of the lattice's, which its name stands for."""
    row = default().dtypes.get(dtype.name)
    return row is not None and as_dtype(row.stored) == dtype
