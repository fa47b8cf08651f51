"""Abstract values: shape, dtype, weakness. Serves: aval.*, shard_map.vma"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from traceir.base.fork_safety import kept_over_forks
from traceir.dtypes import as_dtype, float0, is_added, is_inexact

SHORT_KINDS = {"f": "f", "i": "i", "u": "u", "c": "c"}
# Reentrant: a collection inside may run a user's code.
_lock = kept_over_forks(threading.RLock())


# What gives the layout of a whole array: it is a class of a part above this one.
_layouts: list[Callable[[int], Any]] = []


def laid_by(load: Callable[[int], Any]) -> None:
    """Let a function of the number of dimensions give the layout that types tell."""
    _layouts[:] = [load]


class ManualAxisType(NamedTuple):
    """The axes of a mesh along which a value within `shard_map` may vary; the other
    parts are always empty here."""

    varying: frozenset[Hashable] = frozenset()
    unreduced: frozenset[Hashable] = frozenset()
    reduced: frozenset[Hashable] = frozenset()


class ShapedArray:
    """Shape, dtype and weakness of an array, without its value.

    Within a function that `shard_map` checks, `vma` are the axes of the mesh along
    which devices may have different values, in the order of their names.

    Equal ones are one object, so equality and hash are those of identity. The other
    arguments are those of JAX's class: where an array lies is no part of its type here.

    >>> ShapedArray((5,), "float32")
    ShapedArray(float32[5])
    >>> ShapedArray((), "int32", weak_type=True).str_short()
    'i32[]'
    """

    __slots__ = ("shape", "dtype", "weak_type", "vma", "__weakref__")
    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool
    vma: tuple[Hashable, ...]

    def __new__(
        cls,
        shape: Sequence[int],
        dtype: object,
        weak_type: bool = False,
        *,
        sharding: object = None,
        manual_axis_type: ManualAxisType | None = None,
        memory_space: object = None,
        vma: Iterable[Hashable] = (),
    ) -> ShapedArray:
        if manual_axis_type is not None:
            vma = manual_axis_type.varying
        names = tuple(sorted({*vma}, key=str)) if vma else ()
        key = (tuple(shape), as_dtype(dtype), bool(weak_type), names)
        found = _interned.get(key)
        if found is not None:
            return found
        with _lock:
            found = _interned.get(key)
            if found is None:
                found = object.__new__(cls)
                for name, value in zip(cls.__slots__, key):
                    object.__setattr__(found, name, value)
                _interned[key] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a ShapedArray is immutable")

    def __reduce__(self) -> tuple[object, ...]:
        parts = self.shape, self.dtype.name, self.weak_type
        return (_made, (*parts, self.vma)) if self.vma else (ShapedArray, parts)

    def __copy__(self) -> ShapedArray:
        return self

    def __deepcopy__(self, memo: object) -> ShapedArray:
        return self

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def aval(self) -> ShapedArray:
        """Itself, where it stands for an array, as a `ShapeDtypeStruct` does."""
        return self

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def update(
        self,
        shape: Sequence[int] | None = None,
        dtype: object = None,
        weak_type: bool | None = None,
        vma: Iterable[Hashable] | None = None,
    ) -> ShapedArray:
        """The same abstract value with some parts replaced."""
        return ShapedArray(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.weak_type if weak_type is None else weak_type,
            vma=self.vma if vma is None else vma,
        )

    def to_tangent_aval(self) -> ShapedArray:
        """The type of its tangents: this one, or that of float0.

        >>> ShapedArray((2,), "float32").to_tangent_aval()
        ShapedArray(float32[2])
        """
        if is_inexact(self.dtype):
            return self
        return ShapedArray(self.shape, float0)

    at_least_vspace = to_tangent_aval

    @property
    def sharding(self) -> Any:
        """The layout of a whole array: where one lies is no part of its type.

        >>> tuple(ShapedArray((2,), "float32").sharding.spec)
        (None,)
        """
        [load] = _layouts
        return load(self.ndim)

    @property
    def manual_axis_type(self) -> ManualAxisType:
        """The axes of `vma`, as JAX's programs ask for them."""
        return ManualAxisType(frozenset(self.vma))

    def str_short(self) -> str:
        """The type as program text has it, such as `f32[2,3]`."""
        return f"{short_dtype(self.dtype)}[{','.join(map(str, self.shape))}]"

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self._long()}{weak})"

    def __str__(self) -> str:
        return f"{'~' if self.weak_type else ''}{self._long()}"

    def _long(self) -> str:
        extents = ",".join(map(str, self.shape))
        return f"{self.dtype.name}[{extents}]{shown(self.vma)}"


def _made(
    shape: Sequence[int], dtype: str, weak_type: bool, vma: Iterable[Hashable]
) -> ShapedArray:
    return ShapedArray(shape, dtype, weak_type, vma=vma)


def shown(vma: Sequence[Hashable]) -> str:
    """The axes along which a value may vary, as its type is shown.

    >>> shown(()), shown(("x",)), shown(("x", "y"))
    ('', '{V:x}', '{V:(x,y)}')
    """
    if len(vma) < 2:
        return f"{{V:{vma[0]}}}" if vma else ""
    return f"{{V:({','.join(map(str, vma))})}}"


Key = tuple[tuple[int, ...], np.dtype, bool, tuple[Hashable, ...]]
_interned: WeakValueDictionary[Key, ShapedArray] = WeakValueDictionary()


def stacked(avals: Iterable[ShapedArray], length: int) -> tuple[ShapedArray, ...]:
    """The types of so many rows of each of these types.

    >>> stacked([ShapedArray((3,), "float32")], 2)
    (ShapedArray(float32[2,3]),)
    """
    return tuple(a.update(shape=(length, *a.shape)) for a in avals)


@cache
def shortened(name: str) -> str:
    """The short name of a dtype that has this one, as in program text.

    >>> [shortened(name) for name in ("bfloat16", "float8_e5m2", "uint4")]
    ['bf16', 'f8_e5m2', 'u4']
    """
    for long, short in (("float", "f"), ("uint", "u"), ("int", "i")):
        name = name.replace(long, short)
    return name


def short_dtype(dtype: np.dtype) -> str:
    """The short name of a dtype, as in program text.

    >>> short_dtype(np.dtype("uint8"))
    'u8'
    """
    if dtype.kind == "b":
        return "bool"
    if is_added(dtype):
        return shortened(dtype.name)
    kind = SHORT_KINDS.get(dtype.kind)
    return f"{kind}{dtype.itemsize * 8}" if kind else dtype.name
