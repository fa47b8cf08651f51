"""DLPack capsules: written for other libraries, and read from them.

The structures are those of the DLPack header, versions 0.8 and 1.0.
Serves: array.dlpack
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import BFLOAT16, as_dtype, is_added

# Kinds of devices: the processor; CUDA's memory, and what it manages.
CPU, CUDA, MANAGED = 1, 2, 13
# Kinds of elements by NumPy's; one more is that of bfloat16.
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
BFLOAT = 4
READ_ONLY = 1
VERSION = (1, 0)

# Names of capsules, and of those that have been read; a capsule keeps none of its own.
OLD, NEW = b"dltensor", b"dltensor_versioned"
USED = {OLD: b"used_dltensor", NEW: b"used_dltensor_versioned"}


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("id", ctypes.c_int32))


class _Dtype(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Dtype),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Old(ctypes.Structure):
    _fields_ = (
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class _New(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_FORMS: dict[bytes, Any] = {OLD: _Old, NEW: _New}


@dataclass(frozen=True, slots=True)
class StridedMemory:
    """The memory of an array's elements; strides count bytes."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    device: tuple[int, int]
    owner: Any = None


# -- capsules -------------------------------------------------------------------------

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_python.PyCapsule_IsValid.restype = ctypes.c_int
_python.PyCapsule_IsValid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_python.PyCapsule_SetName.restype = ctypes.c_int
_python.PyCapsule_SetName.argtypes = (ctypes.py_object, ctypes.c_char_p)

# What capsules that nobody has released keep alive, by the address of the structure.
_lent: dict[int, tuple[Any, ...]] = {}


def _release(address: int) -> None:
    """Release memory that a reader needs no more; the reader calls this."""
    _lent.pop(address, None)


def _unread(capsule: int) -> None:
    """Release a capsule that dies unread; one that was read has another name."""
    for name in (OLD, NEW):
        if _python.PyCapsule_IsValid(capsule, name):
            _release(_python.PyCapsule_GetPointer(capsule, name))


_on_release = _Deleter(_release)
_on_death = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_unread)


def capsule(memory: StridedMemory, versioned: bool, writable: bool) -> Any:
    """A capsule of some memory, which lives until its reader releases it.

    One that is not `versioned` cannot say that the memory must not be written to.
    """
    rank, dtype = len(memory.shape), as_dtype(memory.dtype)
    each = dtype.itemsize
    numbers = ctypes.c_int64 * rank
    shape = numbers(*memory.shape)
    strides = numbers(*(stride // each for stride in memory.strides))
    made = _FORMS[NEW if versioned else OLD]()
    made.tensor = _Tensor(
        memory.pointer,
        _Device(*memory.device),
        rank,
        _Dtype(code_of(dtype), 8 * each, 1),
        shape,
        strides,
        0,
    )
    made.deleter = ctypes.cast(_on_release, ctypes.c_void_p)
    if versioned:
        made.major, made.minor = VERSION
        made.flags = 0 if writable else READ_ONLY
    address = ctypes.addressof(made)
    _lent[address] = (made, shape, strides, memory)
    name = NEW if versioned else OLD
    return _python.PyCapsule_New(address, name, ctypes.cast(_on_death, ctypes.c_void_p))


def code_of(dtype: np.dtype) -> int:
    """DLPack's number for the kind of elements; BufferError for those without one.

    >>> code_of(np.dtype("float32")), code_of(np.dtype(bool))
    (2, 6)
    """
    if dtype.name == BFLOAT16:
        return BFLOAT
    if dtype.kind not in KINDS or is_added(dtype):
        raise BufferError(f"DLPack has no number for elements of {dtype}")
    return KINDS[dtype.kind]


class _TakenCapsule:
    """The contents of a capsule, released when nothing refers to this."""

    __slots__ = ("_managed", "_deleter")

    def __init__(self, managed: Any) -> None:
        self._managed = ctypes.addressof(managed)
        self._deleter = _Deleter(managed.deleter) if managed.deleter else None

    def __del__(self) -> None:
        if self._deleter is not None:
            self._deleter(self._managed)


def read(found: Any) -> StridedMemory:
    """The memory that a capsule tells of, which is then in use.

    Raises BufferError for what is no such capsule, or of elements that NumPy has not.
    """
    address = id(found)
    names = [n for n in _FORMS if _python.PyCapsule_IsValid(address, n)]
    if not names:
        raise BufferError(f"{type(found).__name__} is no capsule that can be read")
    (name,) = names
    managed = _FORMS[name].from_address(_python.PyCapsule_GetPointer(address, name))
    if name == NEW and managed.major != VERSION[0]:
        raise BufferError(f"DLPack {managed.major}.{managed.minor} is not known")
    tensor = managed.tensor
    rank, dtype = tensor.ndim, _dtype_of(tensor.dtype)
    shape = tuple(tensor.shape[d] for d in range(rank))
    if tensor.strides:
        strides = tuple(tensor.strides[d] * dtype.itemsize for d in range(rank))
    else:
        strides = packed(shape, dtype.itemsize)
    device = tensor.device.kind, tensor.device.id
    pointer = (tensor.data or 0) + tensor.offset
    _python.PyCapsule_SetName(found, USED[name])
    return StridedMemory(pointer, shape, strides, dtype, device, _TakenCapsule(managed))


def _dtype_of(found: Any) -> np.dtype:
    if found.lanes == 1 and found.bits % 8 == 0:
        if (found.code, found.bits) == (BFLOAT, 16):
            return as_dtype("bfloat16")
        for kind, code in KINDS.items():
            if code == found.code:
                return np.dtype(f"{kind}{found.bits // 8}")
    got = f"kind {found.code}, {found.bits} bits, {found.lanes} lanes"
    raise BufferError(f"NumPy has no such elements: {got}")


def packed(shape: Sequence[int], each: int) -> tuple[int, ...]:
    """The strides of an array whose elements lie without gaps, the last ones together.

    >>> packed((2, 3), 4)
    (12, 4)
    """
    strides = [each] * len(shape)
    for d in reversed(range(len(shape) - 1)):
        strides[d] = strides[d + 1] * max(1, shape[d + 1])
    return tuple(strides)
