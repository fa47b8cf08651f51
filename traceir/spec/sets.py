"""The sets of right results of a case, as intervals of numbers. Serves: accuracy.*

A set is a list of its members: an element, or `{"from": a, "to": b}`, all numbers of
the dtype from one to the other, both included; -0 stands before 0. Of complex elements
a member is `{"re": set, "im": set}`. The sets are those of the reference's choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from traceir.conform.casefiles.cases import Case, attempt
from traceir.conform.judging.results import is_one_equation
from traceir.conform.protocol.encoding import elements
from traceir.dtypes import kind_of, part_dtype
from traceir.exact.complexes import Complex
from traceir.ir.jaxpr import ClosedJaxpr, Literal
from traceir.oracle import scalar_interpreter
from traceir.oracle.accuracy import ANSWERS, Goal, member, settle
from traceir.rules import Rules
from traceir.spec.trees import Json

# What a case has in the place of sets.
EXACT: Final = "exact"
EQUATIONS: Final = "equations"
RELATIONS: Final = "relations"


def sets_of(case: Case, rules: Rules) -> Json:
    """The sets of the elements of each result of a case, null if it has no values.

    `exact`: the bits of `value` alone, one NaN being as good as another; `relations`:
    whatever satisfies those of the primitive; `equations`: each equation by its own
    set, given what the equations before it gave.

    >>> from traceir.conform import load_cases
    >>> from traceir.rules import default
    >>> cases = {case.name: case for case in load_cases()}
    >>> sets_of(cases["add/wraps"], default())
    'exact'
    >>> sets_of(cases["logistic/double"], default())
    [[[{'from': '0x1.764d4f5d5a2b9p-1', 'to': '0x1.764d4f5d5a2c0p-1'}]]]
    """
    if "value" not in case.verbs or case.plain:
        return None
    if case.session:
        return EXACT
    program = attempt(case, rules)
    if not isinstance(program, ClosedJaxpr):
        return None
    wanted = [value.array for value in case.values("value")]
    args = [value.array for value in case.values("call")]
    if not is_one_equation(program):
        return _of_equations(program, args, wanted, rules)
    (eqn,) = program.eqns
    if rules.prims[eqn.primitive].post:
        return RELATIONS
    if rules.prims[eqn.primitive].steps is not None:
        return _of_equations(program, args, wanted, rules)
    env = dict(zip(program.jaxpr.invars, args, strict=True))
    operands = [a.array if isinstance(a, Literal) else env[a] for a in eqn.inputs]
    accuracy = rules.prims[eqn.primitive].accuracy
    goals = scalar_interpreter.goals(eqn.primitive, dict(eqn.params), operands, rules)
    found = [[members(accuracy, goal) for goal in part] for part in goals]
    exact = [[[element] for element in elements(array)] for array in wanted]
    return EXACT if found == exact else found


def _of_equations(
    program: ClosedJaxpr, args: list[Any], wanted: list[Any], rules: Rules
) -> Json:
    """Those of a program that has one right answer on these arguments, or none."""
    try:
        wrong = scalar_interpreter.judge(program, program.consts, args, wanted, rules)
    except (ValueError, ArithmeticError):
        return EQUATIONS
    return EQUATIONS if wrong else EXACT


def members(accuracy: str, goal: Goal) -> list[Json]:
    """The members of the set of one element.

    >>> from fractions import Fraction
    >>> from traceir.oracle.scalar_interpreter import declared_choices
    >>> from traceir.rules import default
    >>> usual = declared_choices(default())
    >>> members("rounded", Goal(Fraction(1, 3), np.dtype("float16"), 0, usual))
    ['0x1.5540000000000p-2']
    >>> members("ulp", Goal(Fraction(1, 3), np.dtype("float16"), 1, usual))
    [{'from': '0x1.5540000000000p-2', 'to': '0x1.5580000000000p-2'}]
    """
    kind = kind_of(goal.dtype)
    if kind == "c":
        return _complex_members(accuracy, goal)
    if kind != "f":
        return elements(np.asarray(settle(goal.want, goal.dtype), goal.dtype))
    likely = settle(goal.want, goal.dtype)
    line = _NumberLine(goal.dtype, lambda got: member(accuracy, goal, got), (likely,))
    return line.members()


def _complex_members(accuracy: str, goal: Goal) -> list[Json]:
    """The members of a complex set: rectangles, whose sides are sets of parts."""
    want, part = Complex.of(goal.want), part_dtype(goal.dtype)
    every = _NumberLine(part, lambda got: True, ()).members()
    infinite: list[Json] = ["-inf", "inf"]
    if want.free == "infinite":
        return [{"re": infinite, "im": every}, {"re": every, "im": infinite}]
    if want.free in ANSWERS:
        side = ["nan"] if want.free == "nan" else every
        return [{"re": side, "im": side}]
    middle = settle(want, goal.dtype)

    def real(got: Any) -> bool:
        return member(accuracy, goal, goal.dtype.type(complex(got, middle.imag)))

    def imaginary(got: Any) -> bool:
        return member(accuracy, goal, goal.dtype.type(complex(middle.real, got)))

    signs = (middle.real, -middle.real), (middle.imag, -middle.imag)
    sides = zip((real, imaginary), signs, strict=True)
    found = [_NumberLine(part, holds, likely).members() for holds, likely in sides]
    return [dict(zip(("re", "im"), found, strict=True))]


class _NumberLine:
    """The numbers of a floating dtype in their order, and those for which one holds.

    These are some intervals, and NaN or not; each contains one of a few numbers: the
    `likely` ones, zeros, infinities.
    """

    def __init__(
        self, dtype: np.dtype, holds: Callable[[Any], bool], likely: tuple[Any, ...]
    ) -> None:
        self.dtype = dtype
        self.holds = holds
        self.likely = likely
        self.word = np.dtype(f"u{dtype.itemsize}")
        self.sign = 1 << (8 * dtype.itemsize - 1)

    def place(self, number: Any) -> int:
        """The place of a number: -0 is just before 0."""
        bits = int(np.asarray(number, self.dtype).view(self.word))
        return 2 * self.sign - 1 - bits if bits & self.sign else bits + self.sign

    def number(self, place: int) -> Any:
        """The number at a place."""
        low = place < self.sign
        bits = (2 * self.sign - 1 - place) if low else place - self.sign
        return np.array(bits, self.word).view(self.dtype)[()]

    def members(self) -> list[Json]:
        """The members of the set of all numbers that hold."""
        found = ["nan"] if self.holds(self.dtype.type(np.nan)) else []
        ends = [self.place(self.dtype.type(sign * np.inf)) for sign in (-1, 1)]
        zeros = (self.dtype.type(-0.0), self.dtype.type(0.0))
        likely = [self.place(x) for x in (*self.likely, *zeros) if not np.isnan(x)]
        done = ends[0] - 1
        for place in sorted({*likely, *ends}):
            if place <= done or not self.holds(self.number(place)):
                continue
            first = self.edge(place, max(done + 1, ends[0]))
            done = self.edge(place, ends[1])
            found.append(self.interval(first, done))
        return found

    def edge(self, inside: int, end: int) -> int:
        """The last place towards an end that holds, seen from one that does."""
        step = 1 if end > inside else -1
        while inside != end:  # in longer and longer steps
            outside = inside + step if abs(step) < abs(end - inside) else end
            if not self.holds(self.number(outside)):
                break
            inside, step = outside, 2 * step
        else:
            return end
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            if self.holds(self.number(middle)):
                inside = middle
            else:
                outside = middle
        return inside

    def interval(self, first: int, last: int) -> Json:
        """A member: one number, or all from one to another."""
        low, high = (elements(self.number(place))[0] for place in (first, last))
        return low if first == last else {"from": low, "to": high}
