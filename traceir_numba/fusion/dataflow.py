"""The dataflow graph of a program: producers, readers, index maps."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from math import prod

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var
from traceir_numba import cost_model
from traceir_numba.emitters.host import entry_of
from traceir_numba.emitters.kinds import (
    AffineIndex,
    Concat,
    DynamicIndex,
    Elementwise,
    EmitterKind,
    ForeignCall,
    Gather,
    IndexGenerator,
    IndexMap,
    Matmul,
    PrefixScan,
    Reduce,
    ReferenceCall,
    Region,
    Scatter,
    View,
)
from traceir_numba.emitters.structure import pointwise_map

Place = tuple[Var, IndexMap]  # a value at an index that depends on the loops


def dynamic_indices(indices: IndexMap) -> Iterator[DynamicIndex]:
    """The values that are parts of indices."""
    return (found for index in indices for found in index.dynamic)


def identity_map(rank: int) -> IndexMap:
    """Each dimension is indexed by the loop of the same number."""
    return tuple(AffineIndex(d) for d in range(rank))


class Graph:
    """Equations by the variable that they define, and the readers of variables."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        self.closed = closed
        self.eqns = closed.jaxpr.eqns
        self.at = {v: k for k, eqn in enumerate(self.eqns) for v in eqn.outputs}
        # By identity: each is asked for a hundred times in a long program.
        self._entries = {id(eqn): entry_of(eqn) for eqn in self.eqns}
        self._alike = [self._read_alike(eqn) for eqn in self.eqns]
        self.readers: dict[Var, list[Eqn]] = defaultdict(list)
        for eqn in self.eqns:
            for atom in dict.fromkeys(eqn.inputs):
                if isinstance(atom, Var):
                    self.readers[atom].append(eqn)
        self.aliases = dict(self._find_aliases())

    def entry(self, eqn: Eqn) -> EmitterKind:
        """The emitter's entry of an equation."""
        found = self._entries.get(id(eqn)) or entry_of(eqn)
        assert found is not None, eqn.primitive
        return found

    def _read_alike(self, eqn: Eqn) -> tuple[Atom, ...] | None:
        """The operands, if an elementwise equation reads all where its result is."""
        if not isinstance(self.entry(eqn), Elementwise):
            return None
        shape = eqn.outputs[0].aval.shape
        read = [a for a in dict.fromkeys(eqn.inputs) if isinstance(a, Var)]
        return tuple(read) if all(a.aval.shape == shape for a in read) else None

    def producer(self, var: Var) -> Eqn | None:
        """The equation that defines a variable; None for inputs and constants."""
        at = self.at.get(var)
        return None if at is None else self.eqns[at]

    def _find_aliases(self) -> Iterator[tuple[Var, Var]]:
        """Results that are their operand's memory under another shape."""
        for eqn in self.eqns:
            entry = self.entry(eqn)
            if not isinstance(entry, View):
                continue
            (out,), operand = eqn.outputs, eqn.inputs[0]
            if (
                isinstance(operand, Var)
                and entry.read(eqn, identity_map(out.aval.ndim)) is None
            ):
                yield out, operand

    def memory_of(self, var: Var) -> Var:
        """The variable whose memory holds the value."""
        while var in self.aliases:
            var = self.aliases[var]
        return var

    def needs_memory(self) -> set[Var]:
        """Values that must be stored whatever the nests: results and whole arrays."""
        found = {v for v in self.closed.jaxpr.outvars if isinstance(v, Var)}
        found.update(self.aliases.values())
        for eqn in self.eqns:
            match self.entry(eqn):
                case Matmul() | ReferenceCall() | ForeignCall() | Region():
                    found.update(a for a in eqn.inputs if isinstance(a, Var))
                    found.update(eqn.outputs)
                case Reduce() | PrefixScan():
                    found.update(eqn.outputs)
                case Gather():
                    found.update(self.origins(eqn.inputs[0]))
                case Scatter():
                    found.update(a for a in eqn.inputs[:1] if isinstance(a, Var))
                    found.update(eqn.outputs)
                case Concat() if not self.is_read_apart(eqn):
                    found.update(eqn.outputs)
        return {self.memory_of(v) for v in found}

    def origins(self, atom: Atom) -> Iterator[Var]:
        """The variable that a value is views of, if that is one."""
        while isinstance(atom, Var):
            eqn = self.producer(atom)
            if (
                eqn is None
                or atom in self.aliases
                or not isinstance(self.entry(eqn), View)
            ):
                yield atom
            else:
                atom = eqn.inputs[0]
                continue
            return

    def is_read_apart(self, eqn: Eqn) -> bool:
        """True if parts that lie side by side are read from where they are instead.

        Each loop then runs over all of them, at each point behind a condition. That
        pays where one is nearly everything, as in a padded array; elsewhere too many
        conditions fail.
        """
        shape = eqn.outputs[0].aval.shape
        if len(eqn.inputs) > cost_model.CONCAT_PARTS or self.is_mixed(eqn):
            return False
        if prod(shape) <= cost_model.CONCAT_ELEMENTS or eqn.inputs[0].aval.ndim != len(
            shape
        ):
            return True
        read = sorted(prod(a.aval.shape) for a in eqn.inputs if not self.is_even(a))
        return sum(read[:-1]) * cost_model.CONCAT_SHARE <= prod(shape)

    def is_mixed(self, eqn: Eqn) -> bool:
        """True if parts are stored by one nest, element beside element."""
        entry = self.entry(eqn)
        return isinstance(entry, Concat) and entry.mixed(eqn)

    def is_even(self, atom: Atom) -> bool:
        """True if all elements are one literal."""
        eqn = None if isinstance(atom, Literal) else self.producer(atom)
        return eqn is not None and all(isinstance(a, Literal) for a in eqn.inputs)

    def operands(self, eqn: Eqn, indices: IndexMap) -> Iterator[tuple[Atom, IndexMap]]:
        """The operands that an elementwise equation reads for a result at `indices`."""
        match self.entry(eqn):
            case Elementwise():
                out = eqn.outputs[0].aval.shape
                for atom in eqn.inputs:
                    yield atom, pointwise_map(indices, atom.aval.shape, out)
            case View(read):
                read_at = read(eqn, indices)
                assert read_at is not None, "an alias is read from memory"
                yield eqn.inputs[0], read_at
            case Concat(read=read_part):
                for k, atom in enumerate(eqn.inputs):
                    found = read_part(eqn, k, indices)
                    if found is not None:
                        yield atom, found[0]
            case Gather(read=read_fetched, guarded=tested):
                where = read_fetched(eqn, indices)
                for one in (*dynamic_indices(where), *tested(eqn, indices)):
                    yield one.atom, one.at
                yield eqn.inputs[0], where
            case IndexGenerator():
                return
            case other:
                raise AssertionError(other)

    def walk(
        self, seeds: Iterable[tuple[Atom, IndexMap]], stops: Container[Var]
    ) -> tuple[list[tuple[Eqn, IndexMap]], dict[Place, None]]:
        """The equations to compute for `seeds`, in order, and the values read from
        memory.

        Inputs, constants, aliases and the variables in `stops` are read.
        """
        reads: dict[Place, None] = {}
        seen: set[Place] = set()
        heap: list[tuple[int, int, Var, IndexMap]] = []

        def visit(atom: Atom, indices: IndexMap) -> None:
            if isinstance(atom, Literal):
                return
            place, known = (atom, indices), len(seen)
            seen.add(place)
            if len(seen) == known:
                return
            at = self.at.get(atom)
            if at is None or atom in stops or atom in self.aliases:
                reads[place] = None
            else:
                heapq.heappush(heap, (-at, known, atom, indices))

        for atom, indices in seeds:
            visit(atom, indices)
        found = []
        while heap:
            at, _, _, indices = heapq.heappop(heap)
            eqn = self.eqns[-at]
            found.append((eqn, indices))
            alike = self._alike[-at]
            if alike is None:
                for operand, read_at in self.operands(eqn, indices):
                    visit(operand, read_at)
            else:
                for operand in alike:
                    visit(operand, indices)
        return found[::-1], reads
