"""Batching of functions with rules of their own.

Serves: batch.custom
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, HostFunction, Params, sort_params
from traceir.tracing.trace import Value, bind_all, living, typeof
from traceir.transforms.batching.batch_trace import BatchTrace, batch_program
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.registry import (
    BATCH,
    BatchAxis,
    Batched,
    Cotangent,
    Cotangents,
    Dim,
    Dims,
    Mask,
    Tangent,
    Tangents,
    Values,
    Zero,
)


def over_batch(
    call: Callable[[list[Value]], Values], axis: BatchAxis, values: Values, dims: Dims
) -> list[tuple[Value, Dim]]:
    """A function of examples applied to a batch; results and their dimensions."""
    trace = BatchTrace(axis, "a derivative rule")
    with living(trace):
        examples = [
            trace.input(value, dim, k)
            for k, (value, dim) in enumerate(zip(values, dims, strict=True))
        ]
        return [trace.take(v) for v in call(examples)]


def placed(
    pair: tuple[Value, Dim], axis: BatchAxis, dim: Dim, clause: str = ""
) -> Value:
    """A result with its batch at a dimension; as it is where there is to be none.

    Raises TypeError by the clause for one that differs among devices and must not.
    """
    if dim is not None:
        return place_at(*pair, axis.size, dim)
    if pair[1] is not None and clause:
        got = f"one that may vary along {axis.name!r} where the function's does not"
        raise rules.error(clause, got=got)
    return pair[0]


def batched_call(
    closed: ClosedJaxpr, axis: BatchAxis, dims: Dims
) -> tuple[ClosedJaxpr, Dims]:
    """The program for a batch, all of whose results are batched that may vary.

    The rule may batch a result that the function does not, and both must agree. Where
    types tell what varies, the rule's are those of the function (shard_map.vma).
    """
    program, found = batch_program(closed, axis, dims)
    wanted = tuple(
        0 if d is None and not (axis.checked and axis.name not in aval.vma) else d
        for d, aval in zip(found, closed.out_avals, strict=True)
    )
    return (
        (program, found)
        if wanted == found
        else batch_program(closed, axis, dims, wanted)
    )


def batch_custom_jvp(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The program and the rule, for a batch."""
    given: dict[str, Any] = dict(params)
    program, dims_out = batched_call(given["call_jaxpr"], axis, dims)
    own = tuple(dims[given["num_consts"] :])
    jvp = given["jvp"]
    if jvp.function is not None:
        jvp = HostFunction(jvp.name, BatchedJvp(jvp.function, axis, own, dims_out))
    given.update(call_jaxpr=program, jvp=jvp)
    return bind_all("custom_jvp_call", values, sort_params(given)), dims_out


@dataclass(frozen=True, eq=False)
class _BatchedRule:
    """A rule of one example, and where operands and results have their batches."""

    rule: Callable[..., Any]
    axis: BatchAxis
    dims: Dims
    dims_out: Dims
    clause: ClassVar[str] = ""  # of results that are not those of the function

    def result(self, pair: tuple[Value, Dim], dim: Dim) -> Value:
        """A result with its batch where the function's has it."""
        return placed(pair, self.axis, dim, self.clause)


class BatchedJvp(_BatchedRule):
    """A JVP rule for a batch, whose results have their batches where it is told."""

    clause = "custom_jvp.types"

    def __call__(
        self, primals: Values, tangents: Tangents
    ) -> tuple[list[Value], list[Tangent]]:
        """Results and tangents."""
        count = len(self.dims_out)
        moving = [k for k, t in enumerate(tangents) if not isinstance(t, Zero)]
        zero: dict[int, Zero] = {}

        def call(examples: list[Value]) -> list[Value]:
            own = iter(examples[len(primals) :])
            given = [
                next(own) if k in moving else Zero(typeof(example))
                for k, example in enumerate(examples[: len(primals)])
            ]
            outs, found = self.rule(examples[: len(primals)], given)
            zero.update((k, t) for k, t in enumerate(found) if isinstance(t, Zero))
            return [*outs, *(t for t in found if not isinstance(t, Zero))]

        # Where one tangent has its batch is where the primal has it.
        values = [*primals, *(tangents[k] for k in moving)]
        dims = [*self.dims, *(self.dims[k] for k in moving)]
        pairs = over_batch(call, self.axis, values, dims)
        outs = [self.result(*p) for p in zip(pairs, self.dims_out)]
        rest = iter(pairs[count:])
        return outs, [
            Zero(typeof(out)) if k in zero else self.result(next(rest), dim)
            for k, (out, dim) in enumerate(zip(outs, self.dims_out, strict=True))
        ]


