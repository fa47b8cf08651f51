"""Values too expensive to compute twice, which are materialized.

A value that later passes need is computed again if that is cheap, and stored if it is
expensive, in the memory of a result that is written over it in the end, if there is
one: the exponentials of a softmax take no memory of their own. What is the same for a
whole row is computed once, by the pass before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from math import inf, prod

from traceir.ir.jaxpr import Eqn, Var
from traceir_numba import cost_model
from traceir_numba.emitters.kinds import (
    Concat,
    Elementwise,
    ForeignCall,
    Gather,
    IndexMap,
    ReferenceCall,
    Region,
    View,
)
from traceir_numba.fusion.clusters import (
    Cluster,
    Shape,
    Without,
    in_terms_of,
    is_short_search,
    moving,
    seeds,
)
from traceir_numba.fusion.dataflow import Graph, identity_map
from traceir_numba.fusion.demand import repeated_demands


def recompute_costs(graph: Graph, stored: set[Var]) -> dict[Var, int]:
    """The additions that computing a value from memory costs, counted up to a bound.

    An expensive value that would be computed in several places joins `stored` at once:
    no walk through the program then comes by more than a few of them, and it costs no
    memory if all its readers end in one nest.
    """
    costs: dict[Var, int] = {}
    demands = repeated_demands(graph, stored)
    for eqn in graph.eqns:
        entry = graph.entry(eqn)
        if isinstance(entry, Region | ReferenceCall | ForeignCall):
            continue  # its results are in memory
        (out,) = eqn.outputs
        scalar = isinstance(entry, Elementwise)
        own = cost_model.operation_cost(eqn.primitive) if scalar else 0
        own = cost_model.GATHER_COST if isinstance(entry, Gather) else own
        own = 2 * len(eqn.inputs) if isinstance(entry, Concat) else own
        own = cost_model.SCATTERED_READ_COST if _is_scattered(graph, eqn) else own
        inputs = (a for a in eqn.inputs if isinstance(a, Var) and a not in stored)
        cost = costs[out] = min(
            own + sum(costs.get(a, 0) for a in inputs), cost_model.COUNTED_COST
        )
        if out in stored or out in graph.aliases:
            continue
        if cost > _searched_cost(graph, out):
            stored.add(out)
        if cost <= cost_model.RECOMPUTE_COST:
            continue
        if out in demands and (demands[out] or cost == cost_model.COUNTED_COST):
            stored.add(out)
    return costs


def _searched_cost(graph: Graph, var: Var) -> float:
    """The greatest cost of a value of which short rows are searched: that is code for
    all elements of a row."""
    if not any(is_short_search(reader) for reader in graph.readers[var]):
        return inf
    return (
        cost_model.UNROLLED_INSTRUCTIONS // var.aval.shape[-1] - cost_model.SEARCH_COST
    )


def _is_scattered(graph: Graph, eqn: Eqn) -> bool:
    """True if an equation reads a large array across the order of its elements."""
    entry, shape = graph.entry(eqn), eqn.outputs[0].aval.shape
    if not isinstance(entry, View) or prod(shape) < cost_model.MULTIPASS_ELEMENTS:
        return False
    read_at = entry.read(eqn, identity_map(len(shape)))
    if not read_at:
        return False
    moved = [i.dim for i in read_at if i.dim is not None and shape[i.dim] > 1]
    return moved != sorted(moved)


def recomputed(
    graph: Graph,
    stored: Collection[Var],
    clusters: Collection[Cluster],
    costs: dict[Var, int],
) -> set[Var]:
    """Expensive values that are computed in several places, or repeatedly in one."""
    uses: dict[Var, int] = defaultdict(int)
    expensive = set()
    stops = set(stored)  # and what has been found: it will be in memory
    for cluster in clusters:
        apart = epilogue_apart(cluster)
        for number, stage in enumerate(cluster.passes):
            places = [place for job in stage.jobs for place in seeds(job)]
            computed = graph.walk(places, Without(stops, stage.made("map")))[0]
            own = {job.var for job in stage.epilogue}
            for job in stage.epilogue:
                computed += graph.walk(seeds(job), Without(stops, own))[0]
            for eqn, indices in dict.fromkeys(computed):
                var = eqn.outputs[0]
                if costs[var] <= cost_model.REPEATED_COST or var in stored:
                    continue
                uses[var] += 1
                again = _recomputed_by_loop(indices, cluster.space, var.aval.shape)
                if apart and number and costs[var] > cost_model.RECOMPUTE_COST:
                    again |= in_terms_of(indices, cluster.kept_loops) is not None
                if again or (uses[var] > 1 and costs[var] > cost_model.RECOMPUTE_COST):
                    expensive.add(var)
                    stops.add(var)
    return {v for v in expensive if _shared(graph, v, expensive)}


def _recomputed_by_loop(indices: IndexMap, space: Shape, shape: Shape) -> bool:
    """True if an outer loop computes all of a much smaller value again.

    A value that only inner loops repeat is moved out of them by the compiler.
    """
    own = moving(indices)
    fixed = [d for d, n in enumerate(space) if n != 1 and d not in own]
    inner = max(own, default=-1)
    fills = prod(shape) * cost_model.REPEATED_PARTS <= prod(space)
    return fills and any(d < inner for d in fixed)


def _shared(graph: Graph, var: Var, expensive: Collection[Var]) -> bool:
    """True if this value itself is shared, not only one that it goes into."""
    readers = graph.readers[var]
    return len(readers) != 1 or readers[0].outputs[0] not in expensive


def epilogue_apart(cluster: Cluster) -> bool:
    """True if an expensive epilogue is better computed for all rows at once, side by
    side.

    Within a row it is one call of a function, which costs as much as a short row.
    """
    last = len(cluster.space) - 1
    return (
        last in cluster.axes
        and prod(cluster.space[d] for d in cluster.axes) <= cost_model.SEPARATE_NEST_ROW
        and prod(cluster.kept) >= cost_model.SEPARATE_NEST_ROWS
    )


def second_pass_pays(cluster: Cluster) -> bool:
    """True if another pass over the same loops is better than another nest."""
    if not cluster.kept_loops:
        return False  # all of it is reduced first: nothing is left in the cache
    rows, size = prod(cluster.kept), prod(cluster.space)
    if len(cluster.space) - 1 not in cluster.axes:
        columns = cluster.space[-1]
        tile = (
            prod(cluster.space[d] for d in cluster.axes)
            * cost_model.MULTIPASS_COLUMN_TILE
            * 4
        )
        if tile > cost_model.CACHED_TILE_BYTES:
            return False
        rows = rows // max(1, columns) * -(-columns // cost_model.MULTIPASS_COLUMN_TILE)
    return rows >= cost_model.MULTIPASS_ROWS or size <= cost_model.MULTIPASS_ELEMENTS
