"""Plans of a routine: which parts one block runs alone.

Steps whose arrays are so small that one block is through with them about when a launch
has begun are joined to a piece: one kernel of one block, loops and choices included.
The rest is launched step by step.

All threads of a piece know all scalars and go the same way; the nests' kernels are
functions that it calls, so each has the bits that it has in a launch of its own. So
small is what asks no thread of 256 to take up more than 256 elements in one step, or
fewer where each is expensive to compute. How long a launch takes, and so where the
bound should be, has not been measured on a device.

Other loops the host runs around launches, and around pieces of what is small in them.
For `scan` and `fori_loop` over a known range it reads nothing from the device, for
`while` one truth in each step. A choice of large arrays is a list of levels
(`emit_levels`): the first steps of all branches in one kernel, then the second ones;
only where a branch has a loop or a large product in it does the host read the index and
choose.

A piece is given no more than 64 arrays: each takes 56 of the 4096 bytes that a kernel's
arguments have where the toolkit is older than CUDA 12.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field

from traceir.base.fast_dataclass import dataclass
from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.cuda import cost_model
from traceir_numba.cuda.routines import step_arguments
from traceir_numba.cuda.routines.barriers import Memories
from traceir_numba.cuda.routines.block_costs import ends_later, rounds, shared_by
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    Buffer,
    CallMatmul,
    Copy,
    Launch,
    LoadScalar,
    Loop,
    Routine,
    Step,
    StoreScalar,
    While,
)
from traceir_numba.loops.step_effects import inner, reads, walk, writes


@dataclass(frozen=True, slots=True)
class Piece:
    """Steps that one block runs, as one kernel.

    `pointers` are the slots whose memory it is given, in order; of scalars, `loads`
    are those that are taken from there first and `saves` those put there in the end.
    """

    steps: tuple[Step, ...]
    pointers: tuple[int, ...]
    loads: tuple[int, ...]
    saves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HostLoop:
    """A loop over rows that the host runs."""

    loop: Loop
    steps: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class HostWhile:
    """A loop that the host runs: `test`, then `steps` as long as a scalar holds.

    The steps have the test at their end.
    """

    test: tuple[Planned, ...]
    holds: int | ScalarConstant
    steps: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class HostBranch:
    """A choice that the host makes."""

    index: int
    branches: tuple[tuple[Planned, ...], ...]


@dataclass(frozen=True, slots=True)
class KernelPart:
    """The first or the last of two kernels that a launch in parts has."""

    step: Launch
    last: bool


# What can be launched before it is known whether its branch is taken: launches, copies
# and pieces of scalars.
Unit = Launch | KernelPart | Copy | Piece


@dataclass(frozen=True, slots=True)
class BranchLevel:
    """A step of a choice that the device makes: each branch's at that place.

    None where a branch has ended.
    """

    index: int
    steps: tuple[Unit | None, ...]


Planned = (
    Launch
    | CallMatmul
    | Copy
    | Assign
    | Piece
    | HostLoop
    | HostWhile
    | HostBranch
    | BranchLevel
)


def planned(routine: Routine, memories: Memories) -> tuple[Planned, ...]:
    """The host's steps to run a routine; `memories` are those of its steps."""
    return _BlockPlanner(routine, memories).steps(routine.steps)


