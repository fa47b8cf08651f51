"""Structured arrays among arguments: an array of its own for each field.

Serves: face.records

A program takes and gives the fields, which are views of the array: what a function
writes to one is written to the array. The function sees a `RecordArray`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from traceir import rules
from traceir.face.arrays.loop_steps import LoopSteps, TracedSequence
from traceir.face.callers import by_user
from traceir.pytrees.registry import register_pytree_node
from traceir.tracing.trace import Tracer

# The kinds of numbers that a program computes with.
_NUMBERS = "biufc"


def is_structured(value: Any) -> bool:
    """True for an array with fields.

    >>> is_structured(np.zeros(2)), is_structured(np.zeros(2, [("x", float)]))
    (False, True)
    """
    plain = type(value) in (np.ndarray, np.recarray, np.memmap)
    return plain and value.dtype.names is not None


class RecordArray(TracedSequence):
    """An array with fields, or one element of it, as a plain function sees it.

    `fields` are arrays; an element has the places of its array in `index`.
    """

    __slots__ = ("fields", "dtype", "shape", "index")
    fields: Mapping[str, Any]
    dtype: np.dtype
    shape: tuple[int, ...]
    index: Any

    def __init__(
        self,
        fields: Mapping[str, Any],
        dtype: np.dtype,
        shape: tuple[int, ...],
        index: Any = (),
    ) -> None:
        for name, value in zip(self.__slots__, (fields, dtype, shape, index)):
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]  # it has no setter
    def __class__(self) -> Any:
        """The class that a user's `isinstance` is told: that of arrays, or records."""
        if not by_user():
            return RecordArray
        return np.ndarray if self.shape else np.void

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            return len(self.fields)
        return self.shape[0]

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        return LoopSteps(0, len(self), 1, lambda k: self[k])

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            return (self[name] for name in self.fields)
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self._field(index)
        if isinstance(index, list) and all(isinstance(i, str) for i in index):
            return self._some(index)
        if not self.shape:
            return self._field(list(self.fields)[index])
        return self._taken(index)

    def __bool__(self) -> bool:
        raise rules.error("face.records", got="the truth of an array with fields")

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, str):
            self._put(index, value)
        elif not self.shape:
            self._put(list(self.fields)[index], value)
        else:
            self._taken(index).store(value)

    def __getattr__(self, name: str) -> Any:
        if issubclass(self.dtype.type, np.record) and name in self.fields:
            return self._field(name)
        if name.startswith("__") or not by_user():
            raise AttributeError(name)
        got = f"the attribute {name} of an array with fields"
        raise rules.error("face.records", got=got)

    def __setattr__(self, name: str, value: Any) -> None:
        if not issubclass(self.dtype.type, np.record) or name not in self.fields:
            raise rules.error("face.records", got=f"the attribute {name}, set")
        self._put(name, value)

    def copy(self) -> RecordArray:
        """An array of its own with the same elements."""
        _check_whole(self.dtype, self.fields)
        return self._mapped(lambda name: _copied(self._field(name)), self.shape)

    def store(self, value: Any) -> None:
        """Write the fields of another one, or the numbers of a tuple, to this one."""
        _check_whole(self.dtype, self.fields)
        if isinstance(value, RecordArray):
            parts = [_copied(value[name]) for name in value.fields]
        elif isinstance(value, tuple):
            parts = [*value]
        else:
            parts = [value] * len(self.fields)
        if len(parts) != len(self.fields):
            got = f"{len(parts)} values for {len(self.fields)} fields"
            raise rules.error("face.records", got=got)
        for name, part in zip(self.fields, parts, strict=True):
            self._put(name, part)

    # ------------------------------------------------------------------------------

    def _array(self, name: str) -> Any:
        found = self.fields.get(name)
        if found is None:
            if name in (self.dtype.names or ()):
                got = f"the field {name} of {self.dtype[name]}"
                raise rules.error("face.records", got=got)
            raise ValueError(f"no field of name {name}")
        return found

    def _field(self, name: str) -> Any:
        found = self._array(name)
        return found if self.index == () else found[self.index]

    def _put(self, name: str, value: Any) -> None:
        found = self._array(name)
        if isinstance(found, RecordArray):
            (found if self.index == () else found[self.index]).store(value)
        else:
            found[... if self.index == () else self.index] = value

    def _mapped(self, part: Callable[[str], Any], shape: Any) -> RecordArray:
        fields = {name: part(name) for name in self.fields}
        return RecordArray(fields, self.dtype, shape)

    def _some(self, names: list[str]) -> RecordArray:
        fields = {name: self._array(name) for name in names}
        dtype = np.dtype([(name, self.dtype[name]) for name in names])
        return RecordArray(fields, dtype, self.shape, self.index)

    def _taken(self, index: Any) -> RecordArray:
        """The elements at an index: one, whose places are kept, or views."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) == self.ndim and all(map(_is_place, parts)):
            return RecordArray(self.fields, self.dtype, (), parts)
        probe = np.empty(self.shape, bool)
        if any(isinstance(part, Tracer) for part in parts):
            raise rules.error("face.records", got="an index that is no integer")
        return self._mapped(lambda name: self._field(name)[parts], probe[parts].shape)


def _refusing(name: str) -> Callable[..., Any]:
    """An operator that nobody has defined for fields as NumPy does."""

    def method(self: RecordArray, *others: Any) -> Any:
        if not by_user():
            return getattr(object, name)(self, *others)
        raise rules.error("face.records", got=f"{name} of an array with fields")

    return method


_BINARY = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift"
for _name in (
    *("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"),
    *(side + name for name in _BINARY.split() for side in ("", "r")),
):
    setattr(RecordArray, f"__{_name}__", _refusing(f"__{_name}__"))


def _check_whole(dtype: np.dtype, fields: Collection[str]) -> None:
    """Raise TypeError (face.records) for an array with fields that are no numbers."""
    others = [name for name in dtype.names or () if name not in fields]
    if others:
        got = f"all fields of an array with the field {others[0]} of {dtype[others[0]]}"
        raise rules.error("face.records", got=got)


def _is_place(part: Any) -> bool:
    if isinstance(part, Tracer):
        return not part.aval.shape and part.aval.dtype.kind in "iu"
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)


def _copied(value: Any) -> Any:
    return value.copy() if hasattr(value, "copy") else value


def record_argument(value: np.ndarray) -> RecordArray:
    """A structured array as an argument of a program."""
    plain = value.view(np.ndarray)
    fields: dict[str, Any] = {}
    for name in value.dtype.names or ():
        part = plain[name]
        if is_structured(part):
            fields[name] = record_argument(part)
        elif part.dtype.kind in _NUMBERS:
            fields[name] = part
    return RecordArray(fields, value.dtype, value.shape)


def _split(value: RecordArray) -> Any:
    fields = {name: value[name] for name in value.fields}
    # Dtypes of records are equal to those of other structured arrays.
    kind = tuple(fields), value.dtype, value.dtype.type, value.shape
    return tuple(fields.values()), kind


def _joined(kind: Any, parts: Any) -> Any:
    """The array that a program gives; a stand-in for it in a trace."""
    names, dtype, element, shape = kind
    dtype = np.dtype((element, dtype))
    if not all(isinstance(part, np.ndarray) for part in parts):
        return RecordArray(dict(zip(names, parts, strict=True)), dtype, shape)
    _check_whole(dtype, names)
    made: Any = np.zeros(shape, dtype)
    for name, part in zip(names, parts, strict=True):
        made[name] = part
    return made.view(np.recarray) if issubclass(dtype.type, np.record) else made[()]


register_pytree_node(RecordArray, _split, _joined)
