"""Dicts and sets of a function's own, with keys that are values.

Serves: staged.table

While keys are known, in the trace that it is made in, it is one of Python's. Then its
keys and values lie in arrays, in the order in which they came, with room as lists that
grow have it; another array has their places by hash, with open addressing (Knuth, The
Art of Computer Programming, volume 3, 6.4). Nothing is taken out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import lax, rules
from traceir import numpy as jnp
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.loop_steps import (
    LoopSteps,
    TracedSequence,
    TracedTable,
    index_type,
)
from traceir.face.checks.status import note
from traceir.face.control_flow import state
from traceir.face.control_flow.list_elements import (
    ListPart,
    dtype_of,
    element_of,
    extents_of,
    leaves_of_kind,
    met,
    now,
    set_element,
    stored,
    unknown,
)
from traceir.face.control_flow.regions import (
    RegionTrace,
    function_room,
    regions_inside,
)
from traceir.face.control_flow.state import Tree
from traceir.jit.runtime_checks import FilledList, OutOfRoom
from traceir.lax.checks.operands import convert
from traceir.tracing.concretization import demanded
from traceir.tracing.trace import current_trace, in_force

# Places by hash for each element that there is room for: a search is short.
_SPARSE = 4
# Odd, near the golden ratio of 2**64: multiples of neighbours lie far apart.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_INSIDE = "promise_in_bounds"


class GrowingTable(TracedTable):
    """A dict of numbers, or of tuples of so many numbers, by keys of that kind; or a
    set of these.

    Raises TypeError (staged.table) for other keys and values.
    """

    __slots__ = (
        "_count",
        "_depth",
        "_home",
        "_key_kind",
        "_keys",
        "_kind",
        "_known",
        "_places",
        "_staged",
        "_values",
        "_wanted",
        "is_set",
    )

    def __init__(self, is_set: bool) -> None:
        self.is_set = is_set
        self._home: Any = current_trace()
        # What it had as one of Python's; whether it is in arrays, and the least number
        # of regions in which it has been used since then.
        self._known: dict[Any, Any] = {}
        self._staged, self._depth = False, 0
        self._key_kind: Tree | None = None
        self._kind: Tree | None = None
        self._wanted = False

    # What the function does with it -----------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._is_known(key):
            self._known[key] = value
            return
        self._stage(key)
        self._put(key, value)

    def add(self, key: Any) -> None:
        """Add an element to a set."""
        self[key] = None

    def __getitem__(self, key: Any) -> Any:
        if self._is_known(key):
            return self._known[key]
        self._stage(key)
        found, number = self._searched(key)
        parts = leaves_of_kind(self._key_kind)
        values = key if isinstance(key, tuple) else (key,)
        many = len(parts) > 1

        def missing(given: Any, source: Any) -> KeyError:
            return KeyError(tuple(given) if many else given[0])

        shown = [now(value) for value in values]
        note(jnp.logical_not(found), missing, shown, kind=KeyError)
        return self._value_at(number)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or another one where it has none."""
        if self._is_known(key):
            return self._known.get(key, default)
        if default is None:
            raise self._refused("`get` without a default")
        self._stage(key)
        self._meet(default)
        found, number = self._searched(key)
        return _where(found, self._value_at(number), default)

    def has(self, key: Any) -> Any:
        """True if a key is there."""
        if self._is_known(key):
            return key in self._known
        self._stage(key)
        return traced(self._searched(key)[0], number=True)

    def keys(self) -> Any:
        """The keys, in the order in which they came."""
        if self._is_known():
            return self._known.keys()
        self._stage()
        return ListPart(self._keys[: self.length], self._key_kind)

    def values(self) -> Any:
        """The values, in the order of the keys."""
        if self._is_known():
            return self._known.values()
        self._stage()
        return ListPart(self._values_array()[: self.length], self._kind or unknown())

    def items(self) -> Any:
        """Pairs of keys and values."""
        if self._is_known():
            return self._known.items()
        self._stage()
        return TableItems(self)

    def steps(self) -> LoopSteps:
        """The steps of a loop over the keys."""
        self._stage()
        return LoopSteps(0, self.length, 1, self.key_at)

    def __iter__(self) -> Any:
        if self._is_known():
            return iter(self._known)
        raise rules.error("staged.table", got="a dict whose length values decide")

    @property
    def length(self) -> Any:
        """The number of keys."""
        if self._is_known():
            return len(self._known)
        self._stage()
        found = lax.index_in_dim(self._count.now(), 0, keepdims=False)
        return traced(convert(found, index_type().dtype, True), number=True)

    def result(self) -> tuple[Any, Any] | dict[Any, Any] | set[Any]:
        """One of Python's as a result, or its keys and its values."""
        if self._staged:
            return self.keys(), None if self.is_set else self.values()
        return set(self._known) if self.is_set else dict(self._known)

    def key_at(self, number: Any) -> Any:
        """The key of a number."""
        return element_of(_at(self._keys, number), self._key_kind)

    def pair_at(self, number: Any) -> tuple[Any, Any]:
        """The key and the value of a number."""
        return self.key_at(number), self._value_at(number)

    # Its memory -------------------------------------------------------------------

    @property
    def is_known(self) -> bool:
        """True while it is one of Python's."""
        return self._is_known()

    def _is_known(self, key: Any = 0) -> bool:
        """True while it is one of Python's, and is asked for a key that is known."""
        own = not self._staged and current_trace() is self._home
        parts = key if isinstance(key, tuple) else (key,)
        return own and not any(
            isinstance(part, NumpyTracer) and part.concrete is None for part in parts
        )

    def _stage(self, key: Any = None) -> None:
        """Have the keys and values in arrays from now on."""
        regions = self._regions()
        if not self._staged:
            self._depth = len(regions)
        self._note(regions, 0)
        if self._staged:
            return
        keys = list(self._known) if key is None else [*self._known, key]
        for kind in (state.type_of(state.tree_of(k)) for k in keys or [0]):
            self._key_kind = met(self._key_kind, kind)
            found = leaves_of_kind(self._key_kind)
            if self._key_kind is None or any(leaf.value.shape for leaf in found):
                raise self._refused("keys of several kinds")
        room = function_room()
        if room is None:
            raise self._refused("keys that are values, in a transform")
        most, self._staged = room.elements, True
        key_kind = self._key_kind or unknown()
        with in_force(self._home):
            shape = (most, *extents_of(key_kind))
            self._keys = traced(jnp.zeros(shape, dtype_of(key_kind)), number=False)
            slots = jnp.zeros(_SPARSE * most, np.int32)
            self._places = traced(slots, number=False)
            count = jnp.zeros(1, index_type().dtype)
            self._count = traced(count, number=False)
            self._values: Any = None
            for one, value in self._known.items():
                self._put(one, value)

    def _values_array(self) -> Any:
        """The array of the values, made when their type is known."""
        if self._values is None:
            kind = self._kind or unknown()
            with in_force(self._home):
                shape = (self._keys.shape[0], *extents_of(kind))
                self._values = traced(jnp.zeros(shape, dtype_of(kind)), number=False)
        return self._values

    def _meet(self, value: Any) -> None:
        """Have values of the type of another one, too."""
        kind = met(self._kind, state.type_of(state.tree_of(value)))
        if kind is None or any(leaf.value.shape for leaf in leaves_of_kind(kind)):
            raise self._refused("values that are no numbers")
        self._kind = kind
        made = self._values_array()
        if made.dtype == dtype_of(kind) and made.shape[1:] == extents_of(kind):
            return
        if not any(region.carries for region in self._regions()):
            raise self._refused("values of several types")
        self._wanted = True  # the loop is recorded again

    def _put(self, key: Any, value: Any) -> None:
        """Give a key a value: the place that a search ends at is its own, or free."""
        if not self.is_set:
            self._meet(value)
        row, most = self._row(key), self._keys.shape[0]
        place = self._search(row)
        slot, count = _at(self._places, place), _at(self._count, 0)
        number = jnp.where(slot == 0, count, slot - 1)
        fits = number < most
        room = function_room()
        assert room is not None
        note(jnp.logical_not(fits), FilledList(room, most), kind=OutOfRoom)
        number = jnp.minimum(number, most - 1)
        set_element(self._keys, number, row)
        set_element(self._places, place, jnp.where(fits, number + 1, slot))
        new = jnp.logical_and(fits, slot == 0)
        set_element(self._count, 0, count + new)
        if not self.is_set and not self._wanted:
            dtype = self._values.dtype
            set_element(self._values, number, stored(value, dtype))

    def _searched(self, key: Any) -> tuple[Any, Any]:
        """True if a key is there, and its number, or 0."""
        slot = _at(self._places, self._search(self._row(key)))
        return slot != 0, jnp.maximum(slot - 1, 0)

    def _value_at(self, number: Any) -> Any:
        return element_of(_at(self._values_array(), number), self._kind or unknown())

    def _row(self, key: Any) -> Any:
        """A key as it lies in the array."""
        kind = state.type_of(state.tree_of(key))
        dtype = dtype_of(kind)
        same = extents_of(kind) == self._keys.shape[1:]
        if not same or not np.can_cast(dtype, self._keys.dtype, "safe"):
            raise self._refused("keys of several kinds")
        return stored(key, self._keys.dtype)

    def _search(self, row: Any) -> Any:
        """The place of a key by its hash, or the one where it may be put."""
        places, keys = self._places.now(), self._keys.now()
        mask = places.shape[0] - 1

        def goes_on(place: Any) -> Any:
            slot = places.at[place].get(mode=_INSIDE)
            other = keys.at[jnp.maximum(slot - 1, 0)].get(mode=_INSIDE) != row
            return jnp.logical_and(slot != 0, jnp.any(other))

        first = jnp.bitwise_and(_hashed(row, places.shape[0]), mask)
        return lax.while_loop(goes_on, lambda p: jnp.bitwise_and(p + 1, mask), first)

    def _refused(self, got: str) -> BaseException:
        what = "set" if self.is_set else "dict"
        error = rules.error("staged.table", got=f"a {what} with {got}")
        return demanded(error, *(region.truth for region in self._regions()))

    # The regions in which it is changed -------------------------------------------

    def _regions(self) -> list[RegionTrace]:
        """The regions in force, from the innermost on, that are inside of its trace."""
        return regions_inside(self._home, "a dict")

    def _note(self, regions: Any, count: int) -> None:
        """Have the regions in force ask if they are to be recorded again."""
        self._depth = min(self._depth, len(regions))
        if regions:
            regions[0].appended[id(self)] = self, 0

    def has_moved(self, count: int) -> bool:
        """True if a loop is to be recorded again, since its values have another type
        than was known."""
        if any(region.carries for region in self._regions()) or not self._wanted:
            return False  # the loop around asks
        self._wanted, old, kind = False, self._values, self._kind or unknown()
        with in_force(self._home):
            shape = (self._keys.shape[0], *extents_of(kind))
            made = jnp.zeros(shape, dtype_of(kind))
            if old.shape == shape:
                made = convert(old.now(), made.dtype)
            self._values = traced(made, number=False)
        return True

    def is_given_up(self) -> None:
        """Be one of Python's again if only a loop has used its arrays that is not
        recorded after all."""
        if self._depth > len(self._regions()):
            self._staged = self._wanted = False
            self._key_kind = self._kind = None

    def has_left(self, array: Any) -> bool:
        """True if values were in an array before they had another type."""
        return False


