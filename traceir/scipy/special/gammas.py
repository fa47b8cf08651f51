"""The gamma function and its relatives. Serves: promote.*, custom_jvp.*"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    like,
    operand,
    refuse_complex,
)
from traceir.numpy.elementwise.arithmetic import add, divide, exp, floor, multiply
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.float_parts import signbit
from traceir.numpy.elementwise.logic import not_equal
from traceir.numpy.manipulation.shapes import expand_dims
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.scipy.special.logs import named, real, reals
from traceir.tracing.trace import bind_one, typeof


def gammaln(x: Operand) -> Array:
    """The logarithm of the magnitude of the gamma function; floating.

    >>> gammaln(4.0)
    Array(1.7917595, dtype=float32, weak_type=True)
    """
    return real("gammaln", x, "lgamma")


def loggamma(x: Operand) -> Array:
    """`gammaln` of elements above 0, NaN of the others, where it would be complex.

    >>> loggamma(-0.5)
    Array(nan, dtype=float32, weak_type=True)
    """
    [value] = reals("loggamma", x)
    return where(value > 0, gammaln(value), np.nan)


def gammasgn(x: Operand) -> Array:
    """The sign of the gamma function; NaN at its poles below 0; floating.

    >>> import traceir.numpy as jnp
    >>> gammasgn(jnp.array([2.5, -0.5, -1.0]))
    Array([ 1., -1., nan], dtype=float32)
    """
    refuse_complex("gammasgn", x)
    [value] = reals("gammasgn", x)
    value = as_array(convert(value, value.dtype))
    low = floor(value)
    below = value < 0
    pole = below & lax.eq(value, low) | lax.ne(value, value)
    odd = below & not_equal(low % 2, 0)
    # The limit from below 0 is that at -0.
    zero = lax.eq(value, like(0, value)) & signbit(value)
    sign = where(odd | zero, like(-1.0, value), like(1.0, value))
    return convert(where(pole, np.nan, sign), value.dtype, value.weak_type)


def gamma(x: Operand) -> Array:
    """The gamma function: `(x - 1)!` of whole numbers; floating.

    It is the exponential of `gammaln`, so its error grows with that.

    >>> gamma(4.0)
    Array(6., dtype=float32)
    """
    [value] = reals("gamma", x)
    return gammasgn(value) * exp(gammaln(value))


def factorial(n: Operand, exact: bool = False) -> Array:
    """`n!`, that is `gamma(n + 1)`, 0 below 0; floating.

    Raises ValueError (face.choice) for `exact`: an array has no integers that long.

    >>> factorial(3)
    Array(6., dtype=float32, weak_type=True)
    """
    if exact:
        raise rules.error("face.choice", got="exact=True in factorial")
    [value] = reals("factorial", n)
    return where(value < 0, 0, exp(gammaln(value + 1)))


def comb(N: Operand, k: Operand, *, repetition: bool = False) -> Array:
    """The number of ways to choose `k` of `N` things, maybe some repeatedly.

    0 where there are none; floating. Raises TypeError (face.argument, face.broadcast).

    >>> comb(4, 2)
    Array(6., dtype=float32, weak_type=True)
    """
    things, chosen = reals("comb", N, k)
    if repetition:
        some = (things > 0) & lax.ge(chosen, like(0, chosen))
        found = comb(things + chosen - 1, chosen)
        none = lax.eq(chosen, like(0, chosen)) & lax.eq(things, chosen)
        return where(none, 1.0, where(some, found, 0.0))
    whole = lax.ge(chosen, like(0, chosen)) & lax.ge(things, chosen)
    n, m = where(whole, things, 0.0), where(whole, chosen, 0.0)
    logs = gammaln(n + 1) - gammaln(m + 1)
    logs = logs - gammaln(n - m + 1)
    return where(whole, exp(logs), 0.0)


def poch(z: Operand, m: Operand) -> Array:
    """Pochhammer's symbol `gamma(z + m) / gamma(z)`; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> poch(2.0, 3.0)
    Array(24., dtype=float32)
    """
    refuse_complex("poch", z, m)
    result: Array = _poch(*reals("poch", z, m))
    return result


def _ratio(z: Array, m: Array) -> Array:
    found = gamma(z + m) / gamma(z)
    return where(lax.eq(m, like(0, m)), like(1.0, found), found)


_poch = named("poch", _ratio)


@_poch.defjvp
def _poch_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    (z, m), (dz, dm) = primals, tangents
    found = _poch(z, m)
    above = digamma(add(z, m))
    slope = multiply(above - digamma(z), dz) + multiply(above, dm)
    return found, found * slope


def digamma(x: Operand) -> Array:
    """The derivative of `gammaln`; floating.

    >>> digamma(1.0)
    Array(-0.5772157, dtype=float32, weak_type=True)
    """
    return real("digamma", x)


def polygamma(n: Operand, x: Operand) -> Array:
    """The derivative of order `n` of `digamma`; floating.

    `n` is of an integer dtype; raises ValueError (face.choice) for another, TypeError
    (face.argument, face.broadcast).

    >>> polygamma(1, 1.0)
    Array(1.644934, dtype=float32, weak_type=True)
    """
    refuse_complex("polygamma", x)
    order = operand("polygamma", n)
    if kind_of(typeof(order).dtype) not in "iu":
        got = f"an order of dtype {typeof(order).dtype} in polygamma"
        raise rules.error("face.choice", got=got, hint="the order is an integer")
    return _together("polygamma", *reals("polygamma", order, x))


def gammainc(a: Operand, x: Operand) -> Array:
    """The lower incomplete gamma function, as a part of the whole; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> gammainc(1.0, 2.0)
    Array(0.86466473, dtype=float32, weak_type=True)
    """
    return _together("igamma", *reals("gammainc", a, x))


def gammaincc(a: Operand, x: Operand) -> Array:
    """The upper incomplete gamma function, as a part of the whole; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> gammaincc(1.0, 2.0)
    Array(0.13533528, dtype=float32, weak_type=True)
    """
    return _together("igammac", *reals("gammaincc", a, x))


def _together(primitive: str, *operands: Array) -> Array:
    return bind_one(primitive, *operands)


def multigammaln(a: Operand, d: int) -> Array:
    """The logarithm of the gamma function of `d` dimensions; floating.

    Raises TracerIntegerConversionError (level.concretize.index) for a traced `d`.

    >>> multigammaln(3.0, 2)
    Array(1.550195, dtype=float32)
    """
    [value] = reals("multigammaln", a)
    count = index(d)
    halves = lax.iota(value.dtype, count)
    halves = divide(halves, like(2, halves))
    parts = gammaln(expand_dims(value, -1) - halves)
    constant = count * (count - 1) / 4 * math.log(math.pi)
    return _sum(parts, -1) + constant
