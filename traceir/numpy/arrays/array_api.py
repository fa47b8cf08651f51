"""The namespace functions of the Array API standard. Serves: array.*"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.devices import CPU, CpuDevice, check_device
from traceir.base.tracebacks import entry_points
from traceir.ir.promotion import canonical_dtype
from traceir.lax.checks.operands import default_dtype, own
from traceir.lax.elementwise.selection import convert_element_type
from traceir.numpy.arrays.dtypes import isdtype

__array_api_version__ = "2024.12"
# NumPy's limit; no extent of a dimension is bounded.
MOST_DIMENSIONS = 64


@entry_points()
class NamespaceInfo:
    """The answers of `traceir.numpy` to what the Array API standard leaves open.

    >>> info = __array_namespace_info__()
    >>> info.default_device(), info.devices()
    (CpuDevice(id=0), [CpuDevice(id=0)])
    """

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """The capabilities: shapes that depend on values, and the most dimensions.

        A mask or a search gives an array of a shape that its values decide, which works
        outside of traced functions. A library that asks may be traced, so that it is
        told not to do so.

        >>> __array_namespace_info__().capabilities()["boolean indexing"]
        False
        """
        return {
            "boolean indexing": False,
            "data-dependent shapes": False,
            "max dimensions": MOST_DIMENSIONS,
        }

    def default_device(self) -> CpuDevice:
        """The device of an array that no device was asked for.

        >>> __array_namespace_info__().default_device()
        CpuDevice(id=0)
        """
        return CPU

    def default_dtypes(self, *, device: object = None) -> dict[str, np.dtype]:
        """The dtypes of arrays that no dtype was asked for, by the kind of the array.

        Raises ValueError (array.device).

        >>> __array_namespace_info__().default_dtypes()["real floating"]
        dtype('float32')
        """
        check_device(device)
        whole = default_dtype(int)
        real = default_dtype(float)
        return {
            "real floating": real,
            "complex floating": default_dtype(complex),
            "integral": whole,
            "indexing": whole,
        }

    def dtypes(
        self, *, device: object = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype]:
        """The standard's dtypes that arrays have, or those of them of a kind, by name.

        Of those with 64 bits there are none while they are off. Raises ValueError
        (array.device, dtype.kind).

        >>> __array_namespace_info__().dtypes(kind="real floating")
        {'float32': dtype('float32')}
        """
        check_device(device)
        found = {name: np.dtype(name) for name in STANDARD}
        wide = default_dtype(int).itemsize == 8
        return {
            name: dtype
            for name, dtype in found.items()
            if canonical_dtype(dtype, wide) == dtype
            and (kind is None or isdtype(dtype, kind))
        }

    def devices(self) -> list[CpuDevice]:
        """The devices that there are.

        >>> __array_namespace_info__().devices()
        [CpuDevice(id=0)]
        """
        return [CPU]


STANDARD = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


def __array_namespace_info__() -> NamespaceInfo:
    """The capabilities of this namespace: its devices, dtypes, defaults and limits.

    >>> __array_namespace_info__().capabilities()["max dimensions"]
    64
    """
    return NamespaceInfo()


def namespace(
    x: Array, /, *, api_version: str | None = None, module: ModuleType
) -> ModuleType:
    """The module whose functions take an array, by the version of the standard.

    Raises ValueError (array.api-version) for another than 2024.12.
    """
    if api_version not in (None, __array_api_version__):
        raise rules.error("array.api-version", got=repr(api_version))
    return module


def to_device(x: Array, device: object, /, *, stream: None = None) -> Array:
    """The array on a device, where it is: there is one.

    Raises ValueError (array.device).

    >>> import traceir, traceir.numpy as jnp
    >>> to_device(jnp.arange(2), traceir.devices()[0])
    Array([0, 1], dtype=int32)
    """
    check_device(device)
    if stream is not None:
        raise rules.error("array.device", got=f"stream={stream!r}")
    return x


def from_dlpack(x: Any, /, *, device: object = None, copy: bool | None = None) -> Array:
    """The elements of another library's array, through DLPack.

    Memory that nobody may write to is shared, and so is any with `copy=False`: whoever
    writes to it then changes this array. Raises TypeError (array.capsule) for what
    cannot be exported, ValueError (array.device), BufferError where `copy=False` cannot
    be had.

    >>> import numpy as np
    >>> from_dlpack(np.arange(3, dtype="int8"))
    Array([0, 1, 2], dtype=int8)
    """
    check_device(device)
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise rules.error("array.capsule", got=type(x).__name__)
    value = np.from_dlpack(x, copy=copy) if copy else np.from_dlpack(x)
    dtype = canonical_dtype(value.dtype, default_dtype(int).itemsize == 8)
    shared = value.flags.c_contiguous and dtype == value.dtype
    if copy is False and not shared:
        got = f"{value.dtype.name}{list(value.shape)} with strides {value.strides}"
        raise rules.error("array.dlpack", got=f"{got} for copy=False")
    if shared and (copy is False or not value.flags.writeable):
        return own(value.view())
    return convert_element_type(own(np.array(value, order="C")), dtype)
