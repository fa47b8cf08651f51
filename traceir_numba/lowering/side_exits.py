"""Side exits: a check that fails leaves its loop.

The last results of a program may be its status: the number of the first check that has
failed, and values that its error shows. Nobody looks at the other results then. In a
loop a status is chosen anew by each check, `select_n(failed, before, new)`; here such
choices become one `cond` with the param `exits`, in which a place that fails is 0. So
code after it knows that a place is inside, and has no test and no clamp of its own;
and machine code leaves the loop where the check fails, which costs what a branch does
that is never taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    sort_params,
)
from traceir_numba.device_functions import NUMBERS
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import HostCallback, Region, Scatter
from traceir_numba.emitters.regions import LoopOp, SwitchOp

INT32 = ShapedArray((), np.dtype("int32"))
BOOL = ShapedArray((), np.dtype(bool))
# Variables that are parts of the status, by their number among its parts.
Parts = Mapping[Atom, int]


def with_side_exits(closed: ClosedJaxpr, count: int) -> ClosedJaxpr:
    """The same program, whose last `count` results are its status, with side exits in
    its loops."""
    outvars = closed.jaxpr.outvars[len(closed.jaxpr.outvars) - count :]
    if any(a.aval.shape or a.aval.dtype.name not in NUMBERS for a in outvars):
        return closed
    parts: Parts = {a: k for k, a in enumerate(outvars) if isinstance(a, Var)}
    if not parts:
        return closed
    jaxpr = _Program(closed.jaxpr, parts, count - 1, in_loop=False).rewritten()
    return ClosedJaxpr(jaxpr, closed.consts)


@dataclass(frozen=True, slots=True)
class _SideCheck:
    """A check of a turn: if it fails, the parts of the status get these values."""

    failed: Atom
    values: Mapping[int, Atom]


class _Program:
    """A program with side exits, where it is `in_loop`; the number of the failed check
    is the `last` part of the status."""

    def __init__(self, jaxpr: Jaxpr, parts: Parts, last: int, in_loop: bool) -> None:
        self.jaxpr = jaxpr
        self.last = last
        self.in_loop = in_loop
        self.makers: dict[Atom, Eqn] = {v: e for e in jaxpr.eqns for v in e.outputs}
        self.numbers = {id(eqn): k for k, eqn in enumerate(jaxpr.eqns)}
        self.ends = {*jaxpr.outvars}
        self.parts: dict[Atom, int] = dict(parts)
        # The choices of the status by their condition, the last ones first.
        self.groups: dict[Atom, dict[int, Eqn]] = {}
        self.regions: dict[int, Eqn] = {}
        # The status as loops inside leave it.
        self.left: dict[int, dict[int, Var]] = {}
        for eqn in reversed(jaxpr.eqns):
            self.follow(eqn)
        self.env: dict[Atom, Atom] = {}
        self.places: dict[Atom, Atom] = {}
        self.made: list[Eqn] = []
        self.done: set[int] = set()

    def follow(self, eqn: Eqn) -> None:
        """Find what the parts of the status are that an equation gives."""
        own = {k: self.parts[v] for k, v in enumerate(eqn.outputs) if v in self.parts}
        if not own:
            return
        entry = EMITTERS.get(eqn.primitive)
        if eqn.primitive == "select_n" and eqn.inputs[0].aval == BOOL:
            failed, before, _ = eqn.inputs
            self.groups.setdefault(failed, {})[own[0]] = eqn
            self.parts.setdefault(before, own[0])
        elif isinstance(entry, Region):
            flow = entry.read(eqn)
            match flow:
                case LoopOp(body=body):
                    self.left[id(eqn)] = {own[k]: eqn.outputs[k] for k in own}
                    given = (*flow.consts, *flow.carry, *flow.xs)
                    flow = replace(flow, body=self.inner(body, own, given, True))
                case SwitchOp(branches=branches, xs=xs):
                    made = (self.inner(b, own, xs, self.in_loop) for b in branches)
                    flow = replace(flow, branches=tuple(made))
            found = entry.rewritten(eqn, flow, eqn.outputs)
            if isinstance(flow, LoopOp):  # its results may be those of a turn
                params = sort_params({**dict(found.params), "leaves": True})
                found = replace(found, params=params)
            self.regions[id(eqn)] = found

    def inner(
        self,
        closed: ClosedJaxpr,
        own: Mapping[int, int],
        given: Sequence[Atom],
        in_loop: bool,
    ) -> ClosedJaxpr:
        """A program inside; what it makes its status of is that of this one."""
        outvars = closed.jaxpr.outvars
        parts = {outvars[k]: part for k, part in own.items()}
        program = _Program(closed.jaxpr, parts, self.last, in_loop)
        for var, atom in zip(closed.jaxpr.invars, given, strict=True):
            if var in program.parts:
                self.parts.setdefault(atom, program.parts[var])
        return ClosedJaxpr(program.rewritten(), closed.consts)

    def rewritten(self) -> Jaxpr:
        """The program with its side exits."""
        for failed, group in reversed(self.groups.items() if self.in_loop else ()):
            checks = self.checks(failed, group)
            if checks is not None:
                self.leave(group, checks)
            else:
                found = {part: eqn.outputs[0] for part, eqn in group.items()}
                self.need(found.values())
                self.stop(found, next(iter(group.values())))
        self.emit(self.jaxpr.eqns)
        outvars = tuple(self.env.get(a, a) for a in self.jaxpr.outvars)
        return replace(self.jaxpr, eqns=tuple(self.made), outvars=outvars)

    # -- checks -------------------------------------------------------------------

    def checks(self, failed: Atom, group: Mapping[int, Eqn]) -> list[_SideCheck] | None:
        """The checks of a choice, first ones first; None if they cannot be told."""
        if self.last not in group:
            return None
        failed = self.without_test(failed, group[self.last].inputs[1])
        values = {part: eqn.inputs[2] for part, eqn in group.items()}
        found = []
        while (one := self.made_by(values[self.last], "select_n")) is not None:
            which, _, number = one.inputs
            either = self.made_by(failed, "or")
            if either is None or which not in either.inputs or not _is_new(number):
                return None
            pairs = {part: self.chosen(a, which) for part, a in values.items()}
            found.append(
                _SideCheck(which, {part: yes for part, (_, yes) in pairs.items()})
            )
            values = {part: no for part, (no, _) in pairs.items()}
            failed = either.inputs[either.inputs[0] is which]
        # The number of a check in a function that is called is one of those before.
        called = self.made_by(values[self.last], "add")
        known = called is not None and isinstance(called.inputs[1], Literal)
        if not known and not _is_new(values[self.last]):
            return None
        return [*found, _SideCheck(failed, values)]

    def made_by(self, atom: Atom, primitive: str) -> Eqn | None:
        """The equation that makes a value, if it applies that primitive."""
        eqn = self.makers.get(atom)
        return eqn if eqn is not None and eqn.primitive == primitive else None

    def without_test(self, failed: Atom, before: Atom) -> Atom:
        """A condition without the test that nothing has failed before."""
        both = self.made_by(failed, "and")
        if both is not None:
            for k, atom in enumerate(both.inputs):
                test = self.made_by(atom, "eq")
                if test is not None and test.inputs[0] is before:
                    return both.inputs[1 - k]
        return failed

    def chosen(self, atom: Atom, which: Atom) -> tuple[Atom, Atom]:
        """A value where a condition does not hold, and where it does."""
        eqn = self.made_by(atom, "select_n")
        if eqn is None or eqn.inputs[0] is not which:
            return atom, atom
        return eqn.inputs[1], eqn.inputs[2]

    def tested(self, failed: Atom) -> tuple[Var, ...]:
        """The place that a check is about, if it compares one with known ends."""
        either = self.made_by(failed, "or")
        found = set()
        for atom in (failed,) if either is None else either.inputs:
            eqn = self.makers.get(atom)
            if eqn is None or eqn.primitive not in ("lt", "ge"):
                return ()
            place, end = eqn.inputs
            if place.aval.shape or not isinstance(end, Literal):
                return ()
            found.add(self.unconverted(place))
        one = found.pop()
        is_place = isinstance(one, Var) and one.aval.dtype.kind in "iu"
        return (one,) if is_place and not found else ()  # type: ignore[return-value]

    def unconverted(self, atom: Atom) -> Atom:
        """An integer before it became a wider one."""
        while (eqn := self.made_by(atom, "convert_element_type")) is not None:
            (inner,) = eqn.inputs
            wider = np.can_cast(inner.aval.dtype, atom.aval.dtype)
            if inner.aval.dtype.kind not in "iu" or not wider:
                break
            atom = inner
        return atom

    # -- equations ----------------------------------------------------------------

    def leave(self, group: Mapping[int, Eqn], checks: Iterable[_SideCheck]) -> None:
        """Add the checks of a choice, each as early as may be."""
        if any(map(_calls, self.jaxpr.eqns)):  # Python calls before it looks
            last = min(self.numbers[id(eqn)] for eqn in group.values())
            self.emit(self.jaxpr.eqns[:last])
        self.done.update(map(id, group.values()))
        before = {part: eqn.inputs[1] for part, eqn in group.items()}
        self.need(before.values())
        status = {part: self.env.get(a, a) for part, a in before.items()}
        for check in checks:
            places = self.tested(check.failed)
            self.need((check.failed, *check.values.values(), *places))
            values = [self.use(check.values[part]) for part in group]
            used = [self.use(a) for a in places]
            line = group[self.last]
            eqns = _exit(self.use(check.failed), status, values, used, self.last, line)
            self.made += eqns
            found = eqns[-1].outputs
            status = dict(zip(status, found))
            self.places.update(zip(places, found[len(status) :]))
        for part, eqn in group.items():
            self.env[eqn.outputs[0]] = status[part]

    def stop(self, found: Mapping[int, Var], line: Eqn) -> None:
        """Add the exit where something has failed by now, as the status says."""
        if self.last not in found:
            return
        status = {part: self.env.get(v, v) for part, v in found.items()}
        failed = Var(BOOL)
        number = status[self.last], Literal(0, INT32)
        self.made.append(Eqn("ne", number, (failed,), source=line.source))
        values = [*status.values()]
        self.made += _exit(failed, status, values, (), self.last, line)
        self.env.update(zip(found.values(), self.made[-1].outputs))

    def use(self, atom: Atom) -> Atom:
        """The value that stands for another one now."""
        return self.places.get(atom) or self.env.get(atom, atom)

    def need(self, atoms: Iterable[Atom]) -> None:
        """Add what values are made of; before what writes, all that is before it."""
        todo, wanted, all_before = [*atoms], set(), 0
        while todo:
            eqn = self.makers.get(todo.pop())
            if eqn is None or id(eqn) in self.done or self.numbers[id(eqn)] in wanted:
                continue
            number = self.numbers[id(eqn)]
            wanted.add(number)
            if isinstance(EMITTERS.get(eqn.primitive), Region | Scatter):
                all_before = max(all_before, number)
            todo += eqn.inputs
        wanted.update(range(all_before))
        self.emit(self.jaxpr.eqns[k] for k in sorted(wanted))

    def emit(self, eqns: Iterable[Eqn]) -> None:
        """Add equations that are not there yet."""
        for eqn in eqns:
            if id(eqn) in self.done:
                continue
            self.done.add(id(eqn))
            # The next value of a counter stays one of the counter.
            counts = eqn.primitive in ("add", "sub") and eqn.outputs[0] in self.ends
            found = self.regions.get(id(eqn), eqn)
            use = self.env.get if counts else lambda a, _: self.use(a)
            inputs = tuple(use(a, a) for a in found.inputs)
            self.made.append(replace(found, inputs=inputs))
            if self.in_loop and id(eqn) in self.left:
                self.stop(self.left[id(eqn)], eqn)


def _calls(eqn: Eqn) -> bool:
    """True if an equation calls something outside, such as a generator."""
    return bool(eqn.effects) or isinstance(EMITTERS.get(eqn.primitive), HostCallback)


def _is_new(number: Atom) -> bool:
    """True if a status of this number is one of a failure."""
    return isinstance(number, Literal) and int(number.value) > 0


def _exit(
    failed: Atom,
    status: Mapping[int, Atom],
    values: Sequence[Atom],
    places: Sequence[Atom],
    last: int,
    line: Eqn,
) -> tuple[Eqn, Eqn]:
    """The equations of one check, whose results are the status and the places."""
    index = Var(INT32)
    params = sort_params({"new_dtype": INT32.dtype, "weak_type": False})
    test = Eqn("convert_element_type", (failed,), (index,), params, source=line.source)
    xs = (*status.values(), *values, *places)
    stay, go = ([Var(a.aval) for a in xs] for _ in range(2))
    count = len(status)
    kept = (*stay[:count], *stay[2 * count :])
    fine = Var(BOOL)
    zero = Literal(0, INT32)
    eqns = [Eqn("eq", (go[[*status].index(last)], zero), (fine,))]
    found = [Var(a.aval) for a in status.values()]
    for before, value, out in zip(go, go[count:], found):
        eqns.append(Eqn("select_n", (fine, before, value), (out,)))
    zeros = [Literal(0, ShapedArray((), a.aval.dtype)) for a in places]
    branches = (
        ClosedJaxpr(Jaxpr((), tuple(stay), (), kept)),
        ClosedJaxpr(Jaxpr((), tuple(go), tuple(eqns), (*found, *zeros))),
    )
    outputs = tuple(Var(a.aval) for a in kept)
    params = sort_params({"branches": branches, "exits": tuple(status)})
    return test, Eqn("cond", (index, *xs), outputs, params, source=line.source)


# -- the status in a loop -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StatusPart:
    """The part of the status that a value is, if side exits change it, and what it is
    before them. It is `steady` if no loop inside changes it, and nothing else does."""

    part: int | None
    before: Atom | None
    steady: bool = True


def carried_status(body: Jaxpr, first: int, count: int) -> dict[int, tuple[int, bool]]:
    """The parts of the status that a loop carries, by their number in the carry, which
    has so many values from an input of its body on; and whether they are steady."""
    found = {}
    for k, (var, out) in enumerate(zip(body.invars[first:], body.outvars[:count])):
        if not out.aval.shape and out is not var:
            one = _part(body, out)
            if one.part is not None:
                found[k] = one.part, one.steady and one.before is var
    return found


def _part(jaxpr: Jaxpr, out: Atom) -> StatusPart:
    makers: dict[Atom | None, tuple[Eqn, int]] = {
        v: (eqn, k) for eqn in jaxpr.eqns for k, v in enumerate(eqn.outputs)
    }
    part, steady = None, True
    atom: Atom | None = out
    while atom in makers:
        eqn, k = makers[atom]
        entry = EMITTERS.get(eqn.primitive)
        match entry.read(eqn) if isinstance(entry, Region) else None:
            case LoopOp(body=body, carry=carry) if k < len(carry):
                inner = _part(body.jaxpr, body.jaxpr.outvars[k])
                atom, steady = carry[k], False
                part = part if inner.part is None else inner.part
            case SwitchOp(branches=branches, xs=xs, exits=exits):
                ends: set[Atom | None] = set()
                for one in branches[: 1 if exits else None]:
                    operands: dict[Atom | None, Atom] = dict(zip(one.jaxpr.invars, xs))
                    inner = _part(one.jaxpr, one.jaxpr.outvars[k])
                    ends.add(operands.get(inner.before))
                    part = part if inner.part is None else inner.part
                    steady = steady and inner.steady
                part = exits[k] if k < len(exits) else part
                atom = ends.pop() if len(ends) == 1 else None
            case _:
                break
    return StatusPart(part, atom, steady)
