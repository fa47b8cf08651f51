"""Readable Numba source and machine code for traceir programs, and a drop-in `jit`."""

from traceir_numba.api import jit

__all__ = ["jit"]
