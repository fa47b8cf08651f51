"""The "cuda" backend: a traced program to launches of kernels.

Serves: backend.device
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.arrays.devices import Device
from traceir.ir.avals import ShapedArray
from traceir.ir.effects import calls_host
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.transforms.spanning import ahead
from traceir_numba.cuda.arrays import arrays as device_arrays
from traceir_numba.cuda.arrays.arrays import DeviceArray, buffer_of
from traceir_numba.cuda.meshes.run import MeshExecutable
from traceir_numba.cuda.run import CudaRunner, to_device, to_host
from traceir_numba.cuda.runtime import device
from traceir_numba.errors import wrapped
from traceir_numba.loops.program import BufferProgram
from traceir_numba.lowering.host_partition import HostDrivenExecutable, needs_host
from traceir_numba.pipeline.build_program import build_program

__all__ = [
    "CHOICES",
    "DIALECTS",
    "CudaExecutable",
    "check",
    "compile",
    "compile_mesh",
    "devices",
    "put_on",
]

# What is chosen where the reference chooses otherwise.
CHOICES = {"choice.dot-order": "fixed"}
DIALECTS = ("source", "ptx")


class CudaExecutable:
    """A compiled program; its kernels are made when it first runs."""

    def __init__(self, closed: ClosedJaxpr, name: str) -> None:
        start = time.perf_counter()
        self.program: BufferProgram = build_program(closed, name, device=True)
        self.outs = closed.out_avals
        self.seconds = {"simplify and fuse": time.perf_counter() - start}
        self.runner = CudaRunner(self.program)

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Copy arrays to the device, run, and copy the results back."""
        buffers = self.program.buffers
        memory = [
            to_device(array, buffers[k])
            for k, array in zip(self.program.inputs, arrays, strict=True)
        ]
        views = dict(self.program.views)
        results = []
        with np.errstate(all="ignore"):
            found = self.run_memory(memory)
        for n, (k, one) in enumerate(zip(self.program.outputs, found, strict=True)):
            array = to_host(one, buffers[k])
            results.append(array.view(views[n]) if n in views else array)
        return tuple(results)

    def put(self, array: np.ndarray, aval: ShapedArray) -> DeviceArray:
        """An array of the host on the device."""
        return DeviceArray(to_device(array, buffer_of(aval)), aval)

    def run_there(self, arrays: Sequence[DeviceArray]) -> list[DeviceArray]:
        """Run on arrays of the device; fresh ones, in the making."""
        found = self.run_memory([array.memory for array in arrays])
        return [DeviceArray(m, aval) for m, aval in zip(found, self.outs, strict=True)]

    def run_memory(self, memory: Sequence[Any]) -> list[Any]:
        """Run on memory of the device; fresh memory of the results."""
        return self.runner.run(memory)

    def as_text(self, form: str) -> str:
        """The program as "source" or "ptx", a report on its "speed", or on how long it
        took to "compile".
        """
        # Compiling and running need none of these.
        from traceir_numba.cuda import explain, ptx, source
        from traceir_numba.pipeline.explain import compilation

        match form:
            case "source":
                return source.module_of(self.program)
            case "ptx":
                return "\n".join(ptx.ptx(self.program).values())
            case "speed":
                return explain.report(self.program, self.seconds)
            case "compile":
                return compilation(self.seconds, {})
        raise ValueError(f"there is no {form!r}, only source, ptx, speed and compile")


def check() -> None:
    """Raise RuntimeError (backend.device) where no device can be used."""
    device.dialect()


def compile(closed: ClosedJaxpr, name: str) -> CudaExecutable | HostDrivenExecutable:
    """The launches of a traced program.

    Raises RuntimeError (backend.device) without a device, TypeError
    (backend.unsupported) for what has no code.
    """
    check()
    with wrapped("backend.compile", name or "program"):
        if calls_host(closed.jaxpr) or needs_host(closed.jaxpr):
            return HostDrivenExecutable(closed, name, compile, foreign=False)
        return CudaExecutable(closed, name)


# -- several devices ------------------------------------------------------------------


def devices() -> list[Device]:
    """The devices that there are, over which meshes can be from then on.

    Raises RuntimeError (backend.device) where there is none.
    """
    found = device_arrays.devices()
    ahead.start_devices("cuda")
    return [*found]


def put_on(array: np.ndarray, aval: ShapedArray, where: Device) -> DeviceArray:
    """An array of the host in the memory of a device."""
    with device.using(where.id):
        return DeviceArray(to_device(array, buffer_of(aval)), aval)


def compile_mesh(closed: ClosedJaxpr, name: str) -> MeshExecutable:
    """A program of one device's part, for any devices of a mesh.

    Raises as `compile`.
    """
    check()
    return MeshExecutable(closed, name, compile)
