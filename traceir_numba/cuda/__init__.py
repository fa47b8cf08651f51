"""Programs on a CUDA device: `@cuda.jit` kernels of the same loop nests.

`traceir_numba.jit(target="cuda")` and `traceir.jit(backend="cuda")` compile for it. The
simulator of Numba runs kernels where there is no device, for tests: it is asked for by
`NUMBA_ENABLE_CUDASIM=1`.
"""

from traceir_numba.cuda.arrays import CudaDevice, DeviceArray, device_put, devices

__all__ = ["CudaDevice", "DeviceArray", "device_put", "devices"]
