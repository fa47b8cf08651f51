"""Conversions between formats of 16 bits and fewer and wider ones.

Serves: accuracy.rounded, accuracy.int-wrap

bfloat16 is the upper half of a float32. float16 has five bits of exponent: moved up
by 13 bits its bits are those of a float32 that is too small by 2**112. On the way down,
what is added before the lower bits go rounds them to even; below the least normal
number, adding 1/2 leaves the rounded number in the sum's lowest bits. Numbers with more
digits than float32 are first rounded to it so that the last bit is odd where anything
was lost (Boldo and Melquiond, "When double rounding is odd", 2005). Shorter floating
formats are as float16, each with its own bits of exponent and fraction, and with what
else than infinity is beyond its range.
"""

from __future__ import annotations

import math

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import NARROW_FLOATS, NARROW_INTEGERS, as_dtype, finfo, iinfo
from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    Template,
    device_function,
    short,
)

BITS = "uint16"
BYTE = "uint8"


def wide_of(narrow: str) -> str:
    """The dtype in which a narrow one is computed.

    >>> wide_of("float8_e5m2"), wide_of("int4"), wide_of("uint4")
    ('float32', 'int8', 'int8')
    """
    return "int8" if narrow in NARROW_INTEGERS else "float32"


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


def _through_odd(name: str, dtype: str, half: str, bits: str = BITS) -> DeviceFunction:
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
    return device_function(name, (dtype,), bits, text, *needs)


def _through_double(
    name: str, dtype: str, half: str = "bfloat16", bits: str = BITS
) -> DeviceFunction:
    """An integer of 64 bits, of which large ones give their last 16 for one bit."""
    t = short(dtype)
    text = f"""
    def {name}(x):
        lost = {t}(1) if (x & {t}(0xFFFF)) != {t}(0) else {t}(0)
        cut = {t}(((x >> {t}(16)) | lost) << {t}(16))
        top = x >> {t}(32)
        small = (top == {t}(0)){" | (top == i64(-1))" if dtype == "int64" else ""}
        return {half}_bits_f64(f64(x if small else cut))
    """
    return device_function(name, (dtype,), bits, text, f"{half}_bits_f64")


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


# -- eight bits and fewer --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NarrowFormat:
    """A floating format of a byte or less: the bits of its fraction and the bias of its
    exponent; the patterns, without a sign, of its greatest number, of what is beyond
    that, of NaN, and of the sign; whether it has a zero with a sign."""

    fraction: int
    bias: int
    greatest: int
    beyond: int
    nan: int
    sign: int
    zeros: bool

    @property
    def scale(self) -> float:
        """The power of 2 between its numbers and those of float32 with their bits."""
        return float(2.0 ** (127 - self.bias))


def format_of(name: str) -> NarrowFormat:
    """The format of a dtype, by what ml_dtypes makes of its bits.

    >>> found = format_of("float8_e4m3fn")
    >>> found.fraction, found.bias, found.greatest, found.beyond, found.nan
    (3, 7, 126, 127, 127)
    """
    dtype, info = as_dtype(name), finfo(name)
    sign = 1 << int(info.bits) - 1
    with np.errstate(invalid="ignore"):
        read = np.array([float(info.max), np.inf, np.nan, -0.0], np.float32)
        bits = read.astype(dtype).view(BYTE).tolist()
    greatest, beyond, nan, zero = bits
    fraction = int(info.nmant)
    bias = 1 - fraction - round(math.log2(float(info.smallest_subnormal)))
    return NarrowFormat(fraction, bias, greatest, beyond, nan, sign, zero != 0)


def _small_value(half: str) -> Template:
    """The number of each pattern; those above the greatest number's are none."""

    def make(name: str) -> DeviceFunction:
        """The function under a name."""
        if half == _POWERS:
            text = f"""
            def {name}(h):
                m = i32(i32(h) << 23)
                x = as_float_f32(m if m > 0 else i32(0x400000))
                return as_float_f32(i32(0x7FC00000)) if h == u8(255) else x
            """
            return device_function(name, (BYTE,), "float32", text, "as_float_f32")
        f = format_of(half)
        if f.beyond == f.greatest:
            special = "small"
        elif f.nan == f.sign:
            special = f"as_float_f32(i32(0x7FC00000)) if h == u8({f.nan}) else small"
        else:
            infinite = f"i32(0x7F800000) if m == {f.beyond} else i32(0x7FC00000)"
            first = "i32(0x7FC00000)" if f.beyond == f.nan else f"({infinite})"
            special = f"as_float_f32({first}) if m > {f.greatest} else small"
        text = f"""
        def {name}(h):
            m = i32(h & {f.sign - 1})
            small = as_float_f32(i32(m << {23 - f.fraction})) * f32({f.scale!r})
            x = {special}
            return -x if (h & {f.sign}) != 0 else x
        """
        return device_function(name, (BYTE,), "float32", text, "as_float_f32")

    return make


