"""Functions of other libraries that machine code calls, under symbols of ours.

Code that is stored has their symbols: their addresses differ from process to process.
"""

from __future__ import annotations

import ctypes
from functools import cache

import llvmlite.binding as llvm

# The symbol of a matrix product, less the letter of its dtype.
GEMM = "traceir_blas_gemm_"


@cache
def provided(symbol: str) -> bool:
    """Whether a symbol is a library's function, which code can call from now on."""
    if not symbol.startswith(GEMM):
        return False
    address = _blas(symbol.removeprefix(GEMM) + "gemm")
    if address is None:
        return False
    llvm.add_symbol(symbol, address)
    return True


def _blas(name: str) -> int | None:
    """Where a function is in the BLAS that SciPy has; None without SciPy."""
    try:
        from scipy.linalg import cython_blas
    except ImportError:
        return None
    capsule = cython_blas.__pyx_capi__[name]
    api = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
        ("PyCapsule_GetName", api)
    )
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    return int(pointer(capsule, name_of(capsule)))
