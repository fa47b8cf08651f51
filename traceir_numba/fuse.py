"""Which values live in memory, and which are computed together in one loop nest.

A job leaves one value in memory: a map of the elements, a reduction, an operand's part
of a concatenation, or a library's call. Jobs over the same index space join one
cluster, which becomes one nest: they share reads and values, and what finishes a
reduction joins it. Nothing in between is stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from traceir.ir import Var
from traceir_numba.emitters.entry import Map
from traceir_numba.graph import Graph
from traceir_numba.jobs import (
    KINDS,
    Cluster,
    Job,
    Without,
    compose,
    finish_map,
    jobs_of,
    same_place,
    seeds,
)
from traceir_numba.share import computed_twice, costs_of

# Clusters stay small enough for the machine's registers and a reader's eye.
MOST_JOBS = 16
MOST_CANDIDATES = 8
ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Plan:
    """Clusters in an order in which they can run, and the values they store."""

    graph: Graph
    clusters: tuple[Cluster, ...]
    stored: frozenset[Var]


def fuse(graph: Graph) -> Plan:
    """The clusters of a flat program."""
    stored = {v for v in graph.needs_memory() if v in graph.at}
    costs = costs_of(graph, stored)
    for _ in range(ROUNDS):
        clusters = _Fuser(graph, stored).clusters()
        dear = computed_twice(graph, stored, clusters, costs)
        if not dear:
            break
        stored |= dear
    ordered = sorted(clusters, key=lambda c: (c.before.bit_count(), c.number))
    return Plan(graph, tuple(ordered), frozenset(stored))


# -- which jobs go together -----------------------------------------------------------


class _Fuser:
    def __init__(self, graph: Graph, stored: Collection[Var]) -> None:
        self.graph = graph
        self.stored = stored
        self.all: list[Cluster] = []
        self.makers: dict[Var, int] = defaultdict(int)  # bit sets of clusters
        self.readers: dict[Var, list[int]] = defaultdict(list)

    def clusters(self) -> list[Cluster]:
        for job in jobs_of(self.graph, self.stored):
            self.place(job)
        return self.all

    def place(self, job: Job) -> None:
        """Let a job join a cluster, or start its own."""
        reads = self.reads(job)
        needed = 0
        for var in reads:
            needed |= self.makers[var]
        cluster, finishes = self.choose(job, reads, needed)
        if cluster is None:
            cluster = Cluster(len(self.all), job.space)
            self.all.append(cluster)
        (cluster.finish if finishes else cluster.jobs).append(job)
        cluster.axes = cluster.axes or job.axes
        for var in job.eqn.outputs:
            self.makers[var] |= 1 << cluster.number
        self.order(cluster, needed)
        for var in reads:
            cluster.reads.add(var)
            self.readers[var].append(cluster.number)

    def reads(self, job: Job) -> dict[Var, set[Map | None]]:
        """What a job reads and at which indices; None where under another shape."""
        own = {job.var} if job.kind == "map" else set()
        places = self.graph.walk(seeds(job), Without(self.stored, own))[1]
        found: dict[Var, set[Map | None]] = defaultdict(set)
        for var, indices in places:
            memory = self.graph.memory_of(var)
            found[memory].add(indices if memory is var else None)
        return found

    def choose(
        self, job: Job, reads: dict[Var, set[Map | None]], needed: int
    ) -> tuple[Cluster | None, bool]:
        """A cluster that the job can join, and whether it finishes reductions there."""
        if job.kind in ("map", "reduce"):
            for cluster in self.candidates(reads, needed):
                if _joins_loops(job, cluster, reads):
                    return cluster, False
                if _finishes(job, cluster, reads):
                    return cluster, True
        return None, False

    def candidates(self, reads: Collection[Var], needed: int) -> list[Cluster]:
        """The latest clusters that make or read what a job reads."""
        found = set(_bits(needed))
        for var in reads:
            found.update(self.readers[var][-MOST_CANDIDATES:])
        clusters = [self.all[n] for n in sorted(found, reverse=True)]
        return [
            c
            for c in clusters[:MOST_CANDIDATES]
            if c.jobs[0].kind in ("map", "reduce")
            and len(c.jobs) < MOST_JOBS
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


def _joins_loops(job: Job, cluster: Cluster, reads: dict[Var, set[Map | None]]) -> bool:
    if job.space != cluster.space or (
        job.axes and cluster.axes and job.axes != cluster.axes
    ):
        return False
    made, finished = cluster.made("map"), cluster.finished()
    shares = any(var in cluster.reads or var in made for var in reads)
    return shares and all(
        var not in finished
        and (var not in made or all(same_place(i, job.space) for i in places))
        for var, places in reads.items()
    )


def _finishes(job: Job, cluster: Cluster, reads: dict[Var, set[Map | None]]) -> bool:
    moved = finish_map(job.space, cluster.kept) if cluster.axes else None
    if job.kind != "map" or moved is None:
        return False
    finished, made = cluster.finished(), cluster.made("map")
    places = [i for var, found in reads.items() if var in finished for i in found]
    return (
        bool(places)
        and made.isdisjoint(reads)
        and all(
            i is not None and same_place(compose(i, moved), cluster.kept)
            for i in places
        )
    )


def kept_values(plan: Plan, results: Collection[Var]) -> set[Var]:
    """The values that are read by another nest, or are results."""
    kept = set(results)
    for cluster in plan.clusters:
        own = {job.var for job in cluster.finish} | cluster.made(*KINDS)
        kept |= cluster.reads - own
        kept |= cluster.made("part")
    return kept
