"""Arrays that lie in a device's memory, between calls too.

Serves: backend.device, array.*
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, SupportsIndex

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.array_interface import Methods
from traceir.arrays.asks import install, refused_outside, refusing
from traceir.arrays.devices import CpuDevice, CudaDevice
from traceir.base.caches import LIMITS
from traceir.base.tracebacks import entry_points
from traceir.dtypes import is_key, key_of, kind_of
from traceir.ir.avals import ShapedArray
from traceir.jit.hot_path.raw_keys import RAW
from traceir.numpy import asarray
from traceir.pytrees import flatten
from traceir.random import wrap_key_data
from traceir.reference.kernels.random import words_of
from traceir.tracing.trace import typeof
from traceir_numba.cuda.arrays import dlpack
from traceir_numba.cuda.run import memory_of, to_device, to_host
from traceir_numba.cuda.runtime import device
from traceir_numba.loops.program import Buffer


@entry_points(
    *("to_device", "block_until_ready", "delete", "copy", "__dlpack__", "__array__"),
    *("item", "tolist", "__bool__", "__int__", "__float__", "__complex__", "__index__"),
    *("__iter__", "__format__"),
)
class DeviceArray(Methods):
    """An immutable array in a device's memory, C-contiguous.

    Results of `traceir_numba.jit(target="cuda")` are such arrays. Operators, methods
    and NumPy's functions of them are programs for the device, and their results stay
    there; `float(x)`, `x.tolist()`, printing and `numpy.asarray(x)` copy to the host.
    CuPy and others read it where it lies, by DLPack and `__cuda_array_interface__`.
    """

    __module__ = "traceir_numba.cuda"
    __slots__ = ("_memory", "aval", "__weakref__")
    __array_priority__ = 100
    aval: ShapedArray

    def __init__(self, memory: Any, aval: ShapedArray) -> None:
        self._memory = memory
        self.aval = aval

    @property
    def memory(self) -> Any:
        """The elements, flat, as kernels take them."""
        if self._memory is None:
            raise rules.error("array.deleted", got=self.aval.str_short())
        return self._memory

    # Place -----------------------------------------------------------------------

    @property
    def device(self) -> CudaDevice:
        """The device that holds the array."""
        there = device.number_of(self.memory)
        number = device.number() if there is None else there
        if device.is_simulated():
            return CudaDevice(number, "simulator")
        return next(one for one in devices() if one.id == number)

    def devices(self) -> set[CudaDevice]:
        """The devices that hold the array."""
        return {self.device}

    def to_device(self, to: Any, /, *, stream: Any = None) -> Any:
        """The array on a device: on its own as it is, on the host as NumPy's.

        Raises ValueError (array.device) for another one, and for a stream.
        """
        if stream is None and to == self.device:
            return self
        if stream is None and (to == "cpu" or isinstance(to, CpuDevice)):
            return np.asarray(self)
        raise rules.error("array.device", got=f"{to!r}, stream={stream!r}")

    def block_until_ready(self) -> DeviceArray:
        """The array, once the device has computed it."""
        with device.beside(self.memory):
            device.synchronize()
        return self

    def is_deleted(self) -> bool:
        """True if `delete` has given its memory back."""
        return self._memory is None

    def delete(self) -> None:
        """Give up the elements; nothing can be computed from the array any more."""
        self._memory = None

    def copy(self) -> DeviceArray:
        """The same elements in memory of their own."""
        memory = self.memory
        made = device.empty(memory.size, memory.dtype.str)
        device.copy(memory, made)
        return DeviceArray(made, self.aval)

    # For other libraries ---------------------------------------------------------

    def lie(self, shown: bool) -> dlpack.StridedMemory:
        """The memory of the elements; `shown` if others may read them unseen."""
        if is_key(self.dtype):
            raise rules.error("array.key", got=self.aval.str_short())
        memory = self.memory
        piece = device.owner(memory)
        if shown and hasattr(piece, "shown"):
            piece.shown = True
        return dlpack.StridedMemory(
            device.pointer(memory) if self.size else 0,
            self.shape,
            dlpack.packed(self.shape, self.dtype.itemsize),
            self.dtype,
            self.__dlpack_device__(),
            memory,
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        where = self.lie(shown=True)
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (where.pointer, True),
            "strides": None,
            "stream": device.own_stream(),
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind and the number of the device, as DLPack has them."""
        return dlpack.CPU if device.is_simulated() else dlpack.CUDA, device.number()

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The elements for another library: to be read, or copied.

        `stream` is where it will read them; that one then waits for this array, unless
        it is -1. One that cannot be told that it must not write is given a copy.
        Raises BufferError (array.dlpack) for another device, for `copy=False` where
        there has to be a copy, for a dtype without a number.
        """
        told = max_version is not None and max_version >= (1, 0)
        if dl_device not in (None, self.__dlpack_device__()):
            return self._to_host(max_version, dl_device, copy)
        if stream == 0:
            raise rules.error("array.dlpack", got="stream=0, which could be any")
        if copy is False and not told:
            raise rules.error("array.dlpack", got="copy=False without max_version")
        given = self if told and not copy else self.copy()
        return given.lend(stream, told, writable=given is not self)

    def _to_host(
        self, max_version: Any, dl_device: tuple[int, int], copy: bool | None
    ) -> Any:
        if dl_device != (dlpack.CPU, 0) or copy is False:
            got = f"dl_device={dl_device!r}, copy={copy!r}"
            raise rules.error("array.dlpack", got=got)
        return np.asarray(self).__dlpack__(max_version=max_version)

    def lend(self, stream: int | None, told: bool, writable: bool) -> Any:
        """A capsule of the memory, for a reader, or writer, in a stream."""
        own = device.own_stream()
        # None and the lowest numbers are streams that wait for one another.
        lie = self.lie(shown=stream is not None and stream > device.OF_THREAD)
        if stream is not None and stream > 0:
            device.let_wait(stream, own)
        try:
            return dlpack.capsule(lie, told, writable)
        except BufferError as error:
            raise rules.error("array.dlpack", got=str(error)) from None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if is_key(self.dtype):
            raise rules.error("array.key", got=self.aval.str_short())
        if copy is False:
            got = "copy=False of an array on a device"
            raise rules.error("array.copy", got=got)
        found = self.on_host()
        return found if dtype is None else found.astype(dtype, copy=False)

    def on_host(self) -> np.ndarray:
        """A copy of the elements, those of keys as they are in memory."""
        with device.beside(self.memory):
            return to_host(self.memory, buffer_of(self.aval))

    # Numbers ---------------------------------------------------------------------

    def item(self, *index: int) -> Any:
        """The only element, or the one at `index`, as a Python number.

        Raises ValueError unless there is one element or an index is given.
        """
        return np.asarray(self).item(*index)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return np.asarray(self).tolist()

    def _scalar(self) -> Any:
        if self.shape:
            raise rules.error("array.scalar", got=self.aval.str_short())
        return self.item()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise rules.error("array.truth", got=self.aval.str_short())
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self.shape or kind_of(self.dtype) not in "iu":
            raise rules.error("array.index", got=self.aval.str_short())
        return int(self.item())

    # Parts that lie in one piece ---------------------------------------------------

    def row(self, k: int) -> DeviceArray:
        """The k-th part along the first dimension, in the same memory."""
        shape = self.shape[1:]
        memory = self.memory
        length = memory.size // max(1, self.shape[0]) if self.size else 0
        part = memory[k * length : (k + 1) * length] if length else memory
        return DeviceArray(part, ShapedArray(shape, self.dtype))

    def as_shape(self, shape: tuple[int, ...]) -> DeviceArray:
        """The same memory under another shape of as many elements."""
        return DeviceArray(self.memory, ShapedArray(shape, self.dtype))

    def __iter__(self) -> Iterator[DeviceArray]:
        length = len(self)
        return (self.row(k) for k in range(length))

    # Text and copies -------------------------------------------------------------

    def __repr__(self) -> str:
        if self._memory is None:
            return f"DeviceArray(deleted, shape={self.shape}, dtype={self.dtype.name})"
        if is_key(self.dtype):
            return f"Device{self.here()!r}"
        text = np.array2string(np.asarray(self), separator=", ", prefix="DeviceArray(")
        return f"DeviceArray({text}, dtype={self.dtype.name})"

    def __str__(self) -> str:
        return str(self.here())

    def __format__(self, spec: str) -> str:
        return format(np.asarray(self)[()] if not self.shape else str(self), spec)

    def __reduce__(self) -> tuple[object, ...]:
        return put, (self.here(),)

    def here(self) -> Any:
        """The elements on the host: an array of NumPy's, of keys one of ours."""
        found = to_host(self.memory, buffer_of(self.aval))
        if not is_key(self.dtype):
            return found
        impl = key_of(self.dtype).generator
        return wrap_key_data(asarray(words_of(found)), impl=impl)

    def __copy__(self) -> DeviceArray:
        return self

    def __deepcopy__(self, memo: object) -> DeviceArray:
        return self


