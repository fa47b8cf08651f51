"""Clusters to loop nests: index maps become strides, equations nodes."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, Eqn, Literal, Var
from traceir.text.words import number_text
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import (
    AffineIndex,
    Concat,
    Gather,
    IndexGenerator,
    IndexMap,
    View,
)
from traceir_numba.emitters.pairs.values import part_of
from traceir_numba.fusion.clusters import (
    Cluster,
    ClusterPass,
    Job,
    Shape,
    Without,
    epilogue_map,
    in_terms_of,
    inplace_results,
    scatter_of,
    seeds,
)
from traceir_numba.fusion.dataflow import Graph, Place, identity_map
from traceir_numba.fusion.inplace_scatter import overwritten_memory
from traceir_numba.loops.body_builder import BodyBuilder
from traceir_numba.loops.element_numbers import number_of
from traceir_numba.loops.indirect_access import IndirectAccess
from traceir_numba.loops.nest import (
    Apply,
    EpilogueValue,
    InRange,
    LoadElement,
    LoopIndex,
    LoopNest,
    Node,
    Operand,
    Pass,
    Reduction,
    ReductionResult,
    ScalarConstant,
    StoreElement,
)
from traceir_numba.loops.program import Label

Names = Mapping[Var, str]


@dataclass(frozen=True, slots=True)
class BuiltNest:
    """A nest with the arguments of its launch: memory, extents and parameters."""

    nest: LoopNest
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
) -> BuiltNest:
    """The nest of a cluster; of its values only those in `kept` are stored."""
    return _NestBuilder(graph, cluster, stored, kept, names).nest()


class _NestBuilder:
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
        self.read: Container[Var] = stored  # what the pass finds in memory
        self.kept = kept
        self.homes = inplace_results(cluster, kept) | overwritten_memory(
            graph, cluster, stored
        )
        self.names = names
        self.found = IndirectAccess(self)
        self.memory: dict[Var, int] = {}
        self.params: dict[object, int] = {}
        self.param_values: list[int] = []
        # What is computed once for each point of the kept loops, and by which block;
        # places are in terms of the kept loops.
        self.ends: list[BodyBuilder] = []
        self.of_rows: dict[Place, tuple[BodyBuilder, Operand]] = {}
        self.finished: dict[Var, tuple[BodyBuilder, Operand]] = {}

    def nest(self) -> BuiltNest:
        """Build the nest: a pass for each stage of the cluster."""
        cluster = self.cluster
        passes = []
        for stage in cluster.passes:
            body = self.body(stage)
            folds = ("reduce", "scan")
            reductions = [job for job in stage.jobs if job.kind in folds]
            reduced = tuple(self.reduction(body, job) for job in reductions)
            for job in stage.jobs:
                self.store(body, job, identity_map(len(cluster.space)))
            finish = self.finish(stage, reductions)
            passes.append((body, reduced, finish))
        first, *later = (
            Pass(
                tuple(body.nodes),
                tuple(body.stores),
                reduced,
                tuple(finish.nodes),
                tuple(finish.stores),
            )
            for body, reduced, finish in passes
        )
        labels = [(tuple(b.labels), tuple(f.labels)) for b, _, f in passes]
        memory = tuple(self.memory)
        job = cluster.jobs[0]
        axes = cluster.axes or job.scan_axes
        nest = LoopNest(
            tuple(d in axes for d in range(len(cluster.space))),
            tuple((part_of(v.aval.dtype) or v.aval.dtype).name for v in memory),
            first.body,
            first.stores,
            first.reductions,
            first.epilogue,
            first.epilogue_stores,
            tuple(later),
            scan_direction=job.scan_direction,
            ordered=job.kind == "scatter" and scatter_of(job.eqn).ordered(job.eqn),
        )
        params = tuple(self.param_values)
        return BuiltNest(nest, memory, cluster.space, params, tuple(labels))

    def body(self, stage: ClusterPass) -> BodyBuilder:
        """The code of a pass inside the loops."""
        loops = tuple(range(len(self.cluster.space)))
        places = [p for job in stage.jobs for p in seeds(job)]
        self.read = Without(self.stored, stage.made("map"))
        found = self.graph.walk(places, self.read)[0]
        for eqn, indices in found if self.ends else ():
            self.hoist(eqn, indices)
        taken = frozenset(label.name for end in self.ends for label in end.labels)
        block = BodyBuilder(loops, reserved=taken)
        for eqn, indices in found:
            here = eqn.outputs[0], indices
            made = here in block.values  # a place that came before is made of it
            if not made and self.row_place(block, *here) not in self.of_rows:
                block.values[here] = self.compute(block, eqn, indices)
        return block

    def hoist(self, eqn: Eqn, indices: IndexMap) -> None:
        """Move values that are the same in a whole row to the pass before."""
        end, loops = self.ends[-1], self.cluster.kept_loops
        here = in_terms_of(indices, loops)
        if here is not None:
            self.of_row(end, eqn, here)
            return
        for atom, at in self.graph.operands(eqn, indices):
            there = in_terms_of(at, loops)
            if there is not None:
                self.value(end, atom, there)

    def of_row(self, end: BodyBuilder, eqn: Eqn, indices: IndexMap) -> None:
        """Compute something once for each point of the kept loops."""
        place = eqn.outputs[0], indices
        if place not in self.of_rows:
            self.of_rows[place] = end, self.compute(end, eqn, indices)

    def reduction(self, body: BodyBuilder, job: Job) -> Reduction:
        """The reduction of a job."""
        dtype = job.eqn.inputs[0].aval.dtype.name
        value = self.value(body, *seeds(job)[0])
        result = job.var.aval.dtype.name
        return Reduction(job.folds_as, value, dtype, result)

    def finish(self, stage: ClusterPass, reductions: list[Job]) -> BodyBuilder:
        """The epilogue: the nodes and stores computed from reductions' results."""
        cluster = self.cluster
        first = sum(len(end.nodes) for end in self.ends)
        taken = self.ends[-1].taken if self.ends else {}
        block = BodyBuilder(cluster.kept_loops, first, taken=taken)
        self.ends.append(block)
        for n, job in enumerate(reductions):
            node = ReductionResult(n, job.var.aval.dtype.name)
            number = block.add(node, self.names[job.var], job.eqn.source)
            self.finished[job.var] = block, number
        moved = {
            job.var: epilogue_map(job.space, cluster.kept) for job in stage.epilogue
        }
        places = [(var, at) for var, at in moved.items() if at is not None]
        self.read = Without(self.stored, moved)
        for eqn, at in self.graph.walk(places, self.read)[0]:
            self.of_row(block, eqn, at)
        whole = identity_map(len(block.loops))
        places = [*((job.var, whole) for job in reductions), *places]
        for var, at in places:
            value = self.value(block, var, at)
            self.finished[var] = block, value
            if var in self.kept:
                access = self.found.access(var, at, block.loops, block)
                block.stores.append(StoreElement(access, value, var.aval.dtype.name))
        return block

    def store(self, block: BodyBuilder, job: Job, here: IndexMap) -> None:
        """Store the value of a job if it is kept; a scatter has indices of its own."""
        if job.kind == "scatter":
            self.found.scatter(block, job)
            return
        if job.kind == "concat":
            entry = EMITTERS[job.eqn.primitive]
            assert isinstance(entry, Concat)
            here = entry.place(job.eqn, job.part)
        elif job.kind != "map" or not (
            job.var in self.kept or job.var in self.cluster.read_until
        ):
            return
        at = self.found.access(job.var, here, block.loops, block)
        value = self.value(block, *seeds(job)[0])
        block.stores.append(StoreElement(at, value, job.var.aval.dtype.name))

    # -- values -------------------------------------------------------------------

    def compute(self, block: BodyBuilder, eqn: Eqn, indices: IndexMap) -> Operand:
        """Add the node of an equation, whose operands have theirs."""
        match EMITTERS[eqn.primitive]:
            case Concat():
                return self.joined(block, eqn, indices)
            case Gather() as entry:
                return self.found.gathered(block, eqn, indices, entry)
        operands = [
            self.value(block, atom, at)
            for atom, at in self.graph.operands(eqn, indices)
        ]
        return self.node(block, eqn, indices, operands)

    def node(
        self, block: BodyBuilder, eqn: Eqn, indices: IndexMap, operands: list[Operand]
    ) -> Operand:
        """Add the node of an elementwise equation; a view is its operand."""
        out = eqn.outputs[0]
        name, dtype = self.names[out], out.aval.dtype.name
        entry = EMITTERS[eqn.primitive]
        if isinstance(entry, View):
            return operands[0]
        dtypes = tuple(a.aval.dtype.name for a in eqn.inputs)
        if isinstance(entry, IndexGenerator):
            return number_of(self, block, eqn, indices, entry.dimension(eqn))
        params = tuple(
            (key, value.name if hasattr(value, "name") else value)
            for key, value in eqn.params
        )
        apply = Apply(eqn.primitive, tuple(operands), dtypes, dtype, params)
        return block.add(apply, name, eqn.source)

    def joined(self, block: BodyBuilder, eqn: Eqn, indices: IndexMap) -> Operand:
        """The element of whichever part has it."""
        entry = EMITTERS[eqn.primitive]
        assert isinstance(entry, Concat)
        dtype, name = eqn.outputs[0].aval.dtype.name, self.names[eqn.outputs[0]]
        parts = []
        for k, atom in enumerate(eqn.inputs):
            found = entry.read(eqn, k, indices)
            if found is not None:
                parts.append((self.value(block, atom, found[0]), found[1]))
        if not parts:  # of no elements
            kind = eqn.outputs[0].aval.dtype
            return ScalarConstant(number_text(kind.type(0), kind), dtype)
        result = parts.pop()[0]
        for value, index in reversed(parts):
            here = self.inside(block, [index], name)
            if here is None:
                result = value
            elif value != result:
                dtypes = ("bool", dtype, dtype)
                args = here, result, value
                node = Apply("select_n", args, dtypes, dtype)
                result = block.add(node, name, eqn.source)
        return result

    def inside(
        self, block: BodyBuilder, indices: Sequence[AffineIndex], name: str
    ) -> int | None:
        """The node that tests if loops are where all these indices may be used; None if
        they are.
        """
        found: int | None = None
        for index in indices:
            if index.within is None or index.dim is None:
                continue
            (low, high), loop = index.within, block.loops[index.dim]
            lower = low if low > 0 else None
            upper = high if high < self.cluster.space[loop] else None
            if lower is None and upper is None:
                continue
            node: Node = InRange(
                loop,
                None if lower is None else self.param(("low", loop, low), low),
                None if upper is None else self.param(("high", loop, high), high),
            )
            one = block.once(node, f"{name}_in")
            if found is not None:
                both = Apply("and", (found, one), ("bool", "bool"), "bool")
                one = block.once(both, f"{name}_in")
            found = one
        return found

    def position(
        self, block: BodyBuilder, indices: IndexMap, dimension: int, name: str
    ) -> Operand:
        """The index along a dimension, as a constant or a node."""
        index = indices[dimension]
        if index.dim is None:
            return ScalarConstant(str(index.start), "int64")
        step, start = index.step, index.start
        at = LoopIndex(
            block.loops[index.dim],
            None if step == 1 else self.param(("step", name, step), step),
            None if start == 0 else self.param(("start", name, start), start),
        )
        return block.add(at, f"{name}_at")

    def value(self, block: BodyBuilder, atom: Atom, indices: IndexMap) -> Operand:
        """The operand that stands for a value at a place, loaded if it is in memory."""
        if isinstance(atom, Literal):
            dtype = atom.aval.dtype
            return ScalarConstant(number_text(atom.value, dtype), dtype.name)
        if atom in self.finished:
            return self.recalled(block, *self.finished[atom])
        found = block.values.get((atom, indices))
        if found is not None:
            return found
        place = self.row_place(block, atom, indices)
        if place is not None and place in self.of_rows:
            return self.recalled(block, *self.of_rows[place])
        access = self.found.access(atom, indices, block.loops, block)
        name = self.names[self.graph.memory_of(atom)]
        name = name if access.width == 1 else f"{name}_{access.lane}"
        load = LoadElement(
            access, atom.aval.dtype.name, self.inside(block, indices, name)
        )
        found = block.add(load, name)
        if block in self.ends:
            self.of_rows[atom, indices] = block, found
        else:
            block.values[atom, indices] = found
        return found

    def row_place(
        self, block: BodyBuilder, var: Var, indices: IndexMap
    ) -> Place | None:
        """A place in terms of the kept loops, if it depends on no other."""
        if block in self.ends:
            return var, indices
        here = in_terms_of(indices, self.cluster.kept_loops) if self.ends else None
        return None if here is None else (var, here)

    def recalled(
        self, block: BodyBuilder, owner: BodyBuilder, operand: Operand
    ) -> Operand:
        """An operand of another block's epilogue, as an operand in this one."""
        if owner is block or isinstance(operand, ScalarConstant):
            return operand
        node, label = owner.nodes[operand], owner.labels[operand]
        number = (
            node.number if isinstance(node, EpilogueValue) else owner.first + operand
        )
        return block.recall(number, node.dtype, label)

    def param(self, key: object, value: int) -> int:
        if key not in self.params:
            self.params[key] = len(self.param_values)
            self.param_values.append(value)
        return self.params[key]
