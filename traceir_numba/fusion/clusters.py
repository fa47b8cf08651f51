"""Jobs of a program, and the clusters that they form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from math import prod

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, Eqn, Var
from traceir_numba import cost_model
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import (
    AffineIndex,
    Concat,
    ForeignCall,
    IndexMap,
    Matmul,
    PrefixScan,
    Reduce,
    ReferenceCall,
    Region,
    Scatter,
)
from traceir_numba.fusion.dataflow import Graph, dynamic_indices, identity_map

Shape = tuple[int, ...]
# Of all kinds, those of a nest whose only effect is its values.
NESTS = ("map", "reduce", "scan")
CALLS = ("matmul", "reference", "foreign", "region")
KINDS = (*NESTS, "concat", "scatter", *CALLS)


@dataclass(frozen=True, slots=True)
class Job:
    """The part of memory that one equation writes; `part` counts a concatenation's
    operands.
    """

    eqn: Eqn
    kind: str  # one of KINDS
    part: int = 0

    @property
    def var(self) -> Var:
        """The value of an equation that has one."""
        return self.eqn.outputs[0]

    @property
    def space(self) -> Shape:
        """The extents of the loops."""
        if self.kind == "map":
            return self.var.aval.shape
        if self.kind in ("reference", "foreign", "region"):
            return ()
        if self.kind == "scatter":
            shape = scatter_of(self.eqn).updates(self.eqn).aval.shape
            return tuple(shape[d] for d in scatter_of(self.eqn).order(self.eqn))
        return self.eqn.inputs[self.part].aval.shape

    @property
    def is_fusible(self) -> bool:
        """True if the job may be in a nest with others."""
        entry = EMITTERS[self.eqn.primitive]
        if self.kind == "concat":
            return isinstance(entry, Concat) and entry.mixed(self.eqn)
        return self.kind == "map" or (
            self.kind == "reduce" and not is_short_search(self.eqn)
        )

    @property
    def axes(self) -> tuple[int, ...]:
        """The loops that are reduced."""
        return tuple(self.eqn.param("axes")) if self.kind == "reduce" else ()

    @property
    def scan_axes(self) -> tuple[int, ...]:
        """The loop of a prefix scan: the fold's prefix is stored at each point."""
        return (int(self.eqn.param("axis")),) if self.kind == "scan" else ()

    @property
    def scan_direction(self) -> int:
        """The direction of that loop: 1 for up, -1 for down, 0 if there is none."""
        return 0 if not self.scan_axes else -1 if self.eqn.param("reverse") else 1

    @property
    def folds_as(self) -> str:
        """The reduction that folds in the same way."""
        entry = EMITTERS[self.eqn.primitive]
        return entry.reduction if isinstance(entry, PrefixScan) else self.eqn.primitive


def is_short_search(eqn: Eqn) -> bool:
    """True for a search of many short rows; its code is for all elements of a row."""
    entry = EMITTERS[eqn.primitive]
    if not isinstance(entry, Reduce) or not entry.positions:
        return False
    shape = eqn.inputs[0].aval.shape
    return (
        eqn.param("axes") == (len(shape) - 1,)
        and shape[-1] <= cost_model.SEARCHED_ROW
        and prod(shape) >= cost_model.SPECIALIZED_POINTS
    )


@dataclass(slots=True)
class ClusterPass:
    """The jobs of one pass: those of the loops, and those that finish reductions."""

    jobs: list[Job] = field(default_factory=list)
    epilogue: list[Job] = field(default_factory=list)

    def made(self, *kinds: str) -> set[Var]:
        """The values of jobs of these kinds in the loops."""
        return {v for job in self.jobs if job.kind in kinds for v in job.eqn.outputs}


