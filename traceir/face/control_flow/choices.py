"""Choices while a function is traced: `if` statements, and their sides.

Serves: staged.choice, staged.join

A choice by a known truth value is Python's. One by a traced value records both sides,
each as a region, and joins what they make of the state.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from traceir import lax, rules
from traceir.base.config import put_in_force
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.array_state import are_apart, is_one_of, owners
from traceir.face.arrays.loop_steps import TracedList, TracedTable
from traceir.face.checks import exceptions
from traceir.face.checks.status import (
    NUMBER,
    Status,
    put_status,
    status_before,
    status_of,
)
from traceir.face.control_flow import state
from traceir.face.control_flow.growing_lists import grown, note_choice
from traceir.face.control_flow.moved_lists import MovedLists
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import MissingValue, Tree, Unrecordable
from traceir.ir.avals import ShapedArray
from traceir.jit.runtime_checks import Slot
from traceir.lax.checks.operands import convert, typed
from traceir.lax.control.choice import INDEX, choose
from traceir.tracing.trace import Tracer, in_force

Names = Sequence[str]


class Diverged(BaseException):
    """A recorded side ends by an exception of the program; nobody sees this raised, and
    no `except Exception` of the user's."""


def truth_of(value: Any) -> Any:
    """The truth of a value, as far as it is known; else a traced boolean."""
    if isinstance(value, (TracedList, TracedTable)):
        length = value.length
        value = lax.ne(length.now(), 0) if isinstance(length, Tracer) else length
    if not isinstance(value, Tracer) or value.knows("level.concretize.bool"):
        return bool(value)
    if value.shape and value.size == 1:
        value = value.reshape(())
    if value.shape:
        return bool(value)  # which raises
    if value.dtype == bool:
        return value.now()
    return lax.ne(value.now(), typed(0, value.dtype, value.aval.weak_type))


def negated(value: Any) -> Any:
    """`not value`."""
    truth = truth_of(value)
    return not truth if isinstance(truth, bool) else traced(lax.bitwise_not(truth))


def is_recorded(truth: Any) -> bool:
    """True if a choice by this truth is recorded (staged.choice)."""
    return rules.decides("staged.choice", known=isinstance(truth, bool))


# Errors that NumPy has, too, of known shapes and places.
_OF_NUMPY = ("index.bounds", "face.reduce-empty")


def diverges(error: BaseException | None) -> bool:
    """True if a recorded side or turn ends by an exception of the program.

    A known place outside is one, where it comes to be read, as are an extreme of no
    elements and what Python itself raises of known numbers and containers.
    """
    if isinstance(error, rules.TraceirError):
        own = error.rule in _OF_NUMPY
    else:
        own = isinstance(error, (ArithmeticError, LookupError))
    if own and error is not None:
        exceptions.note_raised(error)
    return own or isinstance(error, Diverged)


