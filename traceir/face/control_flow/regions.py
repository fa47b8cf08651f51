"""Regions: programs inside of a trace, which may write to its arrays.

Serves: staged.memory

A region is the side of a choice, the test of a loop or its body. It reads values of the
traces around it, which become operands, and takes over the arrays that it writes to;
it gives these back when it ends, and whoever made it says what they are then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.array_state import ArrayState, take_over
from traceir.face.checks.bounds import ranges_in
from traceir.face.checks.status import NUMBER, Status, entered, guard, status_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, Literal, Var
from traceir.jit.runtime_checks import ListRoom, Slot
from traceir.lax.checks.operands import convert
from traceir.lax.control.bodies import TracedBody
from traceir.numpy.indexing.intervals import Range
from traceir.pytrees import flatten
from traceir.tracing.staging import StagedTracer, StagingTrace
from traceir.tracing.trace import Tracer, Value, check_open, current_trace, in_force


class RegionTrace(StagingTrace):
    """The trace of a region. In a loop, arrays that it takes over are carried: they are
    inputs of the region; of a side of a choice they are values from around it."""

    __slots__ = (
        "memory",
        "carries",
        "ranges",
        "fresh",
        "entry",
        "guards",
        "asked",
        "truth",
        "lists",
        "seen",
        "most_turns",
        "appended",
        "moved",
        "lengths",
    )
    writes_outside = True

    def __init__(self, name: str, carries: bool) -> None:
        outer = current_trace()
        assert outer is not None
        super().__init__(name, outer.transform, outer.face)
        self.carries = carries
        # By identity: traced arrays have no truth to tell equal ones by.
        self.memory: dict[int, ArrayState] = {}
        self.ranges: dict[Var, Range] = {}
        # Python's containers that it has made, which it may change.
        self.fresh: list[Any] = []
        # The status that a loop's turn begins with; whether loops inside stop by it,
        # and whether one of them has asked.
        self.entry: Status | None = None
        self.guards = self.asked = False
        # Of a side of a choice, what decides that it is taken.
        self.truth: Tracer | None = None
        # By identity, lists of Python's that each turn appends to: what it appends.
        self.lists: dict[int, list[Any]] = {}
        # Of a loop's inputs, those whose memory something else had at the beginning.
        self.seen: list[NumpyTracer] = []
        # How many turns there are at most, if that is known; how many elements each
        # appends at most to lists from around it, by their identity.
        self.most_turns: Callable[[], int | None] = lambda: None if carries else 1
        self.appended: dict[int, tuple[Any, int]] = {}
        # Of a side of a choice, lists whose elements are in an array of its own.
        self.moved: dict[int, tuple[Any, NumpyTracer]] = {}

        # The numbers of elements that its loops over elements have, and the most.
        self.lengths: list[tuple[Tracer, int]] = []

    def follows(self, value: Tracer, given: Var) -> bool:
        """True if a value is computed from one input alone, and from constants."""
        makers = {out: eqn for eqn in self.eqns for out in eqn.outputs}
        left: list[Atom] = [value._var] if isinstance(value, StagedTracer) else []
        seen: set[Atom] = set()
        while left:
            atom = left.pop()
            if atom is given or isinstance(atom, Literal) or atom in seen:
                continue
            if atom not in makers:
                return False
            seen.add(atom)
            left += makers[atom].inputs
        return isinstance(value, StagedTracer)

    def lift(self, tracer: Tracer) -> Atom:
        """A tracer of a trace around it becomes an operand, one for each value."""
        check_open(tracer, self.parent)
        if not isinstance(tracer, StagedTracer):
            return super().lift(tracer)
        atom = tracer._var
        if type(atom) is Literal:
            return atom
        found = self.captures.get(id(atom))
        if found is None:
            # A tracer of its own: the array may be another when the region ends.
            kept = type(tracer)(atom, tracer._trace, tracer._source)
            found = self.captures[id(atom)] = Var(tracer.aval), kept
        return found[0]

    def claim(self, array: NumpyTracer) -> None:
        """Take over an array of a trace around it, and so do the regions between."""
        if array._home is self:
            return
        parent = self.parent
        if array._home is not parent:
            assert parent is not None
            parent.claim(array)
        with in_force(parent):
            value = array.now()
        atom: Atom
        if self.carries:
            atom = Var(array.aval)
            self.inputs[atom] = ""
        else:
            atom = self.lift(value)
        self.memory[id(array)] = take_over(array, self, atom)

    @property
    def reads_outside(self) -> bool:
        """True if the region reads a value of a trace around it, or a constant."""
        return bool(self.captures or self.constants)

    def first_status(self) -> Status:
        """The status in which the region begins, which a loop carries."""
        if not self.carries:
            outer: Any = self.parent
            status_of(outer)
            return entered(outer)
        number = self.input(NUMBER, "")
        self.entry = Status(number, {}, lambda slot: self.input(slot[0], ""))
        return self.entry

    def guard(self) -> Status | None:
        """See `checks.guard`: what fails later in a loop's turn counts in the next."""
        outer = guard(self.parent)
        if not self.carries:
            return outer
        if self.guards or outer is not None:
            return entered(self)
        self.asked = True
        return None

    def status_inputs(self, slots: Sequence[Slot]) -> None:
        """Make the status that a loop's turn begins with its last inputs, in order."""
        entered(self)
        entry: Any = self.entry
        for value in (*map(entry.slot, slots), entry.number):
            self.inputs[value._var] = self.inputs.pop(value._var)

    def is_fresh(self, value: Any) -> bool:
        """True if a list, a set or a dict was made in this region."""
        return any(value is one for one in self.fresh)

    def end(self) -> None:
        """Give the arrays back."""
        for state in self.memory.values():
            state.restore()
        self.memory = {}
        self.alive = False

    def known_range(self, var: Var) -> Range | None:
        """That of an input, if it is said, or of a value from outside."""
        if var in self.ranges:
            return self.ranges[var]
        for one, tracer in self.captures.values():
            if one is var and isinstance(tracer, StagedTracer):
                outer = tracer._trace
                is_staged = isinstance(outer, StagingTrace)
                return ranges_in(outer).of(tracer._var) if is_staged else None
        return super().known_range(var)

    def body(self, outputs: Sequence[Atom]) -> TracedBody:
        """The program; what it closes over are its first inputs."""
        jaxpr = Jaxpr(
            (),
            (
                *(var for var, _, _ in self.constants.values()),
                *(var for var, _ in self.captures.values()),
                *self.inputs,
            ),
            tuple(self.eqns),
            tuple(outputs),
            self.name,
        )
        arrays = tuple(array for _, array, _ in self.constants.values())
        tracers = tuple(tracer for _, tracer in self.captures.values())
        tree = flatten.flatten(tuple(outputs))[1]
        return TracedBody(ClosedJaxpr(jaxpr), (*arrays, *tracers), tree)

    def converted(self, value: Value, aval: ShapedArray) -> Atom:
        """A value in a type, as an output of the region."""
        with in_force(self):
            return self.atom(convert(value, aval.dtype, aval.weak_type))


def regions_inside(home: Any, what: str) -> list[RegionTrace]:
    """The regions in force, from the innermost on, that are inside of a trace.

    Raises UnexpectedTracerError (update.outer) where that is not around.
    """
    found: list[RegionTrace] = []
    trace: Any = current_trace()
    while trace is not home:
        if not isinstance(trace, RegionTrace):
            raise rules.error("update.outer", got=f"{what} in an inner function")
        found.append(trace)
        trace = trace.parent
    return found


def function_room() -> ListRoom | None:
    """The room of the function that is traced; None where none can be made larger."""
    trace: Any = current_trace()
    while isinstance(trace, RegionTrace):
        trace = trace.parent
    found = getattr(trace, "room", None)
    is_function = isinstance(found, ListRoom) and trace.transform == "jit"
    return found if is_function else None
