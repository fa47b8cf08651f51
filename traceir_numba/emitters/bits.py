"""Scalar expressions over the bits of integers and floating numbers.

Serves: prim.* rows
"""

from __future__ import annotations

from textwrap import dedent

import numpy as np

from traceir_numba.device_functions import TEMPLATES, DeviceFunction, scalar, short
from traceir_numba.emitters.kinds import (
    Elementwise,
    ExpressionContext,
    emitter,
    register,
)


@emitter("ceil")
def ceil(e: ExpressionContext, x: str) -> str:
    """A whole number of the same dtype."""
    return e.call(f"ceil_{short(e.dtype)}", x)


@emitter("is_finite")
def is_finite(e: ExpressionContext, x: str) -> str:
    """Neither an infinity nor NaN, of which no comparison holds."""
    return f"abs({x}) < {short(e.operand)}(inf)"


@emitter("nextafter")
def nextafter(e: ExpressionContext, x: str, y: str) -> str:
    """One step among the bits."""
    half = e.params.get("half")
    if half:
        return e.call(f"{half}_after", x, y)
    return e.call(f"nextafter_{short(e.dtype)}", x, y)


@emitter("xor")
def exclusive(e: ExpressionContext, x: str, y: str) -> str:
    """Of truths or of bits."""
    return f"{x} != {y}" if e.kind == "b" else e.wrap(f"{x} ^ {y}")


def bitwise(name: str) -> None:
    """A function of integers that is made below, one for each dtype."""

    def emit(e: ExpressionContext, *operands: str) -> str:
        return e.call(f"{name}_{short(e.dtype)}", *operands)

    register(name, Elementwise(emit))


bitwise("shift_left")
bitwise("shift_right_logical")
bitwise("shift_right_arithmetic")
bitwise("population_count")
bitwise("clz")


# -- functions that kernels call ------------------------------------------------------


def _signed(dtype: str) -> str:
    return f"i{8 * np.dtype(dtype).itemsize}"


def _unsigned(dtype: str) -> str:
    return f"u{8 * np.dtype(dtype).itemsize}"


def _function(
    name: str, dtype: str, args: int, text: str, *needs: str
) -> DeviceFunction:
    bits = 8 * np.dtype(dtype).itemsize
    words = {"name": name, "t": short(dtype), "bits": bits, "most": bits - 1}
    words |= {"i": _signed(dtype), "u": _unsigned(dtype)}
    return scalar(name, dtype, args, dedent(text).format(**words), *needs)


def _ceil(name: str, dtype: str) -> DeviceFunction:
    """The least whole number that is not less."""
    return _function(name, dtype, 1, "def {name}(x):\n    return {t}(np.ceil(x))")


def _nextafter(name: str, dtype: str) -> DeviceFunction:
    """Numbers of one sign are ordered as their bits are."""
    text = """
    def {name}(x, y):
        bits = as_bits_{t}(x)
        further = (x < y) == (x > {t}(0.0))
        near = as_float_{t}({i}(bits + 1) if further else {i}(bits - 1))
        least = as_float_{t}({i}(1))
        near = near if x != {t}(0.0) else (least if y > {t}(0.0) else -least)
        near = y if x == y else near
        return x + y if (x != x) | (y != y) else near
    """
    calls = (f"as_bits_{short(dtype)}", f"as_float_{short(dtype)}")
    return _function(name, dtype, 2, text, *calls)


# A negative shift is a large one of the unsigned dtype. The mask tells the compiler
# that shifts are short, and so may stay within the dtype.


def _shift_left(name: str, dtype: str) -> DeviceFunction:
    """By more than there are, all bits are lost."""
    text = """
    def {name}(x, y):
        fits = {u}(y) < {u}({bits})
        moved = {t}({u}(x) << ({u}(y) & {u}({most})))
        return moved if fits else {t}(0)
    """
    return _function(name, dtype, 2, text)


def _shift_right_logical(name: str, dtype: str) -> DeviceFunction:
    """Zeros come from above."""
    text = """
    def {name}(x, y):
        fits = {u}(y) < {u}({bits})
        moved = {t}({u}(x) >> ({u}(y) & {u}({most})))
        return moved if fits else {t}(0)
    """
    return _function(name, dtype, 2, text)


def _shift_right_arithmetic(name: str, dtype: str) -> DeviceFunction:
    """Copies of the highest bit come from above, whether it is a sign or not."""
    text = """
    def {name}(x, y):
        by = {u}(y) if {u}(y) < {u}({bits}) else {u}({most})
        return {t}({i}(x) >> {i}(by & {u}({most})))
    """
    return _function(name, dtype, 2, text)


def _population_count(name: str, dtype: str) -> DeviceFunction:
    """Sums of two, four and eight bits side by side, then of all bytes at once."""
    text = """
    def {name}(x):
        n = u64({u}(x))
        n = n - ((n >> u64(1)) & u64(0x5555555555555555))
        pairs = u64(0x3333333333333333)
        n = (n & pairs) + ((n >> u64(2)) & pairs)
        n = (n + (n >> u64(4))) & u64(0x0F0F0F0F0F0F0F0F)
        return {t}((n * u64(0x0101010101010101)) >> u64(56))
    """
    return _function(name, dtype, 1, text)


def _clz(name: str, dtype: str) -> DeviceFunction:
    """The count by the exponent of the number; one of 64 bits may be rounded up to
    another.

    For these, bits up to the highest that is set are set, too, and then counted.
    """
    bits = 8 * np.dtype(dtype).itemsize
    if bits < 64:
        text = """
        def {name}(x):
            exponent = as_bits_f64(f64({u}(x))) >> 52
            return {t}(%d - exponent) if x != {t}(0) else {t}({bits})
        """
        return _function(name, dtype, 1, text % (bits + 1022), "as_bits_f64")
    text = """
    def {name}(x):
        n = {u}(x)
        {fill}
        return {t}({bits} - population_count_{u}({u}(n)))
    """
    by = (1 << k for k in range(bits.bit_length() - 1))
    fill = "\n        ".join(f"n = n | (n >> {{u}}({k}))" for k in by)
    count = f"population_count_{_unsigned(dtype)}"
    return _function(name, dtype, 1, text.replace("{fill}", fill), count)


TEMPLATES.update(
    ceil=_ceil,
    nextafter=_nextafter,
    shift_left=_shift_left,
    shift_right_logical=_shift_right_logical,
    shift_right_arithmetic=_shift_right_arithmetic,
    population_count=_population_count,
    clz=_clz,
)
