"""Arrays of other libraries, used without a copy and given back.

Serves: backend.foreign
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array_interface import Methods
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_point
from traceir.ir.avals import ShapedArray
from traceir.pytrees import flatten
from traceir_numba.cuda.arrays import dlpack
from traceir_numba.cuda.arrays.arrays import DeviceArray, memory_of_array, put
from traceir_numba.cuda.arrays.strided_copies import gathered
from traceir_numba.cuda.runtime import device

# Types that are looked at in each call, and are none of another library's.
_OWN = (np.ndarray, np.generic, bool, int, float, complex, str, type(None), Methods)


def is_foreign(value: Any) -> bool:
    """True if a value is an array of another library that may be on a device."""
    kind = type(value)
    if issubclass(kind, _OWN):
        return False
    interfaces = ("__dlpack_device__", "__cuda_array_interface__")
    return any(hasattr(kind, name) for name in interfaces)


# -- taken ----------------------------------------------------------------------------


@dataclass(slots=True)
class TakenArrays:
    """Arguments whose arrays of other libraries have been taken.

    `libraries` are the names of those that they came from, `streams` those in which
    their memory may be used again.
    """

    libraries: set[str] = field(default_factory=set)
    streams: set[int] = field(default_factory=set)

    def take(self, leaf: Any) -> Any:
        """An argument; another library's array on the device as one of ours.

        Arrays that a library has on the host are NumPy's to read. Raises TypeError
        (backend.foreign).
        """
        if isinstance(leaf, DeviceArray):
            self.libraries.add("")
        if not is_foreign(leaf):
            return leaf
        found, stream = _located(leaf)
        if found is None:
            return np.from_dlpack(leaf)
        self.libraries.add(library_of(leaf))
        if stream is not None:
            device.let_wait(device.own_stream(), stream)
            self.streams.add(stream)
        return array_at(found)

    def end(self) -> None:
        """Make later uses of the memory wait for what has been launched."""
        for stream in self.streams:
            device.let_wait(stream, device.own_stream())


def device_put(x: Any) -> Any:
    """A tree of arrays and numbers as one of arrays on the device.

    An array that another library has on the device stays where it is, if its elements
    lie without gaps; others are copied. Raises RuntimeError (backend.device) without a
    device, TypeError (backend.foreign, jit.argument, jit.dtype).
    """
    device.dialect()
    taken = TakenArrays()
    return flatten.map_(lambda leaf: put(taken.take(leaf)), x)


@entry_point
def from_dlpack(
    x: Any, /, *, device: object = None, copy: bool | None = None
) -> DeviceArray:
    """Another library's array as one on the device, through DLPack.

    Its memory is shared where it is there, in one piece, and `copy` is not True; who
    writes to it then changes this array. Arrays on the host are copied to the device.
    Raises TypeError (array.capsule) for what cannot be exported, (backend.foreign) for
    what is on another device, ValueError (array.copy) where `copy=False` cannot be had.
    """
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise rules.error("array.capsule", got=type(x).__name__)
    found = _by_dlpack(x)
    shared = found is not None and _in_one_piece(found)
    if copy is False and not shared:
        got = "copy=False of an array that is not in one piece on the device"
        raise rules.error("array.copy", got=got)
    made = put(np.from_dlpack(x)) if found is None else array_at(found)
    return made.copy() if copy and shared else made


def _located(leaf: Any) -> tuple[dlpack.StridedMemory | None, int | None]:
    """The memory of an array, and the stream that makes it; None for the host's."""
    if hasattr(type(leaf), "__dlpack_device__"):
        return _by_dlpack(leaf), None
    return _by_interface(leaf)


def _by_dlpack(leaf: Any) -> dlpack.StridedMemory | None:
    """The memory of an array by DLPack, ready for our stream; None for the host's."""
    kind, number = map(int, leaf.__dlpack_device__())
    own, simulated = device.number(), device.is_simulated()
    if kind == dlpack.CPU and not simulated:
        return None
    there = kind in (dlpack.CUDA, dlpack.MANAGED) and number == own
    if not there and not (kind == dlpack.CPU and simulated):
        got = f"{_named(leaf)} on device {number} of kind {kind}, not cuda:{own}"
        raise rules.error("backend.foreign", got=got)
    stream = None if kind == dlpack.CPU else device.own_stream()
    try:
        try:
            capsule = leaf.__dlpack__(stream=stream, max_version=dlpack.VERSION)
        except TypeError:  # who does not know of versions
            capsule = leaf.__dlpack__(stream=stream)
        return dlpack.read(capsule)
    except (BufferError, RuntimeError, TypeError) as error:
        got = f"{_named(leaf)}: {error}"
        raise rules.error("backend.foreign", got=got) from None


