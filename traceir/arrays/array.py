"""`Array`: an immutable NumPy array with a type that knows weakness. Serves: array.*"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array_interface import Methods
from traceir.arrays.asks import install, refused_outside, refusing
from traceir.arrays.devices import SHARDING, Device, SingleDeviceSharding
from traceir.arrays.placement import PLACED, PlacedElements, put_down
from traceir.arrays.process_mesh import MEMORIES, is_spanning, part_indices, part_of
from traceir.arrays.sharding import Sharding
from traceir.base.tracebacks import entry_points
from traceir.dtypes import is_key, kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.notebooks import folded
from traceir.reference.kernels.random import words_of

_new: Callable[[Any], Any] = object.__new__
# What a backend's device has of arrays, by identity.
_there: dict[int, tuple[weakref.ref[Array], Any]] = {}


class _ArrayType(type):
    """Makes tracers instances of `Array`, as user code that checks types expects."""

    def __instancecheck__(cls, instance: object) -> bool:
        kind = type(instance)
        traced = getattr(kind, "is_traced", False) is True
        return kind is cls or kind in LIVING or kind is _Deleted or traced


@entry_points(
    *("__new__", "__array__", "__dlpack__", "__bool__", "__int__", "__float__"),
    *("__complex__", "__index__", "__format__", "item", "tolist", "copy"),
)
class Array(PlacedElements, Methods, metaclass=_ArrayType):
    """An immutable array, which every operation returns outside a traced function.

    Made by the functions of `traceir.numpy`; never by calling the class. NumPy reads
    it without a copy; to change an element, make a new array with `x.at[i].set(v)`.
    A tracer is an instance of this class, too.

    >>> import traceir, traceir.numpy as jnp
    >>> x = jnp.arange(5)
    >>> x
    Array([0, 1, 2, 3, 4], dtype=int32)
    >>> isinstance(x, traceir.Array)
    True
    """

    __module__ = "traceir"
    __slots__ = ("_value", "aval", "__weakref__")
    __array_priority__ = 100
    _value: np.ndarray
    aval: ShapedArray

    def __new__(cls, *args: object, **kwargs: object) -> Array:
        raise rules.error("array.make")

    @staticmethod
    def _wrap(value: np.ndarray, aval: ShapedArray) -> Array:
        """The array of a fresh C-contiguous `value` that has no other owner."""
        # Positional: a keyword would cost as much again as the rest of this function.
        value.setflags(False)  # type: ignore[call-arg]
        made: Array = _new(Array)
        made._value = value
        made.aval = aval
        return made

    def _at(self, sharding: Sharding | None) -> Array:
        """The same elements, lying on devices as a sharding says."""
        if sharding is None or sharding == self.sharding:
            return self
        if sharding.platform in MEMORIES:
            there: Array = MEMORIES[sharding.platform](self, sharding)
            return there
        if is_spanning(sharding):
            return spread(part_of(self._value, sharding), self.aval, sharding)
        made = Array._wrap(self._value, self.aval)
        if sharding != SHARDING:
            put_down(made, sharding)
            made.__class__ = Placed
        return made

    def _part(self, index: tuple[slice, ...], device: Device) -> Any:
        value = self._value[index]
        if value.shape != self.shape:
            value = value.copy()  # to outlive the whole, in the order of C
        part = Array._wrap(value, self.aval.update(shape=value.shape))
        return part._at(SingleDeviceSharding(device))

    def block_until_ready(self) -> Array:
        """The array itself: execution is synchronous, so it is ready."""
        return self

    def is_ready(self) -> bool:
        """True: execution is synchronous."""
        return True

    def is_deleted(self) -> bool:
        """True if the array was donated to a jitted function, or deleted."""
        return type(self) is _Deleted

    def delete(self) -> None:
        """Give up the elements; nothing can be computed from the array any more."""
        kind = type(self)
        if kind is not _Deleted:
            if _there:
                _there.pop(id(self), None)
            if kind not in UNREAD:
                _slot.__delete__(self)
            self.__class__ = _Deleted

    def _restored(self, value: np.ndarray) -> None:
        """Undo a deletion."""
        self.__class__ = Placed if id(self) in PLACED else Array
        self._value = value

    def copy(self) -> Array:
        """The same elements in memory of their own, which outlives a deleted array."""
        made = Array._wrap(self._value.copy(), self.aval)
        return made if type(self) is Array else made._at(self.sharding)

    # Conversion ------------------------------------------------------------------

    def _numbers(self) -> np.ndarray:
        """The elements, which are numbers; TypeError (array.key) if they are keys."""
        if is_key(self.aval.dtype):
            raise rules.error("array.key", got=self.aval.str_short())
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self._numbers()
        if copy:
            return np.array(value, dtype)
        if dtype is None or value.dtype == dtype:
            return value.view()  # which its user cannot make writable
        return np.array(value, dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The elements for another library: to be read, or copied.

        One that cannot be told that it must not write is given a copy. Raises
        BufferError (array.dlpack) for another device, for `copy=False` there, for
        a dtype that NumPy does not export.
        """
        if stream is not None or dl_device not in (None, self.__dlpack_device__()):
            got = f"stream={stream!r} and dl_device={dl_device!r}"
            raise rules.error("array.dlpack", got=got)
        told = max_version is not None and max_version >= (1, 0)
        if copy is False and not told:
            raise rules.error("array.dlpack", got="copy=False without max_version")
        value = self._numbers() if told and not copy else self._numbers().copy()
        try:
            return value.__dlpack__(max_version=max_version)
        except BufferError:
            raise rules.error("array.dlpack", got=self.aval.str_short()) from None

    def __dlpack_device__(self) -> tuple[int, int]:
        """The processor's memory, as DLPack numbers devices."""
        return 1, 0

    def item(self, *index: int) -> bool | int | float:
        """The only element, or the one at `index`, as a Python number.

        Raises ValueError unless there is one element or an index is given.

        >>> import traceir.numpy as jnp
        >>> jnp.sum(jnp.arange(5)).item()
        10
        """
        number: bool | int | float = self._numbers().item(*index)
        return number

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self._numbers().tolist()

    def __bool__(self) -> bool:
        if self._value.size != 1:
            raise rules.error("array.truth", got=self.aval.str_short())
        return bool(self._numbers().item())

    def _scalar(self) -> bool | int | float:
        if self._value.ndim:
            raise rules.error("array.scalar", got=self.aval.str_short())
        number: bool | int | float = self._numbers().item()
        return number

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self._value.ndim or kind_of(self._value.dtype) not in "iu":
            raise rules.error("array.index", got=self.aval.str_short())
        return int(self._value)

    # Text and identity -----------------------------------------------------------

    def __repr__(self) -> str:
        if is_key(self.aval.dtype):
            words = words_of(self._value)
            head = f"Array({self.shape}, dtype={self.aval.dtype.name})"
            return f"{head} overlaying:\n{words}"
        weak = ", weak_type=True" if self.aval.weak_type else ""
        tail = f"dtype={self.aval.dtype.name}{weak})"
        if not self._value.size:
            return f"Array([], shape={self.shape}, {tail}"
        body = np.array2string(self._value, prefix="Array(", suffix=",", separator=", ")
        last = len(body) - body.rfind("\n") - 1 + (0 if "\n" in body else 6)
        wraps = last + 1 + len(tail) > np.get_printoptions()["linewidth"]
        return f"Array({body},{chr(10) + ' ' * 6 if wraps else ' '}{tail}"

    def _repr_html_(self) -> str:
        title = f"{self.aval.str_short()}, {self.nbytes:,} bytes"
        return folded(title, str(self))

    def __str__(self) -> str:
        return repr(self) if is_key(self.aval.dtype) else str(self._value)

    def __format__(self, spec: str) -> str:
        if is_key(self.aval.dtype):
            return format(str(self), spec)
        if spec and self._value.ndim:
            raise rules.error("array.scalar", got=f"{self.aval.str_short()}:{spec}")
        return format(self._value if self._value.ndim else self._value[()], spec)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (np.array(self._value), self.aval.weak_type)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: object) -> Array:
        return self


