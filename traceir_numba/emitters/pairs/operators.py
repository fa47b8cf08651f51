"""Numbers with operators, each of which adds an equation.

Each operation is an equation. Where squares of parts are added, numbers of 32 bits are
taken in 64, and those of 64 bits are multiplied by a power of 2 before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom
from traceir_numba.emitters.pairs.values import Pair, PairRewriter

FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")


def _unary(primitive: str) -> Callable[[Num], Num]:
    return lambda x: x.apply(primitive)


def _binary(primitive: str) -> Callable[[Num, Num | float], Num]:
    return lambda x, y: x.with_(primitive, y)


def _reflected(primitive: str) -> Callable[[Num, float], Num]:
    return lambda x, y: x.value(y).with_(primitive, x)


@dataclass(frozen=True, slots=True, eq=False)
class Num:
    """One number, or one for each element."""

    w: PairRewriter
    atom: Atom
    roomy: bool = False  # squares stay in the range of the dtype

    def _made(self, atom: Atom) -> Num:
        return Num(self.w, atom, self.roomy)

    def value(self, number: float) -> Num:
        """A constant of the same dtype."""
        return self._made(self.w.number(number, self.atom))

    def _of(self, other: Num | float) -> Atom:
        if isinstance(other, Num):
            return other.atom
        return self.w.number(other, self.atom)

    def with_(self, primitive: str, other: Num | float) -> Num:
        """A function of two numbers."""
        return self._made(self.w.bind(primitive, self.atom, self._of(other)))

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("div"), _reflected("div")
    __lt__, __gt__, __le__, __ge__ = map(_binary, ("lt", "gt", "le", "ge"))
    __and__, __or__ = _binary("and"), _binary("or")
    __neg__, __abs__, __invert__ = map(_unary, ("neg", "abs", "not"))

    def is_(self, other: Num | float) -> Num:
        """The test that it equals another number."""
        return self.with_("eq", other)

    @property
    def is_nan(self) -> Num:
        """The test that it is NaN."""
        return self.with_("ne", self)

    @property
    def is_finite(self) -> Num:
        """The test that it is neither an infinity nor NaN."""
        return self.apply("is_finite")

    @property
    def is_infinite(self) -> Num:
        """The test that it is an infinity."""
        return abs(self).is_(np.inf)

    def max(self, other: Num | float) -> Num:
        """The larger of two; NaN where one is."""
        return self.with_("max", other)

    def min(self, other: Num | float) -> Num:
        """The smaller of two; NaN where one is."""
        return self.with_("min", other)

    def apply(self, primitive: str) -> Num:
        """A function of one number."""
        return self._made(self.w.bind(primitive, self.atom))

    def signed_as(self, other: Num) -> Num:
        """The number, which is not negative, with the sign of another."""
        return (other.is_negative).where(-self, self)

    @property
    def is_negative(self) -> Num:
        """The test of its sign bit: that of -1, of zeros, too."""
        kind = np.dtype(f"i{self.atom.aval.dtype.itemsize}")
        return self.bits(kind) < 0

    def where(self, yes: Num | float, no: Num | float) -> Num:
        """One of two numbers, as this truth says."""
        like = yes if isinstance(yes, Num) else no
        assert isinstance(like, Num)
        one, other = like._of(yes), like._of(no)
        return like._made(self.w.bind("select_n", self.atom, other, one))

    def bits(self, dtype: np.dtype) -> Num:
        """The number of these bits in another dtype of the same size."""
        return self._made(self.w.bind("bitcast_convert_type", self.atom, dtype=dtype))

    def as_(self, dtype: np.dtype) -> Num:
        """The number in another dtype."""
        if self.atom.aval.dtype == dtype:
            return self
        return self._made(self.w.bind("convert_element_type", self.atom, dtype=dtype))

    @property
    def dtype(self) -> np.dtype:
        """The dtype."""
        return self.atom.aval.dtype


def parts(w: PairRewriter, atom: Atom) -> tuple[Num, Num]:
    """The two numbers of an operand."""
    first, second = w.pair(atom)
    return Num(w, first), Num(w, second)


def pair(first: Num, second: Num) -> Pair:
    """A value of two numbers."""
    return Pair(first.atom, second.atom)


def wide(*numbers: Num) -> tuple[Num, ...]:
    """Numbers in float64: squares of float32 stay in its range there."""
    narrow = numbers[0].dtype == FLOAT32
    return tuple(replace(x.as_(FLOAT64), roomy=narrow or x.roomy) for x in numbers)


def scale_of(*numbers: Num) -> tuple[Num, Num]:
    """A power of 2 that brings the largest of numbers between 1 and 4, and its inverse.

    Not where all are less than the least normal number, but near enough; 1 where there
    is room for squares anyway.
    """
    if numbers[0].roomy:
        return numbers[0].value(1.0), numbers[0].value(1.0)
    largest = abs(numbers[0])
    for x in numbers[1:]:
        largest = largest.max(abs(x))
    info = np.finfo(largest.dtype)
    kind = np.dtype(f"i{largest.dtype.itemsize}")
    last = 2 ** (info.bits - 1 - info.nmant) - 1  # the exponent of what is not finite
    one = 1 << info.nmant
    near = largest.bits(kind).with_("and", last * one).max(one).min((last - 2) * one)
    return ((last - 1) * one - near).bits(largest.dtype), near.bits(largest.dtype)
