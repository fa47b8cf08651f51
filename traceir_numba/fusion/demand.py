"""Demand analysis: values asked for at several indices or by several nests.

A value that all its readers ask for at one place is computed once with what they are
made into. Elsewhere ways part: what reads the next step of a stencil asks for its
neighbours, and these for theirs. A walk that followed each way would grow without
bound, so the values where ways part are found first, in one pass from the end.

In the steps of a stencil each step reads the one before at several places; there an
expensive value is in memory. So a body holds no more than one step, or a few cheap
ones, and a chain of any length compiles in time that grows with its length alone
(`tests/test_growth_structures.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Eqn, Var
from traceir_numba.emitters.kinds import Concat, Elementwise, Gather, IndexMap, View
from traceir_numba.fusion.dataflow import Graph, identity_map


@dataclass(frozen=True, slots=True)
class ValueDemand:
    """A place at which a value is asked for, in the loops over an `anchor`.

    That is a value that is in memory or is asked for repeatedly itself, or what has
    loops of its own, as a reduction has: a reader, with the number of an operand.
    """

    anchor: Hashable
    at: IndexMap

    @property
    def is_map(self) -> bool:
        """True if the demand comes from a nest that has no loops of its own kind."""
        return isinstance(self.anchor, Var)


def repeated_demands(graph: Graph, stored: Collection[Var]) -> dict[Var, bool]:
    """The values that several nests ask for, or one of them at several places.

    Also says whether that is certain: elementwise results at the same places may become
    one nest.
    """
    found: dict[Var, bool] = {}
    single: dict[Var, ValueDemand] = {}
    for eqn in reversed(graph.eqns):
        out = eqn.outputs[0]
        if len(eqn.outputs) > 1 or out in stored or out in graph.aliases:
            continue
        demands = {*_demands(graph, out, single)}
        if len(demands) == 1:
            (single[out],) = demands
        elif demands:
            places = {demand.at for demand in demands}
            found[out] = len(places) > 1 or not all(d.is_map for d in demands)
    return found


def _demands(
    graph: Graph, var: Var, single: dict[Var, ValueDemand]
) -> Iterator[ValueDemand]:
    """The index maps at which the readers of a value ask for it."""
    for reader in graph.readers[var]:
        if _has_own_loops(graph, reader):
            whole = identity_map(var.aval.ndim)
            inputs = enumerate(reader.inputs)
            yield from (ValueDemand((reader, k), whole) for k, a in inputs if a is var)
            continue
        out = reader.outputs[0]
        of = single.get(out, ValueDemand(out, identity_map(out.aval.ndim)))
        for atom, at in graph.operands(reader, of.at):
            if atom is var:
                yield ValueDemand(of.anchor, at)


def _has_own_loops(graph: Graph, reader: Eqn) -> bool:
    """True if a reader is a reduction, one part of many, or a call."""
    match graph.entry(reader):
        case Concat():
            return not (graph.is_mixed(reader) or graph.is_read_apart(reader))
        case Elementwise() | View() | Gather():
            return False
    return True
