"""Functions of several primitives, shown as one equation each.

Serves: function.composite
"""

from __future__ import annotations

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.config import local
from traceir.dtypes import is_inexact, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    aligned,
    as_array,
    broadcast_shapes,
    convert,
    like,
    no_out,
    operand,
    operands,
    promoted,
    promoted_numeric,
    refuse_complex,
    refuse_key,
    shape_of,
    typed,
)
from traceir.numpy.elementwise import standard
from traceir.numpy.elementwise.arithmetic import maximum, minimum
from traceir.numpy.elementwise.logic import logical_and as _and
from traceir.numpy.elementwise.logic import truth
from traceir.tracing.trace import typeof

Pair = tuple[Array, Array]


def where(condition: Operand, x: Operand, y: Operand) -> Array:
    """Elements of `x` where the condition holds, else of `y`, broadcast together.

    Raises TypeError (face.argument, face.broadcast).

    >>> where(True, 1, 2.5)
    Array(1., dtype=float32, weak_type=True)
    """
    return _where(*operands("where", (condition, x, y)))


@composite
def _where(condition: Operand, x: Operand, y: Operand) -> Array:
    which = truth(operand("where", condition))
    cases = promoted("where", x, y)
    shape = broadcast_shapes("where", [shape_of(v) for v in (which, *cases)])
    if shape_of(which):
        which = _stretched(which, shape)
    on_true, on_false = (_stretched(case, shape) for case in cases)
    return lax.select_n(which, on_false, on_true)


def _stretched(x: Operand, shape: tuple[int, ...]) -> Array:
    lead = len(shape) - len(shape_of(x))
    return lax.broadcast_in_dim(x, shape, range(lead, len(shape)))


@composite
def clip(arr: Operand, min: Operand = None, max: Operand = None) -> Array:
    """Elements kept between bounds, each of which may be missing.

    Raises TypeError (face.argument, face.broadcast).

    >>> clip(2.5, 0, 1)
    Array(1., dtype=float32, weak_type=True)
    """
    value = operand("clip", arr)
    refuse_complex("clip", *(v for v in (arr, min, max) if v is not None))
    if min is not None:
        value = maximum(min, value)
    if max is not None:
        value = minimum(max, value)
    return as_array(value)


@composite(static_argnames=["decimals"])
def round(a: Operand, decimals: int = 0, out: None = None) -> Array:
    """Elements rounded to `decimals` places, halves to even; integers stay.

    Raises ValueError (face.truths), NotImplementedError (face.tens).

    >>> round(2.5), round(2.567, 2)
    (Array(2., dtype=float32, weak_type=True),
     Array(2.57, dtype=float32, weak_type=True))
    """
    no_out("round", out)
    value = operand("round", a)
    refuse_key(value)
    aval = typeof(value)
    if aval.dtype.kind == "c":
        parts = (part(value) for part in (lax.real, lax.imag))
        return lax.complex(*[_rounded(part, decimals) for part in parts])
    if kind_of(aval.dtype) == "b":
        raise rules.error("face.truths", got=f"round of {aval.str_short()}")
    if kind_of(aval.dtype) != "f":
        if decimals < 0:
            raise rules.error("face.tens", got=f"{decimals=} of {aval.str_short()}")
        return as_array(value)
    return _rounded(value, decimals)


def _rounded(value: Operand, decimals: int) -> Array:
    aval = typeof(value)
    even = lax.RoundingMethod.TO_NEAREST_EVEN
    if not decimals:
        return lax.round(value, even)
    # In half precision, few numbers could be scaled.
    wide = np.dtype(np.float32) if aval.dtype == np.float16 else aval.dtype
    value = convert(value, wide, aval.weak_type)
    scale = like(10.0**decimals, value)
    found = lax.div(lax.round(lax.mul(value, scale), even), scale)
    return as_array(convert(found, aval.dtype, found.weak_type))


@composite
def floor_divide(x: Operand, y: Operand) -> Array:
    """Greatest whole number not above the quotient of elements.

    An integer divided by 0 is -1 or -2, as the signs go. With the flag `array_api`, it
    is the quotient itself where an operand is infinite, and 0 has its sign. Raises
    TypeError (face.argument, face.broadcast).

    >>> floor_divide(-7, 2)
    Array(-4, dtype=int32, weak_type=True)
    """
    x, y = _numbers("floor_divide", x, y)
    kind = kind_of(typeof(x).dtype)
    if kind == "f":
        return _float_divmod(x, y)[0]
    quotient = lax.div(x, y)
    if kind == "u":
        return quotient
    signs = lax.ne(lax.sign(x), lax.sign(y))
    rest = lax.rem(x, y)
    uneven = _and(signs, lax.ne(rest, _like(0, rest)))
    return _where(uneven, lax.sub(quotient, _like(1, quotient)), quotient)


