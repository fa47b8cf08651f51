"""`Ref`: a cell for an array, indexed as the array is. Serves: ref.*"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING, Array
from traceir.base.tracebacks import entry_points
from traceir.references.cells import AbstractRef, Cell, read, write
from traceir.references.places import checked, is_whole, updated
from traceir.tracing.trace import Value, current_trace, typeof


@entry_points("__getitem__", "__setitem__", "__iter__", "__repr__")
class Ref(Cell):
    """A cell for one array, of `new_ref`: `ref[...]` reads it, `ref[i] = x` writes it.

    Its shape and dtype never change. Two references are equal if they are one object.

    >>> import traceir, traceir.numpy as jnp
    >>> ref = traceir.new_ref(jnp.zeros(3))
    >>> ref[0] = 2.0
    >>> ref[1:] += 1.0
    >>> ref
    Ref([2., 1., 1.], dtype=float32)
    """

    __module__ = "traceir"
    __slots__ = ()

    @property
    def sharding(self) -> Any:
        """The layout of the array on devices."""
        return read(self).sharding

    @property
    def committed(self) -> bool:
        """False: no array has to stay on its device."""
        return False

    @property
    def at(self) -> RefPlaces:
        """A part of the reference, by `ref.at[index]`: indexed as the whole is."""
        return RefPlaces(self)

    def __getitem__(self, index: Any) -> Any:
        return get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        put(self, index, value)

    def __len__(self) -> int:
        if not self.shape:
            raise rules.error("array.length", got=self.aval.str_short())
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __repr__(self) -> str:
        value = self._value
        if current_trace() is not None or type(value) not in LIVING:
            return f"Traced<{self.aval!r}>"
        return "Ref" + repr(value).removeprefix("Array")

    def __reduce__(self) -> Any:
        return made_ref, (read(self), self.aval)


class RefPlaces(NamedTuple):
    """The parts of a reference, by index."""

    ref: Any

    def __getitem__(self, index: Any) -> Any:
        return RefView(self.ref, index)


class RefView:
    """A part of a reference, which is read and written as a reference is."""

    __slots__ = ("ref", "index")

    def __init__(self, ref: Any, index: Any) -> None:
        self.ref, self.index = ref, index

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the part."""
        own: Array = self.ref[self.index]
        return own.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        found: np.dtype = self.ref.dtype
        return found

    @property
    def at(self) -> RefPlaces:
        """A part of this part."""
        return RefPlaces(self)

    def __getitem__(self, index: Any) -> Any:
        own = self.ref[self.index]
        return own if is_whole(index) else own.at[index].get(mode="clip")

    def __setitem__(self, index: Any, value: Any) -> None:
        if not is_whole(index):
            value = updated(self.ref[self.index], self.ref.dtype, index, value, "set")
        self.ref[self.index] = value


def made_ref(value: Value, aval: AbstractRef | None = None) -> Ref:
    """A new reference to an array, in the trace in force."""
    return Ref(aval or AbstractRef(typeof(value)), value)


def get(ref: Ref, index: Any = None) -> Any:
    """The elements of a reference at an index."""
    value = read(ref)
    if is_whole(index):
        return value
    return value.at[checked(index, ref.shape)].get(mode="clip")


def put(ref: Ref, index: Any, value: Any, method: str = "set") -> None:
    """Write elements of a reference; ValueError (ref.value) for others of its type."""
    write(ref, updated(read(ref), ref.dtype, index, value, method))
