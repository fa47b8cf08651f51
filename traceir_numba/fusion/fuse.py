"""The fusion decision: which values live in memory, which are inlined.

A job leaves one value in memory: a map of the elements, a reduction, an operand's part
of a concatenation, or a library's call. Jobs over the same index space join one
cluster, which becomes one nest: they share reads and values, and what finishes a
reduction joins it. Nothing in between is stored.

A *job* leaves one value in memory; values that are cheap to compute are no jobs and are
computed where they are read. Each job may join a *cluster* over the same loops with
which it shares reads or values, and a cluster becomes one nest. The loops of one are
joined by:

* elementwise equations, with any broadcast, transposition, slice or reversal between
  them;
* reductions of such values over the same axes and, once for each result, what is
  computed from results alone (the epilogue);
* *later passes*: a job that reads what the cluster has finished, at the same row, runs
  over the row again. So a softmax is three passes (the maximum; the exponentials and
  their sum; the quotients), a variance two, and the gradient of a layer norm five, all
  while the row is in the cache. Columns are taken in tiles. Each reduction keeps the
  order that it has in a nest of its own;
* gathers: an index of a read may hold a value that was computed, which is clamped or
  tested as the mode says. So a gather, or a slice that begins where a value says, is
  read in the nest that uses it, through views, too. What it reads is in memory;
* pads, concatenations and stacks of up to four parts: an element is read from the part
  that has it, behind a condition on the index, where one part is nearly everything (as
  in the gradient of a slice, or an array moved around a ring) or there are few
  elements.

What stays apart, and why:

* whole arrays that are reduced before an elementwise use: nothing of them is in the
  cache by then;
* fewer than sixteen rows that are large, since threads share rows of a nest, but parts
  of a row only where it is reduced and nothing else;
* columns too long for a tile of them to stay in the cache;
* results of reductions that are read at other rows, and reductions over different axes;
* halves that are put side by side, both read from memory: in each half of the loop the
  other's condition would fail everywhere;
* expensive values that an outer loop would compute again and again; clusters of more
  than sixteen jobs;
* searches of short rows, whose code is for all elements of a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import prod

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Var
from traceir_numba import cost_model
from traceir_numba.emitters.kinds import IndexMap
from traceir_numba.fusion.clusters import (
    KINDS,
    NESTS,
    Cluster,
    Job,
    Shape,
    Without,
    compose,
    epilogue_map,
    jobs_of,
    kept_place,
    same_place,
    seeds,
)
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.fusion.inplace_scatter import (
    precomputed_updates,
    values_after_scatter,
    values_before_scatter,
)
from traceir_numba.fusion.materialize import (
    epilogue_apart,
    recompute_costs,
    recomputed,
    second_pass_pays,
)
from traceir_numba.fusion.split_bodies import depth, length, too_long

# What a job reads, and at which indices; None where under another shape.
Reads = Mapping[Var, Collection[IndexMap | None]]


@dataclass(frozen=True, slots=True)
class FusionPlan:
    """Clusters in an order in which they can run, and the values they store."""

    graph: Graph
    clusters: tuple[Cluster, ...]
    stored: frozenset[Var]


def fuse(graph: Graph) -> FusionPlan:
    """The clusters of a flat program."""
    stored = {v for v in graph.needs_memory() if v in graph.at}
    costs = recompute_costs(graph, stored)
    for _ in range(cost_model.FUSION_ROUNDS):
        clusters = _Fuser(graph, stored, costs).clusters()
        wanted = recomputed(graph, stored, clusters, costs)
        wanted |= too_long(graph, stored, clusters)
        wanted |= values_before_scatter(graph, stored, clusters)
        wanted |= precomputed_updates(graph, stored, clusters, costs)
        wanted |= values_after_scatter(graph, stored, clusters)
        if not wanted:
            break
        stored |= wanted
    else:  # what is in memory now needs its jobs
        clusters = _Fuser(graph, stored, costs).clusters()
    ordered = sorted(clusters, key=lambda c: (c.before.bit_count(), c.number))
    return FusionPlan(graph, _live_clusters(graph, ordered), frozenset(stored))


def _live_clusters(graph: Graph, clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """The clusters whose values something reads.

    A value of which no element is read, such as an array without elements that a pad
    surrounds, has readers among the equations alone.
    """
    results = (v for v in graph.closed.jaxpr.outvars if isinstance(v, Var))
    read = {graph.memory_of(v) for v in results}
    found = []
    for cluster in reversed(clusters):
        made = {job.var for job in cluster.epilogue} | cluster.made(*KINDS)
        if cluster.jobs[0].kind not in NESTS or made & read:
            found.append(cluster)
            read |= cluster.reads
    return tuple(reversed(found))


# -- which jobs go together -----------------------------------------------------------


class _Fuser:
    def __init__(
        self, graph: Graph, stored: Collection[Var], costs: Mapping[Var, int]
    ) -> None:
        self.graph = graph
        self.stored = stored
        self.costs = costs
        self.all: list[Cluster] = []
        self.makers: dict[Var, int] = defaultdict(int)  # bit sets of clusters
        self.readers: dict[Var, list[int]] = defaultdict(list)
        self.lengths: dict[int, int] = defaultdict(int)  # of clusters' bodies
        self.depths: dict[int, int] = defaultdict(int)

    def clusters(self) -> list[Cluster]:
        for job in jobs_of(self.graph, self.stored):
            self.place(job)
        return self.all

    def place(self, job: Job) -> None:
        """Let a job join a cluster, or start its own."""
        reads, size, deep = self.reads(job)
        needed = 0
        for var in reads:
            needed |= self.makers[var]
        found = self.fusion_decision(job, reads, needed, size, deep)
        if found is None:
            found = Cluster(len(self.all), job.space), 0, False
            self.all.append(found[0])
        cluster, stage, finishes = found
        cluster.add(job, stage, finishes, reads)
        self.lengths[cluster.number] += size
        self.depths[cluster.number] += deep
        for var in job.eqn.outputs:
            self.makers[var] |= 1 << cluster.number
        if job.kind == "scatter":  # after all that read what is written over
            for n in self.readers[self.overwritten(job)]:
                needed |= 1 << n
        self.order(cluster, needed)
        for var in reads:
            self.readers[var].append(cluster.number)

    def reads(self, job: Job) -> tuple[Reads, int, int]:
        """The values that a job reads, at which indices, its body's length and its
        depth.
        """
        own = {job.var} if job.kind == "map" else set()
        computed, places = self.graph.walk(seeds(job), Without(self.stored, own))
        found: dict[Var, set[IndexMap | None]] = defaultdict(set)
        for var, indices in places:
            memory = self.graph.memory_of(var)
            found[memory].add(indices if memory is var else None)
        if job.kind == "scatter":
            found[self.overwritten(job)].add(None)
        eqns = [eqn for eqn, _ in computed]
        long = job.kind == "map" and prod(job.space) >= cost_model.SPLIT_BODY_ELEMENTS
        deep = depth(self.graph, eqns) if long else 0
        return found, length(self.graph, eqns), deep

    def overwritten(self, job: Job) -> Var:
        """The memory that something is put in, if it is not copied."""
        operand = job.eqn.inputs[0]
        assert isinstance(operand, Var)
        return self.graph.memory_of(operand)

    def fusion_decision(
        self, job: Job, reads: Reads, needed: int, size: int, deep: int
    ) -> tuple[Cluster, int, bool] | None:
        """A cluster that a job can join, the pass, and whether it finishes there."""
        if job.is_fusible:
            beside = self.makers[job.var] if job.kind == "concat" else 0
            for cluster in self.candidates(reads, needed, size, deep, beside):
                stage = _pass_of_loops(job, cluster, reads)
                if stage is not None:
                    return cluster, stage, False
                stage = _pass_of_epilogue(job, cluster, reads)
                expensive = (
                    self.costs.get(job.eqn.outputs[0], 0) > cost_model.RECOMPUTE_COST
                )
                if stage is not None and not (expensive and epilogue_apart(cluster)):
                    return cluster, stage, True
        return None

    def candidates(
        self, reads: Collection[Var], needed: int, size: int, deep: int, beside: int
    ) -> list[Cluster]:
        """The latest clusters that make or read a job's operands, or are `beside`."""
        found = set(_bits(needed | beside))
        for var in reads:
            found.update(self.readers[var][-cost_model.FUSION_CANDIDATES :])
        clusters = [self.all[n] for n in sorted(found, reverse=True)]
        return [
            c
            for c in clusters[: cost_model.FUSION_CANDIDATES]
            if c.passes[0].jobs[0].is_fusible
            and len(c.jobs) < cost_model.CLUSTER_EQUATIONS
            and self.lengths[c.number] + size <= cost_model.BODY_COST
            and len(c.reads.union(reads)) <= cost_model.NEST_ARRAYS
            # What was cut stays cut: a map that goes on where another one ended.
            and not (
                needed >> c.number & 1
                and not c.axes
                and self.depths[c.number] + deep > cost_model.BODY_FUNCTION_COST
            )
            # What the job needs must not itself wait for the cluster.
            and not any(self.all[n].before >> c.number & 1 for n in _bits(needed))
        ]

    def order(self, cluster: Cluster, needed: int) -> None:
        """Let a cluster, and all that wait for it, wait for those in `needed`."""
        before = needed & ~(1 << cluster.number)
        for n in _bits(before):
            before |= self.all[n].before
            self.all[n].after.add(cluster.number)
        # Only those that learn of something new are visited: a new cluster has nobody
        # that waits for it, so that many clusters in a row cost no more each.
        todo = [cluster]
        while todo:
            one = todo.pop()
            if before & ~one.before:
                one.before |= before
                todo += [self.all[n] for n in one.after]


