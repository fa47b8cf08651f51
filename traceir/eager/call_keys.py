"""Keys of eager calls: the types of arrays, and other arguments.

Serves: level.bind
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.arrays.array import Array, Placed
from traceir.base import cost_model

NAMES, END, TRUE, FALSE, NUMBERS = object(), object(), object(), object(), object()
# Values of these types are equal only if they are the same.
EXACT_TYPES = frozenset({int, str, type(None), type, type(Ellipsis)})


def enter(value: Any, key: list[Any], operands: list[Any]) -> bool:
    """Append an argument's part of a call's key, and the arrays in it.

    False for what a key cannot have.
    """
    kind = type(value)
    if kind in EXACT_TYPES:
        key.append(value)
        return True
    enter = KEY_PARTS.get(kind)
    return enter is not None and enter(value, key, operands)


def _enter_array(value: Array, key: list[Any], operands: list[Any]) -> bool:
    key.append(value.aval)
    operands.append(value)
    return True


def _enter_placed(value: Placed, key: list[Any], operands: list[Any]) -> bool:
    key += (Placed, value.aval, value.sharding)
    operands.append(value)
    return True


def _enter_foreign(value: np.ndarray, key: list[Any], operands: list[Any]) -> bool:
    if not value.ndim:  # a number, as functions see it
        return False
    key += (np.ndarray, value.dtype, value.shape)
    operands.append(value)
    return True


def _enter_bool(value: bool, key: list[Any], operands: list[Any]) -> bool:
    key.append(TRUE if value else FALSE)
    return True


def _enter_float(value: float, key: list[Any], operands: list[Any]) -> bool:
    bits = value if value and value == value else struct.pack("d", value)
    key += (float, bits)
    return True


def _enter_complex(value: complex, key: list[Any], operands: list[Any]) -> bool:
    key += (complex, struct.pack("dd", value.real, value.imag))
    return True


def _enter_sequence(value: Any, key: list[Any], operands: list[Any]) -> bool:
    """Enter the elements of a short list or tuple in a key; False if one cannot be."""
    if len(value) > cost_model.PLAN_SEQUENCE:
        return False
    key.append(type(value))
    for part in value:
        if type(part) is Array:
            key.append(part.aval)
            operands.append(part)
        elif not enter(part, key, operands):
            return False
    key.append(END)
    return True


def _enter_dtype(value: np.dtype, key: list[Any], operands: list[Any]) -> bool:
    key += (np.dtype, value)
    return True


KEY_PARTS: dict[type, Callable[[Any, list[Any], list[Any]], bool]] = {
    Array: _enter_array,
    Placed: _enter_placed,
    np.ndarray: _enter_foreign,
    bool: _enter_bool,
    float: _enter_float,
    complex: _enter_complex,
    tuple: _enter_sequence,
    list: _enter_sequence,
    **{type(np.dtype(code)): _enter_dtype for code in "?bhilqBHILQefdFD"},
}
