"""Programs applied to many examples, by the column `batch` of the rows.

Where the column leaves the rule to code, the meaning of a batch is the rule: the
primitive is applied to each example, and the results are stacked. Serves: batch.*
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var
from traceir.oracle.transforms.builder import Beyond, DerivedProgram, regions_of
from traceir.oracle.transforms.collectives import across, names_of
from traceir.oracle.transforms.regions import stepwise
from traceir.oracle.transforms.templates import by_cases, named, operand_names
from traceir.rules import Prim, Rules, Scope
from traceir.rules.applied import row_scope

Dim = int | None
# Results, and the batched dimension of all of them.
Batched = tuple[list[Atom], Dim]


def batched(
    closed: ClosedJaxpr,
    dims: Sequence[Dim],
    size: int,
    rules: Rules,
    name: str | None = None,
) -> tuple[ClosedJaxpr, list[bool]]:
    """The program of so many examples, and which of its results differ among them.

    `dims` are the batched dimensions of the inputs; those of results are the first.
    Their axis may have a name.
    """
    builder = DerivedProgram(rules)
    pairs = zip(closed.in_avals, dims, strict=True)
    inputs = [Var(_with(a, d, size, name)) for a, d in pairs]
    env = builder.environment(closed, inputs)
    places: dict[Atom, Dim] = dict(zip(closed.jaxpr.invars, dims))
    for eqn in closed.eqns:
        values = [env[a] if isinstance(a, Var) else a for a in eqn.inputs]
        at = [places.get(a) if isinstance(a, Var) else None for a in eqn.inputs]
        outs, dim = _BatchedEquation(builder, eqn, values, at, size, name).results()
        env.update(zip(eqn.outputs, outs, strict=True))
        places.update(dict.fromkeys(eqn.outputs, dim))
    outvars = closed.jaxpr.outvars
    results = []
    for a in outvars:
        value = env[a] if isinstance(a, Var) else a
        dim = places.get(a) if isinstance(a, Var) else None
        results.append(value if dim is None else moved(builder, value, dim, 0))
    differ = [isinstance(a, Var) and places.get(a) is not None for a in outvars]
    return builder.closed(inputs, results), differ


def _with(aval: ShapedArray, dim: Dim, size: int, name: str | None) -> ShapedArray:
    """The type of all examples of a value, which does not tell that they vary."""
    vma = tuple(axis for axis in aval.vma if axis != name)
    shape = aval.shape
    if dim is not None:
        shape = (*shape[:dim], size, *shape[dim:])
    return aval.update(shape=shape, vma=vma)


def moved(builder: DerivedProgram, value: Atom, source: int, target: int) -> Atom:
    """The dimension at one place moved to another."""
    if source == target:
        return value
    order = [d for d in range(value.aval.ndim) if d != source]
    order.insert(target, source)
    return builder.apply("transpose", [value], {"permutation": tuple(order)})[0]


def speaks_of(name: str | None, program: ClosedJaxpr) -> bool:
    """True if an equation of a program, or of one within it, is over an axis."""
    return any(
        name in names_of(dict(eqn.params))
        or any(speaks_of(name, region) for region in regions_of(eqn.params))
        for eqn in program.eqns
    )


class _BatchedEquation:
    """One equation, applied to operands of which some are batches."""

    def __init__(
        self,
        builder: DerivedProgram,
        eqn: Eqn,
        values: list[Atom],
        dims: list[Dim],
        size: int,
        name: str | None = None,
    ) -> None:
        self.builder, self.eqn, self.values = builder, eqn, values
        self.dims, self.size, self.name = dims, size, name
        self.params: dict[str, Any] = dict(eqn.params)
        self.row: Prim = builder.rules.prims[eqn.primitive]

    def results(self) -> Batched:
        """By the class of the row."""
        if self.name in names_of(self.params):
            return self.across()
        if any(speaks_of(self.name, p) for p in regions_of(self.eqn.params)):
            return self.within()
        if all(d is None for d in self.dims):
            return self.applied(self.values, self.params, None)
        if self.row.name == "cond" and self.dims[0] is not None:
            return self.every_branch()
        if self.row.batch is None:
            raise Beyond(f"batches of {self.row.name}")
        return CLASSES[self.row.batch.rule](self)

    def applied(
        self, values: Sequence[Atom], params: Mapping[str, Any], dim: Dim
    ) -> Batched:
        return self.builder.apply(self.row.name, values, params), dim

    def example(self, k: int) -> tuple[int, ...]:
        """The shape of one example of an operand."""
        shape, dim = self.values[k].aval.shape, self.dims[k]
        return shape if dim is None else (*shape[:dim], *shape[dim + 1 :])

    def front(self, k: int, shape: Sequence[int]) -> Atom:
        """An operand with the batched dimension first, stretched to a shape."""
        value, dim = self.values[k], self.dims[k]
        if dim is None:
            return self.builder.stretched(value, shape)
        value = moved(self.builder, value, dim, 0)
        rank = value.aval.ndim
        return self.builder.stretched(value, shape, range(rank))

    def pointwise(self) -> Batched:
        """Extents of 1 and scalars stretch by themselves."""
        rank = max(len(self.example(k)) for k in range(len(self.values)))
        values = []
        for k, dim in enumerate(self.dims):
            shape = self.example(k)
            extents = (*shape, *(1,) * (rank - len(shape)))
            if dim is None and not shape:
                values.append(self.values[k])
            else:
                values.append(
                    self.front(k, (1 if dim is None else self.size, *extents))
                )
        return self.applied(values, self.params, 0)

    def aligned(self) -> Batched:
        """Operands of one shape; those that may be scalars stay so if all can."""
        assert self.row.batch is not None
        names = operand_names(self.row, len(self.values))
        shapes = [self.example(k) for k in range(len(names))]
        shape = (self.size, *max(shapes, key=len))
        may = [k for k, name in enumerate(names) if name in self.row.batch.scalars]
        stay = all(self.dims[k] is None and not shapes[k] for k in may)
        values = [
            v if k in may and stay else self.front(k, shape)
            for k, v in enumerate(self.values)
        ]
        return self.applied(values, self.params, 0)

    def anywhere(self) -> Batched:
        """The dimension stays where it is, if it is in one place in all operands."""
        own = [d for k, d in enumerate(self.dims) if not self.shared(k)]
        first = own[0]
        if first is not None and all(d == first for d in own):
            return self.placed(first, False)
        return self.first()

    def first(self) -> Batched:
        """The dimension is the first of all operands."""
        return self.placed(0, True)

    def together(self) -> Batched:
        """The dimension is where the first batch has it."""
        return self.placed(next(d for d in self.dims if d is not None), True)

    def shared(self, k: int) -> bool:
        """True of an operand that stays as it is if it is not batched."""
        assert self.row.batch is not None
        return operand_names(self.row, k + 1)[k] in self.row.batch.shared

    def placed(self, dim: int, moved: bool) -> Batched:
        """All operands have the dimension there; shared ones first, or not at all."""
        batch = self.row.batch
        assert batch is not None
        values = [
            v if to is None else self.at(k, to)
            for k, (v, to) in enumerate(zip(self.values, self.places(dim)))
        ]
        if batch.empty and not self.size:
            return [values[self.row.inputs.index(batch.empty)]], dim
        if not batch.cases:
            return self.by_formulas(values, dim, moved)
        scope = self.scope(dim, moved)
        found = by_cases(
            self.builder,
            self.row.name,
            batch.cases,
            Scope({"out": self.eqn.outputs[0].aval}, {}, scope),
            named(self.row, values),
            values[0],
        )
        assert found is not None
        return found, dim if batch.dim is None else batch.dim(scope)

    def places(self, dim: int) -> tuple[Dim, ...]:
        """The places of the dimension in the operands."""
        return tuple(
            dim if not self.shared(k) else None if d is None else 0
            for k, d in enumerate(self.dims)
        )

    def at(self, k: int, dim: int) -> Atom:
        """An operand with the batched dimension at a place."""
        value, own = self.values[k], self.dims[k]
        if own is not None:
            return moved(self.builder, value, own, dim)
        shape = [*self.example(k)]
        shape.insert(dim, self.size)
        kept = [d for d in range(len(shape)) if d != dim]
        return self.builder.stretched(value, shape, kept)

    def scope(self, dim: int, moved: bool) -> Scope:
        """The names of the formulas of the column."""
        batch, rules = self.row.batch, self.builder.rules
        assert batch is not None
        avals = [
            v.aval.update(shape=self.example(k)) for k, v in enumerate(self.values)
        ]
        outer = row_scope(self.row, avals, self.eqn.params, rules)
        known = {"d": dim, "size": self.size, "moved": moved, "sanitize": False}
        return Scope({**known, "dims": self.places(dim)}, batch.let, outer)

    def by_formulas(self, values: list[Atom], dim: int, moved: bool) -> Batched:
        """The params that the row has for a place of the dimension."""
        batch = self.row.batch
        assert batch is not None
        scope = self.scope(dim, moved)
        changed = {name: formula(scope) for name, formula in batch.params.items()}
        target: int = dim if batch.dim is None else batch.dim(scope)
        return self.applied(values, {**self.params, **changed}, target)

    def contraction(self) -> Batched:
        """A dimension batched in both operands is a batch dimension of the product; one
        that is batched in one of them is a free dimension of it."""
        contract, batch = self.params["dimension_numbers"]
        parts = [
            [
                tuple(a + (d is not None and a >= d) for a in axes[k])
                for axes in (contract, batch)
            ]
            for k, d in enumerate(self.dims)
        ]
        left, right = self.dims
        if left is not None and right is not None:
            parts[0][1], parts[1][1] = (left, *parts[0][1]), (right, *parts[1][1])
            dim = 0
        else:
            k = int(left is None)
            own = left if right is None else right
            assert own is not None
            before = {*parts[k][0], *parts[k][1]}
            dim = sum(a not in before for a in range(own))
            # The free dimensions of the second come after all of the first.
            dim += (
                len(batch[0]) if k == 0 else self.values[0].aval.ndim - len(contract[0])
            )
        numbers = tuple(tuple(parts[k][n] for k in (0, 1)) for n in (0, 1))
        return self.applied(
            self.values, {**self.params, "dimension_numbers": numbers}, dim
        )

    def across(self) -> Batched:
        """The results of all examples together: it is about their axis."""
        assert self.name is not None
        count = range(len(self.values))
        whole = [self.front(k, (self.size, *self.example(k))) for k in count]
        given = self.builder, self.row, self.params, whole, self.eqn.outputs[0].aval
        return [across(*given, self.size, self.name)], 0

    def within(self) -> Batched:
        """The results of a region in which something is about the axis."""
        if self.row.name == "cond" and self.dims[0] is None:
            branches = tuple(
                self.whole(b, self.dims[1:]) for b in self.params["branches"]
            )
            return self.applied(self.values, {"branches": branches}, 0)
        if self.row.name == "scan":
            closed = stepwise(self.builder, self.eqn, self.eqn.inputs)
        elif self.row.name in ("while", "cond"):
            raise Beyond("a loop or a choice over the axis")
        else:
            [closed] = regions_of(self.eqn.params)
        return self.builder.inlined(self.whole(closed, self.dims), self.values), 0

    def whole(self, closed: ClosedJaxpr, dims: Sequence[Dim]) -> ClosedJaxpr:
        """The program of all examples, with those of all results first."""
        rules = self.builder.rules
        found, differ = batched(closed, dims, self.size, rules, self.name)
        builder = DerivedProgram(rules)
        inputs = [Var(a) for a in found.in_avals]
        outs = builder.inlined(found, inputs)
        return builder.closed(
            inputs,
            [
                v if d else builder.stretched(v, (self.size, *v.aval.shape))
                for v, d in zip(outs, differ, strict=True)
            ],
        )

    def beside(self) -> Batched:
        """Of another axis: the dimension stays where it is."""
        (dim,) = self.dims
        assert dim is not None
        return self.by_formulas(self.values, dim, False)

    def each(self) -> Batched:
        """The stack of the results of the examples (accuracy.batched)."""
        if self.params.get("vmap_method", "") is None:
            raise self.builder.rules.error("callback.vmap")
        if self.row.name == "io_callback" and self.params["ordered"]:
            raise self.builder.rules.error("callback.ordered")
        if not self.size:
            raise Beyond("no examples")
        found = []
        for n in range(self.size):
            values = [
                v if d is None else self.one(v, d, n)
                for v, d in zip(self.values, self.dims)
            ]
            found.append(self.builder.apply(self.row.name, values, self.params))
        columns = zip(*found, strict=True)
        return [self.builder.apply("stack", c, {"axis": 0})[0] for c in columns], 0

    def every_branch(self) -> Batched:
        """Of each example what it chooses; all branches run (region.batched-choice)."""
        branches, found = self.params["branches"], []
        rest, dims = self.values[1:], self.dims[1:]
        for branch in branches:
            closed, differ = batched(
                branch, dims, self.size, self.builder.rules, self.name
            )
            outs = self.builder.inlined(closed, rest)
            found.append(
                [
                    v if d else self.builder.stretched(v, (self.size, *v.aval.shape))
                    for v, d in zip(outs, differ, strict=True)
                ]
            )
        apply, index = self.builder.apply, self.front(0, (self.size,))
        last = Literal(len(branches) - 1, ShapedArray((), "int32"))
        negative = apply("lt", [index, Literal(0, last.aval)])[0]
        index = apply("min", [index, last])[0]
        index = apply(
            "select_n", [negative, index, self.builder.stretched(last, (self.size,))]
        )[0]
        results = []
        for column in zip(*found, strict=True):
            chosen = column[0]
            for k, value in enumerate(column[1:], 1):
                here = apply("eq", [index, Literal(k, last.aval)])[0]
                here = self.builder.stretched(here, value.aval.shape, (0,))
                chosen = apply("select_n", [here, chosen, value])[0]
            results.append(chosen)
        return results, 0

    def one(self, value: Atom, dim: int, n: int) -> Atom:
        """Example number `n` of a batch."""
        shape = value.aval.shape
        starts = tuple(n if d == dim else 0 for d in range(len(shape)))
        limits = tuple(n + 1 if d == dim else s for d, s in enumerate(shape))
        params = {"start_indices": starts, "limit_indices": limits, "strides": None}
        part = self.builder.apply("slice", [value], params)[0]
        return self.builder.apply("squeeze", [part], {"dimensions": (dim,)})[0]


CLASSES: Mapping[str, Callable[[_BatchedEquation], Batched]] = {
    "pointwise": _BatchedEquation.pointwise,
    "aligned": _BatchedEquation.aligned,
    "anywhere": _BatchedEquation.anywhere,
    "front": _BatchedEquation.first,
    "together": _BatchedEquation.together,
    "contraction": _BatchedEquation.contraction,
    "region": _BatchedEquation.each,
    "collective": _BatchedEquation.beside,
}
