"""The clusters of a program as loop nests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from traceir.ir.jaxpr import Var
from traceir_numba.fusion.clusters import Cluster
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.fusion.fuse import fuse, live_out_values
from traceir_numba.loops.build_nest import build
from traceir_numba.loops.program import Buffer, Labels, Launch
from traceir_numba.loops.schedule import merge


class ClusterLowering:
    """The clusters of a graph, in the order in which they run, and their kernels.

    `results` are the variables whose memory outlasts the clusters; `names` are those of
    variables in source.
    """

    def __init__(
        self, graph: Graph, results: Collection[Var], names: Mapping[Var, str]
    ) -> None:
        self._graph, self._names = graph, names
        self._plan = fuse(graph)
        self._kept = live_out_values(self._plan, {graph.memory_of(v) for v in results})
        self.clusters = self._plan.clusters

    def launch(
        self, cluster: Cluster, slot: Callable[[Var], int], buffers: Sequence[Buffer]
    ) -> Launch:
        """The launch of a cluster's kernel; `slot` gives the buffer of a variable."""
        built = build(self._graph, cluster, self._plan.stored, self._kept, self._names)
        nest, extents = merge(built.nest, built.extents, built.params)
        slots = tuple(map(slot, built.memory))
        labels = Labels(built.labels, tuple(buffers[k].name for k in slots))
        return Launch(nest, slots, extents, built.params, labels)
