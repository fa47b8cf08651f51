"""The steps that must wait for all threads of their block.

Pointers change places, so that all that may point to the same memory are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from traceir.base.fast_dataclass import dataclass
from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.cuda.codegen.thread_mapping import key_of
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import (
    Assign,
    Buffer,
    CallMatmul,
    Copy,
    Launch,
    Loop,
    Step,
)
from traceir_numba.loops.step_effects import walk


@dataclass(frozen=True, slots=True)
class Touched:
    """Memory by its number that is read, that is written, and that one thread puts.

    It is always the same thread, which needs not wait for itself.
    """

    read: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()
    put: frozenset[int] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        written = self.written | other.written
        return Touched(self.read | other.read, written, self.put | other.put)

    def must_precede(self, later: Touched) -> bool:
        """True if threads may not go on before all are done."""
        mine = self.read | self.written
        return bool(
            later.written & (mine | self.put)
            or later.put & mine
            or later.read & (self.written | self.put)
        )


class Memories:
    """The memory of slots, by numbers: one for all that may be the same."""

    def __init__(self, steps: Iterable[Step], buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        self._lanes: dict[LoopNest, int] = {}
        self._found = dict(enumerate(range(len(buffers))))
        for step in walk(steps):
            match step:
                case Assign(pairs) | Loop(read=(), written=pairs):
                    self._join(pairs)
                case Loop(read=read, written=written):
                    self._join((*read, *written))

    def _join(self, pairs: Iterable[tuple[int, object]]) -> None:
        for a, b in pairs:
            if isinstance(b, int) and not (self.is_scalar(a) or self.is_scalar(b)):
                self._found[self.number(a)] = self.number(b)

    def number(self, slot: int) -> int:
        """The number of a slot's memory."""
        while self._found[slot] != slot:
            slot = self._found[slot]
        return slot

    def is_scalar(self, slot: int) -> bool:
        """True if a slot has a value of its own, and is no pointer."""
        return self.buffers[slot].role == "scalar"

    def of(
        self,
        read: Iterable[int] = (),
        written: Iterable[int] = (),
        put: Iterable[int] = (),
    ) -> Touched:
        """The memory of slots that are read, of others that are written or put."""
        found = (frozenset(map(self.number, slots)) for slots in (read, written, put))
        return Touched(*found)

    def touched(self, steps: Iterable[Step]) -> Touched:
        """The memory that steps touch, those inside them included."""
        found = Touched()
        for step in walk(steps):
            found |= self._one(step)
        return found

    def _one(self, step: Step) -> Touched:
        """The memory that the threads of a block touch in one step."""
        match step:
            case Launch(nest=nest, buffers=slots):
                read = {slots[k] for k in nest.loaded}
                written = {slots[k] for k in nest.written}
                scalars = {k for k in slots if self.is_scalar(k)}
                if is_inline(step):
                    return self.of(read - scalars, put=written - scalars)
                saved = self.of(written & scalars, put=read & scalars)
                return saved | self.of(read, written) | self._shared(step)
            case CallMatmul(_, inputs, output):
                return self.of(inputs, [output])
            case Copy(source, target):
                return self.of([source], [target])
            case Loop(read=pairs, written=others):
                taken = [stack for stack, row in pairs if self.is_scalar(row)]
                put = [stack for stack, row in others if self.is_scalar(row)]
                return self.of(taken, put=put)
        return Touched()

    def _shared(self, step: Launch) -> Touched:
        """The memory that a block's threads share in a nest, by numbers of its own."""
        _, form = key_of(step)
        if form.by_thread:
            return Touched()
        number = self._lanes.setdefault(step.nest, -1 - len(self._lanes))
        return Touched(written=frozenset([number]))