# Calls with such arrays have keys of their own.
RAW[DeviceArray] = lambda x: (DeviceArray, x.aval)


def buffer_of(aval: ShapedArray) -> Buffer:
    """The buffer of an array of a type."""
    return Buffer("", aval.shape, aval.dtype.name, "input")


def devices() -> list[CudaDevice]:
    """The devices that there are; programs run on the first unless a mesh has others.

    The simulator has as many as `num_cuda_devices` says (device.simulated). Raises
    RuntimeError (backend.device) where none can be used.
    """
    dialect = device.dialect()
    if device.is_simulated():
        count = LIMITS["num_cuda_devices"]
        return [CudaDevice(k, "simulator") for k in range(count)]
    found = []
    for one in dialect.gpus.lst:
        name = one._device.name if hasattr(one, "_device") else one.name
        text = name.decode() if isinstance(name, bytes) else str(name)
        found.append(CudaDevice(int(one.id), text))
    return found


def put(leaf: Any) -> DeviceArray:
    """One array or number on the device.

    Raises TypeError (jit.argument, jit.dtype) for what is none.
    """
    if isinstance(leaf, DeviceArray):
        return leaf
    if type(leaf) is Array:
        return DeviceArray(to_device(leaf._value, buffer_of(leaf.aval)), leaf.aval)
    array = np.asarray(leaf)
    typeof(array)
    aval = ShapedArray(array.shape, array.dtype)
    return DeviceArray(to_device(array, buffer_of(aval)), aval)


def resolved(shape: tuple[SupportsIndex, ...], size: int) -> tuple[int, ...] | None:
    """A shape with its -1 filled in; None where it is of another size.

    >>> resolved((2, -1), 6), resolved((4,), 6)
    ((2, 3), None)
    """
    found = [n.__index__() for n in shape]
    if found.count(-1) == 1:
        rest = -prod(found)
        found[found.index(-1)] = size // rest if rest > 0 else -1
    fits = all(n >= 0 for n in found) and prod(found) == size
    return tuple(found) if fits else None


def block_until_ready(x: Any) -> Any:
    """A tree, once the device has computed all that it was given."""
    if any(isinstance(leaf, DeviceArray) for leaf in flatten.leaves(x)):
        device.synchronize()
    return x


def memory_of_array(aval: ShapedArray) -> tuple[np.dtype, int]:
    """The dtype and the number of the elements that an array's memory has."""
    kind = memory_of(aval.dtype.name)
    return kind, aval.size * (aval.dtype.itemsize // kind.itemsize)


@rules.compiled_from_rows
def _ask_by_rows(found: rules.Rules) -> None:
    install(DeviceArray, refused_outside(found), refusing)