@composite
def remainder(x: Operand, y: Operand) -> Array:
    """Remainder of the floor quotient of elements, with the sign of the divisor.

    A remainder of 0 has the sign of the dividend, and with the flag `array_api` that of
    the divisor, too. Raises TypeError (face.argument, face.broadcast).

    >>> remainder(-7, 2)
    Array(1, dtype=int32, weak_type=True)
    """
    x, y = _numbers("remainder", x, y)
    if kind_of(typeof(x).dtype) != "f" and not local.context.sanitize:
        none = lax.eq(y, _like(0, y))
        y = _where(none, lax.broadcast(_like(1, y), typeof(y).shape), y)
    rest = lax.rem(x, y)
    some = lax.ne(rest, _like(0, rest))
    signs = lax.ne(lax.lt(rest, _like(0, rest)), lax.lt(y, _like(0, y)))
    rest = lax.select_n(lax.bitwise_and(signs, some), rest, lax.add(rest, y))
    if kind_of(typeof(x).dtype) == "f" and standard.is_followed():
        return standard.remainder(rest, y)
    return rest


mod = remainder


@composite
def divmod(x: Operand, y: Operand) -> Pair:
    """Floor quotient and remainder of elements: `floor_divide` and `remainder`.

    >>> divmod(-7, 2)
    (Array(-4, dtype=int32, weak_type=True), Array(1, dtype=int32, weak_type=True))
    """
    x, y = _numbers("divmod", x, y)
    if kind_of(typeof(x).dtype) == "f":
        return _float_divmod(x, y)
    return floor_divide(x, y), remainder(x, y)


def _float_divmod(x: Operand, y: Operand) -> Pair:
    rest = lax.rem(x, y)
    # By 0 the quotient is that of x itself, so that its sign is right.
    none = lax.eq(y, _like(0, y))
    quotient = lax.div(_where(none, x, lax.sub(x, rest)), y)
    some = lax.ne(rest, _like(0, rest))
    uneven = lax.bitwise_and(some, lax.ne(lax.sign(y), lax.sign(rest)))
    rest = lax.select_n(uneven, rest, lax.add(rest, y))
    lower = lax.sub(quotient, _like(1, quotient))
    quotient = lax.round(lax.select_n(uneven, quotient, lower))
    if standard.is_followed():
        return standard.quotient(quotient, x, y), standard.remainder(rest, y)
    return quotient, rest


def _numbers(name: str, x: Operand, y: Operand) -> list[Operand]:
    """Operands promoted and aligned; booleans count as 0 and 1."""
    return aligned(name, promoted_numeric(name, x, y))


def _like(number: int, x: Operand) -> Operand:
    """A number as a scalar of the type of `x`."""
    aval = typeof(x)
    return typed(number, aval.dtype, aval.weak_type)


def power(x1: Operand, x2: Operand) -> Array:
    """Power of each element; exact steps for a Python or NumPy int as exponent.

    Integers to an array of integers take its lowest six bits. Raises TypeError
    (face.argument, face.broadcast, integer_pow.exponent).

    >>> power(2.0, 3), power(2, 0.5)
    (Array(8., dtype=float32, weak_type=True),
     Array(1.4142135, dtype=float32, weak_type=True))
    """
    if isinstance(x2, (int, np.integer, np.bool_)):  # of any size: it is no operand
        (base,) = promoted_numeric("power", x1)
        return lax.integer_pow(base, int(x2))
    x, y = operands("power", (x1, x2))
    kind = kind_of(typeof(y).dtype)
    x, y = aligned("power", (x, y))
    base, exponent = promoted_numeric("power", x, y)
    if is_inexact(typeof(base).dtype):
        # An integer exponent stays one: converted, a large one would be rounded.
        whole = convert(y, np.dtype("int32"), True) if kind == "b" else y
        return lax.pow(base, whole if kind in "biu" else exponent)
    found = _integer_power(base, exponent)
    return convert(found, found.dtype) if found.shape else found


pow = power


def _integer_power(x: Operand, y: Operand) -> Array:
    """Repeated squaring, one step for each of the six bits of the exponent."""
    zero = lax.bitwise_and(lax.eq(x, like(0, x)), lax.ne(y, like(0, y)))
    result: Array = _where(zero, like(0, x), like(1, x))
    for _ in range(6):
        odd = lax.bitwise_and(y, like(1, y))
        result = _where(odd, lax.mul(result, x), result)
        x = lax.mul(x, x)
        y = lax.shift_right_logical(y, like(1, y))
    return result
