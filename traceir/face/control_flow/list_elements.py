"""Elements of lists that grow: their types, and who else has them.

Serves: staged.list
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.loop_steps import LoopSteps, TracedList, index_type
from traceir.face.arrays.values import array_of
from traceir.face.control_flow import state
from traceir.face.control_flow.regions import RegionTrace
from traceir.face.control_flow.state import Group, Held, Leaf, Tree, Unrecordable
from traceir.lax.checks.operands import convert
from traceir.tracing.concretization import demanded

# The lists of Python's that a function which is traced has lent to others.
_LENT: ContextVar[tuple[Any, ...]] = ContextVar("traceir_lent_lists", default=())


@contextmanager
def lending() -> Iterator[None]:
    """The scope of a function that is traced, which may lend its lists."""
    token = _LENT.set(())
    try:
        yield
    finally:
        _LENT.reset(token)


def lend(value: Any) -> None:
    """Give a list of Python's to a function of the user's, which may keep it."""
    _LENT.set((*_LENT.get(), value))


def is_lent(value: Any) -> bool:
    """True if a function may have kept a list."""
    return any(value is one for one in _LENT.get())


class ListPart(TracedList):
    """Elements of a list in memory of their own, which nobody changes."""

    __slots__ = ("_array", "_kind")

    def __init__(self, array: Any, kind: Tree | None) -> None:
        self._array = array.copy()
        self._kind = kind

    @property
    def length(self) -> Any:
        """The number of elements."""
        found = jnp.asarray(self._array.shape[0])
        return traced(convert(found, index_type().dtype, True), number=True)

    @property
    def of_tuples(self) -> tuple[np.dtype, ...]:
        """The dtypes of the numbers in tuples, if the elements are tuples."""
        return dtypes_of(self._kind)

    @property
    def of_pythons(self) -> bool:
        """True if the numbers are Python's."""
        return are_pythons(self._kind)

    def array(self) -> Any:
        """The elements as an array in memory of its own."""
        return self._array.copy()

    def like(self, array: Any) -> TracedList:
        """A list of other elements, of the same kind."""
        return ListPart(array, self._kind)

    def steps(self) -> LoopSteps:
        """The steps of a loop over it."""
        return LoopSteps(0, self.length, 1, self.__getitem__)

    def __add__(self, other: Any) -> TracedList:
        return joined(self, self._kind, other)

    def __radd__(self, other: Any) -> TracedList:
        return joined(self, self._kind, other, first=True)

    def __getitem__(self, place: Any) -> Any:
        found = self._array[place]
        if isinstance(place, slice):
            return ListPart(found, self._kind)
        return element_of(found, self._kind)


def joined(
    one: TracedList, kind: Tree | None, other: Any, first: bool = False
) -> TracedList:
    """The elements of a list and of another one, after or before it.

    Raises TypeError (staged.effect) where they do not meet.
    """
    if isinstance(other, TracedList):
        array, its = other.array(), getattr(other, "_kind", None)
    elif type(other) is list:
        array = array_of(other) if other else None
        its = kind_of_elements(other)
    else:
        raise TypeError(f"can only concatenate list to list, not {type(other)}")
    if array is None or its is None:
        return ListPart(one.array(), kind)
    if kind is None:
        return ListPart(array, its)
    both = met(kind, its)
    if both is None:
        raise refused("two lists that are added", [])
    arrays = [one.array(), array]
    return ListPart(np.concatenate(arrays[:: -1 if first else 1]), both)


def refuse_array(value: Any, regions: Sequence[RegionTrace]) -> None:
    """Refuse an array that may have another name: what is written by that would not be
    written to the list's element."""
    if state.is_array(value):
        got = "an array that is not the list's alone, which becomes an element of it"
        raise refused(got, regions, "append a copy of it")


