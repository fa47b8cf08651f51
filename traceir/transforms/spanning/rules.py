"""An operation on whole arrays as one on parts, where it can be one.

A rule says how operands have to lie so that each process can do its part by itself, and
what the params of that are. Where there is none, all that divides the operands is
gathered first, and each process does the whole. Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from traceir import rules
from traceir.arrays.meshes import Shape
from traceir.arrays.propagation.primitives import LaidOutCall, results_of
from traceir.arrays.propagation.specs import GivenUp, Spec, dividing, joined
from traceir.base.fast_dataclass import dataclass

Extents = Callable[[Shape, Spec], Shape]


@dataclass(frozen=True, slots=True)
class PartCall:
    """An operation on parts: how its operands lie, how its results do, its params."""

    operands: Sequence[Spec]
    results: Sequence[Spec]
    params: dict[str, Any]


Rule = Callable[[LaidOutCall, Extents], PartCall]
RULES: dict[str, Rule] = {}


def part_call(call: LaidOutCall, extents: Extents) -> PartCall | None:
    """The operation on parts; None where there is none.

    `extents` gives the shape of a part of an array.
    """
    rule = RULES.get(call.primitive)
    try:
        if rule is not None:
            found = rule(call, extents)
        elif _is_elementwise(call.primitive):
            found = _elementwise(call)
        else:
            return None
    except GivenUp:
        return None
    evenly = all(
        dividing(spec, shape, call.sizes) == spec
        for spec, shape in zip(found.results, call.outs, strict=True)
    )
    return found if evenly else None


def _is_elementwise(primitive: str) -> bool:
    row = rules.default().prims.get(primitive)
    batch = None if row is None else row.batch
    return batch is not None and batch.rule in ("pointwise", "aligned")


def _elementwise(call: LaidOutCall) -> PartCall:
    """Extents of 1 stretch, and scalars do: they are not divided."""
    [out] = set(call.outs)
    full = [
        _fitted(spec, shape, out)
        for spec, shape in zip(call.specs, call.shapes, strict=True)
        if len(shape) == len(out)
    ]
    spec = joined(full)
    wanted = [
        _fitted(spec, shape, out) if len(shape) == len(out) else ((),) * len(shape)
        for shape in call.shapes
    ]
    return PartCall(wanted, [spec] * len(call.outs), dict(call.params))


def _fitted(spec: Spec, shape: Shape, out: Shape) -> Spec:
    return tuple(
        axes if n == m else () for axes, n, m in zip(spec, shape, out, strict=True)
    )


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return enter


def _kept(spec: Spec, whole: Sequence[int]) -> Spec:
    """The spec, with these dimensions undivided."""
    return tuple(() if d in whole else axes for d, axes in enumerate(spec))


def _of_first(call: LaidOutCall, spec: Spec, **params: Any) -> PartCall:
    """A call of one operand that lies so; its results as propagation has them."""
    laid = LaidOutCall(
        *(call.primitive, call.shapes, [spec, *call.specs[1:]], call.params),
        *(call.outs, call.sizes),
    )
    results = results_of(laid)
    return PartCall([spec, *call.specs[1:]], results, {**call.params, **params})


@_rule("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and")
@_rule("reduce_or", "reduce_xor", "argmax", "argmin")
def _reduction(call: LaidOutCall, extents: Extents) -> PartCall:
    """A reduced dimension is whole, so terms are added in one order."""
    return _of_first(call, _kept(call.specs[0], call.params["axes"]))


@_rule("transpose", "squeeze")
def _as_propagated(call: LaidOutCall, extents: Extents) -> PartCall:
    return _of_first(call, call.specs[0])


@_rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _cumulative(call: LaidOutCall, extents: Extents) -> PartCall:
    spec = _kept(call.specs[0], (call.params["axis"],))
    return PartCall([spec], [spec], dict(call.params))


@_rule("rev")
def _reversed(call: LaidOutCall, extents: Extents) -> PartCall:
    spec = _kept(call.specs[0], call.params["dimensions"])
    return PartCall([spec], [spec], dict(call.params))


@_rule("broadcast_in_dim")
def _broadcast(call: LaidOutCall, extents: Extents) -> PartCall:
    if len(call.specs) > 1:
        raise GivenUp("extents that are values")
    found = _of_first(call, call.specs[0])
    shape = extents(call.params["shape"], found.results[0])
    return PartCall(found.operands, found.results, {**call.params, "shape": shape})


@_rule("reshape")
def _reshape(call: LaidOutCall, extents: Extents) -> PartCall:
    """The dimensions that axes divide begin groups of as many elements."""
    found = _of_first(call, call.specs[0])
    before, after = call.specs[0], found.results[0]
    shapes = call.shapes[0], call.outs[0]
    outer = [_outer(*row, call.sizes) for row in zip((before, after), shapes)]
    if outer[0] != outer[1]:
        raise GivenUp("other elements in each part")
    sizes = extents(call.outs[0], after)
    return PartCall(found.operands, found.results, {**call.params, "new_sizes": sizes})


def _outer(spec: Spec, shape: Shape, sizes: Mapping[str, int]) -> dict[str, int]:
    """Of each axis how often all of it comes: the extents outside of it."""
    found: dict[str, int] = {}
    for d, axes in enumerate(spec):
        outside = prod(shape[:d])
        for axis in axes:
            found[axis] = outside
            outside *= sizes[axis]
    return found


@_rule("slice")
def _slice(call: LaidOutCall, extents: Extents) -> PartCall:
    """Dimensions that are cut are whole; of others each process has its part."""
    shape, params = call.shapes[0], call.params
    strides = params["strides"] or (1,) * len(shape)
    rows = zip(params["start_indices"], params["limit_indices"], strides, shape)
    cut = [d for d, (a, b, s, n) in enumerate(rows) if (a, b, s) != (0, n, 1)]
    spec = _kept(call.specs[0], cut)
    part = extents(shape, spec)
    limits = tuple(
        b if d in cut else part[d] for d, b in enumerate(params["limit_indices"])
    )
    return PartCall([spec], [spec], {**params, "limit_indices": limits})


@_rule("concatenate")
def _concatenate(call: LaidOutCall, extents: Extents) -> PartCall:
    along = (call.params["dimension"],)
    spec = joined([_kept(spec, along) for spec in call.specs])
    return PartCall([spec] * len(call.specs), [spec], dict(call.params))


@_rule("dot_general")
def _dot_general(call: LaidOutCall, extents: Extents) -> PartCall:
    """Contracted dimensions are whole; batches lie in one way in both operands."""
    sums, batches = call.params["dimension_numbers"]
    left, right = (
        _kept(spec, axes) for spec, axes in zip(call.specs, sums, strict=True)
    )
    for a, b in zip(*batches, strict=True):
        [both] = joined([(left[a],), (right[b],)])
        left = tuple(both if d == a else axes for d, axes in enumerate(left))
        right = tuple(both if d == b else axes for d, axes in enumerate(right))
    used = {axis for axes in left for axis in axes}
    shared = {axis for a in batches[0] for axis in left[a]}
    right = tuple(
        axes if d in batches[1] or not used.difference(shared).intersection(axes)
        else () for d, axes in enumerate(right)
    )  # fmt: skip
    laid = LaidOutCall(
        *(call.primitive, call.shapes, [left, right], call.params),
        *(call.outs, call.sizes),
    )
    return PartCall([left, right], results_of(laid), dict(call.params))
