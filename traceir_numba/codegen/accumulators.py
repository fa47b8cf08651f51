"""Accumulators of reductions, and the emitter that writers share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from traceir_numba.codegen.body import CodeWriter
from traceir_numba.emitters.kinds import Reduce
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.schedule import LoopOrder


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The names of a reduction's accumulators and of its result.

    `scratch` is the memory for what blocks leave, `fold` the function that joins
    accumulators.
    """

    result: str
    entry: Reduce
    dtypes: tuple[str, ...]
    names: tuple[str, ...]
    scratch: tuple[str, ...]
    fold: str

    def initial(self) -> tuple[str, ...]:
        """The accumulators' first values."""
        return self.entry.initial(self.dtypes[0])


class ReductionEmitter(Protocol):
    """A writer of the source of nests."""

    nest: LoopNest
    loops: LoopOrder
    code: CodeWriter

    @property
    def reductions(self) -> Sequence[Accumulators]:
        """Those of the pass that is written."""

    def enter(self, number: int) -> None:
        """Begin a pass."""

    def outer_loops(self) -> list[str]:
        """Loops over points that are kept."""

    def inner_loops(self, dims: Iterable[int]) -> list[str]:
        """Loops over all indices of some dimensions."""

    def make_accumulators(self) -> None:
        """Name the accumulators."""

    def clear(self, lanes: str = "width") -> None:
        """Give them their first values."""

    def body(self) -> None:
        """The straight-line code of one point."""

    def entering(self) -> list[str]:
        """The body's values that are reduced."""

    def update(
        self, place: str = "[lane]", values: Sequence[str] | None = None
    ) -> None:
        """Let values enter the accumulators: the body's, unless others are given."""

    def folded(
        self, a: Accumulators, names: tuple[str, ...], count: str, total: str
    ) -> str:
        """So many accumulators joined, as the result."""

    def counts(self, a: Accumulators, lanes: str, total: str) -> tuple[str, ...]:
        """The counts that a fold is told."""

    def as_result(self, number: int, text: str) -> str:
        """An accumulator as the result of that number."""

    def epilogue(self) -> None:
        """Write the epilogue, which computes from the results."""
