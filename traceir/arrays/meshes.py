"""Meshes: devices in arrays whose dimensions have names. Serves: mesh.*

An abstract mesh has the names and sizes alone: what is computed over a mesh is the same
whichever devices are there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from enum import Enum
from math import prod
from operator import index
from typing import Any, TypeAlias

import numpy as np

from traceir import rules
from traceir.arrays.devices import CPU, Device, devices
from traceir.base import config
from traceir.base.tracebacks import entry_points

Shape: TypeAlias = tuple[int, ...]


class AxisType(Enum):
    """The authority that decides layouts along an axis of a mesh.

    `Auto`: the compiler, which takes constraints; `Explicit`: the types of the
    operands; `Manual`: the function itself, which sees one part.

    >>> make_mesh((1,), ("x",), axis_types=(AxisType.Auto,)).axis_types
    (Auto,)
    """

    Auto = "Auto"
    Explicit = "Explicit"
    Manual = "Manual"

    def __repr__(self) -> str:
        return self.value


class _MeshAxes:
    """The names, sizes and types of the axes of a mesh."""

    __slots__ = ("axis_sizes", "axis_names", "axis_types")
    axis_sizes: Shape
    axis_names: tuple[Any, ...]
    axis_types: tuple[AxisType, ...]

    def _set_axes(self, sizes: Shape, axis_names: Any, axis_types: Any) -> None:
        names = _names(axis_names)
        _check_names(sizes, names)
        if axis_types is None or isinstance(axis_types, AxisType):
            axis_types = (axis_types or AxisType.Auto,) * len(names)
        types = tuple(axis_types)
        if len(types) != len(names):
            got = f"{len(types)} types for the axes {names}"
            raise rules.error("mesh.names", got=got)
        self.axis_sizes, self.axis_names, self.axis_types = sizes, names, types

    @property
    def shape(self) -> OrderedDict[str, int]:
        """The size of each axis by its name."""
        return OrderedDict(self.shape_tuple)

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """Pairs of the name and the size of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of devices."""
        return prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        """True if there is no axis."""
        return not self.axis_names

    def _of_type(self, wanted: AxisType) -> tuple[Any, ...]:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple(name for name, found in pairs if found is wanted)

    @property
    def auto_axes(self) -> tuple[Any, ...]:
        """The axes along which the compiler decides."""
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Any, ...]:
        """The axes along which types of operands decide."""
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[Any, ...]:
        """The axes along which a function sees one part."""
        return self._of_type(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """True if there are axes, and the compiler decides along all of them."""
        return not self.empty and self.auto_axes == self.axis_names

    @property
    def are_all_axes_explicit(self) -> bool:
        """True if there are axes, and types of operands decide along all of them."""
        return not self.empty and self.explicit_axes == self.axis_names

    @property
    def are_all_axes_manual(self) -> bool:
        """True if there are axes, and a function sees one part along all of them."""
        return not self.empty and self.manual_axes == self.axis_names

    def _sizes(self) -> str:
        pairs = [f"{name!r}: {size}" for name, size in self.shape_tuple]
        types = [f"axis_types={self.axis_types!r}"] if pairs else []
        return ", ".join(pairs + types)

    def __str__(self) -> str:
        return f"Mesh({self._sizes()})"


class AbstractMesh(_MeshAxes):
    """The axes of a mesh without its devices.

    Raises ValueError (mesh.names).

    >>> AbstractMesh((4, 2), ("x", "y")).shape["y"]
    2
    """

    __slots__ = ()

    def __init__(
        self,
        axis_sizes: Sequence[int],
        axis_names: str | Sequence[str],
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> None:
        self._set_axes(tuple(map(index, axis_sizes)), axis_names, axis_types)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh itself."""
        return self

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.axis_sizes, self.axis_names, self.axis_types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractMesh) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        return f"Abstract{super().__str__()}"

    __repr__ = __str__


