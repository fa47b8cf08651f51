"""Rules of `cond`: one equation again, on transformed branches.

Serves: derive.cond, batch.cond
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.tracing.staging import apply
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.autodiff.cached_transforms import (
    jvp_program,
    linearize_program,
    transpose_program,
)
from traceir.transforms.batching.batch_trace import batch_program
from traceir.transforms.control import regions
from traceir.transforms.rules.axes import at_front
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    LINEARIZE,
    TRANSPOSE,
    BatchAxis,
    Batched,
    Cotangents,
    Dims,
    JvpResult,
    LinearizeResult,
    LinearOperand,
    Mask,
    Tangents,
    Values,
)
from traceir.transforms.rules.rewrites import spread


def branches_of(params: Params) -> tuple[ClosedJaxpr, ...]:
    """The programs that a `cond` chooses between."""
    found: tuple[ClosedJaxpr, ...] = regions.given(params)["branches"]
    return found


def jvp_cond(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """A tangent that one branch gives is zeros in the others."""
    branches = branches_of(params)
    made = [jvp_program(b, regions.moving(tangents[1:])) for b in branches]
    moves = regions.any_of([mask for _, mask in made])
    avals = branches[0].out_avals
    programs = tuple(
        regions.with_tangents(p, len(avals), avals, mask, moves) for p, mask in made
    )
    found = regions.region(
        "cond", [*primals, *regions.nonzero(tangents)], branches=programs
    )
    return found[: len(avals)], regions.symbolic(found[len(avals) :], moves, avals)


def linearize_cond(primals: Values, moved: Mask, params: Params) -> LinearizeResult:
    """Residuals of all branches in common places: those of other branches are zeros."""
    branches = branches_of(params)
    made = [linearize_program(b, moved[1:]) for b in branches]
    moves = regions.any_of([m.nonzero for m in made])
    avals = branches[0].out_avals
    count = len(avals)
    merged, places = common([m.forward.out_avals[count:] for m in made])
    forward, linear = [], []
    for part, own in zip(made, places, strict=True):
        slots: list[regions.Slot] = [*range(count), *merged]
        for k, place in enumerate(own):
            slots[count + place] = count + k
        forward.append(regions.extended(part.forward, slots))
        program = spread(part.linear, own, merged)
        linear.append(regions.with_tangents(program, 0, avals, part.nonzero, moves))
    found = regions.region("cond", primals, branches=tuple(forward))

    def push(residuals: Values, tangents: Values) -> Tangents:
        return regions.region("cond", [*residuals, *tangents], branches=tuple(linear))

    return found[:count], moves, [primals[0], *found[count:]], push


def common(
    lists: Sequence[Sequence[ShapedArray]],
) -> tuple[list[ShapedArray], list[list[int]]]:
    """A list of types that has those of each of several lists, and where it has them.

    >>> f, i = ShapedArray((), "float32"), ShapedArray((), "int32")
    >>> common([[f], [i, f, f]])[1]
    [[0], [1, 0, 2]]
    """
    numbers: dict[tuple[ShapedArray, int], int] = {}
    places = []
    for avals in lists:
        seen = Counter[ShapedArray]()
        own = []
        for aval in avals:
            own.append(numbers.setdefault((aval, seen[aval]), len(numbers)))
            seen[aval] += 1
        places.append(own)
    return [aval for aval, _ in numbers], places


def transpose_cond(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """The branch that ran is transposed; a cotangent that it does not give is zeros."""
    index, *rest = operands
    linear = [type(v) is LinearOperand for v in rest]
    made = [
        transpose_program(b, linear, regions.moving(cotangents))
        for b in branches_of(params)
    ]
    moves = regions.any_of([mask for _, mask in made])
    avals = [v.aval for v in rest if type(v) is LinearOperand]
    programs = tuple(
        regions.with_tangents(p, 0, avals, mask, moves) for p, mask in made
    )
    values = [v for v in rest if type(v) is not LinearOperand]
    found = regions.region(
        "cond", [index, *values, *regions.nonzero(cotangents)], branches=programs
    )
    pulled = iter(regions.symbolic(found, moves, avals))
    return [None, *(next(pulled) if moved else None for moved in linear)]


def batch_cond(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
    """A choice for all examples is one still; one for each runs all branches."""
    branches = branches_of(params)
    if dims[0] is not None:
        return _select(axis, values, dims, branches)
    batched = [0 if d is not None else None for d in dims[1:]]
    operands = [
        v if d is None else at_front(v, d, axis.size)
        for v, d in zip(values[1:], dims[1:], strict=True)
    ]
    made = [batch_program(b, axis, batched)[1] for b in branches]
    moves = regions.any_of([[d is not None for d in found] for found in made])
    wanted = [0 if m else None for m in moves]
    programs = tuple(batch_program(b, axis, batched, wanted)[0] for b in branches)
    return regions.region("cond", [values[0], *operands], branches=programs), wanted


def _select(
    axis: BatchAxis, values: Values, dims: Dims, branches: Sequence[ClosedJaxpr]
) -> Batched:
    """All branches on all examples."""
    index, *operands = (
        at_front(v, d, axis.size) for v, d in zip(values, dims, strict=True)
    )
    zero, zeros = [0] * len(operands), [0] * len(branches[0].out_avals)
    programs = [batch_program(branch, axis, zero, zeros)[0] for branch in branches]
    return of_all_branches(index, operands, programs), zeros


def of_all_branches(
    index: Value, operands: Values, branches: Sequence[ClosedJaxpr]
) -> list[Value]:
    """The results of all branches, and of each the one that was chosen.

    The results of a branch for examples that do not choose it must not spoil their
    derivatives: those see a constant.
    """
    found = []
    for k, branch in enumerate(branches):
        mine = bind("eq", index, typeof(index).dtype.type(k))
        inputs = [select_lanes(mine, bind("stop_gradient", x), x) for x in operands]
        found.append(apply(branch, inputs))
    return [select_lanes(index, *cases) for cases in zip(*found, strict=True)]


def select_lanes(which: Value, *cases: Value) -> Value:
    """The case that is chosen for each lane; lanes are the first dimensions."""
    shape, lanes = typeof(cases[0]).shape, typeof(which).ndim
    if lanes < len(shape):
        dims = tuple(range(lanes))
        which = bind("broadcast_in_dim", which, shape=shape, broadcast_dimensions=dims)
    return bind("select_n", which, *cases)


JVP["cond"] = jvp_cond
LINEARIZE["cond"] = linearize_cond
TRANSPOSE["cond"] = transpose_cond
BATCH["cond"] = batch_cond
