"""Operations applied once to whole batches, as their rows say. Serves: batch.*

Operands have the batched dimension where the class of the row has it; the row says what
becomes of the params, or which operations are applied in place of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from traceir import rules
from traceir.base.caches import cleared
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params, sort_params
from traceir.ir.typecheck import infer
from traceir.rules import Prim
from traceir.rules.applied import row_scope
from traceir.rules.formulas.scope import Scope
from traceir.tracing.trace import Value, bind_all, typeof
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.derivative_templates import (
    TemplatePlan,
    is_identity,
    planned,
    run,
)
from traceir.transforms.rules.registry import BatchAxis, Batched, Dim, Dims, Values


def apply_placed(
    row: Prim,
    axis: BatchAxis,
    values: Values,
    dims: Dims,
    params: Params,
    dim: int,
    moved: bool,
) -> Batched:
    """Apply what the row says, to operands that have the batched dimension there.

    Shared operands have it first, or not at all. Operations that change nothing are
    left out.
    """
    batch = row.batch
    assert batch is not None
    if batch.empty and not axis.size:
        k = row.inputs.index(batch.empty)
        return [place_at(values[k], dims[k], axis.size, dim)], [dim]
    names = operand_names(row, len(values))
    shared = [name in batch.shared for name in names]
    places = tuple(
        None if s and d is None else 0 if s else dim
        for s, d in zip(shared, dims, strict=True)
    )
    placed = _PlacedOperands(axis, values, dims, places)
    examples = tuple(
        typeof(v).update(shape=example_shape(v, d))
        for v, d in zip(values, dims, strict=True)
    )
    about = BatchedTypes(examples, places, axis.size, dim, moved)
    if batch.cases:
        plan, target = _template(row.name, about, params, local.context.sanitize)
        return run(plan, placed.by_name(row), values[0]), [target]
    # As the field's texts have it, shared operands are moved last.
    order = sorted(range(len(values)), key=shared.__getitem__)
    lined = [v for _, v in sorted([(k, placed[k]) for k in order], key=itemgetter(0))]
    changed, target = _formulas(row.name, about, params)
    if batch.rule == "front" and is_identity(
        row.name, tuple(map(typeof, lined)), changed
    ):
        return lined, (target,)
    return apply(row, lined, changed, target)


class _PlacedOperands(dict[int, Value]):
    """Operands by number, each placed when it is first asked for."""

    def __init__(
        self, axis: BatchAxis, values: Values, dims: Dims, places: Dims
    ) -> None:
        self.axis, self.values_, self.dims, self.places = axis, values, dims, places

    def __missing__(self, k: int) -> Value:
        place, value = self.places[k], self.values_[k]
        if place is not None:
            value = place_at(value, self.dims[k], self.axis.size, place)
        self[k] = value
        return value

    def by_name(self, row: Prim) -> Mapping[str, Any]:
        """The operands of a row as its templates name them."""
        return _ByName(row, self)


class _ByName(Mapping[str, Any]):
    """Operands by name, placed when they are read; a variadic one is several."""

    def __init__(self, row: Prim, operands: _PlacedOperands) -> None:
        self.row, self.operands = row, operands

    def __getitem__(self, name: str) -> Any:
        row, count = self.row, len(self.operands.dims)
        if name not in row.inputs:
            raise KeyError(name)
        k = row.inputs.index(name)
        if row.variadic and k == len(row.inputs) - 1:
            return [self.operands[n] for n in range(k, count)]
        return self.operands[k]

    def __iter__(self) -> Iterator[str]:
        return iter(self.row.inputs)

    def __len__(self) -> int:
        return len(self.row.inputs)


@dataclass(frozen=True, slots=True)
class BatchedTypes:
    """The types of one example's operands, and where batches have their dimension."""

    examples: tuple[ShapedArray, ...]
    dims: tuple[Dim, ...]
    size: int
    dim: int
    moved: bool

    def scope(self, row: Prim, params: Params, sanitize: bool) -> Scope:
        """The scope of the formulas of a row's column."""
        known: dict[str, Any] = {"d": self.dim, "size": self.size, "moved": self.moved}
        known |= {"dims": self.dims, "sanitize": sanitize}
        let = {} if row.batch is None else row.batch.let
        outer = row_scope(row, self.examples, params, rules.default())
        return Scope(known, let, outer)


@functools.lru_cache(4096, typed=True)
def _formulas(
    primitive: str, about: BatchedTypes, params: Params
) -> tuple[Params, int]:
    """The params of the batched primitive, and the batched dimension of its results."""
    row = rules.default().prims[primitive]
    batch = row.batch
    assert batch is not None
    scope = about.scope(row, params, False)
    changed = {name: formula(scope) for name, formula in batch.params.items()}
    target = about.dim if batch.dim is None else batch.dim(scope)
    return sort_params({**dict(params), **changed}), target


@functools.lru_cache(4096, typed=True)
def _template(
    primitive: str, about: BatchedTypes, params: Params, sanitize: bool
) -> tuple[TemplatePlan, int]:
    """The plan of the template of a batch, and the batched dimension of its result."""
    row = rules.default().prims[primitive]
    batch = row.batch
    assert batch is not None
    scope = about.scope(row, params, sanitize)
    target = about.dim if batch.dim is None else batch.dim(scope)
    outs = {"out": lambda _: infer(primitive, about.examples, params)[0]}
    scope = Scope({}, outs, scope)
    holds = (c.template for c in batch.cases if c.when is None or c.when(scope))
    template = next(holds)
    assert template is not None
    return planned(template, scope, len(about.dims) - row.arity), target


for _cached in (_formulas, _template):
    cleared(_cached.cache_clear)


def apply_at(
    row: Prim, axis: BatchAxis, value: Value, dim: int, params: Params
) -> Batched:
    """Apply a primitive of one operand with the params for its batched dimension."""
    examples = (typeof(value).update(shape=example_shape(value, dim)),)
    about = BatchedTypes(examples, (dim,), axis.size, dim, False)
    changed, target = _formulas(row.name, about, params)
    return apply(row, [value], changed, target)


def apply(row: Prim, values: Values, params: Params, dim: int) -> Batched:
    """Apply a primitive to batches; results have the batched dimension there."""
    results = bind_all(row.name, values, params)
    return results, (dim,) * len(results)


def example_shape(value: Value, dim: Dim) -> tuple[int, ...]:
    """The shape of one example of a value."""
    shape = typeof(value).shape
    return shape if dim is None else _without(shape, dim)


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return shape[:dim] + shape[dim + 1 :]


def operand_names(row: Prim, count: int) -> list[str]:
    """The names of the operands, that of a variadic one repeated."""
    last = [row.inputs[-1]] * (count - len(row.inputs))
    return [*row.inputs, *last][:count]
