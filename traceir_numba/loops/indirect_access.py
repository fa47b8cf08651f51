"""Reads and writes at indices that are values.

Serves: class.placed, prim.gather, class.scatter
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Protocol

import numpy as np

from traceir.ir.jaxpr import Atom, Eqn, Literal, Var
from traceir_numba.emitters.kinds import DynamicIndex, Gather, IndexMap
from traceir_numba.fusion.clusters import Cluster, Job, scatter_of, updates_map
from traceir_numba.fusion.dataflow import Graph, Place
from traceir_numba.loops.body_builder import BodyBuilder
from traceir_numba.loops.nest import (
    Access,
    Apply,
    ClampIndex,
    IndexInBounds,
    LoadElement,
    Operand,
    ScalarConstant,
    StoreElement,
    Stride,
)

# So many elements that lie together are told apart by constants.
PAIR = 2


class NestContext(Protocol):
    """A builder of the nest of a cluster."""

    graph: Graph
    read: Container[Var]
    names: Mapping[Var, str]
    cluster: Cluster
    homes: dict[Var, Var]
    memory: dict[Var, int]
    ends: list[BodyBuilder]
    of_rows: dict[Place, tuple[BodyBuilder, Operand]]

    def value(self, block: BodyBuilder, atom: Atom, indices: IndexMap) -> Operand:
        """The operand that stands for a value at a place."""

    def compute(self, block: BodyBuilder, eqn: Eqn, indices: IndexMap) -> Operand:
        """Add the node of an equation."""

    def of_row(self, end: BodyBuilder, eqn: Eqn, indices: IndexMap) -> None:
        """Compute something once for each point of the kept loops."""

    def row_place(
        self, block: BodyBuilder, var: Var, indices: IndexMap
    ) -> Place | None:
        """A place in terms of the kept loops, if it depends on no other."""

    def param(self, key: object, value: int) -> int:
        """The number of a runtime parameter."""

    def position(
        self, block: BodyBuilder, indices: IndexMap, dimension: int, name: str
    ) -> Operand:
        """The index along a dimension."""


class IndirectAccess:
    """The nodes of places in one nest."""

    def __init__(self, builder: NestContext) -> None:
        self.builder = builder

    def access(
        self,
        var: Var,
        indices: IndexMap,
        loops: tuple[int, ...],
        block: BodyBuilder,
    ) -> Access:
        """Strides in the nest's loops for indices over `loops`.

        The values in which indices are found are computed in the block.
        """
        builder, extents = self.builder, self.builder.cluster.space
        memory = builder.graph.memory_of(var)
        memory = builder.homes.get(memory, memory)
        buffer = builder.memory.setdefault(memory, len(builder.memory))
        strides: list[Stride] = [None] * len(extents)
        known: tuple[int, ...] | None = ()
        distance, offset = 1, 0
        found: list[tuple[Operand, int | None]] = []
        width, lane = _lanes(indices, var.aval.shape)
        for k in reversed(range(len(indices) - (width > 1))):
            index, extent = indices[k], var.aval.shape[k]
            loop = None if index.dim is None else loops[index.dim]
            if loop is not None:
                key = (buffer, k, index.step, var.aval.ndim, width)
                plain = index.step == 1 and known is not None
                strides[loop] = (
                    known if plain else builder.param(key, distance * index.step)
                )
            for one in index.dynamic:
                far = distance * one.scale
                at = self.known(block, one)
                if at is not None:
                    offset += far * max(0, min(at, one.last))
                    continue
                by = None if far == 1 else builder.param(("far", buffer, far), far)
                found.append((self.place(block, one, builder.names[var]), by))
            offset += index.start * distance
            whole = index.step == 1 and index.start == 0 and not index.dynamic
            if loop is not None and whole and extent == extents[loop]:
                known = None if known is None else tuple(sorted((*known, loop)))
            elif loop is not None or extent != 1:
                known = None
            distance *= extent
        where = builder.param((buffer, "start", offset), offset) if offset else None
        return Access(buffer, tuple(strides), where, tuple(found), width, lane)

    def gathered(
        self, block: BodyBuilder, eqn: Eqn, indices: IndexMap, entry: Gather
    ) -> Operand:
        """The element at a place that is found; another one where that is outside."""
        name = self.builder.names[eqn.outputs[0]]
        here = self.in_bounds(block, entry.guarded(eqn, indices), name)
        result = self.builder.value(block, eqn.inputs[0], entry.read(eqn, indices))
        fill = entry.fill(eqn)
        if here is None or fill is None:
            return result
        dtype = eqn.outputs[0].aval.dtype.name
        args = here, self.builder.value(block, fill, ()), result
        node = Apply("select_n", args, ("bool", dtype, dtype), dtype)
        return block.add(node, name, eqn.source)

    def in_bounds(
        self, block: BodyBuilder, places: Sequence[DynamicIndex], name: str
    ) -> int | None:
        """The node that tests if values are indices in bounds; None if there is nothing
        to ask.
        """
        truth: int | None = None
        for found in places:
            known = self.known(block, found)
            inside = known is not None and 0 <= known <= found.last
            if inside or found.inside:
                continue
            # Beyond all numbers with a sign is less than 0 as one of them.
            value = self.cast(block, self.value(block, found), "int64", name)
            one = block.once(IndexInBounds(value, self.last(found)), f"{name}_in")
            if truth is not None:
                both = Apply("and", (truth, one), ("bool", "bool"), "bool")
                one = block.once(both, f"{name}_in")
            truth = one
        return truth

    def place(self, block: BodyBuilder, found: DynamicIndex, name: str) -> Operand:
        """A value as a place: the nearest one that there is."""
        value = self.value(block, found)
        if found.inside:
            return self.cast(block, value, "int64", name)
        if found.atom.aval.dtype == np.uint64:
            most = ScalarConstant(str(found.last), "uint64")
            node = Apply("min", (value, most), ("uint64",) * 2, "uint64")
            value = block.once(node, f"{name}_at")
        value = self.cast(block, value, "int64", name)
        return block.once(ClampIndex(value, self.last(found)), f"{name}_at")

    def known(self, block: BodyBuilder, found: DynamicIndex) -> int | None:
        """The number that a value is, where it is written in the program."""
        value = self.value(block, found)
        return int(value.text) if isinstance(value, ScalarConstant) else None

    def last(self, found: DynamicIndex) -> int:
        """The last place that there is, as a parameter."""
        return self.builder.param(("last", found.last), found.last)

    def cast(
        self, block: BodyBuilder, value: Operand, dtype: str, name: str
    ) -> Operand:
        """An integer as one of another dtype."""
        old = block.nodes[value].dtype if isinstance(value, int) else value.dtype
        if old == dtype:
            return value
        node = Apply("convert_element_type", (value,), (old,), dtype)
        return block.once(node, f"{name}_at")

    def value(self, block: BodyBuilder, found: DynamicIndex) -> Operand:
        """The value of which a place is made, computed if nothing has done so."""
        self.demand(block, found.atom, found.at)
        return self.builder.value(block, found.atom, found.at)

    def demand(self, block: BodyBuilder, atom: Atom, indices: IndexMap) -> None:
        """Compute a value at a place, if it is in no memory and not computed yet."""
        eqn = None if isinstance(atom, Literal) else self.builder.graph.producer(atom)
        if (
            eqn is None
            or isinstance(atom, Literal)
            or atom in self.builder.read
            or atom in self.builder.graph.aliases
            or (atom, indices) in block.values
        ):
            return
        place = self.builder.row_place(block, atom, indices)
        if place is not None and place in self.builder.of_rows:
            return
        for operand, at in self.builder.graph.operands(eqn, indices):
            self.demand(block, operand, at)
        if block in self.builder.ends:
            self.builder.of_row(block, eqn, indices)
        else:
            block.values[atom, indices] = self.builder.compute(block, eqn, indices)

    def scatter(self, block: BodyBuilder, job: Job) -> None:
        """Store an update in its place, joined to the element there."""
        builder, eqn = self.builder, job.eqn
        dtype, name = job.var.aval.dtype.name, builder.names[job.var]
        entry = scatter_of(eqn)
        guard = self.in_bounds(block, entry.guarded(eqn), name)
        value = builder.value(block, entry.updates(eqn), updates_map(eqn))
        at = self.access(job.var, entry.place(eqn), block.loops, block)
        if entry.combine is not None:
            before = block.add(LoadElement(at, dtype), f"{name}_old")
            joined = Apply(entry.combine, (before, value), (dtype, dtype), dtype)
            value = block.add(joined, name, eqn.source)
        block.stores.append(StoreElement(at, value, dtype, guard))


def _lanes(indices: IndexMap, shape: tuple[int, ...]) -> tuple[int, int]:
    """The number of elements that lie together at a place, and which of them indices
    read.

    Two that are read side by side are vectors taken apart; a parameter in the place of
    the number would hide that they are neighbours.
    """
    if not indices or shape[-1] != PAIR:
        return 1, 0
    last = indices[-1]
    known = last.dim is None and not last.dynamic
    return (PAIR, last.start) if known else (1, 0)
