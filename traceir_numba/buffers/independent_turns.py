"""Turns of a loop that need not wait for one another.

Serves: staged.turns

The place that an element has in an array is followed through a body as a multiple of
the turn's number, and what does not change. An array that is carried may be shared by
threads where each turn has places of its own; where its user says that it has, it is
enough that nothing shows the opposite. A number that each turn adds to, and reads
nowhere else, is folded in parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir.numpy.indexing.turn_places import (
    DATA,
    MANY,
    VARIES,
    ElementAccess,
    Info,
    TurnPlace,
    accesses_of,
    conflict,
    info_of,
    separated,
)
from traceir_numba.emitters.host import entry_of
from traceir_numba.emitters.kinds import ForeignCall, Region
from traceir_numba.emitters.regions import LoopOp, SwitchOp
from traceir_numba.lowering.split_loops import counters, step_of

FOLDS = frozenset({"add", "mul", "max", "min", "and", "or", "xor"})


class WaitingTurns(Exception):
    """A turn has to wait for the one before; the message says for what."""

    def __init__(self, why: str, source: Source | None) -> None:
        super().__init__(why if source is None else f"line {source.line}: {why}")


@dataclass(frozen=True, slots=True)
class SharedArray:
    """A version of an array that the loop carries, by its number in the carry."""

    carry: int


@dataclass(frozen=True, slots=True)
class FoldedNumber:
    """A carried number after some turns' parts have been folded into it."""

    carry: int
    fold: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A carried number, compared with another one: `fold` takes it if this is true."""

    carry: int
    other: Atom
    fold: str


Known = Info | SharedArray | FoldedNumber | Compared


@dataclass(frozen=True, slots=True)
class CountedTurns:
    """The counter that tells how many turns a loop with a test has."""

    carry: int
    step: int
    stop: Atom


@dataclass(frozen=True, slots=True)
class IndependentTurns:
    """The fate of each part of a carry where turns are shared by threads.

    `kinds` are, by number in the carry: "counter", which grows by its `steps`, "array",
    "status", "last", which has the value of the last turn, or the fold's primitive.
    """

    kinds: tuple[str, ...]
    steps: Mapping[int, int]
    counted: CountedTurns | None


def independent_turns(flow: LoopOp) -> IndependentTurns:
    """The parts of a loop's carry, if its turns need not wait for one another.

    Raises WaitingTurns if they have to, as far as is known.
    """
    counted = _counted(flow)
    if flow.reverse or (flow.test is not None and counted is None):
        raise WaitingTurns("how many turns it has is not known before", None)
    return _LoopAnalysis(flow, counted).run()


def _counted(flow: LoopOp) -> CountedTurns | None:
    """The counter of a loop whose test has no other part than a status."""
    if flow.test is None:
        return None
    test, body = flow.test.jaxpr, flow.body.jaxpr
    sizes = len(flow.test_consts), len(flow.consts)
    for number, at, stop in counters(test, body, *sizes):
        allowed: set[Atom] = set(test.eqns[at].outputs)
        for eqn in test.eqns:
            if eqn.primitive == "eq" and flow.status:
                if eqn.inputs[0] is test.invars[-1]:
                    allowed.update(eqn.outputs)
            elif eqn.primitive == "and" and allowed.issuperset(eqn.inputs):
                allowed.update(eqn.outputs)
        var = body.invars[len(flow.consts) + number]
        step = step_of(body, var, body.outvars[number])
        if isinstance(stop, Var):
            stop = flow.test_consts[test.invars.index(stop)]
        if test.outvars[0] in allowed and var.aval.dtype == stop.aval.dtype:
            return CountedTurns(number, step, stop)
    return None


class _LoopAnalysis:
    def __init__(self, flow: LoopOp, counted: CountedTurns | None) -> None:
        self.flow = flow
        self.counted = counted
        self.accesses: dict[int, list[ElementAccess]] = {}
        self.makers: dict[Atom, Eqn] = {}

    def run(self) -> IndependentTurns:
        flow, body = self.flow, self.flow.body.jaxpr
        n, m = len(flow.consts), len(flow.carry)
        steps: dict[int, int] = {}
        kinds = [""] * m
        known: dict[Atom, Known] = {}
        for var in body.invars[:n]:
            known[var] = TurnPlace.invariant(var)
        for var in body.invars[n + m :]:
            known[var] = DATA
        read = {a for eqn in body.eqns for a in eqn.inputs}
        for k, var in enumerate(body.invars[n : n + m]):
            step = step_of(body, var, body.outvars[k])
            if k >= m - flow.status:
                kinds[k] = "status"
            elif var.aval.shape:
                kinds[k], known[var] = "array", SharedArray(k)
            elif step:
                kinds[k], steps[k] = "counter", step
                known[var] = TurnPlace.turn(flow.carry[k], step)
            elif var in read or var in body.outvars:
                known[var] = FoldedNumber(k)
            else:
                kinds[k] = "last"
        ends = self.visit(body, known)
        for k, end in enumerate(ends):
            kind = kinds[k] if k < m else "row"
            if kind == "array" and end != SharedArray(k):
                raise WaitingTurns("it gives the next turn another array", None)
            if kind == "":
                if not isinstance(end, FoldedNumber) or end.carry != k:
                    self.wait(k, None)
                assert isinstance(end, FoldedNumber)
                kinds[k] = self.folded(end, body.outvars[k])
            elif isinstance(end, FoldedNumber | Compared):
                self.wait(end.carry, None)
        for k, found in self.accesses.items():
            self.check(found, flow.carry[k].aval.shape)
        return IndependentTurns(tuple(kinds), steps, self.counted)

    def wait(self, carry: int, source: Source | None) -> None:
        """Say that a turn waits for a number."""
        raise WaitingTurns(
            "it reads a number that the turn before has computed", source
        )

    def folded(self, end: FoldedNumber, out: Atom) -> str:
        """The fold of a carried number, if the order of its turns may be another."""
        fold = end.fold or ""
        exact = out.aval.dtype.kind in "biu" or fold in ("least", "greatest")
        if not exact and not self.flow.independent:
            raise WaitingTurns("the order of a sum of floats decides its bits", None)
        return fold

    def check(self, found: list[ElementAccess], shape: Sequence[int]) -> None:
        """Raise WaitingTurns where turns may meet in an array."""
        writes = [a for a in found if a.writes]
        turns = self.flow.length if self.flow.test is None else MANY
        if not writes or separated(found, len(shape), turns):
            return
        for write in writes:
            for other in found:
                why = conflict(write, other, turns)
                if why:
                    raise WaitingTurns(why, other.source or write.source)
        if not self.flow.independent:
            raise WaitingTurns("turns may write to the same place", writes[0].source)

    # -- a program ----------------------------------------------------------------

    def visit(self, jaxpr: Jaxpr, known: Mapping[Atom, Known]) -> list[Known]:
        """Follow a program; gives what is known of its results."""
        now = dict(known)
        for var in (*jaxpr.constvars, *jaxpr.invars):
            now.setdefault(var, VARIES)
        for eqn in jaxpr.eqns:
            self.makers.update(dict.fromkeys(eqn.outputs, eqn))
            found = self.outputs(eqn, [_given(a, now) for a in eqn.inputs], now)
            now.update(zip(eqn.outputs, found, strict=True))
        return [_given(a, now) for a in jaxpr.outvars]

    def outputs(
        self, eqn: Eqn, given: list[Known], now: Mapping[Atom, Known]
    ) -> Sequence[Known]:
        """All that is known of an equation's results."""
        entry = entry_of(eqn)
        if isinstance(entry, ForeignCall):
            raise WaitingTurns("it calls a function of another library", eqn.source)
        if isinstance(entry, Region):
            flow = entry.read(eqn)
            if isinstance(flow, SwitchOp):
                return self.choice(eqn, flow, now)
            return self.loop(eqn, flow, now)
        if any(isinstance(g, FoldedNumber | Compared) for g in given):
            return [self.fold(eqn, given)]
        arrays = [g for g in given if isinstance(g, SharedArray)]
        if arrays:
            return [self.element(eqn, arrays[0], given)]
        infos = [g for g in given if isinstance(g, Info)]
        return [info_of(eqn, infos, self.makers)] * len(eqn.outputs)

    def element(self, eqn: Eqn, array: SharedArray, given: list[Known]) -> Known:
        """A read or a write of some elements of an array that is carried."""
        infos = [VARIES if isinstance(g, SharedArray) else g for g in given]
        access = None
        if isinstance(given[0], SharedArray) and given.count(array) == 1:
            own = [g for g in infos if isinstance(g, Info)]
            access = accesses_of(eqn, own)
        if access is None:
            why = "it reads all of an array that other turns write to"
            raise WaitingTurns(why, eqn.source)
        self.accesses.setdefault(array.carry, []).append(access)
        return array if access.writes else DATA

    def fold(self, eqn: Eqn, given: list[Known]) -> Known:
        """A number that is carried and something, folded into one."""
        name = eqn.primitive
        own = [g for g in given if isinstance(g, FoldedNumber)]
        if name == "select_n":
            return self.chosen(eqn, given)
        same = eqn.inputs[0].aval.dtype == eqn.outputs[0].aval.dtype
        if name == "convert_element_type" and own and same:
            return own[0]
        if len(own) == 1 and not any(isinstance(g, Compared) for g in given):
            at = given.index(own[0])
            fold = "add" if name == "sub" and at == 0 else name
            if fold in FOLDS and own[0].fold in (None, fold):
                return FoldedNumber(own[0].carry, fold)
            if name in ("lt", "gt") and len(given) == 2:
                least = (name == "lt") == (at == 1)
                other = eqn.inputs[1 - at]
                fold = "least" if least else "greatest"
                if own[0].fold in (None, fold):
                    return Compared(own[0].carry, other, fold)
        carry = next(g.carry for g in given if isinstance(g, FoldedNumber | Compared))
        self.wait(carry, eqn.source)
        raise AssertionError

    def chosen(self, eqn: Eqn, given: list[Known]) -> Known:
        """A choice of a carried number and of what it becomes."""
        which, *cases = given
        match which, cases:
            case (Compared(carry, other, fold), [FoldedNumber() as old, _]) if (
                old.carry == carry and eqn.inputs[2] is other
            ):
                return FoldedNumber(carry, fold)
        if not isinstance(which, FoldedNumber | Compared):
            merged = _merged(cases)
            if merged is not None:
                return merged
        carry = next(g.carry for g in given if isinstance(g, FoldedNumber | Compared))
        self.wait(carry, eqn.source)
        raise AssertionError

    # -- control flow -------------------------------------------------------------

    def choice(
        self, eqn: Eqn, flow: SwitchOp, now: Mapping[Atom, Known]
    ) -> Sequence[Known]:
        """The results of a choice: what is known of them on all sides."""
        index = _given(flow.index, now)
        if isinstance(index, FoldedNumber | Compared):
            self.wait(index.carry, eqn.source)
        given = [_given(a, now) for a in flow.xs]
        sides = [self.program(b, given) for b in flow.branches]
        if flow.exits:  # the last one leaves the loop
            sides.pop()
        return [self.met(list(found), eqn) for found in zip(*sides, strict=True)]

    def met(self, found: list[Known], eqn: Eqn) -> Known:
        """All that is known of a result that one of several sides gives."""
        if all(one == found[0] for one in found):
            return found[0]
        merged = _merged(found)
        if merged is not None:
            return merged
        for one in found:
            if isinstance(one, FoldedNumber | Compared):
                self.wait(one.carry, eqn.source)
            if isinstance(one, SharedArray):
                raise WaitingTurns("one of two arrays goes on", eqn.source)
        return DATA if DATA in found else VARIES

    def program(self, closed: ClosedJaxpr, given: Sequence[Known]) -> list[Known]:
        """The results of a program inside for these operands."""
        return self.visit(closed.jaxpr, dict(zip(closed.jaxpr.invars, given)))

    def loop(
        self, eqn: Eqn, flow: LoopOp, now: Mapping[Atom, Known]
    ) -> Sequence[Known]:
        """The results of a loop inside of a turn."""
        used = [_given(a, now) for a in flow.consts]
        carry: list[Known] = []
        for atom in flow.carry:
            one = _given(atom, now)
            carry.append(one if isinstance(one, SharedArray | FoldedNumber) else VARIES)
        rows: list[Known] = [VARIES] * len(flow.xs)
        if any(isinstance(_given(a, now), SharedArray) for a in flow.xs):
            raise WaitingTurns("it goes over an array that others write", eqn.source)
        if flow.test is not None:
            tested = [_given(a, now) for a in flow.test_consts]
            holds = self.program(flow.test, [*tested, *carry])
            if isinstance(holds[0], FoldedNumber | Compared):
                self.wait(holds[0].carry, eqn.source)
        ends = self.program(flow.body, [*used, *carry, *rows])
        found: list[Known] = []
        for k, end in enumerate(ends):
            start = carry[k] if k < len(carry) else VARIES
            pair = start, end
            match pair:
                case (FoldedNumber(before), FoldedNumber(after)) if before == after:
                    found.append(end)
                case (SharedArray(), SharedArray()) if start == end:
                    found.append(end)
                case (TurnPlace() | Info(), TurnPlace() | Info()):
                    found.append(VARIES)
                case _:
                    raise WaitingTurns(
                        "a loop in it carries what it shares", eqn.source
                    )
        return found


def _given(atom: Atom, known: Mapping[Atom, Known]) -> Known:
    """All that is known of an operand."""
    if isinstance(atom, Literal):
        return TurnPlace.of(atom)
    return known.get(atom, VARIES)


def _merged(found: Sequence[Known]) -> FoldedNumber | None:
    """One carried number, some sides of which have folded something into it."""
    numbers = [one for one in found if isinstance(one, FoldedNumber)]
    folds = {one.fold for one in numbers if one.fold}
    carries = {one.carry for one in numbers}
    if len(numbers) < len(found) or len(carries) > 1 or len(folds) > 1:
        return None
    return FoldedNumber(numbers[0].carry, next(iter(folds), None))