def are_alone(values: Sequence[Any]) -> bool:
    """True if nobody else has the arrays of a list."""
    counts = [sys.getrefcount(values[k]) for k in range(len(values))]
    arrays = [state.is_array(value) for value in values]
    most = sys.getrefcount(_SOME[0])
    return not any(a and n > most for a, n in zip(arrays, counts, strict=True))


_SOME = [object()]


def unknown() -> Tree:
    """The type of elements of which nothing is known yet."""
    return state.type_of(state.tree_of(0))


def leaves_of_kind(kind: Tree | None) -> list[Leaf]:
    """The types of an element's numbers; none where there is no element."""
    return [] if kind is None else list(state.leaves_of(kind))


def dtypes_of(kind: Tree | None) -> tuple[np.dtype, ...]:
    """The dtypes of the numbers of a tuple; none of an element that is no tuple."""
    leaves = leaves_of_kind(kind) if isinstance(kind, Group) else []
    return tuple(leaf.value.dtype for leaf in leaves)


def are_pythons(kind: Tree | None) -> bool:
    """True if the numbers of an element are Python's."""
    return all(leaf.value.weak_type for leaf in leaves_of_kind(kind))


def extents_of(kind: Tree) -> tuple[int, ...]:
    """The extents of what an element is in an array."""
    return (len(kind.parts),) if isinstance(kind, Group) else ()


def dtype_of(kind: Tree) -> np.dtype:
    """The dtype of an array of elements: integers for truth values."""
    leaves = leaves_of_kind(kind)
    found: np.dtype = np.result_type(*(leaf.value.dtype for leaf in leaves))
    return np.dtype(np.int64) if found.kind == "b" else found


def stored(value: Any, dtype: np.dtype) -> Any:
    """A number, or a tuple as a row, as it lies in an array of a dtype."""
    if not isinstance(value, tuple):
        return convert(jnp.asarray(now(value)), dtype)
    return jnp.stack([convert(jnp.asarray(now(part)), dtype) for part in value])


def now(value: Any) -> Any:
    """A number's value in the trace in force."""
    return value.now() if isinstance(value, NumpyTracer) else value


def element_of(found: Any, kind: Tree | None) -> Any:
    """An element, of a number or a row of an array."""
    leaves, is_tuple = leaves_of_kind(kind), isinstance(kind, Group)
    if leaves[0].value.shape:
        made = found.copy()  # which stays if the list has another one there
        made.flags.writeable = False
        return made
    parts = [found[k] for k in range(len(leaves))] if is_tuple else [found]
    numbers = [
        traced(convert(part, leaf.value.dtype, leaf.value.weak_type), number=True)
        for part, leaf in zip(parts, leaves, strict=True)
    ]
    return tuple(numbers) if is_tuple else numbers[0]


def set_element(array: Any, place: Any, value: Any) -> None:
    """Write an element."""
    array.check_home()
    part = convert(value, array.dtype)
    array.replace(traced(array.now().at[place].set(part)))


def met(kind: Tree | None, other: Tree) -> Tree | None:
    """The type of elements of two types; None if lists of such do not grow."""
    try:
        found = other if kind is None else state.joined(kind, other)
    except Unrecordable:
        return None
    if isinstance(found, (Held, Leaf)) and found.value.shape:
        return Leaf(found.value, False)
    leaves = found.parts if isinstance(found, Group) else [found]
    numbers = all(isinstance(leaf, Leaf) and leaf.number for leaf in leaves)
    return found if numbers and leaves else None


def kind_of_elements(values: Sequence[Any]) -> Tree | None:
    """The type of the elements of a list; None if there is none."""
    kinds = [state.type_of(state.tree_of(value)) for value in values]
    found = met(None, kinds[0]) if kinds else None
    for kind in kinds[1:]:
        found = None if found is None else met(found, kind)
    return found


def refused(
    got: str, regions: Sequence[RegionTrace], hint: str | None = None
) -> BaseException:
    """The error of a list that cannot grow, or the demand of what decides that it is
    to."""
    error = rules.error("staged.effect", got=got, hint=hint)
    return demanded(error, *(region.truth for region in regions))
