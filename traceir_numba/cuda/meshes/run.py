"""A program of parts on the devices of a mesh, each with a stream of its own.

The host goes through the program for each device until it needs memory of others; when
all along an axis do, they exchange it. Serves: backend.device, device.simulated
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from traceir.base.fork_safety import kept_over_forks
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal
from traceir_numba.cuda.arrays.arrays import DeviceArray, buffer_of, memory_of_array
from traceir_numba.cuda.meshes.collectives import (
    MeshPlace,
    axis_index,
    collective,
    is_local,
)
from traceir_numba.cuda.meshes.cut import Compile, CompiledPart, CutProgram, cut
from traceir_numba.cuda.meshes.exchange import PeerExchange, exchanged
from traceir_numba.cuda.run import to_device, to_host
from traceir_numba.cuda.runtime import device, streams

# The results of a program on one device, which stops where it needs memory of others.
Stepping = Generator[PeerExchange, Any, list[DeviceArray]]
# The constants of programs, by these and by the numbers of devices.
Constants = dict[tuple[CutProgram, int], list[DeviceArray]]
# Programs of several devices run one after the other.
_lock = kept_over_forks(threading.RLock())


class MeshExecutable:
    """A program of one device's part, compiled once for all devices of a mesh."""

    def __init__(self, closed: ClosedJaxpr, name: str, compile: Compile) -> None:
        self._compile = compile
        self._program = cut(closed, name or "program", compile)
        self._constants: Constants = {}

    def run_mesh(
        self, numbers: Sequence[int], operands: Sequence[Sequence[DeviceArray]]
    ) -> list[list[DeviceArray]]:
        """The results on each device, of operands on each, by the devices' numbers."""
        using = [partial(device.using, number) for number in numbers]
        with _lock, _events() as events:
            under_way = {
                k: _DevicePath(MeshPlace(k, self._compile), self._constants).run(
                    self._program, list(given)
                )
                for k, given in enumerate(operands)
            }
            results: dict[int, list[DeviceArray]] = {}
            answers: dict[int, Any] = dict.fromkeys(under_way)
            waiting: dict[int, PeerExchange] = {}
            while answers:
                for k, answer in answers.items():
                    with using[k]():
                        try:
                            waiting[k] = under_way[k].send(answer)
                        except StopIteration as end:
                            results[k] = end.value
                answers = {}
                for group in _met(waiting):
                    requests = [waiting.pop(k) for k in group]
                    own = [using[k] for k in group]
                    taken = exchanged(requests, own, events)
                    answers.update(zip(group, taken, strict=True))
            if waiting:
                raise RuntimeError("devices of a mesh wait for different collectives")
        return [results[k] for k in range(len(numbers))]

    def as_text(self, form: str) -> str:
        """The compiled parts in a form, such as "source", one after the other."""
        return "\n\n\n".join(_texts(self._program, form))


@contextmanager
def _events() -> Iterator[Any]:
    """The streams of the devices, for a program of several of them."""
    if device.is_simulated():
        with streams.queued() as queues:
            yield queues
    else:
        yield streams.DriverStreams(device.dialect())


def _met(waiting: dict[int, PeerExchange]) -> list[tuple[int, ...]]:
    """The groups of devices that all wait for one another in one exchange."""
    found = []
    for k, request in waiting.items():
        group = next(g for g in request.axis.groups if k in g)
        if group[0] != k:
            continue
        others = [waiting.get(other) for other in group]
        told = {(o.axis, o.number) if o is not None else None for o in others}
        if told == {(request.axis, request.number)}:
            found.append(group)
    return found


def _texts(program: CutProgram, form: str) -> Iterator[str]:
    for step in program.steps:
        if isinstance(step, CompiledPart):
            yield step.executable.as_text(form)
        else:
            for inner in step.programs:
                yield from _texts(inner, form)


