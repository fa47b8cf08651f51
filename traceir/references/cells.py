"""Cells for arrays: which trace has the array of one, read and written.

Serves: ref.state, ref.open, ref.region, ref.differentiated, ref.batched

A program has no references. The array of one that a traced function closes over is an
input of the program, and what was written is a result: a `StagingTrace` keeps a
`LocalState` of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Var
from traceir.tracing.staging import StagingTrace, line
from traceir.tracing.trace import (
    Trace,
    Tracer,
    Unplanned,
    Value,
    around,
    bind,
    current_trace,
    typeof,
)

DELETED = object()


@dataclass(frozen=True, slots=True)
class AbstractRef:
    """The type of a reference: that of the array in it."""

    inner_aval: ShapedArray
    memory_space: Any = None
    kind: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        return self.inner_aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self.inner_aval.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.inner_aval.size

    @property
    def weak_type(self) -> bool:
        """True if the array is of a weak type."""
        return self.inner_aval.weak_type

    def str_short(self) -> str:
        """The type as programs show it.

        >>> AbstractRef(typeof(np.zeros(3, "float32"))).str_short()
        'Ref{f32[3]}'
        """
        return f"Ref{{{self.inner_aval.str_short()}}}"

    def __repr__(self) -> str:
        extents = ",".join(map(str, self.shape))
        return f"Ref{{{self.dtype.name}[{extents}]}}"


class Cell:
    """The array of a reference, and the trace that it was made in, None for none."""

    __slots__ = ("aval", "_value", "_trace", "_written", "__weakref__")
    is_reference = True

    def __init__(self, aval: AbstractRef, value: Value) -> None:
        self.aval, self._value, self._written = aval, value, False
        self._trace = current_trace()

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size


@dataclass(slots=True)
class LocalState:
    """The array of an outer reference while a function is traced that uses it."""

    ref: Cell
    var: Var
    value: Value
    written: bool = False


def _cell(ref: Cell) -> tuple[Trace | None, Cell | LocalState]:
    """The innermost trace that has an array of its own for a reference, and what holds
    it there.

    Raises UnexpectedTracerError (ref.open), TypeError (ref.region).
    """
    if ref._value is DELETED:
        raise rules.error("ref.open", got=f"{ref.aval!r}, which was freed")
    trace = current_trace()
    if ref._trace is not None and all(t is not ref._trace for t in around(trace)):
        got = f"{ref.aval!r}, made in the trace of {ref._trace.name}"
        raise rules.error("ref.open", got=got)
    while trace is not None and trace is not ref._trace:
        if isinstance(trace, StagingTrace):
            return trace, _state(trace, ref)
        trace = trace.parent
    return trace, ref


def _state(trace: StagingTrace, ref: Cell) -> LocalState:
    if trace.plain:
        raise Unplanned
    if trace.refs is None:
        raise rules.error("ref.region", got=f"{trace.name}, for {trace.transform}")
    found: LocalState | None = trace.refs.get(id(ref))
    if found is None:
        var = Var(ref.aval.inner_aval)
        found = LocalState(ref, var, trace.tracer(var, trace, line()))
        trace.refs[id(ref)] = found
    return found


def read(ref: Cell) -> Any:
    """The array of a reference, in the trace in force."""
    _, cell = _cell(ref)
    return cell.value if isinstance(cell, LocalState) else cell._value


def write(ref: Cell, value: Value) -> None:
    """Put an array of its type into a reference.

    Raises TypeError (ref.differentiated, ref.batched) for one that only an inner trace
    knows.
    """
    aval = ref.aval.inner_aval
    if typeof(value).weak_type != aval.weak_type:
        kind = {"new_dtype": aval.dtype, "weak_type": aval.weak_type}
        value = bind("convert_element_type", value, **kind)
    home, cell = _cell(ref)
    for trace in around(current_trace()):
        if trace is home:
            break
        if trace.transform == "vmap":
            raise rules.error("ref.batched", got=f"{ref.aval!r} in {trace.name}")
        if isinstance(value, Tracer) and value._trace is trace:
            raise rules.error("ref.differentiated", got=f"{ref.aval!r} in {trace.name}")
    if isinstance(cell, LocalState):
        cell.value, cell.written = value, True
    else:
        cell._value, cell._written = value, True
