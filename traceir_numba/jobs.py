"""What a program leaves in memory: jobs, and the clusters that they form."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from traceir.ir import Atom, Eqn, Var
from traceir_numba.emitters.entry import Index, Library, Map, Parts, Reduce, Region
from traceir_numba.graph import Graph, identity

Shape = tuple[int, ...]
KINDS = ("map", "reduce", "part", "library", "region")


@dataclass(frozen=True, slots=True)
class Job:
    """What one equation leaves in memory; `part` counts a concatenation's operands."""

    eqn: Eqn
    kind: str  # map | reduce | part | library | region
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
        if self.kind == "region":
            return ()
        return self.eqn.inputs[self.part].aval.shape

    @property
    def axes(self) -> tuple[int, ...]:
        """The loops that are reduced."""
        return tuple(self.eqn.param("axes")) if self.kind == "reduce" else ()


@dataclass(eq=False, slots=True)
class Cluster:
    """Jobs that become one nest: those of the loops, then those that finish."""

    number: int
    space: Shape
    axes: tuple[int, ...] = ()
    jobs: list[Job] = field(default_factory=list)
    finish: list[Job] = field(default_factory=list)
    reads: set[Var] = field(default_factory=set)
    before: int = 0  # bit set of the clusters that must have run
    after: set[int] = field(default_factory=set)  # those that read what this one makes

    @property
    def kept(self) -> Shape:
        """The extents of the loops that are not reduced."""
        return tuple(n for d, n in enumerate(self.space) if d not in self.axes)

    def made(self, *kinds: str) -> set[Var]:
        """The values of jobs of these kinds in the loops."""
        return {v for job in self.jobs if job.kind in kinds for v in job.eqn.outputs}

    def finished(self) -> set[Var]:
        """The values that exist once the reduced loops have ended."""
        return self.made("reduce") | {job.var for job in self.finish}


def jobs_of(graph: Graph, stored: Collection[Var]) -> list[Job]:
    """The jobs in the order of their equations."""
    jobs = []
    for eqn in graph.eqns:
        match graph.entry(eqn):
            case Reduce():
                jobs.append(Job(eqn, "reduce"))
            case Parts():
                jobs += [Job(eqn, "part", k) for k in range(len(eqn.inputs))]
            case Library():
                jobs.append(Job(eqn, "library"))
            case Region():
                jobs.append(Job(eqn, "region"))
            case _ if eqn.outputs[0] in stored:
                jobs.append(Job(eqn, "map"))
    return jobs


def seeds(job: Job) -> list[tuple[Atom, Map]]:
    """The values that a job is made of, in its own loops."""
    if job.kind in ("library", "region"):
        return [(a, identity(a.aval.ndim)) for a in job.eqn.inputs]
    atom = job.var if job.kind == "map" else job.eqn.inputs[job.part]
    return [(atom, identity(atom.aval.ndim))]


@dataclass(frozen=True, slots=True)
class Without:
    """The members of one collection that are not in another, without a copy."""

    all: Collection[Var]
    removed: Collection[Var]

    def __contains__(self, var: object) -> bool:
        return var in self.all and var not in self.removed


def same_place(indices: Map | None, space: Shape) -> bool:
    """Whether indices are those of the loops themselves."""
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
        i if i.dim is None else Index(moved[i.dim].dim, i.start, i.step)
        for i in indices
    )
