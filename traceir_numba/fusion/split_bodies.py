"""Cuts of long straight-line code into bodies of bounded size.

LLVM's time for a body grows faster than the body, and past some hundred reads of tables
it no longer makes vectors of it. A part writes what the next ones need.

Real functions of one another are long ways through a processor, which can begin the
next elements only while the last ones are few instructions behind. So a chain of many
is cut, too, where one value is all that goes on: that is written and read in less time.

Code is cut where the fewest values are alive, and these are stored. Past some hundred
reads of tables LLVM would make no vectors of a loop, and its time for a body grows
faster than the body. No nest reads more than 40 arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import prod

from traceir.ir.jaxpr import Eqn, Var
from traceir_numba import cost_model
from traceir_numba.emitters.kinds import Elementwise, Gather, View
from traceir_numba.fusion.clusters import Cluster, Job, Without, seeds
from traceir_numba.fusion.dataflow import Graph


def length(graph: Graph, eqns: Iterable[Eqn]) -> int:
    """The length that some equations add to a loop's body."""
    return sum(_length(graph, eqn) for eqn in eqns)


def depth(graph: Graph, eqns: Iterable[Eqn]) -> int:
    """The cost of the real functions among some equations."""
    return sum(_depth(graph, eqn) for eqn in eqns)


def computed_for(graph: Graph, job: Job, stored: Collection[Var]) -> list[Eqn]:
    """The equations that a job computes, each once, in order."""
    own = {job.var} if job.kind == "map" else set()
    found = graph.walk(seeds(job), Without(stored, own))[0]
    return list({eqn.outputs[0]: eqn for eqn, _ in found}.values())


def too_long(
    graph: Graph, stored: Collection[Var], clusters: Iterable[Cluster]
) -> set[Var]:
    """Values in memory with which no job is too long, or reads too many arrays."""
    long = length(graph, graph.eqns) > cost_model.BODY_COST
    shallow = not long and depth(graph, graph.eqns) <= cost_model.BODY_FUNCTION_COST
    found: set[Var] = set()
    for cluster in clusters:
        if shallow and len(cluster.reads) <= cost_model.NEST_ARRAYS:
            continue
        for job in cluster.jobs + cluster.epilogue:
            eqns = computed_for(graph, job, stored)
            found |= _by_arrays(graph, eqns)
            if long and length(graph, eqns) > cost_model.BODY_COST:
                found |= _cut(graph, eqns, _length, cost_model.BODY_COST)
            elif (
                prod(job.space) >= cost_model.SPLIT_BODY_ELEMENTS
                and depth(graph, eqns) > cost_model.BODY_FUNCTION_COST
            ):
                found |= _cut(graph, eqns, _depth, cost_model.BODY_FUNCTION_COST, 1)
    return found - set(stored)


def _by_arrays(graph: Graph, eqns: Sequence[Eqn]) -> set[Var]:
    """The values at which equations are cut, if they read too many arrays."""
    made = {eqn.outputs[0] for eqn in eqns}

    def read(*eqns: Eqn) -> int:
        inputs = (a for eqn in eqns for a in eqn.inputs)
        return len({a for a in inputs if isinstance(a, Var) and a not in made})

    if read(*eqns) <= cost_model.NEST_ARRAYS:
        return set()
    return _cut(graph, eqns, lambda _, eqn: read(eqn), cost_model.NEST_ARRAYS)


def _length(graph: Graph, eqn: Eqn) -> int:
    entry = graph.entry(eqn)
    if isinstance(entry, Gather):
        return 2 * cost_model.LINE_COST
    if not isinstance(entry, Elementwise):
        return 0
    return cost_model.operation_cost(eqn.primitive) + cost_model.LINE_COST


def _depth(graph: Graph, eqn: Eqn) -> int:
    entry = graph.entry(eqn)
    real = isinstance(entry, Elementwise) and not entry.exact
    return cost_model.operation_cost(eqn.primitive) if real else 0


def _cut(
    graph: Graph,
    eqns: Sequence[Eqn],
    weight: Callable[[Graph, Eqn], int],
    most: int,
    values: int | None = None,
) -> set[Var]:
    """The values that are alive between parts, cut where they are fewest.

    Parts weigh no more than `most`, unless more than so many values are alive.
    """
    eqns = _depth_first(eqns)
    made = {eqn.outputs[0]: k for k, eqn in enumerate(eqns)}
    last: dict[Var, int] = {}
    for k, eqn in enumerate(eqns):
        last.update({a: k for a in eqn.inputs if isinstance(a, Var) and a in made})
    alive = [0] * (len(eqns) + 1)
    for var, k in last.items():
        alive[made[var]] += 1
        alive[k] -= 1
    for k in range(1, len(alive)):
        alive[k] += alive[k - 1]
    found: set[Var] = set()
    for at in _places([weight(graph, eqn) for eqn in eqns], alive, most):
        if values is not None and alive[at] > values:
            continue
        crossing = [v for v, k in last.items() if made[v] <= at < k]
        found.update(v for v in (_source(graph, v) for v in crossing) if v in made)
    return found


def _depth_first(eqns: Sequence[Eqn]) -> list[Eqn]:
    """The same, each as soon as the one that reads it needs it: few values wait."""
    made = {eqn.outputs[0]: eqn for eqn in eqns}
    found: dict[Var, Eqn] = {}
    todo = [(eqns[-1], iter(eqns[-1].inputs))]
    while todo:
        eqn, rest = todo[-1]
        for atom in rest:
            needed = made.get(atom) if isinstance(atom, Var) else None
            if needed is not None and needed.outputs[0] not in found:
                todo.append((needed, iter(needed.inputs)))
                break
        else:
            found[eqn.outputs[0]] = eqn
            todo.pop()
    return list(found.values())


def _places(weights: Sequence[int], alive: Sequence[int], most: int) -> list[int]:
    """The equations after which a part ends: in its second half, the best place."""
    places = []
    size = 0
    middle = None
    k = 0
    while k < len(weights):
        size += weights[k]
        if middle is None and 2 * size > most:
            middle = k
        if size > most and middle is not None and middle < k:
            best = min(range(middle, k), key=lambda p: (alive[p], -p))
            places.append(best)
            k = best + 1
            size, middle = 0, None
        else:
            k += 1
    return places


def _source(graph: Graph, var: Var) -> Var:
    """The value of which a value is only other places."""
    while True:
        eqn = graph.producer(var)
        if eqn is None or not isinstance(graph.entry(eqn), View):
            return var
        operand = eqn.inputs[0]
        if not isinstance(operand, Var):
            return var
        var = operand