def give_up(region: RegionTrace) -> None:
    """Have tables as they were before a region that is not recorded after all."""
    for one, _ in region.appended.values():
        if isinstance(one, GrowingTable):
            one.is_given_up()


class TableItems(TracedSequence):
    """The pairs of a dict."""

    __slots__ = ("_table",)

    def __init__(self, table: GrowingTable) -> None:
        self._table = table

    def steps(self) -> LoopSteps:
        """The steps of a loop over them."""
        return LoopSteps(0, self._table.length, 1, self._table.pair_at)


def _at(array: Any, place: Any) -> Any:
    """An element of an array of the trace, at a place that is inside."""
    return array.now().at[now(place)].get(mode=_INSIDE)


def _where(truth: Any, yes: Any, no: Any) -> Any:
    if isinstance(yes, tuple):
        return tuple(_where(truth, a, b) for a, b in zip(yes, no, strict=True))
    return traced(jnp.where(truth, now(yes), now(no)), number=True)


def _hashed(row: Any, size: int) -> Any:
    """A number by the bits of a key."""
    if row.dtype.kind == "f":  # 0 and -0 are one key
        row = lax.bitcast_convert_type(row.astype(float) + 0.0, np.uint64)
    parts = row.astype(np.uint64)
    found: Any = np.uint64(0)
    for k in range(parts.shape[0] if parts.ndim else 1):
        part = parts[k] if parts.ndim else parts
        found = jnp.bitwise_xor(found, part) * _FACTOR
        found = jnp.bitwise_xor(found, jnp.right_shift(found, np.uint64(32)))
    return found.astype(np.int64)
