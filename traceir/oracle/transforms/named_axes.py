"""Functions over named axes, and functions of the parts of arrays.

Serves: axis.unbound, shard_map.*, sharding.divides, sharding.rank
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import kind_of
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Var
from traceir.oracle.transforms.batches import batched, speaks_of
from traceir.oracle.transforms.builder import Beyond, regions_of
from traceir.oracle.transforms.collectives import names_of
from traceir.oracle.transforms.recordings import Recordings
from traceir.oracle.transforms.terms import Term
from traceir.pytrees import flatten
from traceir.rules import Rules

Fun = Callable[..., Any]
Names = str | tuple[str, ...]
# Equations that run the one program in their params.
CALLS = ("jit", "remat2", "custom_jvp_call", "custom_vjp_call")
# A primitive applied to values, with params.
Bind = Callable[..., Any]


class NamedAxes:
    """Applications over the axes that are named now."""

    def __init__(self, functions: Recordings, bind: Bind) -> None:
        self.functions = functions
        self.bind = bind
        self.sizes: Mapping[str, int] = functions.sizes
        self.rules: Rules = functions.rules

    def known(self, names: Names) -> tuple[str, ...]:
        """The names of axes, all of which are open."""
        found = names if isinstance(names, tuple) else (names,)
        if not all(name in self.sizes for name in found):
            raise self.rules.error("axis.unbound")
        return found

    def folded(self, axes: Any) -> tuple[Any, ...]:
        """The axes of a fold, of which some may be numbers of dimensions."""
        found = axes if isinstance(axes, tuple) else (axes,)
        self.known(tuple(a for a in found if isinstance(a, str)))
        return found

    def axis_size(self, axis_name: Names) -> int:
        """The number of examples."""
        return prod(self.sizes[name] for name in self.known(axis_name))

    def axis_index(self, axis_name: str) -> Any:
        """The number of the example."""
        self.known(axis_name)
        return self.varied(self.bind("axis_index", axis_name=axis_name), axis_name)

    def varied(self, x: Any, axis_name: Names) -> Any:
        """A value that may vary along those axes of which types tell it."""
        names = self.known(axis_name)
        told = [name for name in self.functions.checked if name in names]
        return self.functions.varied(x, told)

    def pcast(self, x: Any, axis_name: Names, to: str) -> Any:
        """A value that is the same along axes as one that may vary."""
        names, value = self.known(axis_name), self.functions.as_term(x)
        if to != "varying" or any(name in value.aval.vma for name in names):
            raise self.rules.error("axis.cast")
        return self.varied(value, names)

    def psum(self, x: Any, axis_name: Names) -> Any:
        """The sum over all examples; of a number, as often as there are any."""
        if isinstance(x, int | float):
            return x * self.axis_size(axis_name)
        return self.bind("psum", x, axes=self.folded(axis_name))

    def pmax(self, x: Any, axis_name: Names) -> Any:
        """The largest of all examples."""
        return self.bind("pmax", x, axes=self.folded(axis_name))

    def pmin(self, x: Any, axis_name: Names) -> Any:
        """The smallest of all examples."""
        return self.bind("pmin", x, axes=self.folded(axis_name))

    def pmean(self, x: Any, axis_name: Names) -> Any:
        """The sum, divided by the number of examples."""
        if kind_of(x.aval.dtype) != "f":
            raise Beyond("the mean of what is not floating")
        total = self.psum(x, axis_name)
        return self.bind("div", total, float(self.axis_size(axis_name)))

    def all_gather(
        self, x: Any, axis_name: str, axis: int = 0, tiled: bool = False
    ) -> Any:
        """All examples, along a dimension."""
        return self.bind(
            *("all_gather", self.varied(x, axis_name)),
            all_gather_dimension=axis,
            axis_name=self.known(axis_name),
            axis_size=self.axis_size(axis_name),
            tiled=tiled,
        )

    def psum_scatter(
        self, x: Any, axis_name: str, scatter_dimension: int = 0, tiled: bool = False
    ) -> Any:
        """A part of the sum for each example."""
        return self.bind(
            *("reduce_scatter", self.varied(x, axis_name)),
            axis_name=self.known(axis_name),
            axis_size=self.axis_size(axis_name),
            scatter_dimension=scatter_dimension,
            tiled=tiled,
        )

    def all_to_all(
        self,
        x: Any,
        axis_name: str,
        split_axis: int,
        concat_axis: int,
        tiled: bool = False,
    ) -> Any:
        """Of each example a part to each other one."""
        size = self.axis_size(axis_name)
        if x.aval.shape[split_axis] % size:
            raise self.rules.error("axis.split")
        if not tiled and split_axis != concat_axis:
            raise Beyond("parts that are joined along a new dimension")
        if not tiled and x.aval.shape[split_axis] != size:
            raise Beyond("as many parts as there are no examples")
        return self.bind(
            *("all_to_all", self.varied(x, axis_name)),
            axis_name=axis_name,
            axis_size=size,
            concat_axis=concat_axis,
            split_axis=split_axis,
            tiled=True,
        )

    def ppermute(self, x: Any, axis_name: str, perm: Sequence[tuple[int, int]]) -> Any:
        """The operand of the example that sends to this one."""
        pairs = tuple(map(tuple, perm))
        ends = list(zip(*pairs, strict=True))
        examples = range(self.axis_size(axis_name))
        if any(len({*e}) < len(e) or not {*e} <= {*examples} for e in ends):
            raise self.rules.error("axis.permutation")
        value = self.varied(x, axis_name)
        return self.bind("ppermute", value, axis_name=self.known(axis_name), perm=pairs)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    f"lax.{name}": method
    for name, method in vars(NamedAxes).items()
    if name.startswith(("p", "a"))
}


# Functions of parts -------------------------------------------------------------------


@dataclass(frozen=True)
class DeviceAxes:
    """The axes of a mesh, by name, and how many devices there are along each."""

    sizes: Mapping[str, int]

    @classmethod
    def of(cls, devices: Any, axis_names: Sequence[str]) -> DeviceAxes:
        """Those of an array of devices."""
        extents = np.shape(devices)
        if len(extents) != len(axis_names) or len({*axis_names}) < len(extents):
            raise Beyond("a mesh of other axes")
        return cls(dict(zip(axis_names, extents)))


@dataclass(frozen=True)
class DividingAxes:
    """The axes of a mesh that divide each dimension of an array, the slowest first."""

    of_dimensions: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, *given: Any) -> DividingAxes:
        """Those that a spec is made of: a name, names, or None for each dimension."""
        rows = [(row,) if isinstance(row, str) else tuple(row or ()) for row in given]
        if len(found := [axis for row in rows for axis in row]) > len({*found}):
            raise Beyond("an axis twice")
        return cls(tuple(rows))

    def axes(self, rank: int) -> list[tuple[str, ...]]:
        """The axes for each dimension of an array, which has so many."""
        return [*self.of_dimensions, *[()] * (rank - len(self.of_dimensions))]

    def __contains__(self, axis: str) -> bool:
        return any(axis in row for row in self.of_dimensions)


@dataclass(frozen=True)
class PartedFunction:
    """A function of the parts of arrays that the devices of a mesh have.

    The devices along an axis of the mesh are the examples of a batch, one axis within
    the other; parts stand along first dimensions, in the order of the mesh.
    """

    functions: Recordings
    fun: Fun
    mesh: DeviceAxes
    in_specs: Any
    out_specs: Any
    checked: bool

    def __call__(self, *args: Any) -> Any:
        values = [self.functions.as_term(a) for a in args]
        specs = _specs_of(self.in_specs, len(values))
        parts = [self.divided(v, s) for v, s in zip(values, specs, strict=True)]
        found, tree = self.along([*self.mesh.sizes], parts, specs)
        places = _specs_of(self.out_specs, len(found))
        whole = [self.joined(v, s) for v, s in zip(found, places, strict=True)]
        return tree.unflatten(whole)

    def along(
        self, axes: Sequence[str], parts: Sequence[Term], specs: Sequence[DividingAxes]
    ) -> tuple[list[Term], Any]:
        """The results for all devices along these axes, and their structure."""
        if not axes:
            leaves, tree = flatten.flatten(self.fun(*parts))
            return [self.functions.as_term(v) for v in leaves], tree
        name, *others = axes
        size, trees = self.mesh.sizes[name], []
        dims = [0 if name in spec else None for spec in specs]

        def one(*own: Term) -> list[Term]:
            found, tree = self.along(others, own, specs)
            trees.append(tree)
            return found

        pairs = list(zip(parts, dims, strict=True))
        told = (name,) if self.checked else ()
        examples = [
            p.aval
            if d is None
            else p.aval.update(shape=p.aval.shape[1:], vma=(*p.aval.vma, *told))
            for p, d in pairs
        ]
        kept = [p if d is None else None for p, d in pairs]
        with self.functions.named(name, size, self.checked):
            traced = self.functions.trace(one, examples, "vmap", (), name, kept)
        given = [*[None] * len(traced.captured), *dims]
        closed, differ = batched(traced.closed, given, size, self.functions.rules, name)
        found = self.functions.applied(closed, [*traced.captured, *parts])
        vary = self.varying(traced.closed, given, name)
        places = _specs_of(self.out_specs, len(found))
        results = [self.placed(*row, name) for row in zip(found, differ, vary, places)]
        return results, trees[0]

    def placed(
        self, value: Term, differs: bool, varies: bool, spec: DividingAxes, name: str
    ) -> Term:
        """A result of all devices along an axis, or of the first one."""
        size = self.mesh.sizes[name]
        if name in spec:
            return value if differs else self.repeated(value, size)
        if varies and self.checked:
            raise self.functions.rules.error("shard_map.replicated")
        return self.functions.row(value, 0) if differs else value

    def repeated(self, value: Term, size: int) -> Term:
        """A value once for each device."""
        shape = value.aval.shape
        found: Term = self.functions.bind(
            *("broadcast_in_dim", value),
            shape=(size, *shape),
            broadcast_dimensions=tuple(range(1, len(shape) + 1)),
            sharding=None,
        )
        return found

    def varying(
        self, closed: ClosedJaxpr, dims: Sequence[int | None], name: str
    ) -> list[bool]:
        """True for each result that may differ along an axis (shard_map.replicated).

        An operation over the axis gives all devices the same if its `across` does not
        speak of the number of the example.
        """
        pairs = zip(closed.jaxpr.invars, dims, strict=True)
        found: set[Any] = {var for var, d in pairs if d is not None}
        for eqn in closed.eqns:
            called = [*regions_of(eqn.params)] if eqn.primitive in CALLS else []
            if called and speaks_of(name, called[0]):
                own = [0 if a in found else None for a in eqn.inputs]
                vary = self.varying(called[0], own, name)
                found.update(v for v, varies in zip(eqn.outputs, vary) if varies)
            elif self.varies(eqn, name, found):
                found.update(eqn.outputs)
        return [a in found for a in closed.jaxpr.outvars]

    def varies(self, eqn: Eqn, name: str, varying: set[Any]) -> bool:
        """True if the results of an equation may differ along an axis.

        `pvary` is about their types alone.
        """
        if any(speaks_of(name, region) for region in regions_of(eqn.params)):
            raise Beyond("what varies of a region's results")
        if eqn.primitive != "pvary" and name in names_of(dict(eqn.params)):
            across = self.functions.rules.prims[eqn.primitive].across
            return across is None or "n" in across.names
        return any(isinstance(a, Var) and a in varying for a in eqn.inputs)

    def divided(self, value: Term, spec: DividingAxes) -> Term:
        """The parts of an array, along first dimensions."""
        shape, rules = value.aval.shape, self.functions.rules
        if len(spec.of_dimensions) > len(shape):
            raise rules.error("sharding.rank")
        extents: list[int] = []
        places: dict[str, int] = {}
        own: list[int] = []
        for extent, axes in zip(shape, spec.axes(len(shape)), strict=True):
            count = prod(self.mesh.sizes[axis] for axis in axes)
            if extent % count:
                raise rules.error("sharding.divides")
            places.update({axis: len(extents) + k for k, axis in enumerate(axes)})
            extents += [self.mesh.sizes[axis] for axis in axes]
            own.append(len(extents))
            extents.append(extent // count)
        order = [places[axis] for axis in self.mesh.sizes if axis in places]
        return self.permuted(self.shaped(value, extents), [*order, *own])

    def joined(self, value: Term, spec: DividingAxes) -> Term:
        """The array of which these are the parts, along first dimensions."""
        first = [axis for axis in self.mesh.sizes if axis in spec]
        part = value.aval.shape[len(first) :]
        if len(spec.of_dimensions) > len(part):
            raise self.functions.rules.error("sharding.rank")
        order: list[int] = []
        shape: list[int] = []
        for d, axes in enumerate(spec.axes(len(part))):
            order += [*(first.index(axis) for axis in axes), len(first) + d]
            shape.append(part[d] * prod(self.mesh.sizes[axis] for axis in axes))
        return self.shaped(self.permuted(value, order), shape)

    def permuted(self, value: Term, order: Sequence[int]) -> Term:
        """The dimensions in another order."""
        found: Term = self.functions.bind("transpose", value, permutation=tuple(order))
        return found

    def shaped(self, value: Term, shape: Sequence[int]) -> Term:
        """The same elements in another shape."""
        sizes = {"new_sizes": tuple(shape), "dimensions": None, "sharding": None}
        found: Term = self.functions.bind("reshape", value, **sizes)
        return found


def _specs_of(specs: Any, count: int) -> list[DividingAxes]:
    """A spec for each of so many arrays."""
    found = list(specs) if isinstance(specs, tuple) else [specs] * count
    found = [DividingAxes(()) if s is None else s for s in found]
    if len(found) != count or not all(isinstance(s, DividingAxes) for s in found):
        raise Beyond("specs of another structure")
    return found
