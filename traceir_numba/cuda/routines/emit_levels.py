"""Levels as `@cuda.jit` source: the branches of a choice together.

A choice of large arrays is a list of levels, each a kernel of many blocks: all look
which branch is taken, and do what that one does at this place.
"""

from __future__ import annotations

from collections.abc import Mapping

from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.cuda.codegen.nest import CudaKernelSource
from traceir_numba.cuda.codegen.thread_mapping import Key, key_of
from traceir_numba.cuda.routines.barriers import Memories, Touched
from traceir_numba.cuda.routines.block_plans import BranchLevel, KernelPart, Piece, Unit
from traceir_numba.cuda.routines.emit_pieces import PieceEmitter, PieceKernel
from traceir_numba.loops.program import Copy, Launch
from traceir_numba.loops.step_effects import walk

# The thread that computes scalars, and the points that a thread takes of a launch's.
FIRST = "if cuda.grid(1) == 0:"
GRID = "cuda.grid(1)", "cuda.gridsize(1)"


def emit(
    piece: Piece | BranchLevel,
    name: str,
    memories: Memories,
    functions: Mapping[Key, CudaKernelSource],
) -> PieceKernel:
    """The source of a piece or a level; `functions` are the kernels of its launches."""
    if isinstance(piece, Piece):
        emitter = PieceEmitter(memories, functions)
        emitter.piece(piece)
    else:
        emitter = _LevelEmitter(memories, functions)
        emitter.level(piece)
    return emitter.kernel(name, pointers_of(piece))


def launches_of(piece: Piece | BranchLevel) -> list[Launch]:
    """The launches of kernels in a piece, or in a level."""
    if isinstance(piece, BranchLevel):
        units = (s.step if isinstance(s, KernelPart) else s for s in piece.steps)
        return [step for step in units if isinstance(step, Launch)]
    found = (s for s in walk(piece.steps) if isinstance(s, Launch))
    return [step for step in found if not is_inline(step)]


def parts_in(piece: Piece | BranchLevel) -> list[KernelPart]:
    """The parts in a level; each needs memory for its blocks' results."""
    steps = piece.steps if isinstance(piece, BranchLevel) else ()
    return [step for step in steps if isinstance(step, KernelPart)]


def pointers_of(piece: Piece | BranchLevel) -> tuple[int, ...]:
    """The slots whose memory a piece is given."""
    if isinstance(piece, Piece):
        return piece.pointers
    found = dict.fromkeys([piece.index])
    for step in piece.steps:
        match step:
            case Launch(buffers=slots) | KernelPart(Launch(buffers=slots)):
                found |= dict.fromkeys(slots)
            case Piece(pointers=slots):
                found |= dict.fromkeys(slots)
            case Copy(source, target):
                found |= dict.fromkeys((source, target))
    return tuple(found)


class _LevelEmitter(PieceEmitter):
    """A place of all branches: kernels with all their blocks, scalars by one thread."""

    def __init__(
        self, memories: Memories, functions: Mapping[Key, CudaKernelSource]
    ) -> None:
        super().__init__(memories, functions)
        self.share = GRID

    def wait(self, next_: Touched) -> None:
        """Do nothing: threads have no step in common."""

    def level(self, level: BranchLevel) -> None:
        """Each branch's step where its index is found."""
        index = self.name(level.index)
        self.code.add(f"{index} = {self.element(level.index)}")
        end = len(level.steps) - 1
        for k, step in enumerate(level.steps):
            if step is None:
                continue
            # The last branch is taken for all other indices, too.
            test = f"{index} == {k}" if k < end else f"({index} < 0) | ({index} >= {k})"
            with self.code.block(f"if {test}:"):
                self.unit(step)

    def unit(self, step: Unit) -> None:
        """One branch's step."""
        match step:
            case KernelPart():
                self.part(step)
            case Launch():
                self.call(step)
            case Copy():
                self.copy(step)
            case Piece():
                self.code.alone = True
                with self.code.block(FIRST):
                    self.piece(step)
                self.code.alone = False

    def part(self, part: KernelPart) -> None:
        """One of two kernels, with memory for the results of the first."""
        names = []
        for dtype in self.known[key_of(part.step)].scratch:
            names.append(f"LEFT_{len(self.scratch)}")
            self.scratch[names[-1]] = dtype
        self.call(part.step, names, part.last)
