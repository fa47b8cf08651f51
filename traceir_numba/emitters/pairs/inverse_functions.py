"""Rules of inverse complex functions, in terms of real ones. Serves: accuracy.complex

They are those of Kahan, "Branch cuts for complex elementary functions", 1987.
"""

from __future__ import annotations

import math

from traceir_numba.emitters.pairs.functions import (
    Parts,
    function,
    sqrt,
    turned,
)
from traceir_numba.emitters.pairs.operators import Num

# Beyond this 1 is nothing beside a number, or beside its square.
HUGE = 1e100
# So many powers of 2 such numbers are made less for a product.
DOWN = 40


@function("asin")
def asin(x: Num, y: Num) -> Parts:
    """The function by the roots of 1 - x and 1 + x."""
    (a, b), (c, d) = sqrt(1.0 - x, -y), sqrt(1.0 + x, y)
    first = x.with_("atan2", a * c - b * d)
    second = _area(x, y, a, b, c, d)
    far = x.is_infinite | y.is_infinite
    # asinh, turned: the angle of a number that is far away.
    first = far.where(x.with_("atan2", abs(y)), x.is_(0).where(x, first))
    end = x.value(math.inf).signed_as(y)
    return first, far.where(end, y.is_(0).where(second, second))


def _area(x: Num, y: Num, a: Num, b: Num, c: Num, d: Num) -> Num:
    """asinh(a d - b c), which may be the logarithm of a number out of range."""
    far = abs(x).max(abs(y)) > HUGE
    less = far.where(x.value(2.0**-DOWN), 1.0)
    found = (a * less * d - b * less * c).apply("asinh")
    return found + far.where(x.value(DOWN * math.log(2)), 0.0).signed_as(y)


@function("acos")
def acos(x: Num, y: Num) -> Parts:
    """The function by the roots of 1 - x and 1 + x."""
    (a, b), (c, d) = sqrt(1.0 - x, -y), sqrt(1.0 + x, y)
    first = 2.0 * a.with_("atan2", c)
    second = -_area(x, y, a, b, c, d)
    far = x.is_infinite | y.is_infinite
    end = x.value(math.inf).signed_as(y)
    first = (x.is_(0) & y.is_nan).where(math.pi / 2, first)
    first = far.where(abs(y).with_("atan2", x), first)
    return first, far.where(-end, second)


@function("acosh")
def acosh(x: Num, y: Num) -> Parts:
    """The inverse cosine turned by a right angle."""
    first, second = acos(x, y)
    return abs(second), first.signed_as(y)


@function("atanh")
def atanh(x: Num, y: Num) -> Parts:
    """The function by the logarithm of one plus a quotient, and half an angle."""
    a, b = abs(x), x.is_negative.where(-y, y)
    size = (1.0 - a) * (1.0 - a) + b * b
    real = 0.25 * (4.0 * a / size).apply("log1p")
    # At 1 the square of what is left may be too small.
    edge = 0.5 * (math.log(2) - abs(b).apply("log"))
    real = (a.is_(1) & (abs(b) < 1e-100)).where(edge, real)
    turn = (b + b).with_("atan2", (1.0 - a) * (1.0 + a) - b * b) * 0.5
    far = a.max(abs(b)) > HUGE
    right = x.value(math.pi / 2).signed_as(b)
    end = x.is_infinite | y.is_infinite
    real = (far | end).where(0.0, real)
    turn = (far | end).where(y.is_nan.where(b, right), turn)
    real = (x.is_(0)).where(0.0, real)
    return real.signed_as(x), x.is_negative.where(-turn, turn)


atan = function("atan")(turned(atanh))


@function("asinh")
def asinh(x: Num, y: Num) -> Parts:
    """i asin(-i x)."""
    first, second = asin(y, -x)
    return -second, first
