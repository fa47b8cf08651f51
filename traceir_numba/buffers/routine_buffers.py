"""The buffers of a routine: its arguments, and memory of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from traceir.ir.jaxpr import Atom, Literal, Var
from traceir.text.naming import letters
from traceir.text.words import number_text
from traceir_numba.loops.identifiers import safe_name
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import Assign, Buffer, Copy, LeaveLoop, Step
from traceir_numba.loops.step_effects import renamed, walk


class RoutineNames:
    """The names that a program's text has, `printed`, and those that it has not: any
    routine may use them, which are looked for once.

    >>> names = RoutineNames({})
    >>> next(names.free()), next(names.free())
    ('a', 'a')
    """

    def __init__(self, printed: Mapping[Var, str]) -> None:
        self.printed = printed
        shown = set(printed.values())
        self._more = (name for name in map(letters, count()) if name not in shown)
        self._found: list[str] = []

    def free(self) -> Iterator[str]:
        """The names that the text has not, in order."""
        for number in count():
            if number == len(self._found):
                self._found.append(next(self._more))
            yield self._found[number]


class RoutineBuffers:
    """The buffers of a routine while it is put together."""

    def __init__(self, names: RoutineNames, exchanges: bool) -> None:
        self.printed = names.printed
        self.exchanges = exchanges  # True if there are steps that exchange elements
        self.taken: set[str] = set()
        self.buffers: list[Buffer] = []
        self.args: list[int] = []
        self.owned: set[int] = set()  # pointers to memory of the routine's own
        self.fresh = names.free()
        self.numbers = count()
        # The scalars that are the status in each loop around, by its parts; None where
        # side exits leave no loop.
        self.status: list[Mapping[int, int] | None] = [None]

    def moved(self, steps: list[Step], found: int, target: int) -> list[Step]:
        """The steps that leave an array in `target` instead; a copy if they cannot."""
        if found == target:
            return steps
        pairs = [p for s in walk(steps) if isinstance(s, Assign) for p in s.pairs]
        if found not in self.owned or any(found in pair for pair in pairs):
            return [*steps, Copy(found, target)]
        self.args.remove(found)
        self.owned.remove(found)
        return list(renamed(steps, {found: target}))

    def leave(self, parts: Sequence[int], slots: Sequence[int]) -> tuple[Step, ...]:
        """The steps that end the innermost loop, with these parts of the status."""
        loop = self.status[-1]
        if loop is None:
            return ()
        pairs = zip(parts, slots)
        found = tuple((loop[part], slot) for part, slot in pairs if part in loop)
        return Assign(found), LeaveLoop()

    def name(self, var: Atom | None = None) -> str:
        """A name that nothing else has: that of the variable in the text, if free."""
        name = self.printed.get(var) if isinstance(var, Var) else None
        if name is None or name in self.taken:
            name = next(self.fresh)
        self.taken.add(name)
        return safe_name(name)

    def value(self, atom: Atom, role: str, name: str | None = None) -> int:
        """A new scalar or array for a value."""
        aval = atom.aval
        own = role if aval.shape else "scalar"
        return self.add(name or self.name(atom), aval.shape, aval.dtype.name, own)

    def add(self, name: str, shape: tuple[int, ...], dtype: str, role: str) -> int:
        """A new buffer; memory is an argument."""
        self.buffers.append(Buffer(name, shape, dtype, role))
        slot = len(self.buffers) - 1
        if role == "memory":
            self.args.append(slot)
            self.owned.add(slot)
        return slot

    def own(self, slot: int) -> None:
        """Give a pointer memory of its own."""
        self.buffers[slot] = replace(self.buffers[slot], role="memory")
        self.give(slot)
        self.owned.add(slot)

    def give(self, slot: int) -> None:
        """Let a buffer's memory be an argument."""
        if slot not in self.args:
            self.args.append(slot)

    def like(self, slot: int) -> int:
        """More memory of an array's size."""
        old = self.buffers[slot]
        return self.add(self.name(), old.shape, old.dtype, "memory")

    def is_scalar(self, slot: int) -> bool:
        """True if a buffer is a scalar of the routine."""
        return self.buffers[slot].role == "scalar"


def alike(one: Var, other: Var) -> bool:
    """True if two arrays fit in the same memory: their shapes and dtypes are one."""
    return (one.aval.shape, one.aval.dtype) == (other.aval.shape, other.aval.dtype)


def constant(atom: Literal) -> ScalarConstant:
    """A literal as it stands in source."""
    dtype = atom.aval.dtype
    return ScalarConstant(number_text(atom.value, dtype), dtype.name)