@dataclass(eq=False, slots=True)
class Cluster:
    """Jobs that become one nest, by pass; a job reads the results of earlier passes."""

    number: int
    space: Shape
    axes: tuple[int, ...] = ()
    passes: list[ClusterPass] = field(default_factory=lambda: [ClusterPass()])
    reads: set[Var] = field(default_factory=set)
    made_in: dict[Var, int] = field(default_factory=dict)  # the pass of maps
    epilogue_in: dict[Var, int] = field(default_factory=dict)  # of all else
    # Of maps, the pass that reads them last.
    read_until: dict[Var, int] = field(default_factory=dict)
    placed: set[Var] = field(default_factory=set)  # of which it stores parts
    before: int = 0  # bit set of the clusters that must have run
    after: set[int] = field(default_factory=set)  # those that read what this one makes

    @property
    def jobs(self) -> list[Job]:
        """The jobs of the loops, of all passes."""
        return [job for stage in self.passes for job in stage.jobs]

    @property
    def epilogue(self) -> list[Job]:
        """The jobs that finish reductions, of all passes."""
        return [job for stage in self.passes for job in stage.epilogue]

    @property
    def kept_loops(self) -> tuple[int, ...]:
        """The loops that are not reduced."""
        return tuple(d for d in range(len(self.space)) if d not in self.axes)

    @property
    def kept(self) -> Shape:
        """The extents of the loops that are not reduced."""
        return tuple(self.space[d] for d in self.kept_loops)

    def made(self, *kinds: str) -> set[Var]:
        """The values of jobs of these kinds in the loops."""
        return {v for stage in self.passes for v in stage.made(*kinds)}

    def add(self, job: Job, stage: int, finishes: bool, reads: Collection[Var]) -> None:
        """Let a job run in a pass, the last one or one after it."""
        if stage == len(self.passes):
            self.passes.append(ClusterPass())
        one = self.passes[stage]
        (one.epilogue if finishes else one.jobs).append(job)
        self.axes = self.axes or job.axes
        self.reads.update(reads)
        if job.kind == "concat":
            self.placed.add(job.var)
        else:
            is_map = job.kind == "map" and not finishes
            own = self.made_in if is_map else self.epilogue_in
            own.update(dict.fromkeys(job.eqn.outputs, stage))
        for var in reads:
            if self.made_in.get(var, stage) < stage:
                self.read_until[var] = max(stage, self.read_until.get(var, 0))


def jobs_of(graph: Graph, stored: Collection[Var]) -> list[Job]:
    """The jobs in the order of their equations."""
    jobs = []
    for eqn in graph.eqns:
        match graph.entry(eqn):
            case Reduce():
                jobs.append(Job(eqn, "reduce"))
            case PrefixScan():
                jobs.append(Job(eqn, "scan"))
            case Concat() if eqn.outputs[0] in stored:
                jobs += [Job(eqn, "concat", k) for k in range(len(eqn.inputs))]
            case Scatter():
                jobs.append(Job(eqn, "scatter"))
            case Matmul():
                jobs.append(Job(eqn, "matmul"))
            case ReferenceCall():
                jobs.append(Job(eqn, "reference"))
            case ForeignCall():
                jobs.append(Job(eqn, "foreign"))
            case Region():
                jobs.append(Job(eqn, "region"))
            case _ if eqn.outputs[0] in stored:
                jobs.append(Job(eqn, "map"))
    return jobs


def seeds(job: Job) -> list[tuple[Atom, IndexMap]]:
    """The values that a job is made of, in its own loops."""
    if job.kind in CALLS:
        return [(a, identity_map(a.aval.ndim)) for a in job.eqn.inputs]
    if job.kind == "scatter":
        return [*_scatter_seeds(job.eqn)]
    atom = job.var if job.kind == "map" else job.eqn.inputs[job.part]
    return [(atom, identity_map(atom.aval.ndim))]


def scatter_of(eqn: Eqn) -> Scatter:
    """The entry of an equation that puts something in its place."""
    entry = EMITTERS[eqn.primitive]
    assert isinstance(entry, Scatter)
    return entry


