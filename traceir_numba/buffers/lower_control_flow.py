"""Loops and choices as routines: steps over buffers.

A rank-zero value is a scalar of the routine. An array that is carried is a pointer: a
step reads what one points to and writes what another does; then they change places.
Scalars are variables of the routine, and all memory is made before it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from traceir_numba.buffers.exchanged_results import left_in_results
from traceir_numba.buffers.loop_carries import moves_of
from traceir_numba.buffers.overwriting import steps_over
from traceir_numba.buffers.routine_buffers import RoutineBuffers, alike, constant
from traceir_numba.buffers.share_loops import turns_of
from traceir_numba.emitters.kinds import Region
from traceir_numba.emitters.regions import LoopOp, SwitchOp
from traceir_numba.fusion.clusters import Cluster
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.loops.lower_clusters import ClusterLowering
from traceir_numba.loops.nest import ScalarConstant
from traceir_numba.loops.program import (
    Assign,
    Branch,
    CallForeign,
    CallMatmul,
    Copy,
    Counter,
    Launch,
    LoadScalar,
    Loop,
    Routine,
    Step,
    StoreScalar,
    While,
)
from traceir_numba.loops.schedule import scratch_of
from traceir_numba.loops.step_effects import (
    in_line,
    pointers_to,
    reads,
    renamed,
    walk,
    writes,
)
from traceir_numba.lowering.hoist_reshapes import hoist_reshapes
from traceir_numba.lowering.side_exits import carried_status
from traceir_numba.lowering.split_loops import sole_counter

Shared = Callable[[list[Step], RoutineBuffers, str], list[Step]] | None


def routine_of(
    eqn: Eqn,
    name: str,
    needed: Sequence[Var],
    work: RoutineBuffers,
    shared: Shared = None,
) -> Routine:
    """The routine of one equation of control flow.

    Its first arguments are the equation's operands, each variable once, then come the
    results that are needed, and then memory: `work` has none of it yet.
    """
    slots: dict[Var, int] = {}
    steps: list[Step] = []
    for var in operands_of(eqn):
        slots[var] = work.value(var, "operand")
        work.give(slots[var])
        if not var.aval.shape:
            steps.append(LoadScalar(slots[var]))
    wanted = {v: work.value(v, "result") for v in needed}
    for slot in wanted.values():
        work.give(slot)
    alone = ClosedJaxpr(Jaxpr((), tuple(operands_of(eqn)), (eqn,), eqn.outputs))
    block = RoutineBuilder(work, alone, slots, wanted)
    steps += block.run()
    results = [(block.slots[v], slot) for v, slot in wanted.items() if v.aval.shape]
    steps = left_in_results(steps, results, work)
    for var, slot in wanted.items():
        if not var.aval.shape:
            steps += [Assign(((slot, block.slots[var]),)), StoreScalar(slot)]
    steps = [*in_line(steps)]
    steps = steps if shared is None else shared(steps, work, name)
    used = {slot for step in walk(steps) for slot in reads(step) | writes(step)}
    args = [k for k in work.args if k in used or k not in work.owned]
    return Routine(name, tuple(work.buffers), tuple(args), tuple(steps))


def operands_of(eqn: Eqn) -> list[Var]:
    """The variables that a routine is given."""
    return list(dict.fromkeys(a for a in eqn.inputs if isinstance(a, Var)))


class RoutineBuilder:
    """The steps of one program; `wanted` says where results are put, if they can be."""

    def __init__(
        self,
        work: RoutineBuffers,
        closed: ClosedJaxpr,
        given: Mapping[Var, int],
        wanted: Mapping[Var, int] | None = None,
    ) -> None:
        self.work = work
        self.closed, _ = hoist_reshapes(closed)
        self.graph = Graph(self.closed)
        self.slots = dict(given)
        self.given = frozenset(given.values())
        self.wanted = dict(wanted or {})
        self.steps: list[Step] = []
        # The clusters to come, and the memory of the program's results.
        self.rest: Sequence[Cluster] = ()
        self.outlasting: Collection[Var] = ()
        self.names = {v: work.buffers[slot].name for v, slot in given.items()}
        for eqn in self.closed.eqns:
            for var in eqn.outputs:
                self.names[var] = work.name(var)

    def run(self) -> tuple[Step, ...]:
        """All steps."""
        results = [a for a in self.closed.jaxpr.outvars if isinstance(a, Var)]
        lowering = ClusterLowering(self.graph, results, self.names)
        self.outlasting = {self.graph.memory_of(v) for v in results}
        for number, cluster in enumerate(lowering.clusters):
            self.rest = lowering.clusters[number + 1 :]
            match cluster.jobs[0].kind:
                case "matmul":
                    eqn = cluster.jobs[0].eqn
                    inputs = tuple(self.operand(a) for a in eqn.inputs)
                    self.steps.append(
                        CallMatmul(eqn, inputs, self.slot(eqn.outputs[0]))
                    )
                case "region":
                    self.region(cluster.jobs[0].eqn)
                case "foreign":
                    self.steps.append(self.foreign_call(cluster.jobs[0].eqn))
                case "scatter":
                    self.begin(cluster.jobs[0].eqn)
                    self.launch(lowering, cluster)
                case _:
                    self.launch(lowering, cluster)
        return tuple(self.steps)

    def begin(self, eqn: Eqn) -> None:
        """Give an array that something is put in its first value: a copy, unless the
        array's own memory is the routine's and nobody reads it any more.
        """
        operand, out = eqn.inputs[0], eqn.outputs[0]
        assert isinstance(operand, Var)
        if self.is_last_use(operand):
            self.slots[out] = self.slot(operand)
            return
        self.steps.append(Copy(self.slot(operand), self.slot(out)))

    def is_last_use(self, var: Var) -> bool:
        """True if the cluster that is added now may overwrite an array: its memory was
        made by this program, and nothing reads it after.
        """
        memory, source = self.graph.memory_of(var), self.slot(var)
        return (
            source in self.work.owned
            and source not in self.given
            and memory not in self.outlasting
            and not any(memory in cluster.reads for cluster in self.rest)
            and not self.is_pointed_to(source)
        )

    def is_pointed_to(self, slot: int) -> bool:
        """True if another value may lie in a slot's memory: a loop has given it on."""
        rows = {
            row
            for step in walk(self.steps)
            if isinstance(step, Loop)
            for _, row in (*step.read, *step.written)
        }
        return bool(pointers_to(slot, self.steps) - self.work.owned - rows)

    def launch(self, lowering: ClusterLowering, cluster: Cluster) -> None:
        """Add a kernel's launch; scalars that it reads or writes need memory."""
        step = lowering.launch(cluster, self.slot, self.work.buffers)
        scratch = tuple(
            self.work.add(self.work.name(), (blocks,), dtype, "memory")
            for blocks, dtype in scratch_of(step.nest, step.extents, step.params)
        )
        step = replace(step, scratch=scratch)
        self.steps.append(step)
        if not is_inline(step):
            for slot in step.buffers:
                if self.work.is_scalar(slot):
                    self.work.give(slot)

    # -- values -------------------------------------------------------------------

    def slot(self, var: Var) -> int:
        """The slot of a variable's value."""
        memory = self.graph.memory_of(var)
        if memory not in self.slots:
            found = self.wanted.get(memory)
            if found is None:
                found = self.work.value(memory, "memory", self.names[memory])
            self.slots[memory] = found
        return self.slots[memory]

    def operand(self, atom: Atom) -> int:
        """The slot of an operand; a literal gets a scalar of its own."""
        if isinstance(atom, Var):
            return self.slot(atom)
        slot = self.work.value(atom, "scalar")
        self.steps.append(Assign(((slot, constant(atom)),)))
        return slot

    def source(self, atom: Atom) -> int | ScalarConstant:
        """The source of a scalar's assignment."""
        return constant(atom) if isinstance(atom, Literal) else self.slot(atom)

    def foreign_call(self, eqn: Eqn) -> CallForeign:
        """The call of another library's function."""
        before, *given = map(self.source, eqn.inputs)
        after, output = map(self.slot, eqn.outputs)
        name = repr(eqn.param("callback"))
        return CallForeign(name, tuple(given), output, (after, before))

    # -- control flow -------------------------------------------------------------

    def region(self, eqn: Eqn) -> None:
        """Add a loop or a choice."""
        entry = self.graph.entry(eqn)
        assert isinstance(entry, Region)
        flow = entry.read(eqn)
        match flow:
            case SwitchOp():
                self.switch(eqn, flow)
            case LoopOp():
                self.loop(eqn, flow)

    def switch(self, eqn: Eqn, flow: SwitchOp) -> None:
        """Add a choice; its branches put their results in the same memory, that of an
        operand where it may be written over.
        """
        index = self.operand(flow.index)
        xs = [self.operand(a) for a in flow.xs]
        results = [self.slot(v) for v in eqn.outputs]
        branches = []
        for branch in flow.branches:
            outvars = branch.jaxpr.outvars
            given = dict(zip(branch.jaxpr.invars, xs, strict=True))
            block = RoutineBuilder(self.work, branch, given)
            block.request_results(outvars, results)
            block.run()
            block.store_results(outvars, results)
            branches.append(tuple(block.steps))
        if flow.exits:
            branches[-1] += self.work.leave(flow.exits, results)
        self.write_over(eqn, flow, Branch(index, tuple(branches), eqn.source))

    def write_over(self, eqn: Eqn, flow: SwitchOp, choice: Branch) -> None:
        """Add a choice, its results in the memory of operands at their last use."""
        steps: tuple[Step, ...] = (choice,)
        arrays = [a for a in flow.xs if isinstance(a, Var) and a.aval.shape]
        dying = [v for v in arrays if self.is_last_use(v)]
        for var in eqn.outputs:
            for old in dict.fromkeys(self.slot(v) for v in dying if alike(v, var)):
                over = steps_over(steps, old, self.slot(var))
                if over is not None:
                    steps, self.slots[var] = over, old
                    dying = [v for v in dying if self.slot(v) != old]
                    break
        self.steps += steps

    def request_results(self, atoms: Sequence[Atom], slots: Sequence[int]) -> None:
        """Ask for results to be computed where they are needed."""
        for atom, slot in zip(atoms, slots, strict=True):
            if isinstance(atom, Var) and atom.aval.shape:
                memory = self.graph.memory_of(atom)
                if memory not in self.slots:
                    self.wanted.setdefault(memory, slot)

    def store_results(self, atoms: Sequence[Atom], slots: Sequence[int]) -> None:
        """Put results where they are needed, unless they are there."""
        pairs, moved = [], dict[int, int]()
        for atom, slot in zip(atoms, slots, strict=True):
            if not atom.aval.shape:
                pairs.append((slot, self.source(atom)))
            elif isinstance(atom, Var):
                found = self.slot(atom)
                held = {*self.given, *moved}
                if found in held or (found != slot and found in slots):
                    self.steps.append(Copy(found, slot))  # it is needed there, too
                else:
                    moved[found] = slot
        self.steps = left_in_results(self.steps, [*moved.items()], self.work)
        gone = {k: slot for k, slot in moved.items() if k not in self.work.args}
        self.slots = {v: gone.get(k, k) for v, k in self.slots.items()}
        if pairs:
            self.steps.append(Assign(tuple(pairs)))

    def loop(self, eqn: Eqn, flow: LoopOp) -> None:
        """Add a loop, its carry's first values before it."""
        work, jaxpr = self.work, flow.body.jaxpr
        used = [self.operand(a) for a in flow.consts]
        tested = [self.operand(a) for a in flow.test_consts]
        n, m = len(flow.consts), len(flow.carry)
        carried = [work.value(v, "pointer") for v in jaxpr.invars[n : n + m]]
        stacks = [self.operand(a) for a in flow.xs]
        rows = [work.value(v, "pointer") for v in jaxpr.invars[n + m :]]
        given = dict(zip(jaxpr.invars, [*used, *carried, *rows], strict=True))
        results = [self.slot(v) for v in eqn.outputs[m:]]
        targets = [work.value(a, "pointer", work.name()) for a in jaxpr.outvars[m:]]
        body = RoutineBuilder(work, flow.body, given)
        body.request_results(jaxpr.outvars[m:], targets)
        status = carried_status(jaxpr, n, m)
        slots = {part: carried[k] for k, (part, _) in status.items()}
        work.status.append(None if targets else slots)  # rows need all turns
        body.run()
        work.status.pop()
        body.store_results(jaxpr.outvars[m:], targets)
        after = {
            slot: body.source(atom)
            for slot, atom in zip(carried, jaxpr.outvars[:m], strict=True)
        }
        stable = {*used, *rows, *targets}
        moves = moves_of(body.steps, after, work.buffers, work.owned, stable, work.like)
        taken: dict[int, int] = {}
        for slot, atom, var in zip(carried, flow.carry, eqn.outputs[:m], strict=True):
            if slot in moves.copied and self.is_taken_over(atom, eqn):
                assert isinstance(atom, Var)
                taken[slot] = self.slot(atom)
            else:
                self.start(slot, atom, slot in moves.copied)
            self.slots[var] = taken.get(slot, slot)
        steps = renamed(moves.steps, taken) if taken else moves.steps
        carried = [taken.get(slot, slot) for slot in carried]
        turns = turns_of(flow, carried, self.source)
        if flow.test is None:
            index = f"step_{next(work.numbers)}"
            read = tuple(zip(stacks, rows, strict=True))
            written = tuple(zip(results, targets, strict=True))
            over = flow.length, flow.reverse, read, written
            self.steps.append(Loop(*over, steps, index, eqn.source, turns))
            return
        inputs = dict(zip(flow.test.jaxpr.invars, [*tested, *carried], strict=True))
        test = RoutineBuilder(work, flow.test, inputs)
        test.run()
        holds = test.source(flow.test.jaxpr.outvars[0])
        nested = any(isinstance(s, Loop | While) for s in walk(steps))
        steady = [k for k, (_, steady) in status.items() if steady]
        counter = None if nested else self.counter(flow, test, carried, steady)
        made = While(
            *(tuple(test.steps), holds, steps, eqn.source),
            *(counter, flow.most_turns, turns),
        )
        self.steps.append(made)

    def counter(
        self,
        flow: LoopOp,
        test: RoutineBuilder,
        carried: Sequence[int],
        steady: Collection[int],
    ) -> Counter | None:
        """The counter of an innermost loop that runs until that reaches a stop.

        Around others it would let LLVM compare addresses before all of their turns, and
        take rows for overlapping that never do in one turn.
        """
        assert flow.test is not None
        sizes = len(flow.test_consts), len(flow.consts)
        found = sole_counter(flow.test.jaxpr, flow.body.jaxpr, *sizes, steady)
        if found is None:
            return None
        number, step, stop = found
        index = f"step_{next(self.work.numbers)}"
        return Counter(carried[number], test.source(stop), step, index)

    def is_taken_over(self, atom: Atom, eqn: Eqn) -> bool:
        """True if a carry may begin in the memory of its first value."""
        if not isinstance(atom, Var) or not self.is_last_use(atom):
            return False
        memory = self.graph.memory_of(atom)
        uses = [a for a in eqn.inputs if isinstance(a, Var)]
        return sum(self.graph.memory_of(a) is memory for a in uses) == 1

    def start(self, carried: int, atom: Atom, copied: bool) -> None:
        """Give a carry its first value."""
        if copied:
            self.work.own(carried)
            self.steps.append(Copy(self.operand(atom), carried))
        else:
            self.steps.append(Assign(((carried, self.source(atom)),)))


def is_inline(step: Launch) -> bool:
    """True if a nest is written among the steps: it has no loops."""
    return step.nest.rank == 0