def _by_interface(leaf: Any) -> tuple[dlpack.StridedMemory, int | None]:
    """The memory of an array by `__cuda_array_interface__`, and its stream."""
    told = leaf.__cuda_array_interface__
    if told.get("mask") is not None:
        raise rules.error("backend.foreign", got=f"{_named(leaf)} with a mask")
    stream = told.get("stream")
    if stream == 0:
        got = f"{_named(leaf)} in stream 0, which could be any"
        raise rules.error("backend.foreign", got=got)
    dtype = np.dtype(told["typestr"])
    if dtype.kind not in dlpack.KINDS or not dtype.isnative:
        raise rules.error("backend.foreign", got=f"{_named(leaf)} of {dtype.str}")
    shape = tuple(map(int, told["shape"]))
    strides = told.get("strides") or dlpack.packed(shape, dtype.itemsize)
    pointer, _ = told["data"]
    where = (device.number(),) * 2
    return dlpack.StridedMemory(
        pointer, shape, tuple(strides), dtype, where, leaf
    ), stream


def array_at(found: dlpack.StridedMemory) -> DeviceArray:
    """The array that lies somewhere on the device, or a copy of one with gaps.

    Raises TypeError (backend.foreign) for elements that do not lie at multiples of
    their size.
    """
    aval = ShapedArray(found.shape, found.dtype)
    kind, length = memory_of_array(aval)
    if not aval.size:
        return DeviceArray(device.empty(0, kind.str), aval)
    if found.pointer % kind.itemsize or any(s % kind.itemsize for s in found.strides):
        got = f"{aval.str_short()} at {found.pointer:#x} with strides {found.strides}"
        raise rules.error("backend.foreign", got=got)
    if _in_one_piece(found):
        return DeviceArray(device.at(found.pointer, (length,), kind, found.owner), aval)
    shape, strides = found.shape, found.strides
    if length != aval.size:  # pairs of numbers
        shape, strides = (*shape, 2), (*strides, kind.itemsize)
    memory = gathered(found.pointer, shape, strides, kind, found.owner)
    return DeviceArray(memory, aval)


def _in_one_piece(found: dlpack.StridedMemory) -> bool:
    packed = dlpack.packed(found.shape, found.dtype.itemsize)
    rows = zip(found.shape, found.strides, packed, strict=True)
    return all(n < 2 or have == want for n, have, want in rows) or 0 in found.shape


def _named(leaf: Any) -> str:
    kind = type(leaf)
    return f"an array of {kind.__module__}.{kind.__qualname__}"


# -- given back -----------------------------------------------------------------------


class LentArray:
    """A result on its way to another library, which may write to it from then on."""

    __slots__ = ("array",)

    def __init__(self, array: DeviceArray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device that holds it."""
        return self.array.__dlpack_device__()

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The memory, for the stream in which it is read."""
        told = max_version is not None and max_version >= dlpack.VERSION
        return self.array.lend(stream, told, writable=True)


def _through(module: str) -> Callable[[DeviceArray], Any]:
    """A function that gives arrays to a library by its function `from_dlpack`."""
    return lambda x: importlib.import_module(module).from_dlpack(LentArray(x))


def _as_dialect(x: DeviceArray) -> Any:
    """An array as Numba's own on a device."""
    return device.at(x.lie(shown=True).pointer, x.shape, x.dtype, x.memory)


# By the package of an array's class: how a result becomes an array of that library.
LIBRARIES: dict[str, Callable[[DeviceArray], Any]] = {
    "cupy": _through("cupy"),
    "torch": _through("torch"),
    "jaxlib": _through("jax.dlpack"),
    "numba": _as_dialect,
    "numba_cuda": _as_dialect,
    "numba_cuda_mlir": _as_dialect,
}


def library_of(leaf: Any) -> str:
    """The package of an array's class, or of a class that it extends; "" if unknown."""
    packages = (kind.__module__.partition(".")[0] for kind in type(leaf).__mro__)
    return next((name for name in packages if name in LIBRARIES), "")


def given_back(results: Sequence[DeviceArray], libraries: Iterable[str]) -> list[Any]:
    """Results as arrays of the library that all arrays on the device came from.

    If they came from several, or some were ours, they are ours.
    """
    names = set(libraries)
    give = LIBRARIES.get(names.pop()) if len(names) == 1 else None
    return list(results if give is None else map(give, results))
