"""Interval analysis of integers, through loops and choices.

Serves: index.bounds

Interval arithmetic over the equations. Unknown integers have the range of their dtype.
What a loop carries has a range that holds in every turn, and what its test implies of
it holds in the body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traceir.ir.jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from traceir.numpy.indexing.divisions import is_division
from traceir.numpy.indexing.intervals import (
    ANY,
    RULES,
    Range,
    Ranges,
    corners,
    intersection,
    of_dtype,
    of_elements,
    union,
)
from traceir.numpy.indexing.loop_ranges import LoopRanges, carried_test, refined

# Primitives whose results are elements of their first operand.
_MOVES = frozenset(
    {
        *("broadcast_in_dim", "reshape", "transpose", "squeeze", "slice", "rev"),
        *("dynamic_slice", "reduce_max", "reduce_min", "stop_gradient"),
        *("cummax", "cummin", "split", "unstack"),
    }
)
# Those whose results are smaller where those of their operands are.
_FOLLOWED = frozenset({"add", "sub", "convert_element_type"})
Makers = dict[Atom, tuple[Eqn, int]]


class RangeAnalysis:
    """The ranges of integers that equations make, and of constants' elements."""

    def __init__(
        self,
        eqns: Sequence[Eqn],
        given: Callable[[Var], Range | None] = lambda var: None,
    ) -> None:
        # More equations may follow: `follow` knows of them.
        self._eqns = eqns
        self._count = 0
        self.makers: Makers = {}
        # What is known of a value that no equation makes.
        self._given = given
        self._known: dict[Atom, Range] = {}
        self._flows: dict[int, Ranges] = {}
        # By each truth of a condition, which a chain of choices asks for many times.
        self._implied: dict[tuple[Var, bool], dict[Var, Range]] = {}
        # Of inner programs: their analyses for inputs of some ranges, and their loops.
        self._inner: dict[tuple[int, Ranges], RangeAnalysis] = {}
        self._loops: dict[tuple[int, Ranges, Ranges], LoopRanges] = {}
        self._makers: dict[int, Makers] = {}
        self.follow()

    def follow(self) -> None:
        """Know of the equations that have been added to those it was made of."""
        count = len(self._eqns)
        if count != self._count:
            self.makers.update(makers_of(self._eqns[self._count :]))
            self._count = count

    def inside(self, jaxpr: Jaxpr, ranges: Ranges) -> RangeAnalysis:
        """The analysis of an inner program, whose inputs have these ranges."""
        key = id(jaxpr), tuple(ranges)
        found = self._inner.get(key)
        if found is None:
            found = self._inner[key] = RangeAnalysis(())
            if id(jaxpr) not in self._makers:
                self._makers[id(jaxpr)] = makers_of(jaxpr.eqns)
            found.makers = self._makers[id(jaxpr)]
            found._inner, found._loops = self._inner, self._loops
            found._makers = self._makers
            found._known.update(zip(jaxpr.invars, ranges, strict=True))
        return found

    def add(self, eqns: Sequence[Eqn]) -> None:
        """Know of more equations; nothing is known yet of what they make."""
        self.makers = {**self.makers, **makers_of(eqns)}

    def assume(self, var: Atom, found: Range) -> None:
        """Take a range of an input for granted."""
        self._known[var] = found
        self._implied.clear()

    def of(self, atom: Atom) -> Range:
        """The least and the greatest value that an integer may have."""
        if isinstance(atom, Literal):
            return _of_literal(atom)
        known = self._known
        todo = [atom]
        while todo:
            now = todo[-1]
            if now in known:
                todo.pop()
                continue
            waiting = [
                a
                for a in self._operands(now)
                if not isinstance(a, Literal) and a not in known
            ]
            if not waiting:
                known[now] = self._made(now)
                todo.pop()
            else:
                todo += waiting
        return known[atom]

    def under(self, facts: Mapping[Var, Range], atom: Atom) -> Range:
        """The range of a value where some others have smaller ones."""
        if isinstance(atom, Var) and atom in facts:
            return intersection(self.of(atom), facts[atom])
        eqn = self.makers[atom][0] if atom in self.makers else None
        if eqn is None or eqn.primitive not in _FOLLOWED or not facts:
            return self.of(atom)
        ranges = [self.under(facts, a) for a in eqn.inputs]
        found = None if ANY in ranges else self._result(eqn, 0, ranges)
        whole = of_dtype(eqn.outputs[0].aval.dtype)
        if found is None or intersection(found, whole) != found:
            return self.of(atom)  # it may wrap
        return intersection(self.of(atom), found)

    def implied(self, atom: Atom, truth: bool) -> dict[Var, Range]:
        """The ranges that values have where a condition holds, or where it does not."""
        if not isinstance(atom, Var) or atom not in self.makers:
            return {}
        found = self._implied.get((atom, truth))
        if found is None:
            found = self._implied[atom, truth] = self._found_by(atom, truth)
        return found

    def _found_by(self, atom: Var, truth: bool) -> dict[Var, Range]:
        eqn, k = self.makers[atom]
        name, xs = eqn.primitive, eqn.inputs
        if name in _COMPARISONS:
            return self._compared(_COMPARISONS[name] if truth else _OPPOSITES[name], xs)
        both = ("and", True), ("or", False)
        if (name, truth) in both and atom.aval.dtype == bool:
            return _merged(*(self.implied(a, truth) for a in xs))
        if name == "not" and atom.aval.dtype == bool:
            return self.implied(xs[0], not truth)
        if name == "convert_element_type" and xs[0].aval.dtype == bool:
            return self.implied(xs[0], truth)
        if name == "cond":
            return self._implied_by_choice(eqn, k, truth)
        return {}

    def _compared(self, compare: str, xs: Sequence[Atom]) -> dict[Var, Range]:
        a, b = map(self.of, xs)
        if ANY in (a, b) or xs[0].aval.shape:
            return {}
        strict = compare == "lt"
        if compare == "eq":
            return _merged(self._is(xs[0], b), self._is(xs[1], a))
        if compare == "ne":
            return _merged(self._is_not(xs[0], b), self._is_not(xs[1], a))
        if compare == "gt":
            return self._compared("lt", xs[::-1])
        if compare == "ge":
            return self._compared("le", xs[::-1])
        return _merged(
            self._is(xs[0], (ANY[0], b[1] - strict)),
            self._is(xs[1], (a[0] + strict, ANY[1])),
        )

    def _is_not(self, atom: Atom, other: Range) -> dict[Var, Range]:
        low, high = self.of(atom)
        if other[0] != other[1]:
            return {}
        return self._is(atom, (low + (low == other[0]), high - (high == other[0])))

    def _is(self, atom: Atom, found: Range) -> dict[Var, Range]:
        """The facts by a value's range: of it, and of what it is made of."""
        if not isinstance(atom, Var):
            return {}
        facts = {atom: intersection(self.of(atom), found)}
        eqn = self.makers[atom][0] if atom in self.makers else None
        if eqn is None or len(set(eqn.inputs)) != len(eqn.inputs):
            return facts
        match eqn.primitive, eqn.inputs:
            case "convert_element_type", (x,) if x.aval.dtype.kind in "iu":
                return _merged(facts, self._is(x, found))
            case "add", (x, Literal() as k) | (Literal() as k, x):
                by = int(k.value)
            case "sub", (x, Literal() as k):
                by = -int(k.value)
            case _:
                return facts
        low, high = self.of(x)
        whole = of_dtype(atom.aval.dtype)
        if low + by < whole[0] or high + by > whole[1]:
            return facts  # it may have wrapped
        return _merged(facts, self._is(x, (found[0] - by, found[1] - by)))

    def _implied_by_choice(self, eqn: Eqn, k: int, truth: bool) -> dict[Var, Range]:
        """The facts where one side of a choice alone can give that truth."""
        able = []
        for number, (jaxpr, ranges) in enumerate(self.branches(eqn)):
            inner = self.inside(jaxpr, ranges)
            least, most = inner.of(jaxpr.outvars[k])
            if least <= truth <= most:
                able.append((number, jaxpr, inner))
        if len(able) != 1 or len(eqn.param("branches")) != 2:
            return {}
        number, jaxpr, inner = able[0]
        found = inner.implied(jaxpr.outvars[k], truth)
        outer = dict(zip(jaxpr.invars, eqn.inputs[1:], strict=True))
        facts = {
            a: found[v] for v, a in outer.items() if v in found and isinstance(a, Var)
        }
        return _merged(self.implied(eqn.inputs[0], bool(number)), facts)

    # Programs inside of equations ----------------------------------------------------

    def branches(self, eqn: Eqn) -> list[tuple[Jaxpr, Ranges]]:
        """The programs of a choice, each with the ranges of its inputs."""
        found: list[tuple[Jaxpr, Ranges]] = []
        programs = eqn.param("branches")
        for number, closed in enumerate(programs):
            facts = {}
            if len(programs) == 2:
                facts = self.implied(eqn.inputs[0], bool(number))
            ranges = []
            for atom in eqn.inputs[1:]:
                one = self.under(facts, atom)
                ranges.append(one if one[0] <= one[1] else self.of(atom))
                if atom is eqn.inputs[0] or self._truth_of(eqn.inputs[0]) is atom:
                    ranges[-1] = number, number
            found.append((closed.jaxpr, ranges))
        return found

    def _truth_of(self, atom: Atom) -> Atom:
        """The condition that an index of a choice of two is made of."""
        eqn = self.makers[atom][0] if atom in self.makers else None
        if eqn is None or eqn.primitive != "convert_element_type":
            return atom
        return eqn.inputs[0] if eqn.inputs[0].aval.dtype == bool else atom

    def loop(self, eqn: Eqn) -> LoopRanges:
        """The ranges in a loop, and those of its results."""
        ranges = tuple(self.of(a) for a in eqn.inputs)
        test = carried_test(eqn)
        first_turn: Ranges = ()
        if test is not None:
            carry = len(eqn.outputs)
            atoms = eqn.inputs[len(eqn.inputs) - carry :]
            first_turn = ranges[len(ranges) - carry :]
            facts = self.implied(atoms[test], True)
            first_turn = tuple(refined(atoms, first_turn, facts) or first_turn)
        key = id(eqn), ranges, first_turn
        if key not in self._loops:
            self._loops[key] = LoopRanges(self, eqn, ranges, first_turn)
        return self._loops[key]

    def flow(self, eqn: Eqn) -> Ranges:
        """The ranges of the results of a loop or a choice."""
        if id(eqn) not in self._flows:
            if eqn.primitive == "cond":
                (low, high), found = self.of(eqn.inputs[0]), self.branches(eqn)
                # What leaves a loop is the status of a check, if that is known, too.
                leaves = "exits" in dict(eqn.params) and high >= len(found) - 1
                if low >= 0 and not leaves:  # otherwise the last one, too
                    found = found[low : high + 1] or found[-1:]
                sides = [
                    [self.inside(j, ranges).of(a) for a in j.outvars]
                    for j, ranges in found
                ]
                self._flows[id(eqn)] = [union(*r) for r in zip(*sides, strict=True)]
            else:
                self._flows[id(eqn)] = self.loop(eqn).results
        return self._flows[id(eqn)]

    # Equations ------------------------------------------------------------------------

    def _operands(self, atom: Var) -> Sequence[Atom]:
        if atom not in self.makers or atom.aval.dtype.kind not in "biu":
            return ()
        return self.makers[atom][0].inputs

    def _made(self, atom: Var) -> Range:
        whole = of_dtype(atom.aval.dtype)
        if whole == ANY:
            return whole
        if atom not in self.makers:
            return self._given(atom) or whole
        eqn, k = self.makers[atom]
        if eqn.primitive in ("cond", "scan", "while"):
            found: Range | None = self.flow(eqn)[k]
        elif eqn.primitive == "select_n":
            found = self._selected(eqn)
        else:
            found = self._result(eqn, k, [self.of(a) for a in eqn.inputs])
        if found is None or found[0] < whole[0] or found[1] > whole[1]:
            return whole  # not known, or it wraps
        return found

    def _selected(self, eqn: Eqn) -> Range | None:
        """A choice of elements: each under the condition that it is chosen by."""
        which, *cases = eqn.inputs
        low, high = self.of(which)
        if which.aval.dtype != bool:
            cases = cases[max(low, 0) : high + 1]
            ranges = [self.of(a) for a in cases]
            return None if ANY in ranges else union(*ranges)
        ranges = []
        for truth in range(low, high + 1):
            one = self.under(self.implied(which, bool(truth)), cases[truth])
            if one[0] <= one[1]:
                ranges.append(one)
        return union(*ranges) if ranges else None

    def _result(self, eqn: Eqn, k: int, ranges: Ranges) -> Range | None:
        """The range of one result of an equation, by those of its operands."""
        name = eqn.primitive
        params: dict[str, Any] = dict(eqn.params)
        if name in _MOVES:
            return ranges[0]
        if name == "sort":
            return ranges[k]
        if name == "iota":
            return 0, max(eqn.outputs[k].aval.shape[params["dimension"]] - 1, 0)
        if name in ("argmax", "argmin"):
            return 0, max(eqn.inputs[0].aval.shape[a] - 1 for a in params["axes"])
        if name == "gather":
            clips = str(params["mode"]).upper().endswith(("CLIP", "PROMISE_IN_BOUNDS"))
            return ranges[0] if clips else None
        if name == "scatter" and params["update_jaxpr"] is None:
            return union(ranges[0], ranges[2])
        if name == "dynamic_update_slice":
            return union(ranges[0], ranges[1])
        if name == "convert_element_type":
            return None if ranges[0] == ANY else ranges[0]
        if name == "not":
            low, high = ranges[0]
            return (1 - high, 1 - low) if eqn.outputs[0].aval.dtype == bool else None
        if name == "jit":
            return self._called(params["jaxpr"].jaxpr, params["name"], k, ranges)
        rule = RULES.get(name)
        if rule is None or ANY in ranges:
            return None
        if name == "shift_right_arithmetic" and eqn.inputs[0].aval.dtype.kind != "i":
            return None  # the first bit is taken for a sign
        return rule(*ranges)

    def _called(self, jaxpr: Jaxpr, name: str, k: int, ranges: Ranges) -> Range | None:
        """The range of a result of an inner program."""
        if is_division(jaxpr, name) and ranges[1][0] > 0:
            if name == "remainder":
                (low, high), (least, most) = ranges
                return (low, high) if 0 <= low <= high < least else (0, most - 1)
            return corners(lambda x, y: x // y, *ranges)
        inner = self.inside(jaxpr, ranges)
        return inner.of(jaxpr.outvars[k])


_COMPARISONS = {name: name for name in ("lt", "le", "gt", "ge", "eq", "ne")}
_OPPOSITES = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _merged(*facts: Mapping[Var, Range]) -> dict[Var, Range]:
    """All facts of some, which hold together."""
    found: dict[Var, Range] = {}
    for some in facts:
        for var, one in some.items():
            found[var] = intersection(found.get(var, ANY), one)
    return found


def makers_of(eqns: Sequence[Eqn]) -> Makers:
    """The equations that make values, each with the number of the result."""
    return {v: (e, k) for e in eqns for k, v in enumerate(e.outputs)}


def _of_literal(atom: Literal) -> Range:
    if atom.aval.dtype.kind in "biu" and type(atom.value) in (int, bool):
        return int(atom.value), int(atom.value)
    return of_elements(atom.array)
