"""A compiled program as data: buffers, and the steps that fill them."""

from __future__ import annotations

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source
from traceir.ir.jaxpr import Eqn
from traceir_numba.loops.nest import LoopNest, ScalarConstant

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory of one array.

    `role` is "input", "constant", "temporary", "output", or "alias" for another
    buffer's memory under another shape.
    """

    name: str
    shape: Shape
    dtype: str
    role: str


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a value for readers: its variable and the user's line."""

    name: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of a nest's nodes and pointers; no part of a kernel's identity.

    Those of nodes are by pass: of its body, and of what it finishes.
    """

    passes: tuple[tuple[tuple[Label, ...], tuple[Label, ...]], ...]
    pointers: tuple[str, ...]

    @property
    def body(self) -> tuple[Label, ...]:
        """The labels of the first body."""
        return self.passes[0][0]


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel run over buffers, with the extents of its loops and its parameters.

    In a routine, `scratch` are the buffers for what its blocks leave.
    """

    nest: LoopNest
    buffers: tuple[int, ...]
    extents: Shape
    params: tuple[int, ...]
    labels: Labels
    scratch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CallMatmul:
    """A library's function on whole buffers."""

    eqn: Eqn
    inputs: tuple[int, ...]
    output: int


@dataclass(frozen=True, slots=True)
class CallReference:
    """The reference's kernel on whole buffers; it makes its results' memory."""

    eqn: Eqn
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """Another shape for the same memory; `copied` where it becomes a result."""

    source: int
    output: int
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """All elements of an array put in another's memory."""

    source: int
    target: int


# -- steps of routines only -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exchange:
    """All elements of two arrays put in each other's memory."""

    one: int
    other: int


@dataclass(frozen=True, slots=True)
class CallForeign:
    """A function of another library's on scalars, by its name.

    `order` is a scalar that the calls of such functions give on to one another.
    """

    name: str
    inputs: tuple[int | ScalarConstant, ...]
    output: int
    order: tuple[int, int | ScalarConstant]


@dataclass(frozen=True, slots=True)
class LoadScalar:
    """A scalar taken from its memory."""

    slot: int


@dataclass(frozen=True, slots=True)
class StoreScalar:
    """A scalar put in its memory."""

    slot: int


@dataclass(frozen=True, slots=True)
class Assign:
    """Scalars and pointers that get new values, all at once: target, then source."""

    pairs: tuple[tuple[int, int | ScalarConstant], ...]


@dataclass(frozen=True, slots=True)
class TurnCarry:
    """A part of a loop's carry where threads share the turns: a "counter", which grows
    by `step`, an "array" with places for each turn, a part of the "status", its
    "number", what the "last" turn leaves, or a number that is folded, by the fold."""

    slot: int
    kind: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class SharedTurns:
    """Facts about a loop's turns: the carry, if threads may share them, or why
    they have to come in order though the user says that they need not."""

    carries: tuple[TurnCarry, ...] = ()
    ordered: str = ""
    counter: Counter | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """Steps over rows.

    `read` and `written` pair stacks with their rows: pointers to them, or scalars.
    """

    length: int
    reverse: bool
    read: tuple[tuple[int, int], ...]
    written: tuple[tuple[int, int], ...]
    steps: tuple[Step, ...]
    index: str
    line: Source | None = None
    turns: SharedTurns | None = None


@dataclass(frozen=True, slots=True)
class Counter:
    """A scalar that grows by a step in each turn of a loop, until it reaches a stop."""

    slot: int
    stop: int | ScalarConstant
    step: int
    index: str


@dataclass(frozen=True, slots=True)
class While:
    """Steps that are repeated as long as a scalar holds; `test` computes it first.

    With a counter it holds in all turns until the stop, if it does in the first. There
    are `most_turns`, where that is known.
    """

    test: tuple[Step, ...]
    holds: int | ScalarConstant
    steps: tuple[Step, ...]
    line: Source | None = None
    counter: Counter | None = None
    most_turns: int | None = None
    turns: SharedTurns | None = None


@dataclass(frozen=True, slots=True)
class ParallelLoop:
    """A loop whose turns threads share, as a function of its own.

    It is given `pointers`, `scalars` in memory of their own, `private` memory, of which
    each thread has its own, and memory for what each of the `parts` leaves in a scalar.
    A part has `grain` turns at least.
    """

    name: str
    loop: Loop | While
    grain: int
    turns: SharedTurns
    pointers: tuple[int, ...]
    scalars: tuple[tuple[int, int], ...]
    private: tuple[int, ...]
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """One of several lists of steps; the last one for other indices."""

    index: int
    branches: tuple[tuple[Step, ...], ...]
    line: Source | None = None


@dataclass(frozen=True, slots=True)
class LeaveLoop:
    """The innermost loop around ends at once."""


@dataclass(frozen=True, slots=True)
class Routine:
    """A function with loops in it: its own buffers, and those that it is given.

    The role of a buffer is "operand", "result" or "memory" where it is given, or
    "scalar", or "pointer" to another buffer's memory. A scalar that is given has
    memory, too.
    """

    name: str
    buffers: tuple[Buffer, ...]
    args: tuple[int, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class CallRoutine:
    """A routine run over buffers of the program."""

    routine: Routine
    buffers: tuple[int, ...]


Step = (
    Launch
    | CallMatmul
    | CallForeign
    | CallReference
    | Reshape
    | CallRoutine
    | LoadScalar
    | StoreScalar
    | Copy
    | Exchange
    | Assign
    | Loop
    | While
    | ParallelLoop
    | Branch
    | LeaveLoop
)


@dataclass(frozen=True, slots=True)
class BufferProgram:
    """Buffers by number; inputs and constants are given, steps make the rest.

    `reuses` pairs buffers with those whose memory they take over, once dead.
    `views` are the dtypes of results that kernels know as bits, by position.
    """

    name: str
    buffers: tuple[Buffer, ...]
    inputs: tuple[int, ...]
    constants: tuple[tuple[int, np.ndarray], ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    text: str  # the traced program
    reuses: tuple[tuple[int, int], ...] = ()
    views: tuple[tuple[int, str], ...] = ()

    def launches(self) -> tuple[Launch, ...]:
        """The steps that run kernels."""
        return tuple(s for s in self.steps if isinstance(s, Launch))
