"""Jobs of a program, and the clusters that they form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from traceir.ir.jaxpr import Atom, Eqn, Var
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import (
    Evaluated,
    Index,
    Library,
    Map,
    Parts,
    Put,
    Reduce,
    Region,
    Running,
)
from traceir_numba.fusion.dataflow import Graph, founds, identity

Shape = tuple[int, ...]
# Of all kinds, those of a nest whose only effect is its values.
NESTS = ("map", "reduce", "running")
KINDS = ("map", "reduce", "running", "part", "put", "library", "evaluated", "region")


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
        if self.kind in ("evaluated", "region"):
            return ()
        if self.kind == "put":
            shape = put_of(self.eqn).put(self.eqn).aval.shape
            return tuple(shape[d] for d in put_of(self.eqn).order(self.eqn))
        return self.eqn.inputs[self.part].aval.shape

    @property
    def joins(self) -> bool:
        """True if the job may be in a nest with others."""
        entry = EMITTERS[self.eqn.primitive]
        mixed = isinstance(entry, Parts) and entry.mixed(self.eqn)
        return self.kind in ("map", "reduce") or (mixed and self.kind == "part")

    @property
    def axes(self) -> tuple[int, ...]:
        """The loops that are reduced."""
        return tuple(self.eqn.param("axes")) if self.kind == "reduce" else ()

    @property
    def along(self) -> tuple[int, ...]:
        """The loop at each point of which a fold leaves what it has so far."""
        return (int(self.eqn.param("axis")),) if self.kind == "running" else ()

    @property
    def direction(self) -> int:
        """The direction of that loop: 1 for up, -1 for down, 0 if there is none."""
        return 0 if not self.along else -1 if self.eqn.param("reverse") else 1

    @property
    def folds_as(self) -> str:
        """The reduction that folds in the same way."""
        entry = EMITTERS[self.eqn.primitive]
        return entry.reduction if isinstance(entry, Running) else self.eqn.primitive


@dataclass(slots=True)
class Stage:
    """The jobs of one pass: those of the loops, and those that finish reductions."""

    jobs: list[Job] = field(default_factory=list)
    finish: list[Job] = field(default_factory=list)

    def made(self, *kinds: str) -> set[Var]:
        """The values of jobs of these kinds in the loops."""
        return {v for job in self.jobs if job.kind in kinds for v in job.eqn.outputs}


@dataclass(eq=False, slots=True)
class Cluster:
    """Jobs that become one nest, by pass; a job reads what earlier passes finished."""

    number: int
    space: Shape
    axes: tuple[int, ...] = ()
    stages: list[Stage] = field(default_factory=lambda: [Stage()])
    reads: set[Var] = field(default_factory=set)
    made_in: dict[Var, int] = field(default_factory=dict)  # the pass of maps
    finished_in: dict[Var, int] = field(default_factory=dict)  # of all else
    carried: dict[Var, int] = field(default_factory=dict)  # maps, to their last reader
    placed: set[Var] = field(default_factory=set)  # of which it stores parts
    before: int = 0  # bit set of the clusters that must have run
    after: set[int] = field(default_factory=set)  # those that read what this one makes

    @property
    def jobs(self) -> list[Job]:
        """The jobs of the loops, of all passes."""
        return [job for stage in self.stages for job in stage.jobs]

    @property
    def finish(self) -> list[Job]:
        """The jobs that finish reductions, of all passes."""
        return [job for stage in self.stages for job in stage.finish]

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
        return {v for stage in self.stages for v in stage.made(*kinds)}

    def add(self, job: Job, stage: int, finishes: bool, reads: Collection[Var]) -> None:
        """Let a job run in a pass, the last one or one after it."""
        if stage == len(self.stages):
            self.stages.append(Stage())
        one = self.stages[stage]
        (one.finish if finishes else one.jobs).append(job)
        self.axes = self.axes or job.axes
        self.reads.update(reads)
        if job.kind == "part":
            self.placed.add(job.var)
        else:
            is_map = job.kind == "map" and not finishes
            own = self.made_in if is_map else self.finished_in
            own.update(dict.fromkeys(job.eqn.outputs, stage))
        for var in reads:
            if self.made_in.get(var, stage) < stage:
                self.carried[var] = max(stage, self.carried.get(var, 0))


def jobs_of(graph: Graph, stored: Collection[Var]) -> list[Job]:
    """The jobs in the order of their equations."""
    jobs = []
    for eqn in graph.eqns:
        match graph.entry(eqn):
            case Reduce():
                jobs.append(Job(eqn, "reduce"))
            case Running():
                jobs.append(Job(eqn, "running"))
            case Parts() if eqn.outputs[0] in stored:
                jobs += [Job(eqn, "part", k) for k in range(len(eqn.inputs))]
            case Put():
                jobs.append(Job(eqn, "put"))
            case Library():
                jobs.append(Job(eqn, "library"))
            case Evaluated():
                jobs.append(Job(eqn, "evaluated"))
            case Region():
                jobs.append(Job(eqn, "region"))
            case _ if eqn.outputs[0] in stored:
                jobs.append(Job(eqn, "map"))
    return jobs


def seeds(job: Job) -> list[tuple[Atom, Map]]:
    """The values that a job is made of, in its own loops."""
    if job.kind in ("library", "evaluated", "region"):
        return [(a, identity(a.aval.ndim)) for a in job.eqn.inputs]
    if job.kind == "put":
        return [*_put_seeds(job.eqn)]
    atom = job.var if job.kind == "map" else job.eqn.inputs[job.part]
    return [(atom, identity(atom.aval.ndim))]


def put_of(eqn: Eqn) -> Put:
    """The entry of an equation that puts something in its place."""
    entry = EMITTERS[eqn.primitive]
    assert isinstance(entry, Put)
    return entry


def _put_seeds(eqn: Eqn) -> Iterator[tuple[Atom, Map]]:
    entry = put_of(eqn)
    for found in (*founds(entry.place(eqn)), *entry.tested(eqn)):
        yield found.atom, found.at
    yield entry.put(eqn), updates_map(eqn)


def updates_map(eqn: Eqn) -> Map:
    """The index map by which loops over updates read them."""
    order = put_of(eqn).order(eqn)
    return tuple(Index(order.index(d)) for d in range(len(order)))


@dataclass(frozen=True, slots=True)
class Without:
    """The members of one collection that are not in another, without a copy."""

    all: Collection[Var]
    removed: Collection[Var]

    def __contains__(self, var: object) -> bool:
        return var in self.all and var not in self.removed


def same_place(indices: Map | None, space: Shape) -> bool:
    """True if indices are those of the loops themselves."""
    return (
        indices is not None
        and len(indices) == len(space)
        and all(
            n == 1 or index == Index(d)
            for d, (index, n) in enumerate(zip(indices, space, strict=True))
        )
    )


def finish_map(space: Shape, kept: Shape) -> Map | None:
    """The indices of `space` in the kept loops, where they differ in extents of 1."""
    loops = [d for d, n in enumerate(kept) if n != 1]
    if [n for n in space if n != 1] != [kept[d] for d in loops]:
        return None
    rest = iter(loops)
    return tuple(Index(next(rest)) if n != 1 else Index(None) for n in space)


def compose(indices: Map, moved: Map) -> Map:
    """Indices over the loops that `moved` gives in terms of others."""
    return tuple(
        replace(i, found=tuple(replace(f, at=compose(f.at, moved)) for f in i.found))
        for i in (
            i if i.dim is None else replace(i, dim=moved[i.dim].dim) for i in indices
        )
    )


def kept_place(shape: Shape, cluster: Cluster) -> Map | None:
    """The index map by which a cluster's loops read a value with one element for each
    row.

    None where the shape is not that of the kept loops, up to extents of 1.
    """
    moved = finish_map(shape, cluster.kept)
    if moved is None:
        return None
    loops = tuple(Index(d) for d in cluster.kept_loops)
    return compose(moved, loops)


def in_terms_of(indices: Map, loops: Sequence[int]) -> Map | None:
    """Indices over some of the loops, renumbered; None where others matter."""
    if not moving(indices) <= {*loops}:
        return None
    return tuple(_renumbered(i, loops) for i in indices)


def moving(indices: Map) -> set[int]:
    """The loops that matter to indices."""
    own = {i.dim for i in indices if i.dim is not None}
    return own.union(*(moving(found.at) for found in founds(indices)))


def _renumbered(index: Index, loops: Sequence[int]) -> Index:
    if index.dim is not None:
        index = replace(index, dim=loops.index(index.dim))
    if not index.found:
        return index
    found = (
        replace(f, at=tuple(_renumbered(i, loops) for i in f.at)) for f in index.found
    )
    return replace(index, found=tuple(found))


def homes(cluster: Cluster, kept: Collection[Var]) -> dict[Var, Var]:
    """Results in whose memory values may stay that only later passes need.

    A result that is stored in the last pass that reads the value, or after it, is
    written over the value, element by element.
    """
    found: dict[Var, Var] = {}
    free = [v for v in cluster.made_in if v in kept]
    for var, last in cluster.carried.items():
        for other in free if var not in kept else ():
            late = cluster.made_in[other] >= last
            same = var.aval.shape == other.aval.shape
            if late and same and var.aval.dtype == other.aval.dtype:
                found[var] = other
                free.remove(other)
                break
    return found
