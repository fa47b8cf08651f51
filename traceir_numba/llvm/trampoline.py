"""Calls of machine code from Python, ten times as fast as ctypes.

A kernel takes pointers, then 64-bit sizes. `callable_of` makes a built-in function
that takes arrays and ints: a trampoline, compiled once for each count of pointers and
sizes, reads the arrays' data pointers from the objects themselves.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from traceir.base.fork_safety import kept_over_forks
from traceir_numba.runtime import code_loader
from traceir_numba.store.units import LoadedObject, ObjectFile, linked, unit_key

Entry = Callable[..., None]

METH_FASTCALL = 0x80
# PyArrayObject begins with its data pointer, right after the object's head.
_DATA = object.__basicsize__
# A bytes object's text follows its head; the last byte counted is the closing zero.
_TEXT = bytes.__basicsize__ - 1


def callable_of(
    address: int, pointers: int, sizes: int, release: bool, owner: Any = None
) -> Entry:
    """A function of arrays and ints that calls the kernel at `address`.

    `release` lets other Python threads run meanwhile, for 50 ns. Arguments are not
    checked: only generated programs call these. The function keeps the `owner` of the
    code alive, also while it runs: it stands where built-in functions have a module.
    """
    if not _layout_is_known():
        return _through_ctypes(address, pointers, sizes, owner)
    method = _trampoline(pointers, sizes, release)
    entry: Entry = _new_function()(
        ctypes.addressof(method), struct.pack("q", address) + _interface(), owner
    )
    return entry


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@cache
def _new_function() -> Any:
    new = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object
    )
    return new(("PyCFunction_NewEx", ctypes.pythonapi))


_trampolines: dict[tuple[int, int, bool], tuple[_MethodDef, LoadedObject]] = {}
_lock = kept_over_forks(threading.RLock())


def _trampoline(pointers: int, sizes: int, release: bool) -> _MethodDef:
    """The method definition for so many arguments, compiled once and kept for good."""
    key = pointers, sizes, release
    with _lock:
        # Kept for good: function objects point to their method definition.
        if key not in _trampolines:
            name = f"traceir_call_{pointers}_{sizes}_{int(release)}"
            text = _text(name, pointers, sizes, release)
            with code_loader.lock:
                code = linked(unit_key(text), [name], [], lambda: _made(text))
            doc = b"A generated kernel: arrays, then sizes."
            address = code.addresses[name]
            method = _MethodDef(b"kernel", address, METH_FASTCALL, doc)
            _trampolines[key] = method, code
        return _trampolines[key][0]


def _made(text: str) -> ObjectFile:
    # Only here is anything of the compiler wanted.
    from traceir_numba.llvm import optimize
    from traceir_numba.runtime import mcjit

    return optimize.object_file((f'target triple = "{mcjit.triple()}"\n{text}',))


def _text(name: str, pointers: int, sizes: int, release: bool) -> str:
    """LLVM text of `PyObject *name(PyObject *self, PyObject **args, Py_ssize_t n)`.

    No address is in it, so that its code is the same in each process: those that it
    calls are in `self`, a bytes object.
    """
    lines = []
    for k, word in enumerate(WORDS):
        lines += [
            f"%at_{word} = getelementptr i8, ptr %self, i64 {_TEXT + 8 * k}",
            f"%{word} = load ptr, ptr %at_{word}, align 1",
        ]
    passed = []
    for k in range(pointers + sizes):
        lines += [
            f"%at{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"%object{k} = load ptr, ptr %at{k}",
        ]
        if k < pointers:
            lines += [
                f"%field{k} = getelementptr i8, ptr %object{k}, i64 {_DATA}",
                f"%value{k} = load ptr, ptr %field{k}",
            ]
            passed.append(f"ptr %value{k}")
        else:
            lines.append(f"%value{k} = call i64 %PyLong_AsLongLong(ptr %object{k})")
            passed.append(f"i64 %value{k}")
    call = f"call void %kernel({', '.join(passed)})"
    if release:
        lines += [
            "%thread = call ptr %PyEval_SaveThread()",
            call,
            "call void %PyEval_RestoreThread(ptr %thread)",
            # What a routine was interrupted by, at a safepoint.
            "%error = call ptr %PyErr_Occurred()",
            "%raised = icmp ne ptr %error, null",
            "br i1 %raised, label %raise, label %done",
            "raise:",
            "ret ptr null",
            "done:",
        ]
    else:
        lines.append(call)
    lines += ["call void %Py_IncRef(ptr %none)", "ret ptr %none"]
    body = "\n  ".join(lines)
    return f"define ptr @{name}(ptr %self, ptr %args, i64 %n) {{\n  {body}\n}}\n"


# What a trampoline reads first: the kernel, None, functions of Python's C interface.
API = (
    "PyLong_AsLongLong",
    "Py_IncRef",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_Occurred",
)
WORDS = ("kernel", "none", *API)


@cache
def _interface() -> bytes:
    """The addresses of all words but the first."""
    functions = [getattr(ctypes.pythonapi, name) for name in API]
    addresses = [ctypes.cast(f, ctypes.c_void_p).value for f in functions]
    return struct.pack(f"{1 + len(API)}q", id(None), *addresses)


@cache
def _layout_is_known() -> bool:
    """True if arrays and bytes are laid out as the trampolines assume."""
    for array in (np.zeros(3), np.zeros((2, 2), bool)[1:], np.zeros(())):
        field = ctypes.c_void_p.from_address(id(array) + _DATA)
        if field.value != array.ctypes.data:
            return False
    text = b"traceir"
    return ctypes.string_at(id(text) + _TEXT, len(text)) == text


def _through_ctypes(address: int, pointers: int, sizes: int, owner: Any) -> Entry:
    entry = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * (pointers + sizes))(address)

    def call(*args: Any) -> None:
        entry(*[a.ctypes.data for a in args[:pointers]], *args[pointers:])

    call.__module__ = owner
    return call