def _small_bits(half: str) -> Template:
    """The nearest number's bits."""

    def make(name: str, dtype: str) -> DeviceFunction:
        """The function under a name, of numbers of a dtype."""
        if dtype in ("int64", "uint64"):
            return _through_double(name, dtype, half, BYTE)
        if dtype != "float32":
            return _through_odd(name, dtype, half, BYTE)
        text = _powers(name) if half == _POWERS else _rounded(name, format_of(half))
        return device_function(name, ("float32",), BYTE, text, "as_bits_f32")

    return make


def _rounded(name: str, f: NarrowFormat) -> str:
    """The bits of the nearest number of a format."""
    down = 23 - f.fraction
    least = 128 - f.bias << 23  # the bits of the least normal number
    unit = 128 - f.bias + 23 - f.fraction << 23  # whose last place is the format's
    one = f"f32({float(2.0 ** (1 - f.bias - f.fraction + 23))!r})"
    sign = f"((i >> {31 - f.sign.bit_length() + 1}) & {f.sign})"
    signed = sign if f.zeros else f"{sign} if h != 0 else i32(0)"
    return f"""
    def {name}(x):
        i = as_bits_f32(x)
        m = i32(i & 0x7FFFFFFF)
        up = {(1 << down - 1) - 1} + ((m >> {down}) & 1)
        large = i32(((m + up) >> {down}) - {127 - f.bias << f.fraction})
        small = i32(as_bits_f32(abs(x) + {one}) - {unit})
        h = large if m >= {least} else small
        h = h if h <= {f.greatest} else i32({f.beyond})
        h = h if m <= 0x7F800000 else i32({f.nan})
        s = {signed}
        return u8(h | s)
    """


# Its numbers are the powers of 2: there is no sign, no zero, and no fraction.
_POWERS = "float8_e8m0fnu"


def _powers(name: str) -> str:
    """The bits of the nearest power of 2."""
    return f"""
    def {name}(x):
        m = as_bits_f32(x)
        h = i32((m + 0x400000) >> 23) if m >= 0x800000 else i32(m >= 0x600000)
        return u8(h) if (x > f32(0.0)) & (h < 255) else u8(255)
    """


def _integer_value(half: str) -> Template:
    """The number of the lowest bits of a byte."""

    def make(name: str) -> DeviceFunction:
        """The function under a name."""
        bits = int(iinfo(half).bits)
        mask, least = (1 << bits) - 1, 1 << bits - 1
        if half[0] == "u":
            text = f"def {name}(h):\n    return i8(h & {mask})"
            return device_function(name, (BYTE,), "int8", text)
        text = f"""
        def {name}(h):
            m = i32(h & {mask})
            return i8(m if m < {least} else m - {mask + 1})
        """
        return device_function(name, (BYTE,), "int8", text)

    return make


def _integer_bits(half: str) -> Template:
    """The lowest bits of a number."""

    def make(name: str, dtype: str) -> DeviceFunction:
        """The function under a name, of numbers of a dtype."""
        mask = (1 << int(iinfo(half).bits)) - 1
        text = f"def {name}(x):\n    return u8(x & {mask})"
        return device_function(name, (dtype,), BYTE, text)

    return make


TEMPLATES.update(
    {f"{half}_value": _small_value(half) for half in NARROW_FLOATS}
    | {f"{half}_bits": _small_bits(half) for half in NARROW_FLOATS}
    | {f"{half}_value": _integer_value(half) for half in NARROW_INTEGERS}
    | {f"{half}_bits": _integer_bits(half) for half in NARROW_INTEGERS}
)
TEMPLATES.update(
    float16_value=_float16_value,
    float16_bits=_float16_bits,
    float16_after=_after("float16", 0x7E00),
    bfloat16_value=_bfloat16_value,
    bfloat16_bits=_bfloat16_bits,
    bfloat16_after=_after("bfloat16", 0x7FC0),
)
