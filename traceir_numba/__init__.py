"""Readable Numba source and machine code for traceir programs, and a drop-in `jit`.

`jit` is for functions of NumPy arrays. As the backend "numba" of `traceir.jit`, the
package takes a `ClosedJaxpr` and gives an `Executable`, which runs on NumPy arrays.
Start reading at `backend.compile`; `pipeline` calls the stages in their order, which is
that of the packages here.

- `lowering`: rewrites of a program before fusion: the same bits, fewer primitives
- `fusion`: the fusion of equations into clusters, one loop nest each
- `loops`: loop nests and compiled programs as data, and the schedule of a nest
- `buffers`: buffer assignment, and control flow as routines over buffers
- `codegen`: Numba source for the CPU, written from nests, routines and programs
- `emitters`: the table of emitters: how the backend computes each primitive
- `vecmath`: real functions that LLVM vectorises, as source for kernels
- `fft`: long Fourier transforms as machine code of our own, with vectors and threads
- `gemm`: matrix products as machine code of our own, blocked and threaded
- `llvm`: generated source to LLVM text, and LLVM text to machine code
- `pipeline`: the pass manager: a traced program to a compiled one, pass by pass
- `runtime`: services of a running program: memory, threads, loaded object code
- `store`: machine code and programs as entries of the store (`traceir.store`)
- `aot`: ahead-of-time compilation: programs as files that run without traceir
- `cuda`: programs on a CUDA device: `@cuda.jit` kernels of the same loop nests
- `compat`: Numba's decorators and types, for programs that were written for Numba
- `api`: the drop-in decorator `jit`: NumPy in and out, float64 kept
- `backend`: the "numba" backend: a traced program to one that runs machine code
- `cost_model`: the cost model of the CPU backend: all numbers that decide by size
- `device_functions`: functions that kernels call: source made from templates
- `errors`: errors of the backend, each with a rule and the user's line
- `numba_cuda_shim`: an import finder that keeps numba-cuda's from our modules
- `numba_options`: Numba's options: taken where they change no result, else explained
"""

# It has halves that run before and after each fork: imported during a fork, by another
# thread, only the second half would run.
import concurrent.futures.thread  # noqa: F401  # see above
import sys
from functools import partial as _partial
from typing import TYPE_CHECKING

from traceir.base.lazy_exports import load as _load
from traceir.base.tracebacks import publish as _publish
from traceir.base.tracebacks import published as _published
from traceir.base.version import VERSION
from traceir_numba import numba_cuda_shim
from traceir_numba.api import jit
from traceir_numba.runtime.allocator import MemoryInfo, clear_memory, memory_info
from traceir_numba.runtime.thread_pool import set_threads, threads

if TYPE_CHECKING:
    from traceir_numba.aot.api import export
    from traceir_numba.aot.seals import verify

numba_cuda_shim.go_first(sys.meta_path)

__version__ = VERSION
__all__ = [
    "MemoryInfo",
    "clear_memory",
    "export",
    "jit",
    "memory_info",
    "set_threads",
    "threads",
    "verify",
]
# What is imported when it is first asked for.
_LATER = {"export": "traceir_numba.aot.api", "verify": "traceir_numba.aot.seals"}


def __getattr__(name: str) -> object:
    if name in _LATER:
        shown = _partial(_published, __name__, name)
        return _load(globals(), _LATER[name], name, shown)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


_publish(globals())