class _Deleted(Array):
    """The class of an array whose elements are gone.

    Another class, so that reading an array's elements is no more than that: a look
    whether they are there would cost every operation.
    """

    __slots__ = ()

    @property
    def _value(self) -> np.ndarray:  # type: ignore[override]  # read alone
        raise rules.error("array.deleted", got=self.aval.str_short())

    def _repr_html_(self) -> str:
        return folded(f"{self.aval.str_short()}, deleted", "")


class Far(Array):
    """An array whose elements a backend's device has, and no memory of the host yet.

    They are copied when they are first read; then it is an array like any other.
    """

    __slots__ = ()

    @property
    def _value(self) -> np.ndarray:  # type: ignore[override]  # read alone
        value: np.ndarray = _there[id(self)][1].on_host()
        value.setflags(False)  # type: ignore[call-arg]  # as above
        self._restored(value)
        return value

    def block_until_ready(self) -> Array:
        """The array itself, once its elements have been computed."""
        place_of(self).block_until_ready()
        return self


class Placed(Array):
    """An array that was put elsewhere than whole on the first device.

    Another class, so that a call looks for the layout of its results only if an
    argument has one: a look at each array would cost every call.
    """

    __slots__ = ()


class Spread(Array):
    """An array with elements in other processes, of which this one has its part.

    Operations take and give such arrays (`transforms.spanning`); what asks for the
    elements is refused. The part is one array over the devices of this process.
    """

    __slots__ = ()

    @property
    def _value(self) -> np.ndarray:  # type: ignore[override]  # read alone
        got = f"{self.aval.str_short()} over {self.sharding}"
        raise rules.error("array.addressable", got=got)

    def _at(self, sharding: Sharding | None) -> Array:
        if sharding is None or sharding == self.sharding:
            return self
        laid: Array = MOVED[0](self, sharding)
        return laid

    def _part(self, index: tuple[slice, ...], device: Device) -> Any:
        found = part_indices(self.sharding, self.shape).get(device)
        if found is None:
            return None
        value = np.array(local_part(self)[found], order="C")
        part = Array._wrap(value, self.aval.update(shape=value.shape))
        return part._at(SingleDeviceSharding(device))

    def copy(self) -> Any:
        """The same elements in memory of their own."""
        return spread(local_part(self).copy(), self.aval, self.sharding)

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, dtype={self.aval.dtype.name})"

    __str__ = __repr__


