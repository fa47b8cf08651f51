"""The trace that batches: one example is traced, all are computed. Serves: batch.*"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from operator import or_

from traceir.arrays.array import LIVING, Array
from traceir.base import config, source_info
from traceir.ir.jaxpr import ClosedJaxpr, Params, programs_in
from traceir.ir.typecheck import infer
from traceir.tracing.knowledge import CHECKED, DIVIDED, passed_on
from traceir.tracing.staging import apply, stage
from traceir.tracing.trace import (
    Trace,
    Tracer,
    Value,
    in_force,
    living,
    typeof,
)
from traceir.transforms.batching.batching_rules import batching_rule, named_axes
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.registry import BatchAxis, Dim, Dims, Values


class BatchTracer(Tracer):
    """One example of a batch: its type is the example's, `batched` holds all.

    Where a type tells that examples may differ that are equal (shard_map.vma), there
    is one for all of them, and `dim` is None. `reads` has a bit for each argument that
    the value is computed from.
    """

    __slots__ = ("batched", "dim", "reads")
    _trace: BatchTrace

    def __init__(self, trace: BatchTrace, batched: Value, dim: Dim, reads: int) -> None:
        self.aval = trace.axis.example(typeof(batched), dim)
        self.batched = batched
        self.dim = dim
        self.reads = reads
        self._trace = trace
        self._source = config.local.source or source_info.capture()

    def __repr__(self) -> str:
        whole = typeof(self.batched)
        extents = ",".join(map(str, whole.shape))
        return f"{super().__repr__()} batched={whole.dtype.name}[{extents}]"

    @property
    def knowledge(self) -> str:
        """Knowledge of the batch, as far as this trace lets it be known."""
        return passed_on(self.batched, self._trace.transform)

    def arguments(self) -> list[str]:
        """The arguments of the batched function that the value is computed from."""
        paths = self._trace.paths
        return [path for k, path in enumerate(paths) if self.reads >> k & 1]

    def is_of_parts(self) -> bool:
        """True if devices have parts of the batch."""
        return isinstance(self.batched, Tracer) and self.batched.is_of_parts()


class BatchTrace(Trace):
    """A function being applied to all examples of an axis at once.

    An operation on values that are the same for every example stays one operation.
    """

    __slots__ = ("axis", "paths")
    kind = "BatchTrace"

    def __init__(self, axis: BatchAxis, name: str) -> None:
        super().__init__(name, "vmap")
        self.axis = axis
        if axis.name is not None:
            told = self.axes.get(CHECKED, ())
            checked = {CHECKED: (*told, axis.name)} if axis.checked else {}
            self.axes = {**self.axes, axis.name: axis.total, **checked}
        if axis.spmd:
            self.axes = {**self.axes, DIVIDED: axis.spmd}
        self.paths: Sequence[str] = ()

    def input(
        self, value: Value, dim: Dim, position: int, varies: bool = False
    ) -> Value:
        """One leaf of the arguments; it is no tracer if it is the same for all.

        With `varies` its type tells that it may not be.
        """
        if dim is None and not varies:
            return value
        return BatchTracer(self, value, dim, 1 << position)

    def take(self, value: Value) -> tuple[Value, Dim]:
        """The batch that a value stands for, and its batched dimension.

        Raises UnexpectedTracerError (level.lift) for a tracer that is not of this
        trace or of one around it.
        """
        if isinstance(value, BatchTracer) and value._trace is self:
            return value.batched, value.dim
        if isinstance(value, Tracer) and value._trace not in self.opened:
            self.admit(value)
        if self.axis.checked and type(value) in LIVING:
            # Of zeros that stand for a tangent a type may tell that they vary.
            aval = value.aval
            if self.axis.name in aval.vma:
                return Array._wrap(value._value, self.axis.batch(aval, None)), None
        return value, None

    def bind(self, primitive: str, values: Values, params: Params) -> Values:
        """Apply a primitive to all examples, in the trace around."""
        taken = [self.take(v) for v in values]
        operands, dims = [v for v, _ in taken], [d for _, d in taken]
        with in_force(self.parent):
            results, targets = batching_rule(
                primitive, self.axis, operands, dims, params
            )
        reads = functools.reduce(or_, (self.reads(v) for v in values), 0)
        varies = self.varies(primitive, values, params, len(results))
        return [
            BatchTracer(self, r, d, reads) if v or d is not None else r
            for r, d, v in zip(results, targets, varies, strict=True)
        ]

    def varies(
        self, primitive: str, values: Values, params: Params, count: int
    ) -> list[bool]:
        """True for each of the results whose type tells that examples may differ."""
        if not self.axis.checked:
            return [False] * count
        avals = tuple(map(typeof, values))
        given = dict(params)
        if "call_jaxpr" in given and not isinstance(given["call_jaxpr"], ClosedJaxpr):
            # A function that is no program yet.
            return [any(self.axis.name in aval.vma for aval in avals)] * count
        return [self.axis.name in aval.vma for aval in infer(primitive, avals, params)]

    def reads(self, value: Value) -> int:
        """The bits of the arguments that a value is computed from."""
        own = isinstance(value, BatchTracer) and value._trace is self
        return value.reads if own else 0

    def is_asked(self, primitive: str, params: Params) -> bool:
        """True if an operation names this axis, or programs in it have values that vary
        along it, whatever its operands are."""
        name = self.axis.name
        if name is None:
            return False
        if name in named_axes(primitive, params):
            return True
        return self.axis.checked and any(
            name in aval.vma
            for closed in programs_in(params)
            for aval in (*closed.in_avals, *closed.out_avals)
        )


def batch_program(
    closed: ClosedJaxpr, axis: BatchAxis, dims: Dims, dims_out: Dims | None = None
) -> tuple[ClosedJaxpr, tuple[Dim, ...]]:
    """The program that applies another to all examples, and its results' dimensions.

    `dims` are the batched dimensions of the inputs. With `dims_out`, results have
    theirs there; a result for which it is None must not be batched. Made once for
    each program, axis and dimensions.
    """
    wanted = None if dims_out is None else tuple(dims_out)
    key = "batch", axis, tuple(dims), wanted
    return closed.memo(key, lambda: _batch_program(closed, axis, tuple(dims), wanted))


def _batch_program(
    closed: ClosedJaxpr, axis: BatchAxis, dims: tuple[Dim, ...], wanted: Dims | None
) -> tuple[ClosedJaxpr, tuple[Dim, ...]]:
    """The batched program, and the batch dimensions of its results."""
    name = closed.jaxpr.debug_name
    found: list[Dim] = []

    def call(inputs: Values) -> Values:
        trace = BatchTrace(axis, name)
        with living(trace):
            rows = zip(inputs, dims, closed.in_avals, strict=True)
            examples = [
                trace.input(v, d, k, axis.checked and axis.name in a.vma)
                for k, (v, d, a) in enumerate(rows)
            ]
            taken = [trace.take(v) for v in apply(closed, examples)]
        if wanted is not None:
            taken = [_placed(pair, d, axis) for pair, d in zip(taken, wanted)]
        found.extend(d for _, d in taken)
        return [v for v, _ in taken]

    avals = [axis.batch(a, d) for a, d in zip(closed.in_avals, dims, strict=True)]
    paths = [""] * len(avals)
    face = config.local.context.face
    jaxpr, constants, captured = stage(call, avals, paths, name, "jit", face)
    assert not captured  # a program refers to nothing outside of it
    return ClosedJaxpr(jaxpr, constants, closed.backend), tuple(found)


def _placed(pair: tuple[Value, Dim], target: Dim, axis: BatchAxis) -> tuple[Value, Dim]:
    value, dim = pair
    if target is None:
        assert dim is None  # the caller asks for what the program has
        return pair
    return place_at(value, dim, axis.size, target), target
