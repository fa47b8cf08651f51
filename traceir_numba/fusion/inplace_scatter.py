"""Scatters that overwrite an operand that is read no more.

It may be made of the array itself, where each element is read before it is written, and
at no other place.

A scatter, or a slice that is written, is a nest over the elements that are written. It
stores in its place, in a copy of the operand; where a place may occur twice the nest
runs in order, in one thread. The copy goes where nobody reads the operand after it:
`buffers.buffer_assignment` sees to it between kernels, and `buffers.loop_carries` in
loops, in the branches of a choice and in loops within loops. So that it can go, those
that read the operand run first; a value that is needed later, and is smaller, is stored
before; and what is written is computed first where it is made of other places of the
operand. A step of `x.at[i].set(v)` in a loop therefore costs as much as one element,
whatever the array.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import prod

from traceir.ir.jaxpr import Atom, Var
from traceir_numba import cost_model
from traceir_numba.emitters.kinds import IndexMap, View
from traceir_numba.fusion.clusters import Cluster, Job, Without, scatter_of, seeds
from traceir_numba.fusion.dataflow import Graph


def overwritten_memory(
    graph: Graph, cluster: Cluster, stored: Collection[Var]
) -> dict[Var, Var]:
    """The memory that is written over, if all of it may be read there, too."""
    job = cluster.jobs[0]
    if job.kind != "scatter" or any(_early(graph, job, stored)):
        return {}
    operand = job.eqn.inputs[0]
    assert isinstance(operand, Var)
    return {graph.memory_of(operand): job.var}


def values_before_scatter(
    graph: Graph, stored: Collection[Var], clusters: Iterable[Cluster]
) -> set[Var]:
    """Values that are computed before anything is put, as they are of other places."""
    return {
        var
        for cluster in clusters
        for job in cluster.jobs
        if job.kind == "scatter"
        for var in _early(graph, job, stored)
        if isinstance(var, Var) and var not in stored and var in graph.at
    }


def precomputed_updates(
    graph: Graph,
    stored: Collection[Var],
    clusters: Iterable[Cluster],
    costs: Mapping[Var, int],
) -> set[Var]:
    """Expensive values that one thread would compute one by one for an ordered scatter.

    In a nest of their own they are computed side by side, by all threads.
    """
    return {
        var
        for cluster in clusters
        for job in cluster.jobs
        if job.kind == "scatter" and scatter_of(job.eqn).ordered(job.eqn)
        for atom, _ in seeds(job)
        for var in graph.origins(atom)
        if var not in stored and costs.get(var, 0) > cost_model.RECOMPUTE_COST
    }


def values_after_scatter(
    graph: Graph, stored: Collection[Var], clusters: Sequence[Cluster]
) -> set[Var]:
    """Values of an array that something has been put in, which are needed after that.

    They are smaller than the array, which otherwise would be copied for them.
    """
    scatters: dict[Var, int] = defaultdict(int)  # bit sets of clusters
    for cluster in clusters:
        if cluster.jobs[0].kind == "scatter":
            operand = cluster.jobs[0].eqn.inputs[0]
            assert isinstance(operand, Var)
            scatters[graph.memory_of(operand)] |= 1 << cluster.number
    return {
        var
        for cluster in clusters
        for memory in cluster.reads
        if scatters.get(memory, 0) & cluster.before
        for var in _values_of(graph, memory, stored, cluster)
    }


def _values_of(
    graph: Graph, memory: Var, stored: Collection[Var], cluster: Cluster
) -> Iterator[Var]:
    """The small values that a cluster computes of some memory."""
    size = prod(memory.aval.shape)
    jobs = cluster.jobs + cluster.epilogue
    places = [p for job in jobs for p in seeds(job)]
    made = {job.var for job in jobs if job.kind == "map"}
    for eqn, _ in graph.walk(places, Without(stored, made))[0]:
        read = (graph.memory_of(a) for a in eqn.inputs if isinstance(a, Var))
        (out,) = eqn.outputs
        if memory in read and prod(out.aval.shape) < size and out not in stored:
            yield _as_scalar(graph, out)


def _as_scalar(graph: Graph, var: Var) -> Var:
    """A single element without dimensions, if that is all that is used of it."""
    if prod(var.aval.shape) == 1:
        for eqn in graph.readers[var]:
            is_view = isinstance(graph.entry(eqn), View)
            if (
                is_view
                and not eqn.outputs[0].aval.shape
                and len(graph.readers[var]) == 1
            ):
                return eqn.outputs[0]
    return var


def _early(graph: Graph, job: Job, stored: Collection[Var]) -> Iterator[Atom]:
    """The updates or indices of a scatter that read the memory at another place."""
    operand = job.eqn.inputs[0]
    if prod(job.space) == 1:
        return  # all is read before anything is written
    assert isinstance(operand, Var)
    memory = graph.memory_of(operand)
    for atom, indices in seeds(job):
        reads = graph.walk([(atom, indices)], stored)[1]
        own = [(v, at) for v, at in reads if graph.memory_of(v) is memory]
        if any(not _same(job, operand, v, at) for v, at in own):
            yield atom


def _same(job: Job, operand: Var, var: Var, at: IndexMap) -> bool:
    """True if an index is that which is written at the same point, and at no other."""
    entry = scatter_of(job.eqn)
    return var is operand and not entry.ordered(job.eqn) and at == entry.place(job.eqn)