@dataclass(slots=True)
class _BlockPlanner:
    routine: Routine
    memories: Memories
    mentioned: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.mentioned = step_arguments.mentions(self.routine.steps)
        # What memory that is only lent is left with nobody sees.
        given = (k for k in self.routine.args if self.buffers[k].role != "memory")
        self.mentioned.update(k for k in given if not self.is_scalar(k))

    @property
    def buffers(self) -> Sequence[Buffer]:
        return self.routine.buffers

    def is_scalar(self, slot: int) -> bool:
        return self.buffers[slot].role == "scalar"

    # -- lists of steps -----------------------------------------------------------

    def steps(self, steps: Iterable[Step]) -> tuple[Planned, ...]:
        """Steps in order, neighbours joined where one block can do them."""
        steps = [s for s in steps if not isinstance(s, LoadScalar | StoreScalar)]
        if self.is_one(steps):
            return (self.piece(steps),) if steps else ()
        found: list[Planned] = []
        group: list[Step] = []
        for step in self.apart(steps):
            match step:
                case Assign(pairs) if not self.is_scalar(pairs[0][0]):
                    # What was joined before knows these pointers as they were.
                    if step_arguments.mentions(group).keys() & {t for t, _ in pairs}:
                        found += self.joined(group)
                        group = []
                    found.append(step)
                case _ if self.is_one([step]):
                    if not self.is_one([*group, step]):
                        found += self.joined(group)
                        group = []
                    group.append(step)
                case Launch() | CallMatmul() | Copy() if self.may_precede(step, group):
                    found.append(step)
                case _:
                    found += [*self.joined(group), *self.by_host(step)]
                    group = []
        return (*found, *self.joined(group))

    def apart(self, steps: Iterable[Step]) -> list[Step]:
        """The steps with assignments to pointers, then those to scalars."""
        found: list[Step] = []
        for step in steps:
            if not isinstance(step, Assign):
                found.append(step)
                continue
            pairs = [p for p in step.pairs if p[0] != p[1]]
            pointers = [p for p in pairs if not self.is_scalar(p[0])]
            scalars = [p for p in pairs if self.is_scalar(p[0])]
            found += [Assign(tuple(p)) for p in (pointers, scalars) if p]
        return found

    def may_precede(self, step: Step, group: Sequence[Step]) -> bool:
        """True if a step may be done before others that stand before it."""
        mine, others = self.slots([step]), self.slots(group)
        return not (mine[1] & (others[0] | others[1]) or mine[0] & others[1])

    def slots(self, steps: Iterable[Step]) -> tuple[set[int], set[int]]:
        """The slots that steps read and write, one for all that may alias."""
        read: set[int] = set()
        written: set[int] = set()
        for step in steps:
            read.update(map(self.memories.number, reads(step)))
            written.update(map(self.memories.number, writes(step)))
        return read, written

    def joined(self, group: Sequence[Step]) -> list[Planned]:
        """A piece; of one step that has loops all blocks are better."""
        match group:
            case []:
                return []
            case [Launch() as step] if not is_inline(step):
                return [step]
            case [Copy() | CallMatmul() as step]:
                return [step]
        return [self.piece(group)]

    def piece(self, steps: Sequence[Step]) -> Piece:
        """One block's steps, with their needs."""
        found = step_arguments.of(steps, self.buffers)
        inside = step_arguments.mentions(steps)
        written = step_arguments.assigned(steps, self.buffers)
        saves = [
            k
            for k in sorted(written)
            if self.is_scalar(k)
            and (self.mentioned[k] > inside[k] or k in found.values)
        ]
        loads = [k for k in found.values if self.is_scalar(k)]
        arrays = [k for k in found.values if not self.is_scalar(k)]
        memory = dict.fromkeys([*arrays, *loads, *saves, *found.memory])
        return Piece(tuple(steps), tuple(memory), tuple(loads), tuple(saves))

    # -- what one block can do ----------------------------------------------------

    def is_one(self, steps: Sequence[Step]) -> bool:
        """True if one block can run steps, and leaves pointers as they were."""
        every = [s for s in walk(steps) if not inner(s)]
        if any(
            rounds(step, self.buffers) > cost_model.ROUTINE_ROUNDS for step in every
        ):
            return False
        nests = {s.nest: s for s in every if isinstance(s, Launch) and not is_inline(s)}
        if sum(map(shared_by, nests.values())) > cost_model.ROUTINE_SHARED_BYTES:
            return False
        if len(self.piece(steps).pointers) > cost_model.ROUTINE_ARRAYS:
            return False
        inside = step_arguments.mentions(steps)
        moved = {
            k
            for k in step_arguments.assigned(steps, self.buffers)
            if not self.is_scalar(k)
        }
        return all(self.mentioned[k] == inside[k] for k in moved)

    # -- what the host does -------------------------------------------------------

    def by_host(self, step: Step) -> tuple[Planned, ...]:
        """The host's steps for one step."""
        match step:
            case Loop(steps=steps):
                return (HostLoop(step, self.steps(steps)),)
            case While(test, holds, steps):
                return (
                    HostWhile(self.steps(test), holds, self.steps((*steps, *test))),
                )
            case Branch(index, branches):
                levels = self.levels(index, branches)
                if levels is not None:
                    return levels
                return (HostBranch(index, tuple(map(self.steps, branches))),)
        assert isinstance(step, Launch | CallMatmul | Copy | Assign), step
        return (step,)

    def levels(
        self, index: int, branches: Sequence[tuple[Step, ...]]
    ) -> tuple[BranchLevel, ...] | None:
        """The steps of all branches side by side; None if the host must choose."""
        columns = [self.units(steps) for steps in branches]
        known = [units for units in columns if units is not None]
        if len(known) < len(columns) or len(columns) < 2:
            return None
        return tuple(
            BranchLevel(index, tuple(u[k] if k < len(u) else None for u in known))
            for k in range(max(map(len, known)))
        )

    def units(self, steps: Iterable[Step]) -> list[Unit] | None:
        """A branch as a list of units, if it can be one."""
        found: list[Unit] = []
        group: list[Step] = []
        for step in steps:
            match step:
                case Assign(pairs) if all(self.is_scalar(t) for t, _ in pairs):
                    group.append(step)
                case Launch() if is_inline(step):
                    group.append(step)
                case Launch() | Copy():
                    found += [self.piece(group)] if group else []
                    group = []
                    if isinstance(step, Launch) and ends_later(step):
                        found += [KernelPart(step, False), KernelPart(step, True)]
                    else:
                        found.append(step)
                case _:
                    return None
        return [*found, self.piece(group)] if group else found
