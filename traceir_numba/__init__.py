"""Readable Numba source and machine code for traceir programs, and a drop-in `jit`."""

import sys

from traceir_numba import redirected
from traceir_numba.ahead.api import export
from traceir_numba.ahead.seals import verify
from traceir_numba.api import jit
from traceir_numba.buffers import MemoryInfo, clear_memory, memory_info
from traceir_numba.pool import set_threads, threads

redirected.go_first(sys.meta_path)

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
