"""Rules of complex functions, in terms of real ones. Serves: accuracy.complex

Sums, products and roots of numbers of 32 bits are taken in 64, where they neither
overflow nor cancel; those of 64 bits are first scaled by powers of 2. Infinities, NaN
and the signs of zeros are those of Annex G of the C standard.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from traceir.ir.jaxpr import Atom, Eqn
from traceir_numba.emitters.pairs.operators import (
    FLOAT32,
    Num,
    pair,
    parts,
    scale_of,
    wide,
)
from traceir_numba.emitters.pairs.values import PairRewriter, Value, part_of, rule

Parts = tuple[Num, Num]
Function = Callable[[Num, Num], Parts]

# Beyond this the hyperbolic functions are taken of halves.
LARGE = {"float32": 40.0, "float64": 300.0}
# Beyond this the hyperbolic tangent is 1 to all digits.
FLAT = {"float32": 30.0, "float64": 150.0}


def function(name: str, widened: bool = True) -> Callable[[Function], Function]:
    """Register a function of the two parts, with numbers of 32 bits as ones of 64."""

    def decorate(made: Function) -> Function:
        @rule(name)
        def apply(w: PairRewriter, eqn: Eqn) -> list[Value]:
            x, y = parts(w, eqn.inputs[0])
            narrow = x.dtype == FLOAT32 and widened
            first, second = made(*(wide(x, y) if narrow else (x, y)))
            return [pair(first.as_(x.dtype), second.as_(x.dtype))]

        return made

    return decorate


# -- moduli, roots and quotients ------------------------------------------------------


def distance(x: Num, y: Num) -> Num:
    """The distance from zero; an infinity where one of the numbers is one."""
    down, up = scale_of(x, y)
    a, b = wide(x * down, y * down)
    # The sum of squares is rounded once, and the root is as near as it can be.
    found = (a * a + b * b).as_(x.dtype).apply("sqrt") * up
    return (x.is_infinite | y.is_infinite).where(math.inf, found)


@rule("abs")
def modulus(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The distance from zero."""
    return [distance(*parts(w, eqn.inputs[0])).atom]


@function("sign")
def sign(x: Num, y: Num) -> Parts:
    """The number over its distance from zero; zero as it is."""
    down, _ = scale_of(x, y)
    a, b = x * down, y * down
    size = (a * a + b * b).apply("sqrt")
    none = size.is_(0)
    return none.where(x, a / size), none.where(y, b / size)


@function("sqrt")
def sqrt(x: Num, y: Num) -> Parts:
    """The root of which the real part is not negative."""
    down, up = _even(x, y)
    a, b = abs(x * down * down), y * down * down
    t = ((a + (a * a + b * b).apply("sqrt")) * 0.5).apply("sqrt")
    other = (b / (t + t)) * up
    long, left = t * up, x < 0
    zero = x.is_(0) & y.is_(0)
    first = zero.where(0.0, left.where(abs(other), long))
    second = zero.where(y, left.where(long.signed_as(y), other))
    far, straight = y.is_infinite, x.is_infinite & y.is_finite
    first = straight.where(left.where(0.0, x), first)
    second = straight.where(left.where(abs(x), abs(y * 0)).signed_as(y), second)
    lost = x.is_infinite & y.is_nan
    first = lost.where(left.where(y, abs(x)), first)
    second = lost.where(left.where(abs(x), y), second)
    return far.where(abs(y), first), far.where(y, second)


def _even(x: Num, y: Num) -> Parts:
    """A power of 2 by which numbers are multiplied twice to be near 1; its inverse."""
    _, up = scale_of(x, y)
    return scale_of(up.apply("sqrt"))


def quotient(x: Parts, y: Parts) -> Parts:
    """x / y."""
    (a, b), (c, d) = x, y
    dtype = a.dtype
    if dtype == FLOAT32:
        a, b, c, d = wide(a, b, c, d)
    finite, infinite = a.is_finite & b.is_finite, a.is_infinite | b.is_infinite
    large = infinite & c.is_finite & d.is_finite
    none = finite & (c.is_infinite | d.is_infinite)
    a, b = large.where(_boxed(a), a), large.where(_boxed(b), b)
    c, d = none.where(_boxed(c), c), none.where(_boxed(d), d)
    (down, _), (less, more) = scale_of(c, d), scale_of(a, b)
    c, d, a, b = c * down, d * down, a * less, b * less
    size = c * c + d * d
    pole, end = size.is_(0), c.value(math.inf).signed_as(c)
    # Of numbers with digits to spare, the inverse is as good as a quotient.
    inverse = 1.0 / size if size.roomy else None
    found = []
    for top, one in ((a * c + b * d, a), (b * c - a * d, b)):
        ratio = top / size if inverse is None else top * inverse
        part = none.where(top * 0.0, _scaled(ratio, down, more))
        part = pole.where(end * one, large.where(top * math.inf, part))
        found.append(part.as_(dtype))
    return found[0], found[1]