class Side:
    """One side of a choice that is recorded, and its end."""

    def __init__(self, truth: Tracer) -> None:
        self.region = RegionTrace("if", False)
        self.region.truth = truth
        self.diverged = False
        self.values: dict[str, Tree] = {}
        self.memory: dict[int, tuple[NumpyTracer, Any]] = {}
        # By identity, arrays that the side has made: those from before it that each may
        # be, and the flags that it is, which are results of the choice.
        self.owners: dict[int, list[tuple[Any, Any]]] = {}
        self.status: Status | None = None
        self.lists: dict[int, Any] = {}

    def finish(self, values: dict[str, Any], diverged: bool = False) -> None:
        """Take the state at the end, while the region is in force."""
        self.diverged = diverged
        self.values = {name: state.tree_of(v) for name, v in values.items()}
        self.status = status_of(self.region)
        for key, held in self.region.memory.items():
            self.memory[key] = held.array, held.array.now()
        moved = self.region.moved
        self.lists = {key: array.now() for key, (_, array) in moved.items()}
        self.region.end()
        with in_force(self.region):
            for array in () if diverged else self._arrays():
                if array.root._home is self.region:
                    self.owners[id(array)] = owners(array, self.region)

    def _arrays(self) -> list[NumpyTracer]:
        return [a for end in self.values.values() for a in state.arrays_of(end)]

    def is_apart(self) -> bool:
        """True if no two names have arrays with memory in common at the end."""
        pairs = itertools.combinations(self._arrays(), 2)
        return self.diverged or all(are_apart(a, b) for a, b in pairs)

    def flags(self) -> list[Any]:
        """The flags of `owners` that can be told."""
        both = [flag for some in self.owners.values() for _, flag in some]
        return [flag for flag in both if flag is not None]

    def settle(self, results: Iterator[Any]) -> None:
        """Take the results of the choice for the flags."""
        for some in self.owners.values():
            some[:] = [(a, None if flag is None else next(results)) for a, flag in some]

    def tell_aliases(
        self, kinds: Mapping[str, Tree], found: Mapping[str, Any], flag: Any, group: Any
    ) -> dict[int, NumpyTracer]:
        """Say of the names' arrays after the choice that they are some from before it,
        or each other, if this side has been taken. Arrays of one group are apart.

        Gives those, by their identity, that this side tells to be another array.
        """
        told = {}
        ends = () if self.diverged else self.values.items()
        pairs = [
            pair
            for name, end in ends
            for pair in state.array_pairs(end, kinds[name], found[name])
        ]
        for number, (array, one) in enumerate(pairs):
            for before, earlier in pairs[:number]:
                if self._share(array, before):
                    same = array is before and array.root is array
                    one.may_alias(earlier, flag if same else None)
            if self._is_told(array):
                told[id(one)] = one
            if array.root._home is not self.region and array._trace.alive:
                one.may_alias(array, flag, group)
                continue
            if array.root._home is not self.region:
                one.may_alias(array.root)
            for other, owned in self.owners.get(id(array), ()):
                one.may_alias(other if owned is not None else other.root, owned, group)
        return told

    def _is_told(self, array: NumpyTracer) -> bool:
        """True if an array at the end is always one that can be told."""
        if array.root._home is not self.region:
            return bool(array._trace.alive)
        some = self.owners.get(id(array), ())
        told = all(flag is not None for _, flag in some)
        return told and is_one_of(array, self.region)

    def _share(self, a: NumpyTracer, b: NumpyTracer) -> bool:
        """True if two arrays may have memory in common that this side has made."""
        if are_apart(a, b):
            return False
        one, other = ({id(x): x for x in (c.root, *c.other_memories())} for c in (a, b))
        return any(one[key]._home is self.region for key in one.keys() & other.keys())


class IfStatement:
    """An `if` statement: the sides to run, and the state after it.

    `names` are those that the sides may set, `kept` those that are read after it, and
    `lists` those that grow. The names have new `values` if they have `moved`.
    """

    def __init__(self, names: Names, kept: Names, lists: Names, test: Any) -> None:
        self.names, self.kept, self.lists = names, kept, lists
        self.truth = truth_of(test)
        self.side = self.moved = False
        self.values: tuple[Any, ...] = ()
        self._turn = 0
        self._sides: list[Side] = []
        self._before: dict[str, Any] = {}
        self._outer: Any = None

    def next(self, frame: dict[str, Any]) -> bool:
        """True if a side is to be run now."""
        self._turn += 1
        if not is_recorded(self.truth):
            self.side = self.truth
            return self._turn == 1
        if self._turn == 1:
            self._before = state.snapshot(self.names, frame | grown(self.lists, frame))
            self._show(self._before)
            self.side = True
        elif self._turn == 2:
            self.side = False
            self._show(self._before)
        else:
            self._show({**self._before, **joined(self.truth, *self._sides)})
            return False
        self._sides.append(Side(self.truth))
        return True

    def _show(self, found: dict[str, Any]) -> None:
        self.moved = bool(self.names)
        self.values = tuple(found[name] for name in self.names)

    def __enter__(self) -> None:
        if self._sides:
            self._outer = put_in_force(self._sides[-1].region)

    def done(self, frame: dict[str, Any]) -> None:
        """Take the state at the end of a side."""
        if self._sides:
            self._sides[-1].finish(state.snapshot(self.kept, frame))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if not self._sides:
            return False
        ends = diverges(error)
        if ends:
            kept = {name: self._before[name] for name in self.kept}
            self._sides[-1].finish(kept, diverged=True)
        put_in_force(self._outer)
        self._sides[-1].region.end()
        return ends