def _bits(number: int) -> list[int]:
    found = []
    while number:
        lowest = number & -number
        found.append(lowest.bit_length() - 1)
        number ^= lowest
    return found


def _pass_of_loops(job: Job, cluster: Cluster, reads: Reads) -> int | None:
    """The pass of a cluster in which a job can run; None where it cannot join."""
    if job.space != cluster.space or (
        job.axes and cluster.axes and job.axes != cluster.axes
    ):
        return None
    if not cluster.placed.isdisjoint(reads):
        return None
    stage, shares = 0, job.kind == "concat" and job.var in cluster.placed
    for var, places in reads.items():
        shares = shares or var in cluster.reads
        made = cluster.made_in.get(var)
        finished = cluster.epilogue_in.get(var)
        if made is not None:
            if not all(same_place(i, job.space) for i in places):
                return None
            stage, shares = max(stage, made), True
        elif finished is not None:
            expected = kept_place(var.aval.shape, cluster)
            if not all(_equal(i, expected, var.aval.shape) for i in places):
                return None
            stage, shares = max(stage, finished + 1), True
    if not shares or (stage == len(cluster.passes) and not second_pass_pays(cluster)):
        return None
    return stage


def _equal(indices: IndexMap | None, expected: IndexMap | None, shape: Shape) -> bool:
    """True if two places are the same; in extents of 1 all are."""
    return (
        indices is not None
        and expected is not None
        and all(
            i == j or n == 1 for i, j, n in zip(indices, expected, shape, strict=True)
        )
    )


def _pass_of_epilogue(job: Job, cluster: Cluster, reads: Reads) -> int | None:
    """The pass whose reductions a job finishes."""
    moved = epilogue_map(job.space, cluster.kept) if cluster.axes else None
    if (
        job.kind != "map"
        or moved is None
        or not cluster.made_in.keys().isdisjoint(reads)
        or not cluster.placed.isdisjoint(reads)
    ):
        return None
    stages = []
    for var, places in reads.items():
        if var in cluster.epilogue_in:
            stages.append(cluster.epilogue_in[var])
            for i in places:
                if i is None or not same_place(compose(i, moved), cluster.kept):
                    return None
    return max(stages, default=None)


def live_out_values(plan: FusionPlan, results: Collection[Var]) -> set[Var]:
    """The values that are read by another nest, or are results."""
    kept = set(results)
    for cluster in plan.clusters:
        own = {job.var for job in cluster.epilogue} | cluster.made(*KINDS)
        kept |= cluster.reads - own
        kept |= cluster.made("concat", "scatter")
    return kept
