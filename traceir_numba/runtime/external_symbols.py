"""Functions of other libraries, under symbols of ours.

Code that is stored has their symbols: their addresses differ from process to process.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

# The C library's, by the symbols that code has for them.
FUNCTIONS = {
    "traceir_malloc": "malloc",
    "traceir_free": "free",
    "traceir_thread_create": "pthread_create",
    "traceir_thread_join": "pthread_join",
    "traceir_clock": "clock_gettime",
    "traceir_log": "log",
    "traceir_yield": "sched_yield",
    "traceir_mutex_lock": "pthread_mutex_lock",
    "traceir_mutex_unlock": "pthread_mutex_unlock",
    "traceir_cond_wait": "pthread_cond_wait",
    "traceir_cond_broadcast": "pthread_cond_broadcast",
}
# Python's own, of the same kind.
OF_PYTHON = {
    "traceir_lock": "PyGILState_Ensure",
    "traceir_unlock": "PyGILState_Release",
    "traceir_handle_signals": "PyErr_CheckSignals",
    "traceir_call": "PyObject_CallFunction",
    "traceir_drop": "Py_DecRef",
}
# Functions of NumPy's generators, which `numpy.random._generator` exports.
OF_NUMPY = "traceir_random_"
# A number that code reads: how many threads may share work.
THREADS = ctypes.c_int64(1)
# The memory of `llvm.thread_team`: that of all, then that of so many threads.
TEAM_SLOTS = 256
TEAM = (ctypes.c_int64 * (160 + 16 * TEAM_SLOTS))()
MEMORY = {"traceir_threads": THREADS, "traceir_team": TEAM}
# Functions of Python's that code calls, by symbol.
OBJECTS: dict[str, object] = {}


@cache
def address_of(symbol: str) -> int | None:
    """The address of a library's function, of a number or an object of this process;
    None where code can call none of this name.

    >>> address_of("traceir_malloc") == address_of("malloc") != address_of("no_such")
    True
    """
    if symbol in MEMORY:
        return ctypes.addressof(MEMORY[symbol])
    if symbol in OBJECTS:
        return id(OBJECTS[symbol])
    library: ctypes.CDLL = ctypes.pythonapi
    name = OF_PYTHON.get(symbol)
    if symbol.startswith(OF_NUMPY):
        name = symbol.removeprefix("traceir_")
        library = ctypes.CDLL(sys.modules["numpy.random._generator"].__file__)
    elif name is None:
        name = FUNCTIONS.get(symbol, symbol)
        library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    entry = getattr(library, name, None)
    return None if entry is None else ctypes.cast(entry, ctypes.c_void_p).value


def provided(symbol: str) -> bool:
    """True if code can call a symbol that is not generated."""
    return address_of(symbol) is not None