def joined(truth: Tracer, yes: Side, no: Side) -> dict[str, Any]:
    """The state after both sides, as results of one equation."""
    note_choice(yes.region, no.region)
    outputs = _Outputs(yes, no, truth)
    if yes.diverged and no.diverged:
        slots = outputs.add_status()
        if slots is not None:
            put_status(slots, iter(outputs.results(truth)))
        raise Diverged
    kinds = {name: outputs.kind(name) for name in yes.values}
    for name, kind in kinds.items():
        ends = (state.fitted(s.values[name], kind) for s in (yes, no))
        for (a, aval), (b, _) in zip(*ends, strict=True):
            outputs.add(a, b, aval)
    arrays = {k: array for s in (yes, no) for k, (array, _) in s.memory.items()}
    for key, array in arrays.items():
        now = [s.memory[key][1] if key in s.memory else array.now() for s in (yes, no)]
        outputs.add(now[0], now[1], array.aval)
    lists = MovedLists(yes, no)
    for now, aval in lists.outputs():
        outputs.add(now[0], now[1], aval)
    for flag in yes.flags():
        outputs.add(flag, False, state.BOOL)
    for flag in no.flags():
        outputs.add(False, flag, state.BOOL)
    slots = outputs.add_status()
    results = iter(outputs.results(truth))
    found = {}
    for name, kind in kinds.items():
        leaves = [
            traced(next(results), number=leaf.number) for leaf in state.leaves_of(kind)
        ]
        found[name] = state.built(kind, iter(leaves))
    for array in arrays.values():
        array.replace(next(results))
    lists.settle(results)
    always: list[dict[int, NumpyTracer]] = []
    group = object() if yes.is_apart() and no.is_apart() else None
    for side, flag in ((yes, truth), (no, negated(truth))):
        side.settle(results)
        told = side.tell_aliases(kinds, found, flag, group)
        if not side.diverged:
            always.append(told)
    for key, made in always[0].items():
        made.is_another = all(key in told for told in always)
    if slots is not None:
        put_status(slots, results)
    return found


class _Outputs:
    """The outputs of the two sides of a choice."""

    def __init__(self, yes: Side, no: Side, truth: Tracer) -> None:
        self.sides = (yes, no)
        self.truth = truth
        self.atoms: tuple[list[Any], list[Any]] = ([], [])

    def kind(self, name: str) -> Tree:
        """The type of a name's value after the choice."""
        sides = [s for s in self.sides if not s.diverged]
        kinds = [state.type_of(s.values[name]) for s in sides]
        if len(kinds) == 1:
            return state.escaped(kinds[0], sides[0].region)
        try:
            return state.joined(*kinds)
        except Unrecordable as error:
            return state.Fixed(MissingValue(str(error), self.truth))

    def add(self, a: Any, b: Any, aval: ShapedArray) -> None:
        """Add an output: its values on both sides, and its type."""
        for side, atoms, value in zip(self.sides, self.atoms, (a, b), strict=True):
            atoms.append(side.region.converted(value, aval))

    def add_status(self) -> list[Slot] | None:
        """Add the status of the sides, if one of them has any; gives its slots."""
        found = [s.status for s in self.sides]
        if found[0] is found[1] is None:
            return None
        before = status_before()
        yes, no = [before if status is None else status for status in found]
        slots = list({**yes.slots, **no.slots})
        for slot in slots:
            self.add(yes.slot(slot), no.slot(slot), slot[0])
        self.add(yes.number, no.number, NUMBER)
        return slots

    def results(self, truth: Tracer) -> list[Any]:
        """The equation's results."""
        regions = [side.region for side in self.sides]
        if not self.atoms[0] and not any(e.effects for r in regions for e in r.eqns):
            return []
        bodies = [r.body(atoms) for r, atoms in zip(regions, self.atoms, strict=True)]
        return choose(convert(truth, INDEX), bodies, [], reverse=True)
