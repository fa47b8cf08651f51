"""Signs, mantissas and exponents of floating numbers. Serves: promote.*

Serves: bitcast_convert_type.*
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo, float0, is_narrow, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    BOOL,
    Operand,
    aligned,
    as_array,
    convert,
    inexact,
    like,
    operand,
    operands,
    promoted_inexact,
    refuse_complex,
    refuse_key,
    typed,
)
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import isinf
from traceir.tracing.trace import typeof
from traceir.transforms.custom.custom_jvp import custom_jvp

# Any power beyond is as this one: no floating number is so large or so small.
FAR = 1 << 13
SINGLE = np.dtype("float32")


def _word(dtype: np.dtype) -> np.dtype:
    """The signed integers that are as wide."""
    return np.dtype(f"i{dtype.itemsize}")


@composite
def signbit(x: Operand) -> Array:
    """True where the sign of an element is set, that of a zero or NaN included.

    >>> import traceir.numpy as jnp
    >>> jnp.signbit(-0.0), jnp.signbit(jnp.float32(3))
    (Array(True, dtype=bool), Array(False, dtype=bool))
    """
    value = operand("signbit", x)
    refuse_complex("signbit", value)
    refuse_key(value)
    dtype = typeof(value).dtype
    match kind_of(dtype):
        case "f":
            if is_narrow(dtype):
                value, dtype = convert(value, SINGLE), SINGLE
            word = _word(dtype)
            bits = lax.bitcast_convert_type(value, word)
            high = word.type(8 * word.itemsize - 1)
            sign = lax.shift_right_arithmetic(bits, high)
            return as_array(convert(sign, BOOL))
        case "i":
            return lax.lt(value, typed(0, dtype, False))
    return lax.ne(value, value)


@composite
def copysign(x1: Operand, x2: Operand) -> Array:
    """The magnitude of each element of `x1` with the sign of `x2`; floating.

    >>> copysign(2.0, -0.0)
    Array(-2., dtype=float32, weak_type=True)
    """
    refuse_complex("copysign", x1, x2)
    x, y = promoted_inexact("copysign", x1, x2)
    return _where(signbit(y), lax.neg(lax.abs(x)), lax.abs(x))


@composite
def frexp(x: Operand) -> tuple[Array, Array]:
    """A magnitude from 0.5 to less than 1, and the power of 2 that multiplies it.

    The second is int32. Zeros, infinities and NaN are themselves, with 0. The
    derivative holds the exponent fixed.

    >>> frexp(6.0)
    (Array(0.75, dtype=float32), Array(3, dtype=int32))
    """
    refuse_complex("frexp", x)
    (value,) = promoted_inexact("frexp", x)
    found: tuple[Array, Array] = _frexp(convert(value, typeof(value).dtype))
    return found


@custom_jvp
def _frexp(x: Array) -> tuple[Array, Array]:
    dtype = typeof(x).dtype
    if is_narrow(dtype):
        wide, power = _frexp(convert(x, SINGLE))
        return convert(wide, dtype), power
    info, word = finfo(dtype), _word(dtype)
    digits = int(info.nmant)
    bias = (1 << 8 * word.itemsize - 2 - digits) - 1
    mask = 2 * bias + 1

    def number(n: int) -> Operand:
        return typed(n, word, False)

    tiny = lax.lt(lax.abs(x), like(float(info.tiny), x))
    scaled = _where(tiny, lax.mul(x, like(2.0**digits, x)), x)
    less = _where(tiny, np.int32(-digits), np.int32(0))
    bits = lax.bitcast_convert_type(scaled, word)
    high = lax.shift_right_arithmetic(bits, number(digits))
    high = lax.bitwise_and(high, number(mask))
    power = lax.add(lax.sub(high, number(bias)), number(1))
    exponent = lax.add(less, convert(power, np.dtype("int32")))
    rest = lax.bitwise_and(bits, number(~(mask << digits)))
    half = lax.bitwise_or(rest, number(bias - 1 << digits))
    magnitude = lax.bitcast_convert_type(half, dtype)
    special = lax.bitwise_or(isinf(x), lax.ne(x, x))
    special = lax.bitwise_or(special, lax.eq(x, like(0.0, x)))
    return _where(special, x, magnitude), _where(special, np.int32(0), exponent)


@_frexp.defjvp
def _frexp_jvp(primals: tuple[Array], tangents: tuple[Array]) -> Any:
    (x,), (t,) = primals, tangents
    magnitude, exponent = _frexp(x)
    scale = lax.exp2(lax.neg(convert(exponent, typeof(x).dtype)))
    none = np.zeros(typeof(exponent).shape, float0)
    return (magnitude, exponent), (lax.mul(t, scale), none)


@composite
def ldexp(x1: Operand, x2: Operand) -> Array:
    """Each element of `x1` times 2 to the power of the integer `x2`, rounded once.

    Floating, as `x1`. Raises TypeError (face.integers) where `x2` is not of integers.

    >>> ldexp(0.75, 3)
    Array(6., dtype=float32)
    """
    refuse_complex("ldexp", x1)
    x, by = operands("ldexp", (x1, x2))
    given = typeof(by).dtype
    if kind_of(given) not in "iub":
        raise rules.error("face.integers", got=f"{given.name} as the power in ldexp")
    x = convert(x, inexact(typeof(x).dtype))
    x, by = aligned("ldexp", [x, _short(by)])
    if is_narrow(narrow := typeof(x).dtype):
        return as_array(convert(ldexp(convert(x, SINGLE), by), narrow))
    magnitude, exponent = frexp(x)
    total, dtype = lax.add(exponent, by), typeof(x).dtype
    # The first factor leaves a normal number, so that the second one alone rounds.
    info = finfo(dtype)
    first = lax.clamp(np.int32(info.minexp + 1), total, np.int32(info.maxexp))
    rest = lax.sub(total, first)
    second = lax.clamp(np.int32(-info.nmant - 2), rest, np.int32(2))
    near = lax.mul(magnitude, _power(lax.sub(first, np.int32(1)), dtype))
    scaled = lax.mul(lax.mul(near, like(2.0, x)), _power(second, dtype))
    special = lax.bitwise_or(isinf(x), lax.eq(x, like(0.0, x)))
    return _where(special, x, scaled)


def _short(power: Operand) -> Operand:
    """A power as int32, without those that make no difference."""
    dtype = typeof(power).dtype
    if dtype.itemsize > 2:
        least = 0 if kind_of(dtype) == "u" else -FAR
        power = lax.clamp(like(least, power), power, like(FAR, power))
    return convert(power, np.dtype("int32"))


def _power(exponent: Operand, dtype: np.dtype) -> Array:
    """2 to a power that is normal in the dtype, by its bits."""
    word, digits = _word(dtype), int(finfo(dtype).nmant)
    bias = typed((1 << 8 * word.itemsize - 2 - digits) - 1, word, False)
    high = lax.add(convert(exponent, word), bias)
    bits = lax.shift_left(high, typed(digits, word, False))
    return lax.bitcast_convert_type(bits, dtype)


@composite
def spacing(x: Operand) -> Array:
    """The distance from each element to its neighbour away from zero; floating.

    >>> spacing(1.0)
    Array(1.1920929e-07, dtype=float32)
    """
    (value,) = promoted_inexact("spacing", x)
    value = convert(value, typeof(value).dtype)
    further = lax.nextafter(value, copysign(like(np.inf, value), value))
    return lax.sub(further, value)
