"""A traced program to a program of kernels, stage by stage.

The passes inline calls, remove dead and duplicate equations and fold what is exact
(`lowering`); equations are grouped into loop nests (`fusion`, `loops`), nests get their
loops and strides (`loops.schedule`), source is written (`codegen`) and becomes machine
code, once for each text (`kernel_cache`). A kernel takes plain pointers and 64-bit
sizes, so its text does not depend on shapes: a new shape of the same rank is traced
again and not compiled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, subjaxprs
from traceir.reference.whole_arrays import of_whole_arrays
from traceir.text.naming import letters
from traceir.text.printer import with_names
from traceir_numba.buffers.buffer_assignment import assign_buffers
from traceir_numba.buffers.lower_control_flow import operands_of, routine_of
from traceir_numba.buffers.routine_buffers import RoutineBuffers, RoutineNames
from traceir_numba.buffers.share_loops import share_loops
from traceir_numba.device_functions import NUMBERS
from traceir_numba.emitters.kinds import Matmul
from traceir_numba.emitters.pairs.values import part_of
from traceir_numba.errors import unsupported
from traceir_numba.fusion.clusters import Cluster, Shape
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.llvm.turns import can_share
from traceir_numba.loops.identifiers import program_name, safe_name
from traceir_numba.loops.lower_clusters import ClusterLowering
from traceir_numba.loops.program import (
    Buffer,
    BufferProgram,
    CallMatmul,
    CallReference,
    CallRoutine,
    Copy,
    Reshape,
    Step,
)
from traceir_numba.lowering.canonicalize import canonicalize
from traceir_numba.lowering.filled_constants import fill_constants
from traceir_numba.lowering.fold_ranges import fold_ranges
from traceir_numba.lowering.hoist_reshapes import hoist_reshapes
from traceir_numba.lowering.merge_loops import merge_loops
from traceir_numba.lowering.narrow import lower_narrow
from traceir_numba.lowering.side_exits import with_side_exits
from traceir_numba.lowering.split_pairs import lower_pairs
from traceir_numba.pipeline.selection import with_selections
from traceir_numba.runtime.allocator import narrow_of

# What kernels compute with; numbers of 16 bits are bits to them.
DTYPES = frozenset(map(np.dtype, NUMBERS))


def build_program(
    closed: ClosedJaxpr,
    name: str,
    donated: Collection[int] = (),
    device: bool = False,
    status: int = 0,
) -> BufferProgram:
    """The kernels, calls and buffers of a traced program.

    `donated` are the positions of the inputs whose memory the program may write. A
    program for a `device` has some kernels that processors do without. The last
    `status` results tell if a check has failed: nobody looks at the others then.

    Raises TypeError (backend.unsupported) for what the backend has no code for.
    """
    text, printed = with_names(closed)
    physical = lower_pairs(of_whole_arrays(closed))
    _check_dtypes(physical.closed.jaxpr)
    lowered = lower_narrow(physical.closed)
    filled = fill_constants(lowered.closed)
    checked = with_side_exits(filled, status) if status else filled
    flat = canonicalize(fold_ranges(checked), device)
    flat = flat if device else with_selections(merge_loops(flat))
    for new, (old, part) in physical.names.items():
        if old in printed:
            printed[new] = f"{printed[old]}{part}"
    shown = {new: printed[old] for new, old in lowered.names.items() if old in printed}
    printed = {**printed, **shown}
    names = names_of(flat.jaxpr, printed)
    flat, origins = hoist_reshapes(flat)
    names |= {var: names[_origin(origins, var)] for var in origins}
    own_name = program_name(name)
    program = _ProgramBuilder(flat, names, own_name, printed, device).program(text)
    program = replace(program, views=lowered.views)
    return assign_buffers(program, [program.inputs[k] for k in donated])


def _origin(origins: dict[Var, Var], var: Var) -> Var:
    while var in origins:
        var = origins[var]
    return var


def _check_dtypes(jaxpr: Jaxpr) -> None:
    for eqn in jaxpr.eqns:
        for inner in subjaxprs(eqn):
            _check_dtypes(inner.jaxpr)
        for atom in (*eqn.inputs, *eqn.outputs):
            dtype = atom.aval.dtype
            if dtype not in DTYPES and not narrow_of(dtype) and not part_of(dtype):
                what = f"`{eqn.primitive}` of {atom.aval.str_short()}"
                raise unsupported(eqn, what)


def names_of(flat: Jaxpr, printed: Mapping[Var, str]) -> dict[Var, str]:
    """Names as the traced program's text has them; inlined values get further ones."""
    names: dict[Var, str] = {}
    shown = set(printed.values())
    fresh = (name for name in map(letters, count()) if name not in shown)
    taken: set[str] = set()
    for var in (
        *flat.constvars,
        *flat.invars,
        *(v for eqn in flat.eqns for v in eqn.outputs),
    ):
        name = printed.get(var)
        if name is None or name in taken:
            name = next(fresh)
        taken.add(name)
        names[var] = name
    return names