# Lays an array over several processes out anew; who starts these enters it.
MOVED: list[Callable[[Array, Any], Array]] = []
_slot: Any = Array.__dict__["_value"]


def local_part(array: Array) -> np.ndarray:
    """The elements that this process has of an array; all where it has all."""
    part: np.ndarray = _slot.__get__(array) if type(array) is Spread else array._value
    return part


def spread(part: np.ndarray, aval: ShapedArray, sharding: Sharding) -> Array:
    """The array of which this process has a part, fresh and in the order of C."""
    made = Array._wrap(part, aval)
    put_down(made, sharding)
    made.__class__ = Spread
    return made


# The classes of arrays that have not been deleted; of these, of those without all their
# elements in one memory, and of those with none in the host's.
LIVING: set[type] = {Array, Far, Placed, Spread}
APART: set[type] = {Spread}
LAID_OUT: set[type] = {Placed, Spread}  # those that may be over processes, or GPUs
UNREAD: set[type] = {Far}


def place_of(value: Any) -> Any:
    """The place of an array's elements on a backend's device, or None."""
    found = _there.get(id(value))
    return None if found is None else found[1]


def far(place: Any, aval: ShapedArray) -> Array:
    """The array whose elements a device has; `place.on_host()` is a fresh copy."""
    made: Array = _new(Far)
    made.aval = aval
    return with_place(made, place)


def with_place(array: Array, place: Any) -> Array:
    """The array, of whose elements a device has a copy for as long as it lives."""
    key = id(array)
    _there[key] = weakref.ref(array, lambda _: _there.pop(key, None)), place
    return array


@rules.compiled_from_rows
def _ask_by_rows(found: rules.Rules) -> None:
    install(Array, refused_outside(found), refusing)


for _kind in (_Deleted, Far, Placed, Spread):
    _kind.__name__ = _kind.__qualname__ = "Array"


def _restore(value: np.ndarray, weak_type: bool) -> Array:
    return Array._wrap(value, ShapedArray(value.shape, value.dtype, weak_type))
