"""A compiled program as data: buffers, and the steps that fill them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceir.ir import Eqn
from traceir.source import Source
from traceir_numba.nests import Nest

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
    """What a reader may know a value by: its name and the user's line."""

    name: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of a nest's nodes and pointers; no part of what identifies a kernel."""

    body: tuple[Label, ...]
    finish: tuple[Label, ...]
    pointers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel run over buffers, with the extents of its loops and its parameters."""

    nest: Nest
    buffers: tuple[int, ...]
    extents: Shape
    params: tuple[int, ...]
    labels: Labels


@dataclass(frozen=True, slots=True)
class Call:
    """A library's function on whole buffers."""

    eqn: Eqn
    inputs: tuple[int, ...]
    output: int


@dataclass(frozen=True, slots=True)
class Reshape:
    """Another shape for the same memory; `copied` where it becomes a result."""

    source: int
    output: int
    copied: bool = False


Step = Launch | Call | Reshape


@dataclass(frozen=True, slots=True)
class Program:
    """Buffers by number; inputs and constants are given, steps make the rest."""

    name: str
    buffers: tuple[Buffer, ...]
    inputs: tuple[int, ...]
    constants: tuple[tuple[int, np.ndarray], ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    text: str  # the traced program

    def launches(self) -> tuple[Launch, ...]:
        """The steps that run kernels."""
        return tuple(s for s in self.steps if isinstance(s, Launch))