class _ProgramBuilder:
    def __init__(
        self,
        closed: ClosedJaxpr,
        names: dict[Var, str],
        own_name: str,
        printed: Mapping[Var, str],
        device: bool,
    ) -> None:
        self.routine_names = RoutineNames(printed)
        self.device = device
        self.own_name = own_name
        self.closed = closed
        self.names = {var: safe_name(name) for var, name in names.items()}
        self.graph = Graph(closed)
        self.buffers: list[Buffer] = []
        self.slots: dict[Var, int] = {}
        self.constants: list[tuple[int, np.ndarray]] = []
        self.steps: list[Step] = []

    def program(self, text: str) -> BufferProgram:
        """Fuse, give buffers to values, add the steps of each cluster."""
        jaxpr = self.closed.jaxpr
        inputs = tuple(self.slot(v, "input") for v in jaxpr.invars)
        for var, value in zip(jaxpr.constvars, self.closed.consts, strict=True):
            self.constants.append((self.slot(var, "constant"), value))
        results = self.results()
        lowering = ClusterLowering(self.graph, results, self.names)
        for var in results:
            memory = self.graph.memory_of(var)
            if memory not in self.slots:
                self.slot(memory, "output", self.seen(memory, var))
        for cluster in lowering.clusters:
            self.step(lowering, cluster)
        outputs = self.outputs()
        return BufferProgram(
            self.own_name,
            tuple(self.buffers),
            inputs,
            tuple(self.constants),
            tuple(self.steps),
            outputs,
            text,
        )

    # -- buffers ------------------------------------------------------------------

    def add(self, name: str, shape: Shape, dtype: str, role: str) -> int:
        self.buffers.append(Buffer(name, shape, dtype, role))
        return len(self.buffers) - 1

    def slot(self, var: Var, role: str, seen: ShapedArray | None = None) -> int:
        """The buffer that holds a variable's memory, made on first use.

        An array over it may be seen as one of another shape or dtype.
        """
        if var not in self.slots:
            aval = var.aval if seen is None else seen
            # A constant is a global of the module, next to the functions' names.
            name = f"{'const_' if role == 'constant' else ''}{self.names[var]}"
            self.slots[var] = self.add(name, aval.shape, aval.dtype.name, role)
        return self.slots[var]

    def results(self) -> list[Var]:
        """The variables that the program returns, computed ones first met."""
        outvars = self.closed.jaxpr.outvars
        return list(dict.fromkeys(a for a in outvars if isinstance(a, Var)))

    def seen(self, memory: Var, result: Var) -> ShapedArray:
        """The type as which the memory of a result is made: a product is one of real
        numbers.
        """
        maker = self.graph.producer(memory)
        called = maker is not None and isinstance(self.graph.entry(maker), Matmul)
        same = memory.aval.dtype == result.aval.dtype
        return memory.aval if called and not same else result.aval

    def is_seen_as(self, source: int, aval: ShapedArray) -> bool:
        """True if a buffer is an array of that type."""
        buffer = self.buffers[source]
        return (buffer.shape, buffer.dtype) == (aval.shape, aval.dtype.name)

    def reshaped(self, source: int, aval: ShapedArray, name: str, copied: bool) -> int:
        """Another array over a buffer's memory, or a copy of it."""
        role = "output" if copied else "alias"
        output = self.add(name, aval.shape, aval.dtype.name, role)
        self.steps.append(Reshape(source, output, copied))
        return output

    def whole(self, atom: Atom, number: int) -> int:
        """The buffer of a whole array, in the operand's shape."""
        if isinstance(atom, Literal):
            return self.literal(atom, f"literal_{number}")
        source = self.slots[self.graph.memory_of(atom)]
        if self.is_seen_as(source, atom.aval):
            return source
        return self.reshaped(source, atom.aval, self.names[atom], copied=False)

    def literal(self, atom: Literal, name: str) -> int:
        array = atom.array
        slot = self.add(name, array.shape, array.dtype.name, "constant")
        self.constants.append((slot, array))
        return slot

    def outputs(self) -> tuple[int, ...]:
        """The returned buffers: each one fresh and returned once."""
        found: list[int] = []
        taken: set[int] = set()
        for number, atom in enumerate(self.closed.jaxpr.outvars):
            if isinstance(atom, Literal):
                source = self.literal(atom, f"literal_{number}")
            else:
                source = self.slots[self.graph.memory_of(atom)]
            role = self.buffers[source].role
            fresh = source not in taken and role in ("output", "temporary")
            taken.add(source)
            if not fresh or not self.is_seen_as(source, atom.aval):
                name = f"result_{number}"
                source = self.reshaped(source, atom.aval, name, copied=not fresh)
            found.append(source)
        return tuple(found)

    # -- steps --------------------------------------------------------------------

    def step(self, lowering: ClusterLowering, cluster: Cluster) -> None:
        """Add the steps of a cluster: a launch, a call, a routine, or a copy before."""
        job = cluster.jobs[0]
        if job.kind == "matmul":
            inputs = tuple(self.whole(a, k) for k, a in enumerate(job.eqn.inputs))
            output = self.slot(job.var, "temporary")
            self.steps.append(CallMatmul(job.eqn, inputs, output))
            return
        if job.kind == "reference":
            inputs = tuple(self.whole(a, k) for k, a in enumerate(job.eqn.inputs))
            outputs = tuple(self.slot(v, "temporary") for v in job.eqn.outputs)
            self.steps.append(CallReference(job.eqn, inputs, outputs))
            return
        if job.kind == "region":
            self.run(job.eqn)
            return
        if job.kind == "scatter":  # in a copy, unless nobody reads what it is put in
            source = self.whole(job.eqn.inputs[0], 0)
            self.steps.append(Copy(source, self.slot(job.var, "temporary")))
        slot = partial(self.slot, role="temporary")
        self.steps.append(lowering.launch(cluster, slot, self.buffers))

    def run(self, eqn: Eqn) -> None:
        """A routine for control flow, with the memory that it needs."""
        number = sum(isinstance(step, CallRoutine) for step in self.steps)
        name = f"{self.own_name.rstrip('_')}_{eqn.primitive}_{number}"
        outvars = self.closed.jaxpr.outvars
        needed = [v for v in eqn.outputs if self.graph.readers[v] or v in outvars]
        shared = share_loops if not self.device and can_share() else None
        work = RoutineBuffers(self.routine_names, exchanges=not self.device)
        routine = routine_of(eqn, name, needed, work, shared)
        slots = [self.slots[self.graph.memory_of(v)] for v in operands_of(eqn)]
        slots += [self.slot(v, "temporary") for v in needed]
        for number, k in enumerate(routine.args[len(slots) :]):
            buffer = routine.buffers[k]
            memory = f"memory_{len(self.steps)}_{number}"
            slots.append(self.add(memory, buffer.shape, buffer.dtype, "temporary"))
        self.steps.append(CallRoutine(routine, tuple(slots)))
