"""Arrays that lie on a device, between calls too. Serves: backend.device"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from traceir import pytree
from traceir.avals import ShapedArray
from traceir_numba.cuda import device
from traceir_numba.cuda.run import memory_of, to_device, to_host
from traceir_numba.program import Buffer


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """A device that runs programs."""

    id: int
    name: str

    @property
    def platform(self) -> str:
        """The name of its kind."""
        return "cuda"

    def __str__(self) -> str:
        return f"cuda:{self.id}"


class DeviceArray:
    """An immutable array in a device's memory, C-contiguous.

    Results of `traceir_numba.jit(target="cuda")` are such arrays. NumPy copies one when
    it is asked for its elements; CuPy and others read it where it lies, by
    `__cuda_array_interface__`.
    """

    __slots__ = ("memory", "aval", "__weakref__")
    __array_priority__ = 100

    def __init__(self, memory: Any, aval: ShapedArray) -> None:
        self.memory = memory
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of its dimensions."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its elements."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self.aval.size

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self.size * self.dtype.itemsize

    def block_until_ready(self) -> DeviceArray:
        """The array, once the device has computed it."""
        device.synchronize()
        return self

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found = dict(self.memory.__cuda_array_interface__)
        found.update(shape=self.shape, typestr=self.dtype.str, strides=None)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on a device cannot be read without a copy")
        found = to_host(self.memory, buffer_of(self.aval))
        return found if dtype is None else found.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(self), separator=", ", prefix="DeviceArray(")
        return f"DeviceArray({text}, dtype={self.dtype.name})"


def buffer_of(aval: ShapedArray) -> Buffer:
    """The buffer of an array of a type."""
    return Buffer("", aval.shape, aval.dtype.name, "input")


def devices() -> list[CudaDevice]:
    """The devices that there are.

    Raises RuntimeError (backend.device) where none can be used.
    """
    dialect = device.dialect()
    if device.is_simulated():
        return [CudaDevice(0, "simulator")]
    found = []
    for one in dialect.gpus.lst:
        name = one._device.name if hasattr(one, "_device") else one.name
        text = name.decode() if isinstance(name, bytes) else str(name)
        found.append(CudaDevice(int(one.id), text))
    return found


def device_put(x: Any) -> Any:
    """A tree of arrays and numbers as one of arrays on the device.

    An array that another library has on the device stays where it is, if its elements
    lie without gaps. Raises RuntimeError (backend.device) without a device.
    """
    device.dialect()
    return pytree.map_(put, x)


def put(leaf: Any) -> DeviceArray:
    """One array on the device."""
    if isinstance(leaf, DeviceArray):
        return leaf
    if is_foreign(leaf):
        return shared(leaf)
    array = np.asarray(leaf)
    aval = ShapedArray(array.shape, array.dtype)
    return DeviceArray(to_device(array, buffer_of(aval)), aval)


def is_foreign(leaf: Any) -> bool:
    """Whether a value is another library's array on a device."""
    there = hasattr(leaf, "__cuda_array_interface__")
    return there and not isinstance(leaf, DeviceArray)


def shared(leaf: Any) -> DeviceArray:
    """Another library's array where it lies; a copy of one with gaps."""
    found = device.dialect().as_cuda_array(leaf)
    aval = ShapedArray(tuple(map(int, found.shape)), np.dtype(found.dtype))
    if not found.is_c_contiguous():
        return put(found.copy_to_host())
    flat = found.reshape(aval.size).view(memory_of(aval.dtype.name))
    return DeviceArray(flat, aval)
