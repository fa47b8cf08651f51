"""Layouts through one equation, by its primitive. Serves: sharding.value

A primitive without a rule of its own has one by how it is batched: where a batch may
stand in any dimension, no dimension that remains is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traceir import rules
from traceir.arrays.meshes import Shape
from traceir.arrays.propagation.specs import (
    Axes,
    GivenUp,
    Spec,
    first_come,
    joined,
    whole,
)
from traceir.base.fast_dataclass import dataclass

Rule = Callable[["LaidOutCall"], Spec]


@dataclass(frozen=True, slots=True)
class LaidOutCall:
    """A primitive with its operands' shapes and specs, its params, and the shapes of
    its results.
    """

    primitive: str
    shapes: Sequence[Shape]
    specs: Sequence[Spec]
    params: Mapping[str, Any]
    outs: Sequence[Shape]
    sizes: Mapping[str, int]  # of the axes of the mesh


RULES: dict[str, Rule] = {}


def results_of(call: LaidOutCall) -> list[Spec]:
    """The spec of each result; raises GivenUp where it would be a guess."""
    if not any(axes for spec in call.specs for axes in spec):
        return [whole(len(shape)) for shape in call.outs]
    if call.primitive in ("split", "unstack"):
        dropped = () if call.primitive == "split" else (call.params["axis"],)
        return [_without(call.specs[0], dropped)] * len(call.outs)
    if (rule := RULES.get(call.primitive)) is not None:
        return [rule(call)] * len(call.outs)
    return [_by_batch_rule(call)] * len(call.outs)


def _by_batch_rule(call: LaidOutCall) -> Spec:
    """The spec of results that have the shape of the operands, but for scalars."""
    batch = rules.default().prims[call.primitive].batch
    ndim = {len(shape) for shape in call.outs}
    kinds = ("pointwise", "aligned", "anywhere", "together")
    specs = [s for s in call.specs if s or ndim == {0}]
    if batch is None or batch.rule not in kinds or {len(s) for s in specs} != ndim:
        raise GivenUp("no rule says how a result lies")
    return joined(specs)


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return enter


def _without(spec: Spec, dimensions: Sequence[int]) -> Spec:
    ndim = len(spec)
    dropped = {d % ndim for d in dimensions}
    return tuple(axes for d, axes in enumerate(spec) if d not in dropped)


# -- dimensions that come, go and move -------------------------------------------------


@_rule("broadcast_in_dim")
def _broadcast(call: LaidOutCall) -> Spec:
    found: list[Axes] = [()] * len(call.params["shape"])
    pairs = zip(call.params["broadcast_dimensions"], call.specs[0], strict=True)
    for d, axes in pairs:
        found[d] = axes  # of an extent of 1 that is spread there are none
    return tuple(found)


@_rule("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and")
@_rule("reduce_or", "reduce_xor", "argmax", "argmin")
def _reduction(call: LaidOutCall) -> Spec:
    return _without(call.specs[0], call.params["axes"])


@_rule("squeeze")
def _squeeze(call: LaidOutCall) -> Spec:
    return _without(call.specs[0], call.params["dimensions"])


@_rule("transpose")
def _transpose(call: LaidOutCall) -> Spec:
    return tuple(call.specs[0][d] for d in call.params["permutation"])


@_rule("slice", "pad", "dynamic_slice", "dynamic_update_slice")
@_rule("scatter", "scatter-add", "scatter-max", "scatter-min", "scatter-mul")
@_rule("scatter-sub", "fft")
def _as_first(call: LaidOutCall) -> Spec:
    return call.specs[0]


@_rule("top_k")
def _top_k(call: LaidOutCall) -> Spec:
    axis = call.params["axis"] % len(call.specs[0])
    return tuple(() if d == axis else a for d, a in enumerate(call.specs[0]))


@_rule("cholesky")
def _of_each_matrix(call: LaidOutCall) -> Spec:
    return (*call.specs[0][:-2], (), ())


@_rule("concatenate")
def _concatenate(call: LaidOutCall) -> Spec:
    return joined(call.specs)


@_rule("stack")
def _stack(call: LaidOutCall) -> Spec:
    axis, spec = call.params["axis"], joined(call.specs)
    return (*spec[:axis], (), *spec[axis:])


@_rule("reshape")
def _reshape(call: LaidOutCall) -> Spec:
    """Dimensions that are joined or divided keep the axes of the first of them."""
    before, after = call.shapes[0], call.outs[0]
    found: list[Axes] = [()] * len(after)
    i = j = 0
    while i < len(before) and j < len(after):
        first, to = i, j
        i, j = _group(before, after, i, j)
        while first < i - 1 and before[first] == 1:
            first += 1
        axes = list(call.specs[0][first])
        for d in range(to, j):
            rest = after[d]
            while axes and rest % call.sizes[axes[0]] == 0:
                rest //= call.sizes[axes[0]]
                found[d] = (*found[d], axes.pop(0))
            if rest > 1:
                break
    return tuple(found)


def _group(before: Shape, after: Shape, i: int, j: int) -> tuple[int, int]:
    """The ends of the dimensions from these on that have as many elements."""
    have, want = before[i], after[j]
    i, j = i + 1, j + 1
    while have != want:
        if have < want and i < len(before):
            have, i = have * before[i], i + 1
        elif j < len(after):
            want, j = want * after[j], j + 1
        else:
            break
    return i, j


# -- products and indices --------------------------------------------------------------


@_rule("dot_general")
def _dot_general(call: LaidOutCall) -> Spec:
    (left_sums, right_sums), (left_batch, right_batch) = call.params[
        "dimension_numbers"
    ]
    left, right = call.specs
    batch = [
        joined([(left[a],), (right[b],)])[0]
        for a, b in zip(left_batch, right_batch, strict=True)
    ]
    free = [
        *_without(left, (*left_sums, *left_batch)),
        *_without(right, (*right_sums, *right_batch)),
    ]
    return first_come([*batch, *free])


@_rule("conv_general_dilated")
def _convolution(call: LaidOutCall) -> Spec:
    """The images and the features of the result; windows reach across parts."""
    images, kernel, result = call.params["dimension_numbers"]
    found: list[Axes] = [()] * len(result)
    groups = call.params["feature_group_count"], call.params["batch_group_count"]
    if groups == (1, 1):
        found[result[0]] = call.specs[0][images[0]]
        found[result[1]] = call.specs[1][kernel[0]]
    return first_come(found)


@_rule("gather")
def _gather(call: LaidOutCall) -> Spec:
    """Dimensions that are taken whole, and those of the indices."""
    offsets, collapsed, _, batched, by = call.params["dimension_numbers"]
    operand, indices = call.specs
    paired = dict(zip(by, batched, strict=True))
    sizes, shape = call.params["slice_sizes"], call.shapes[0]
    kept = [d for d in range(len(shape)) if d not in (*collapsed, *batched)]
    along = iter(
        [
            joined([(axes,), (operand[paired[d]],)])[0] if d in paired else axes
            for d, axes in enumerate(indices[:-1])
        ]
    )
    taken = {
        at: operand[d] if sizes[d] == shape[d] else ()
        for at, d in zip(offsets, kept, strict=True)
    }
    entries = range(len(call.outs[0]))
    return first_come([taken[d] if d in taken else next(along) for d in entries])
