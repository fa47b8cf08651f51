"""Clusters become loop nests: index maps to strides, equations to scalar nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from traceir.ir import Atom, Eqn, Literal, Var
from traceir.source import Source
from traceir.text.words import number_text
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.entry import Generator, Map, Parts, View
from traceir_numba.graph import Graph, Place, identity
from traceir_numba.jobs import Cluster, Job, Shape, Without, finish_map, seeds
from traceir_numba.nests import (
    Access,
    Apply,
    Constant,
    Load,
    Nest,
    Node,
    Operand,
    Position,
    Reduced,
    Reduction,
    Store,
    Stride,
)
from traceir_numba.program import Label

Names = Mapping[Var, str]


@dataclass(frozen=True, slots=True)
class Built:
    """A nest with what a launch gives it: memory, extents and parameters."""

    nest: Nest
    memory: tuple[Var, ...]
    extents: Shape
    params: tuple[int, ...]
    labels: tuple[tuple[tuple[Label, ...], tuple[Label, ...]], ...]  # by pass


def build(
    graph: Graph,
    cluster: Cluster,
    stored: Collection[Var],
    kept: Collection[Var],
    names: Names,
) -> Built:
    """The nest of a cluster; of its values only those in `kept` are stored."""
    return _Builder(graph, cluster, stored, kept, names).nest()


@dataclass(slots=True)
class _Block:
    """Straight-line code over some of the loops: `loops` are their numbers."""

    loops: tuple[int, ...]
    nodes: list[Node] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    values: dict[Place, Operand] = field(default_factory=dict)
    stores: list[Store] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)

    def add(self, node: Node, name: str, source: Source | None = None) -> int:
        self.nodes.append(node)
        # One variable can be read at several places.
        count = self.taken[name] = self.taken.get(name, 0) + 1
        self.labels.append(Label(name if count == 1 else f"{name}_{count}", source))
        return len(self.nodes) - 1


class _Builder:
    def __init__(
        self,
        graph: Graph,
        cluster: Cluster,
        stored: Collection[Var],
        kept: Collection[Var],
        names: Names,
    ) -> None:
        self.graph = graph
        self.cluster = cluster
        self.stored = stored
        self.kept = kept
        self.names = names
        self.memory: dict[Var, int] = {}
        self.params: dict[object, int] = {}
        self.param_values: list[int] = []

    def nest(self) -> Built:
        cluster = self.cluster
        loops = tuple(range(len(cluster.space)))
        body = _Block(loops)
        own = cluster.made("map")
        self.compute(body, [p for job in cluster.jobs for p in seeds(job)], own)
        reductions = [j for j in cluster.jobs if j.kind == "reduce"]
        reduced = tuple(
            Reduction(
                job.eqn.primitive,
                self.value(body, *seeds(job)[0]),
                job.eqn.inputs[0].aval.dtype.name,
                job.var.aval.dtype.name,
            )
            for job in reductions
        )
        for job in cluster.jobs:
            self.store(body, job, identity(len(cluster.space)))
        finish = self.finish(reductions, loops)
        memory = tuple(self.memory)
        dtypes = tuple(v.aval.dtype.name for v in memory)
        nest = Nest(
            tuple(d in cluster.axes for d in loops),
            dtypes,
            tuple(body.nodes),
            tuple(body.stores),
            reduced,
            tuple(finish.nodes),
            tuple(finish.stores),
        )
        params = tuple(self.param_values)
        labels = ((tuple(body.labels), tuple(finish.labels)),)
        return Built(nest, memory, cluster.space, params, labels)

    def finish(self, reductions: list[Job], loops: tuple[int, ...]) -> _Block:
        """What is computed from the reductions' results, and their stores."""
        cluster = self.cluster
        block = _Block(tuple(d for d in loops if d not in cluster.axes))
        results = {
            job.var: block.add(
                Reduced(n, job.var.aval.dtype.name), self.names[job.var], job.eqn.source
            )
            for n, job in enumerate(reductions)
        }
        moved = {job.var: finish_map(job.space, cluster.kept) for job in cluster.finish}
        places = [
            (var, indices) for var, indices in moved.items() if indices is not None
        ]
        own = set(moved)
        self.compute(block, places, own, results)
        for job in reductions:
            if job.var in self.kept:
                at = self.access(job.var, identity(len(block.loops)), block.loops)
                block.stores.append(
                    Store(at, results[job.var], job.var.aval.dtype.name)
                )
        for var, indices in places:
            if var in self.kept:
                at = self.access(var, indices, block.loops)
                value = self.value(block, var, indices, results)
                block.stores.append(Store(at, value, var.aval.dtype.name))
        return block

    def store(self, block: _Block, job: Job, here: Map) -> None:
        if job.kind == "part":
            entry = EMITTERS[job.eqn.primitive]
            assert isinstance(entry, Parts)
            at = self.access(job.var, entry.place(job.eqn, job.part), block.loops)
        elif job.kind == "map" and job.var in self.kept:
            at = self.access(job.var, here, block.loops)
        else:
            return
        value = self.value(block, *seeds(job)[0])
        block.stores.append(Store(at, value, job.var.aval.dtype.name))

    # -- values -------------------------------------------------------------------

    def compute(
        self,
        block: _Block,
        places: Sequence[tuple[Atom, Map]],
        own: Collection[Var],
        results: Mapping[Var, int] | None = None,
    ) -> None:
        """Add the nodes for some places, in the order of their equations."""
        for eqn, indices in self.graph.walk(places, Without(self.stored, own))[0]:
            operands = [
                self.value(block, atom, at, results)
                for atom, at in self.graph.operands(eqn, indices)
            ]
            place = eqn.outputs[0], indices
            block.values[place] = self.node(block, eqn, indices, operands)

    def node(
        self, block: _Block, eqn: Eqn, indices: Map, operands: list[Operand]
    ) -> Operand:
        out = eqn.outputs[0]
        name, dtype = self.names[out], out.aval.dtype.name
        entry = EMITTERS[eqn.primitive]
        if isinstance(entry, View):
            return operands[0]
        dtypes = tuple(a.aval.dtype.name for a in eqn.inputs)
        if isinstance(entry, Generator):
            operands = [self.position(block, indices, entry.dimension(eqn), name)]
            dtypes = ("int64",)
        params = tuple(
            (key, value.name if hasattr(value, "name") else value)
            for key, value in eqn.params
        )
        apply = Apply(eqn.primitive, tuple(operands), dtypes, dtype, params)
        return block.add(apply, name, eqn.source)

    def position(
        self, block: _Block, indices: Map, dimension: int, name: str
    ) -> Operand:
        index = indices[dimension]
        if index.dim is None:
            return Constant(str(index.start), "int64")
        at = Position(
            block.loops[index.dim],
            None if index.step == 1 else self.param(("step", name), index.step),
            None if index.start == 0 else self.param(("start", name), index.start),
        )
        return block.add(at, f"{name}_at")

    def value(
        self,
        block: _Block,
        atom: Atom,
        indices: Map,
        results: Mapping[Var, int] | None = None,
    ) -> Operand:
        """The operand that stands for a value at a place; loads what is in memory."""
        if isinstance(atom, Literal):
            dtype = atom.aval.dtype
            return Constant(number_text(atom.value, dtype), dtype.name)
        if results and atom in results:
            return results[atom]
        found = block.values.get((atom, indices))
        if found is None:
            access = self.access(atom, indices, block.loops)
            load = Load(access, atom.aval.dtype.name)
            name = self.names[self.graph.memory_of(atom)]
            found = block.values[atom, indices] = block.add(load, name)
        return found

    # -- memory -------------------------------------------------------------------

    def access(self, var: Var, indices: Map, loops: tuple[int, ...]) -> Access:
        """Strides in the nest's loops for indices over `loops`."""
        memory = self.graph.memory_of(var)
        buffer = self.memory.setdefault(memory, len(self.memory))
        strides: list[Stride] = [None] * len(self.cluster.space)
        known: tuple[int, ...] | None = ()
        distance, offset = 1, 0
        for k in reversed(range(len(indices))):
            index, extent = indices[k], var.aval.shape[k]
            loop = None if index.dim is None else loops[index.dim]
            if loop is not None:
                key = (buffer, k, index.step, var.aval.ndim)
                plain = index.step == 1 and known is not None
                strides[loop] = (
                    known if plain else self.param(key, distance * index.step)
                )
            offset += index.start * distance
            whole = index.step == 1 and index.start == 0
            if loop is not None and whole and extent == self.cluster.space[loop]:
                known = None if known is None else tuple(sorted((*known, loop)))
            elif loop is not None or extent != 1:
                known = None
            distance *= extent
        starts = tuple(index.start for index in indices)
        where = self.param((buffer, "start", starts), offset) if offset else None
        return Access(buffer, tuple(strides), where)

    def param(self, key: object, value: int) -> int:
        if key not in self.params:
            self.params[key] = len(self.param_values)
            self.param_values.append(value)
        return self.params[key]
