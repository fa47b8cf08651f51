"""The ranges of what a loop carries, which hold in every turn.

Serves: index.bounds

A counter of a loop of known length has known ends. Of anything else the ranges grow
from turn to turn until they rest; a bound that moves is soon taken for the dtype's, and
then the loop's test makes it smaller again. One that is no counter's, such as that of a
place in a heap, is first taken for the next number that places are compared with: an
extent, or the bound of a value that the loop uses. A test that is computed in the body,
as one that looks at an array is, tells about the values that the body gives with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from traceir.ir.jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from traceir.numpy.indexing.intervals import (
    ANY,
    Range,
    Ranges,
    intersection,
    of_dtype,
    union,
)

# Turns after which a bound that still moves is taken for a greater one.
_TURNS = 1


class Analysis(Protocol):
    """The ranges in a program, and those in programs inside of it."""

    def of(self, atom: Atom) -> Range:
        """The least and the greatest value that an integer may have."""

    def implied(self, atom: Atom, truth: bool) -> Mapping[Var, Range]:
        """The ranges that values have where a condition holds, or where it does not."""

    def inside(self, jaxpr: Jaxpr, ranges: Ranges) -> Analysis:
        """The analysis of an inner program, whose inputs have these ranges."""


class LoopRanges:
    """The ranges of a loop: of the inputs of its programs, and of its results."""

    def __init__(
        self, around: Analysis, eqn: Eqn, ranges: Ranges, first_turn: Ranges
    ) -> None:
        self._around = around
        self._first = list(first_turn)
        self._carried_test = carried_test(eqn)
        params: dict[str, Any] = dict(eqn.params)
        self.test: Jaxpr | None = None
        self.test_inputs: Ranges = ()
        self.turns: int | None = None
        if eqn.primitive == "scan":
            self.body = params["jaxpr"].jaxpr
            first, count = params["num_consts"], params["num_carry"]
            self.turns = params["length"]
            self._rows = list(ranges[first + count :])
        else:
            self.body = params["body_jaxpr"].jaxpr
            self.test = params["cond_jaxpr"].jaxpr
            tested, first = params["cond_nconsts"], params["body_nconsts"]
            self._tested, ranges = list(ranges[:tested]), ranges[tested:]
            count, self._rows = len(ranges) - first, []
        self._consts = list(ranges[:first])
        self._init = list(ranges[first : first + count])
        self._first = self._first or self._init
        self._steps = [self._step(first + k, k) for k in range(count)]
        carry = self._fixed_point()
        self.inputs = self._before(carry)
        ends = self._after(self.inputs)
        if self.turns == 0:
            ends[:count] = self._init
        elif self.turns is None:
            ends = [union(*r) for r in zip(self._init, ends, strict=True)]
        if params.get("leaves"):
            left = [self._left(k, *r) for k, r in enumerate(zip(self._init, ends))]
            ends = left + [self._whole(k) for k in range(count, len(ends))]
        self.results: Ranges = ends
        if self.test is not None:
            self.test_inputs = [*self._tested, *ends]

    def _left(self, k: int, first: Range, end: Range) -> Range:
        """The range of a result of a loop that ends within a turn, if a check fails: of
        a number that at the turn's start; an array may have been written to."""
        return self._whole(k) if self.body.outvars[k].aval.shape else union(first, end)

    def _step(self, at: int, k: int) -> int | None:
        """By how much a counter grows in each turn of a known number."""
        var, out = self.body.invars[at], self.body.outvars[k]
        if self.turns is None or var.aval.dtype.kind not in "iu":
            return None
        if out is var:
            return 0
        for eqn in self.body.eqns:
            if out in eqn.outputs:
                match eqn.primitive, eqn.inputs:
                    case "add", (x, Literal() as n) | (Literal() as n, x) if x is var:
                        return int(n.value)
                    case "sub", (x, Literal() as n) if x is var:
                        return -int(n.value)
        return None

    def _counted(self, k: int, turns: int) -> Range | None:
        """The range of a counter in the turns up to one; None if it may wrap."""
        step, (low, high) = self._steps[k], self._init[k]
        if step is None:
            return None
        far = step * max(turns, 0)
        found = low + min(0, far), high + max(0, far)
        return found if intersection(found, self._whole(k)) == found else None

    def _whole(self, k: int) -> Range:
        return of_dtype(self.body.outvars[k].aval.dtype)

    def _next(self, carry: Ranges) -> list[Range]:
        """The ranges at the start of any turn, by those of the turns before."""
        inputs = self._before(carry)
        ends = self._after(inputs)[: len(carry)]
        if self._carried_test is not None:
            atoms = self.body.outvars
            analysis = self._around.inside(self.body, inputs)
            facts = analysis.implied(atoms[self._carried_test], True)
            ends = refined(atoms[: len(ends)], ends, facts) or self._first
        return [union(*r) for r in zip(self._first, ends, strict=True)]

    def _fixed_point(self) -> list[Range]:
        """Ranges of the carry that hold at the start of each turn."""
        carry = list(self._first)
        for turn in range(2 * len(carry) + _TURNS + 3):
            found = self._next(carry)
            new = [union(*r) for r in zip(carry, found, strict=True)]
            if new == carry:
                break
            if turn >= _TURNS:
                marks = self._marks() if turn == _TURNS else frozenset()
                new = [self._widened(k, carry[k], r, marks) for k, r in enumerate(new)]
            carry = new
        if found == carry:
            return carry
        again = self._next(found)
        pairs = zip(again, found, strict=True)
        holds = all(intersection(one, most) == one for one, most in pairs)
        return found if holds else carry

    def _widened(self, k: int, old: Range, new: Range, marks: Collection[int]) -> Range:
        (least, most), (low, high) = self._whole(k), new
        if self._is_counter(k):
            marks = ()
        if low != old[0]:
            low = max((n for n in marks if least <= n <= low), default=least)
        if high != old[1]:
            high = min((n for n in marks if high <= n <= most), default=most)
        return low, high

    def _marks(self) -> frozenset[int]:
        """The numbers that places are compared with."""
        extents = {n for v in self.body.invars for n in v.aval.shape}
        bounds = {n for one in self._consts for n in one if one != ANY}
        return frozenset({0, -1, *extents, *(n - 1 for n in extents), *bounds})

    def _is_counter(self, k: int) -> bool:
        """True if every turn adds the same known number to a part of the carry."""
        out = self.body.outvars[k]
        var = self.body.invars[len(self._consts) + k]
        made = [e for e in self.body.eqns if out in e.outputs]
        return all(
            e.primitive in ("add", "sub")
            and var in e.inputs
            and any(isinstance(a, Literal) for a in e.inputs)
            for e in made
        )

    def _before(self, carry: Ranges) -> list[Range]:
        """The ranges of the body's inputs in a turn."""
        known = list(carry)
        if self.turns is not None:
            known = [self._counted(k, self.turns - 1) or r for k, r in enumerate(carry)]
        if (
            self.test is not None
            and self._carried_test is None
            and self.test.outvars[0].aval.shape == ()
        ):
            analysis = self._around.inside(self.test, [*self._tested, *carry])
            facts = analysis.implied(self.test.outvars[0], True)
            own = self.test.invars[len(self._tested) :]
            for k, var in enumerate(own):
                one = facts.get(var, ANY)
                if one != ANY and one[0] <= one[1]:
                    known[k] = one
        return [*self._consts, *known, *self._rows]

    def _after(self, inputs: Ranges) -> list[Range]:
        """The ranges of the body's results."""
        analysis = self._around.inside(self.body, inputs)
        found = [analysis.of(a) for a in self.body.outvars]
        if self.turns is not None:
            count = len(self._init)
            found[:count] = [
                self._counted(k, self.turns) or r for k, r in enumerate(found[:count])
            ]
        return found


def carried_test(eqn: Eqn) -> int | None:
    """The part of a loop's carry that is its test, if one is."""
    if eqn.primitive != "while":
        return None
    test = eqn.param("cond_jaxpr").jaxpr
    carry, out = test.invars[eqn.param("cond_nconsts") :], test.outvars[0]
    return carry.index(out) if out in carry else None


def refined(
    atoms: Sequence[Atom], ranges: Ranges, facts: Mapping[Var, Range]
) -> list[Range] | None:
    """The ranges with what is known beside; None if nothing fits it."""
    found = [
        intersection(one, facts.get(a, ANY)) if isinstance(a, Var) else one
        for a, one in zip(atoms, ranges, strict=True)
    ]
    return None if any(low > high for low, high in found) else found
