"""The beta function and its relatives. Serves: promote.*"""

from __future__ import annotations

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import Operand, as_array, convert, like, refuse_complex
from traceir.numpy.elementwise.arithmetic import add, exp, log, log1p
from traceir.numpy.elementwise.composites import where
from traceir.scipy.special.gammas import gammaln, gammasgn
from traceir.scipy.special.logs import filled, reals
from traceir.tracing.trace import bind_one

# Stirling's series of the logarithm of the gamma function: Abramowitz and Stegun,
# "Handbook of Mathematical Functions" (1964), 6.1.40.
_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
# From here on the terms that are left out are below half a unit of double precision.
_LARGE = 10.0


def betaln(a: Operand, b: Operand) -> Array:
    """The logarithm of the magnitude of the beta function; floating.

    With a large argument, the difference of two logarithms of the gamma function is
    that of their series, so that nothing cancels. Raises TypeError (face.argument,
    face.broadcast).

    >>> betaln(2.0, 3.0)
    Array(-2.4849067, dtype=float32, weak_type=True)
    """
    x, y = reals("betaln", a, b)
    low, high = lax.min(x, y), lax.max(x, y)
    near = gammaln(high) - gammaln(low + high)
    large = lax.ge(high, like(_LARGE, high))
    far = _distance(low, where(large, high, like(_LARGE, high)))
    found = gammaln(low) + where(large, far, near)
    return as_array(convert(found, x.dtype, x.weak_type))


def _distance(low: Array, high: Array) -> Array:
    """gammaln(high) - gammaln(low + high) where `high` is large."""
    total = low + high
    power = (total - 0.5) * log1p(low / high)
    rest = _rest(high) - _rest(total)
    return low * (1.0 - log(high)) - power + rest


def _rest(x: Array) -> Array:
    """The series, by Horner's scheme in the inverse square."""
    inverse = 1.0 / x
    square = inverse * inverse
    found = filled(x, _STIRLING[-1])
    for number in reversed(_STIRLING[:-1]):
        found = add(found * square, number)
    return found * inverse


def beta(a: Operand, b: Operand) -> Array:
    """The beta function `gamma(a) gamma(b) / gamma(a + b)`; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> beta(2.0, 3.0)
    Array(0.08333334, dtype=float32)
    """
    refuse_complex("beta", a, b)
    x, y = reals("beta", a, b)
    sign = gammasgn(x) * gammasgn(y) * gammasgn(x + y)
    return sign * exp(betaln(x, y))


def betainc(a: Operand, b: Operand, x: Operand) -> Array:
    """The incomplete beta function up to `x`, as a part of the whole; floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> betainc(2.0, 2.0, 0.5)
    Array(0.5, dtype=float32, weak_type=True)
    """
    refuse_complex("betainc", a, b, x)
    return bind_one("regularized_incomplete_beta", *reals("betainc", a, b, x))
