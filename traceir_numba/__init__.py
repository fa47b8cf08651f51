"""Readable Numba source and machine code for traceir programs, and a drop-in `jit`."""

import sys

from traceir_numba import numba_cuda_shim
from traceir_numba.aot.api import export
from traceir_numba.aot.seals import verify
from traceir_numba.api import jit
from traceir_numba.runtime.allocator import MemoryInfo, clear_memory, memory_info
from traceir_numba.runtime.thread_pool import set_threads, threads

numba_cuda_shim.go_first(sys.meta_path)

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
