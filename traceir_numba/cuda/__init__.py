"""Programs on a CUDA device: `@cuda.jit` kernels of the same loop nests.

`traceir_numba.jit(target="cuda")` and `traceir.jit(backend="cuda")` compile for it.
With `NUMBA_ENABLE_CUDASIM=1`, Numba's simulator runs the kernels without a device.
Takes a `ClosedJaxpr`, gives a `CudaExecutable` on `DeviceArray`s. Start reading at
`backend.compile`; `run.CudaRunner` executes a program's steps.

- `arrays`: arrays in a device's memory, and those of other libraries
- `codegen`: `@cuda.jit` source of loop nests, and which thread does what
- `meshes`: programs on several devices: each runs its part, and they exchange memory
- `routines`: control flow on a device: what one block runs, what the host drives
- `runtime`: the device at run time: its compiler, memory and kernel launches
- `simulator`: the simulator: kernels run by Python, one thread at a time
- `backend`: the "cuda" backend: a traced program to launches of kernels
- `cost_model`: the cost model of CUDA devices: numbers that decide who does what
- `explain`: a report on a program's kernels, their threads and their memory
- `function`: jitted functions of arrays on a device
- `operators`: operators, methods and NumPy's functions of arrays on a device
- `ptx`: kernels as PTX and as a device's machine code, without a device
- `run`: a compiled program's steps on a device, one launch after the other
- `source`: a program's kernels as one module that runs without traceir
"""

from traceir.arrays.devices import CudaDevice
from traceir_numba.cuda import operators
from traceir_numba.cuda.arrays.arrays import (
    DeviceArray,
    block_until_ready,
    devices,
)
from traceir_numba.cuda.arrays.foreign import device_put, from_dlpack
from traceir_numba.cuda.runtime.device import clear_memory, memory_info
from traceir_numba.cuda.runtime.pool import MemoryInfo

operators.bind_all()

__all__ = [
    "CudaDevice",
    "DeviceArray",
    "MemoryInfo",
    "block_until_ready",
    "clear_memory",
    "device_put",
    "devices",
    "from_dlpack",
    "memory_info",
]
