"""Conversions between 16-bit floating formats and wider ones.

Serves: accuracy.rounded

bfloat16 is the upper half of a float32. float16 has five bits of exponent: moved up
by 13 bits its bits are those of a float32 that is too small by 2**112. On the way down,
what is added before the lower bits go rounds them to even; below the least normal
number, adding 1/2 leaves the rounded number in the sum's lowest bits. Numbers with more
digits than float32 are first rounded to it so that the last bit is odd where anything
was lost (Boldo and Melquiond, "When double rounding is odd", 2005).
"""

from __future__ import annotations

from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    Template,
    device_function,
    short,
)

BITS = "uint16"


def _float16_value(name: str) -> DeviceFunction:
    """The number; infinities and NaN have the greatest exponent."""
    text = f"""
    def {name}(h):
        m = i32(h & 0x7FFF)
        small = as_float_f32(i32(m << 13)) * f32({2.0**112!r})
        x = small if m < 0x7C00 else as_float_f32(i32((m << 13) | 0x7F800000))
        return -x if h > u16(0x7FFF) else x
    """
    return device_function(name, (BITS,), "float32", text, "as_float_f32")


def _float16_bits(name: str, dtype: str) -> DeviceFunction:
    """The nearest number's bits."""
    if dtype != "float32":
        return _through_odd(name, dtype, "float16")
    text = f"""
    def {name}(x):
        i = as_bits_f32(x)
        m = i32(i & 0x7FFFFFFF)
        large = i32(((m + 0xFFF + ((m >> 13) & 1)) >> 13) - 0x1C000)
        large = large if m < 0x477FF000 else i32(0x7C00)
        small = i32(as_bits_f32(abs(x) + f32(0.5)) - 0x3F000000)
        h = large if m >= 0x38800000 else small
        h = h if m <= 0x7F800000 else i32(0x7E00)
        return u16(h | ((i >> 16) & 0x8000))
    """
    return device_function(name, ("float32",), BITS, text, "as_bits_f32")


def _bfloat16_value(name: str) -> DeviceFunction:
    """The number."""
    text = f"def {name}(h):\n    return as_float_f32(i32(i32(h) << 16))"
    return device_function(name, (BITS,), "float32", text, "as_float_f32")


def _bfloat16_bits(name: str, dtype: str) -> DeviceFunction:
    """The nearest number's bits."""
    if dtype in ("int64", "uint64"):
        return _through_double(name, dtype)
    if dtype != "float32":
        return _through_odd(name, dtype, "bfloat16")
    text = f"""
    def {name}(x):
        i = as_bits_f32(x)
        h = u16(i32(i + 0x7FFF + ((i >> 16) & 1)) >> 16)
        return h if x == x else u16(0x7FC0)
    """
    return device_function(name, ("float32",), BITS, text, "as_bits_f32")


def _through_odd(name: str, dtype: str, half: str) -> DeviceFunction:
    """A float64 by way of the float32 that keeps it on its side of every tie."""
    text = f"""
    def {name}(x):
        y = f32(x)
        i = as_bits_f32(y)
        step = i32(-1) if abs(f64(y)) > abs(x) else i32(1)
        lost = (f64(y) != x) & (x == x) & ((i & 1) == 0)
        return {half}_bits_f32(as_float_f32(i32(i + step)) if lost else y)
    """
    needs = "as_bits_f32", "as_float_f32", f"{half}_bits_f32"
    return device_function(name, (dtype,), BITS, text, *needs)


def _through_double(name: str, dtype: str) -> DeviceFunction:
    """An integer of 64 bits, of which large ones give their last 16 for one bit."""
    t = short(dtype)
    text = f"""
    def {name}(x):
        lost = {t}(1) if (x & {t}(0xFFFF)) != {t}(0) else {t}(0)
        cut = {t}(((x >> {t}(16)) | lost) << {t}(16))
        top = x >> {t}(32)
        small = (top == {t}(0)){" | (top == i64(-1))" if dtype == "int64" else ""}
        return bfloat16_bits_f64(f64(x if small else cut))
    """
    return device_function(name, (dtype,), BITS, text, "bfloat16_bits_f64")


def _after(half: str, nan: int) -> Template:
    """The neighbour of a number on the side of another, by their bits."""

    def make(name: str) -> DeviceFunction:
        """The function under a name."""
        text = f"""
        def {name}(x, y):
            a = {half}_value(x)
            b = {half}_value(y)
            further = (a < b) == (a > f32(0.0))
            near = u16(x + 1) if further else u16(x - 1)
            least = u16(1) if b > f32(0.0) else u16(0x8001)
            near = near if a != f32(0.0) else least
            near = near if a != b else y
            return u16({nan:#x}) if (a != a) | (b != b) else near
        """
        return device_function(name, (BITS, BITS), BITS, text, f"{half}_value")

    return make


TEMPLATES.update(
    float16_value=_float16_value,
    float16_bits=_float16_bits,
    float16_after=_after("float16", 0x7E00),
    bfloat16_value=_bfloat16_value,
    bfloat16_bits=_bfloat16_bits,
    bfloat16_after=_after("bfloat16", 0x7FC0),
)