class _DevicePath:
    """The way of one device through a program."""

    def __init__(self, here: MeshPlace, constants: Constants) -> None:
        self.here, self.constants = here, constants
        self.exchanges = 0

    def run(self, program: CutProgram, given: Sequence[DeviceArray]) -> Stepping:
        """The results, of what the inputs are on this device."""
        jaxpr = program.closed.jaxpr
        known: dict[Atom, DeviceArray] = {}
        known.update(zip(jaxpr.constvars, self.constants_of(program), strict=True))
        known.update(zip(jaxpr.invars, given, strict=True))

        def read(atom: Atom) -> DeviceArray:
            if isinstance(atom, Literal):
                return _uploaded(atom.val, atom)
            return known[atom]

        for step in program.steps:
            if isinstance(step, CompiledPart):
                values = list(map(read, step.inputs))
                results = _ran(step, values)
                outputs = step.outputs
            else:
                values = list(map(read, step.eqn.inputs))
                results = yield from self.driven(step.eqn, step.programs, values)
                outputs = step.eqn.outputs
            known.update(zip(outputs, results, strict=True))
        return list(map(read, jaxpr.outvars))

    def constants_of(self, program: CutProgram) -> list[DeviceArray]:
        """The constants of a program on the device, copied there once."""
        key, closed = (program, device.number()), program.closed
        if key not in self.constants:
            pairs = zip(closed.consts, closed.jaxpr.constvars, strict=True)
            self.constants[key] = [_uploaded(*pair) for pair in pairs]
        return self.constants[key]

    def driven(
        self, eqn: Eqn, programs: Sequence[CutProgram], values: list[DeviceArray]
    ) -> Stepping:
        """The results of an equation that the host drives."""
        if is_local(eqn):
            return [axis_index(eqn, self.here)]
        match eqn.primitive:
            case "scan":
                return (yield from self.scan(eqn, programs[0], values))
            case "while":
                return (yield from self.loop(eqn, programs, values))
            case "cond":
                index = int(_number(values[0]))
                branch = programs[min(max(index, 0), len(programs) - 1)]
                return (yield from self.run(branch, values[1:]))
        if programs:  # a call
            return (yield from self.run(programs[0], values))
        self.exchanges += 1
        found = yield from collective(eqn, self.exchanges, values[0], self.here)
        return [found]

    def loop(
        self, eqn: Eqn, programs: Sequence[CutProgram], values: list[DeviceArray]
    ) -> Stepping:
        """A loop until a condition."""
        params: dict[str, Any] = dict(eqn.params)
        asked, done = params["cond_nconsts"], params["body_nconsts"]
        condition, body = _by_param(eqn, programs)
        of_condition, of_body = values[:asked], values[asked : asked + done]
        carry = values[asked + done :]
        while True:
            [goes_on] = yield from self.run(condition, [*of_condition, *carry])
            if not _number(goes_on):
                return carry
            carry = yield from self.run(body, [*of_body, *carry])

    def scan(self, eqn: Eqn, body: CutProgram, values: list[DeviceArray]) -> Stepping:
        """A loop over rows."""
        params: dict[str, Any] = dict(eqn.params)
        consts, carries = params["num_consts"], params["num_carry"]
        own, carry = values[:consts], values[consts : consts + carries]
        rows = values[consts + carries :]
        made = [_empty(v) for v in eqn.outputs[carries:]]
        order = range(params["length"])
        for at in reversed(order) if params["reverse"] else order:
            given = [*own, *carry, *[row.row(at) for row in rows]]
            found = yield from self.run(body, given)
            carry = found[:carries]
            for stack, row in zip(made, found[carries:], strict=True):
                if row.size:
                    device.copy(row.memory, stack.row(at).memory)
        return [*carry, *made]


def _by_param(
    eqn: Eqn, programs: Sequence[CutProgram]
) -> tuple[CutProgram, CutProgram]:
    """The condition and the body of a loop, in whichever order params have them."""
    params = dict(eqn.params)
    found = {id(program.closed): program for program in programs}
    return found[id(params["cond_jaxpr"])], found[id(params["body_jaxpr"])]


def _ran(step: CompiledPart, values: Sequence[DeviceArray]) -> list[DeviceArray]:
    """The results of a compiled part; those of one that the host runs are copied."""
    executable = step.executable
    if hasattr(executable, "run_there"):
        found: list[DeviceArray] = executable.run_there(values)
        return found
    arrays = [to_host(v.memory, buffer_of(v.aval)) for v in values]
    outs = zip(executable.run(*arrays), step.outputs, strict=True)
    return [_uploaded(array, var) for array, var in outs]


def _uploaded(value: Any, atom: Atom) -> DeviceArray:
    aval = atom.aval
    array = np.asarray(getattr(value, "_value", value))
    if array.dtype.kind in "biufc":
        array = array.astype(aval.dtype, copy=False)
    return DeviceArray(to_device(array, buffer_of(aval)), aval)


def _empty(atom: Atom) -> DeviceArray:
    """Memory for a result, whose rows are copied there one by one."""
    dtype, length = memory_of_array(atom.aval)
    return DeviceArray(device.empty(length, dtype.str), atom.aval)


def _number(x: DeviceArray) -> Any:
    return device.download(x.memory, 1)[0]