def _scatter_seeds(eqn: Eqn) -> Iterator[tuple[Atom, IndexMap]]:
    entry = scatter_of(eqn)
    for found in (*dynamic_indices(entry.place(eqn)), *entry.guarded(eqn)):
        yield found.atom, found.at
    yield entry.updates(eqn), updates_map(eqn)


def updates_map(eqn: Eqn) -> IndexMap:
    """The index map by which loops over updates read them."""
    order = scatter_of(eqn).order(eqn)
    return tuple(AffineIndex(order.index(d)) for d in range(len(order)))


@dataclass(frozen=True, slots=True)
class Without:
    """The members of one collection that are not in another, without a copy."""

    all: Collection[Var]
    removed: Collection[Var]

    def __contains__(self, var: object) -> bool:
        return var in self.all and var not in self.removed


def same_place(indices: IndexMap | None, space: Shape) -> bool:
    """True if indices are those of the loops themselves."""
    return (
        indices is not None
        and len(indices) == len(space)
        and all(
            n == 1 or index == AffineIndex(d)
            for d, (index, n) in enumerate(zip(indices, space, strict=True))
        )
    )


def epilogue_map(space: Shape, kept: Shape) -> IndexMap | None:
    """The indices of `space` in the kept loops, where they differ in extents of 1."""
    loops = [d for d, n in enumerate(kept) if n != 1]
    if [n for n in space if n != 1] != [kept[d] for d in loops]:
        return None
    rest = iter(loops)
    return tuple(
        AffineIndex(next(rest)) if n != 1 else AffineIndex(None) for n in space
    )


def compose(indices: IndexMap, moved: IndexMap) -> IndexMap:
    """Indices over the loops that `moved` gives in terms of others."""
    return tuple(
        replace(
            i, dynamic=tuple(replace(f, at=compose(f.at, moved)) for f in i.dynamic)
        )
        for i in (
            i if i.dim is None else replace(i, dim=moved[i.dim].dim) for i in indices
        )
    )


def kept_place(shape: Shape, cluster: Cluster) -> IndexMap | None:
    """The index map by which a cluster's loops read a value with one element for each
    row.

    None where the shape is not that of the kept loops, up to extents of 1.
    """
    moved = epilogue_map(shape, cluster.kept)
    if moved is None:
        return None
    loops = tuple(AffineIndex(d) for d in cluster.kept_loops)
    return compose(moved, loops)


def in_terms_of(indices: IndexMap, loops: Sequence[int]) -> IndexMap | None:
    """Indices over some of the loops, renumbered; None where others matter."""
    if not moving(indices) <= {*loops}:
        return None
    return tuple(_renumbered(i, loops) for i in indices)


def moving(indices: IndexMap) -> set[int]:
    """The loops that matter to indices."""
    own = {i.dim for i in indices if i.dim is not None}
    return own.union(*(moving(found.at) for found in dynamic_indices(indices)))


def _renumbered(index: AffineIndex, loops: Sequence[int]) -> AffineIndex:
    if index.dim is not None:
        index = replace(index, dim=loops.index(index.dim))
    if not index.dynamic:
        return index
    found = (
        replace(f, at=tuple(_renumbered(i, loops) for i in f.at)) for f in index.dynamic
    )
    return replace(index, dynamic=tuple(found))


def inplace_results(cluster: Cluster, kept: Collection[Var]) -> dict[Var, Var]:
    """Results in whose memory values may stay that only later passes need.

    A result that is stored in the last pass that reads the value, or after it, is
    written over the value, element by element.
    """
    found: dict[Var, Var] = {}
    free = [v for v in cluster.made_in if v in kept]
    for var, last in cluster.read_until.items():
        for other in free if var not in kept else ():
            late = cluster.made_in[other] >= last
            same = var.aval.shape == other.aval.shape
            if late and same and var.aval.dtype == other.aval.dtype:
                found[var] = other
                free.remove(other)
                break
    return found