def batch_custom_vjp(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The program and both rules, for a batch."""
    given: dict[str, Any] = dict(params)
    program, dims_out = batched_call(given["call_jaxpr"], axis, dims)
    own = tuple(dims[given["num_consts"] :])
    fwd, bwd = given["fwd"], given["bwd"]
    if fwd.function is not None and bwd.function is not None:
        fwd = HostFunction(fwd.name, BatchedForward(fwd.function, axis, own, dims_out))
        bwd = HostFunction(bwd.name, BatchedBackward(bwd.function, axis, own, dims_out))
    given.update(call_jaxpr=program, fwd=fwd, bwd=bwd)
    return bind_all("custom_vjp_call", values, sort_params(given)), dims_out


class BatchedForward(_BatchedRule):
    """A forward rule for a batch; residuals keep the dimensions that they come with."""

    clause = "custom_vjp.results"

    def __call__(
        self, primals: Values, moving: Mask | None = None
    ) -> tuple[Any, Any, Any]:
        """Results, residuals, and the data for the backward rule."""
        known: list[Any] = []

        def call(examples: list[Value]) -> list[Value]:
            outs, residuals, trees = self.rule(examples, moving)
            known.extend([trees, tuple(map(typeof, examples))])
            return [*outs, *residuals]

        pairs = over_batch(call, self.axis, primals, self.dims)
        count = len(self.dims_out)
        outs = [self.result(*p) for p in zip(pairs[:count], self.dims_out, strict=True)]
        residuals = pairs[count:]
        return outs, [v for v, _ in residuals], (*known, [d for _, d in residuals])


class BatchedBackward(_BatchedRule):
    """A backward rule for a batch; operands that all examples share get the sum of
    theirs.
    """

    def __call__(
        self,
        known: tuple[Any, tuple[ShapedArray, ...], list[Dim]],
        residuals: Values,
        cotangents: Cotangents,
        avals: Sequence[ShapedArray],
    ) -> list[Cotangent]:
        """The cotangent of each input."""
        trees, examples, dims = known
        zero: set[int] = set()
        count = len(residuals)
        outs = list(zip(cotangents, self.dims_out, strict=True))

        def call(values: list[Value]) -> list[Value]:
            rest = iter(values[count:])
            cts = [
                Zero(example_of(ct.aval, dim)) if isinstance(ct, Zero) else next(rest)
                for ct, dim in outs
            ]
            found = self.rule(trees, values[:count], cts, examples)
            zero.update(k for k, ct in enumerate(found) if isinstance(ct, Zero))
            return [ct for ct in found if not isinstance(ct, Zero)]

        real = [pair for pair in outs if not isinstance(pair[0], Zero)]
        values = [*residuals, *(ct for ct, _ in real)]
        places = [*dims, *(dim for _, dim in real)]
        pairs = iter(over_batch(call, self.axis, values, places))
        return [
            Zero(aval) if k in zero else self.gathered(next(pairs), dim)
            for k, (aval, dim) in enumerate(zip(avals, self.dims, strict=True))
        ]

    def gathered(self, pair: tuple[Value, Dim], dim: Dim) -> Value:
        """The cotangent of an input whose batch is at `dim`, or that has none."""
        if dim is not None or pair[1] is None:
            return placed(pair, self.axis, dim)
        params: Params = (("axes", (pair[1],)), ("out_sharding", None))
        return bind_all("reduce_sum", [pair[0]], params)[0]


def example_of(aval: ShapedArray, dim: Dim) -> ShapedArray:
    """The type of one example of a batch."""
    return aval.update(shape=[n for k, n in enumerate(aval.shape) if k != dim])


def batch_custom_primitive(
    axis: BatchAxis, values: Values, dims: Dims, params: Params
) -> Batched:
    """The batching rule of a user's primitive; its program, where the name alone is
    known."""
    given: dict[str, Any] = dict(params)
    call = given["primitive"].function
    if call is not None:
        found: Batched = call.batch(axis, values, dims, params)
        return found
    program, dims_out = batched_call(given["call_jaxpr"], axis, dims)
    given.update(call_jaxpr=program)
    return bind_all("custom_primitive_call", values, sort_params(given)), dims_out


BATCH["custom_jvp_call"] = batch_custom_jvp
BATCH["custom_primitive_call"] = batch_custom_primitive
BATCH["custom_vjp_call"] = batch_custom_vjp
