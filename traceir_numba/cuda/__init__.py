"""Programs on a CUDA device: `@cuda.jit` kernels of the same loop nests.

`traceir_numba.jit(target="cuda")` and `traceir.jit(backend="cuda")` compile for it. The
simulator of Numba runs kernels where there is no device, for tests: it is asked for by
`NUMBA_ENABLE_CUDASIM=1`.
"""

from traceir_numba.cuda import operators
from traceir_numba.cuda.arrays.arrays import (
    CudaDevice,
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