@entry_points("__init__")
class Mesh(_MeshAxes):
    """Devices in an array whose dimensions have names.

    `devices` is an array, or a sequence, of devices of one platform, with a name for
    each dimension; `axis_types` are Auto unless given. Raises ValueError (mesh.names,
    mesh.platform).

    >>> Mesh(np.array(devices()), ("x",))
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    __slots__ = ("devices", "platform", "_key")
    platform: str  # of all its devices

    def __init__(
        self,
        devices: Any,
        axis_names: str | Sequence[str],
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> None:
        self.devices = np.array(devices, dtype=object)
        self.devices.setflags(write=False)
        self._set_axes(self.devices.shape, axis_names, axis_types)
        ids = tuple(self.devices.flat)
        self.platform = _platform(ids)
        self._key = ids, self.axis_sizes, self.axis_names, self.axis_types

    @property
    def device_ids(self) -> np.ndarray:
        """The numbers of the devices."""
        ids = [device.id for device in self.devices.flat]
        return np.array(ids, dtype=int).reshape(self.devices.shape)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The axes without the devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Mesh) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        types = f", axis_types={self.axis_types!r}" if self.axis_names else ""
        return (
            f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}{types})"
        )


def _platform(devices: Iterable[Any]) -> str:
    """The platform of all devices; ValueError (mesh.platform) if they have several."""
    found = {getattr(device, "platform", CPU.platform) for device in devices}
    if len(found) > 1:
        listed = ", ".join(map(str, devices))
        raise rules.error("mesh.platform", got=listed)
    return found.pop() if found else CPU.platform


def _names(axis_names: str | Iterable[str]) -> tuple[str, ...]:
    return (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)


def _check_names(shape: Shape, names: tuple[str, ...]) -> None:
    if len(shape) != len(names) or len(set(names)) != len(names):
        raise rules.error("mesh.names", got=f"{names} for devices of shape {shape}")


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: str | Sequence[str],
    axis_types: Sequence[AxisType] | None = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """A mesh of these sizes, from the first of the devices; its axes are Explicit.

    Raises ValueError (mesh.size, mesh.names).

    >>> make_mesh((1,), ("x",))
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Explicit,))
    """
    shape, names = tuple(map(index, axis_shapes)), _names(axis_names)
    given = list(_devices() if devices is None else devices)
    if any(n < 1 for n in shape) or prod(shape) > len(given):
        raise rules.error("mesh.size", got=f"{shape} of {len(given)} devices")
    _check_names(shape, names)
    types = (AxisType.Explicit,) * len(shape) if axis_types is None else axis_types
    array = np.empty(prod(shape), dtype=object)
    array[:] = given[: prod(shape)]
    return Mesh(array.reshape(shape), names, types)


_devices = devices


class set_mesh:  # called like a function
    """Set the mesh of this thread, of which a spec alone speaks.

    Until another is set or, in a `with`, until its end. None for no mesh. Raises
    ValueError (mesh.set) within a traced function.

    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     get_mesh()
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Explicit,))
    """

    __slots__ = ("_scope",)

    def __init__(self, mesh: Mesh | None) -> None:
        if not (mesh is None or isinstance(mesh, Mesh)):
            raise rules.error("mesh.set", got=repr(mesh))
        if config.local.trace is not None:
            raise rules.error("mesh.set", got="a call within a traced function")
        self._scope = config.ConfigScope({"mesh": mesh})
        self._scope.__enter__()

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: Any) -> None:
        self._scope.__exit__(*exception)


def get_mesh() -> Mesh:
    """The mesh that is set; one without axes where none is.

    >>> get_mesh().empty
    True
    """
    mesh: Mesh | None = config.current().mesh
    return Mesh(np.empty((), dtype=object), ()) if mesh is None else mesh


def get_abstract_mesh() -> AbstractMesh:
    """The axes of the mesh that is set.

    >>> get_abstract_mesh()
    AbstractMesh()
    """
    return get_mesh().abstract_mesh