def _scaled(x: Num, down: Num, more: Num) -> Num:
    """A number times two powers of 2, of which the product may be out of range."""
    if x.roomy:
        return x
    half = (more > 1.0).where(more.value(0.25), 1.0)
    return (x / half) * (more * half * down)


def _boxed(x: Num) -> Num:
    """1 for an infinity and 0 for other numbers, with their signs."""
    return x.is_infinite.where(x.value(1.0), 0.0).signed_as(x)


@rule("div")
def div(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """A quotient."""
    x, y = (parts(w, a) for a in eqn.inputs)
    return [pair(*quotient(x, y))]


@function("rsqrt")
def rsqrt(x: Num, y: Num) -> Parts:
    """1 / sqrt(x)."""
    return quotient(_one(x), sqrt(x, y))


def _one(like: Num) -> Parts:
    """The number 1."""
    return like.value(1.0), like.value(0.0)


# -- exponential functions ------------------------------------------------------------


@function("exp", widened=False)
def exp(x: Num, y: Num) -> Parts:
    """exp(x), in two factors where one would overflow before it is multiplied."""
    far = abs(x) > LARGE[x.dtype.name]
    once = far.where(x * 0.5, x).apply("exp")
    twice = far.where(once, 1.0)
    first, second = once * y.apply("cos") * twice, once * y.apply("sin") * twice
    lost = ~y.is_finite
    down, up = lost & x.is_(-math.inf), lost & x.is_(math.inf)
    first = down.where(0.0, up.where(math.inf, first))
    second = y.is_(0).where(y, down.where(0.0, second))
    return first, second


@function("exp2", widened=False)
def exp2(x: Num, y: Num) -> Parts:
    """exp(x log 2)."""
    return exp(x * math.log(2), y * math.log(2))


@function("expm1", widened=False)
def expm1(x: Num, y: Num) -> Parts:
    """exp(x) - 1, by the real one where it is near zero."""
    half = (y * 0.5).apply("sin")
    near = x.apply("expm1") * y.apply("cos") - 2.0 * half * half
    near = near + 0.0  # of a zero it is 0, whatever the zero's sign
    first, second = exp(x, y)
    return (abs(x) < 1.0).where(near, first - 1.0), second


@function("logistic")
def logistic(x: Num, y: Num) -> Parts:
    """1 / (1 + exp(-x))."""
    first, second = exp(-x, -y)
    return quotient(_one(x), (1.0 + first, second))


@function("sinh", widened=False)
def sinh(x: Num, y: Num) -> Parts:
    """sinh(x) cos(y) and cosh(x) sin(y)."""
    s, c, more = _hyperbolic(x)
    first, second = s * y.apply("cos") * more, c * y.apply("sin") * more
    lost = ~y.is_finite & (x.is_(0) | x.is_infinite)
    return lost.where(x, first), y.is_(0).where(y, second)


@function("cosh", widened=False)
def cosh(x: Num, y: Num) -> Parts:
    """cosh(x) cos(y) and sinh(x) sin(y)."""
    s, c, more = _hyperbolic(x)
    first, second = c * y.apply("cos") * more, s * y.apply("sin") * more
    lost = ~y.is_finite
    first = (lost & x.is_infinite).where(math.inf, first)
    second = y.is_(0).where(x.is_negative.where(-y, y), second)
    return first, (x.is_(0) & lost).where(x, second)


def _hyperbolic(x: Num) -> tuple[Num, Num, Num]:
    """The hyperbolic sine and cosine, both to be multiplied by a third number."""
    far = abs(x) > LARGE[x.dtype.name]
    near = far.where(x * 0.5, x)
    s, c = near.apply("sinh"), near.apply("cosh")
    return s, c, far.where(c + c, 1.0)


@function("tanh", widened=False)
def tanh(x: Num, y: Num) -> Parts:
    """sinh(x) cosh(x) and sin(y) cos(y), both over sinh(x)^2 + cos(y)^2."""
    flat = FLAT[x.dtype.name]
    s = x.max(-flat).min(flat).apply("sinh")
    sine, cosine = y.apply("sin"), y.apply("cos")
    size = s * s + cosine * cosine
    first = s * (1.0 + s * s).apply("sqrt") / size
    second = sine * cosine / size
    end, lost = x.is_infinite, ~y.is_finite
    first = end.where(x.value(1.0).signed_as(x), (x.is_(0) & lost).where(x, first))
    second = end.where(lost.where(0.0, sine * cosine * 0), y.is_(0).where(y, second))
    return first, second


# -- logarithms -----------------------------------------------------------------------


@function("log", widened=False)
def log(x: Num, y: Num) -> Parts:
    """The logarithm of the distance from zero, and the angle."""
    a, b = abs(x), abs(y)
    large, small = a.max(b), a.min(b)
    ratio = (large.is_(0) | large.is_infinite).where(0.0, small / large)
    first = large.apply("log") + 0.5 * (ratio * ratio).apply("log1p")
    far = x.is_infinite | y.is_infinite
    return far.where(math.inf, first), y.with_("atan2", x)


@function("log1p")
def log1p(x: Num, y: Num) -> Parts:
    """log(1 + x) for a small x."""
    first, second = log(1.0 + x, y)
    near = 0.5 * (x * (2.0 + x) + y * y).apply("log1p")
    return (abs(x).max(abs(y)) < 0.5).where(near, first), second


@rule("pow")
def power(w: PairRewriter, eqn: Eqn) -> list[Value]:
    """The power by the distance from zero and the angle; the exponent may be an
    integer.
    """
    x, y = parts(w, eqn.inputs[0])
    dtype = x.dtype
    x, y = wide(x, y)
    c, d = _exponent(w, eqn.inputs[1])
    size, angle = distance(x, y), y.with_("atan2", x)
    turn = c * angle
    grown = size.with_("pow", c)
    if d is not None:
        height = size.apply("log")
        straight = d.is_(0)
        grown = straight.where(grown, (c * height - d * angle).apply("exp"))
        turn = straight.where(turn, c * angle + d * height)
    first, second = grown * turn.apply("cos"), grown * turn.apply("sin")
    # In directions of which a part is zero it is zero, however far the other may be.
    upright, level = _quarters(x, y, c, angle)
    if d is not None:
        upright, level = upright & straight, level & straight
    first, second = upright.where(0.0, first), level.where(0.0, second)
    one, same = c.is_(0), c.is_(1)
    if d is not None:
        one, same = one & straight, same & straight
    none = size.is_(0) & (c > 0)
    first = one.where(1.0, none.where(0.0, same.where(x, first)))
    second = one.where(0.0, none.where(0.0, same.where(y, second)))
    return [pair(first.as_(dtype), second.as_(dtype))]


def _quarters(x: Num, y: Num, power: Num, angle: Num) -> tuple[Num, Num]:
    """Flags of a power's angle: an odd number of right angles, or an even one."""
    on = x.is_(0) | y.is_(0) | abs(x).is_(abs(y))
    turns = (angle * (4 / math.pi) + 0.5).apply("floor") * power * 0.25
    halves = turns * 2.0
    rest = turns - turns.apply("floor")
    even = on & rest.is_(0)
    return on & halves.is_(halves.apply("floor")) & ~even, even


def _exponent(w: PairRewriter, atom: Atom) -> tuple[Num, Num | None]:
    """An exponent as numbers of 64 bits, one where it is real."""
    if part_of(atom.aval.dtype) is None:
        return wide(Num(w, w.use(atom)))[0], None
    c, d = wide(*parts(w, atom))
    return c, d


# -- circular functions ---------------------------------------------------------------


def turned(made: Function) -> Function:
    """-i f(i x): a circular function by the hyperbolic one."""

    def apply(x: Num, y: Num) -> Parts:
        first, second = made(-y, x)
        return second, -first

    return apply


sin = function("sin", widened=False)(turned(sinh))
tan = function("tan", widened=False)(turned(tanh))


@function("cos", widened=False)
def cos(x: Num, y: Num) -> Parts:
    """cosh(i x)."""
    return cosh(-y, x)
