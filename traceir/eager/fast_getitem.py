"""`x[i]` on concrete arrays, as NumPy's own reads. Serves: index.*

Nobody can write to an array, so what lies in one piece may share its memory: the same
elements under another shape do, and so does a part that is at least half of what it
keeps alive, or of an array of up to a kilobyte. Other parts are copied. Who donates an
array asks NumPy's counts of references first, and one that something else shows is not
given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.arrays.array import Array, Placed
from traceir.base import cost_model
from traceir.base.caches import cleared
from traceir.base.config import local
from traceir.base.tracebacks import users_frames
from traceir.eager.plan_codegen import admits_plans
from traceir.ir.avals import ShapedArray

# How many types of operands are remembered.
MOST = 1024
INTS = frozenset({int, *(np.dtype(code).type for code in "bhilqBHILQ")})
BOUNDS = INTS | {type(None)}
EXPANDING = frozenset({type(None), type(Ellipsis)})
BASIC = INTS | EXPANDING
_new: Callable[[Any], Any] = object.__new__


def with_fast_getitem(function: Callable[..., Any]) -> Callable[..., Any]:
    """`x[index]`, by NumPy's own where its meaning is the same.

    It is for what is inside the array; of anything else the function knows more.

    >>> import traceir.numpy as jnp
    >>> read = with_fast_getitem(lambda x, index: "more")
    >>> read(jnp.arange(4), slice(1, 3)), read(jnp.arange(4), 4)
    (Array([1, 2], dtype=int32), 'more')
    """
    known: dict[Any, _PartTypes] = {}
    cleared(known.clear)

    def call(x: Any, index: Any) -> Any:
        """Read by NumPy if the index is plain, else by the function."""
        try:
            if type(x) is not Array:
                if type(x) is Placed:
                    from traceir.eager.placed_plans import part_of

                    return part_of(function, x, index)
                return function(x, index)
            kind = type(index)
            try:
                if kind is int:
                    found = x._value[index, ...]
                elif kind is tuple and len(index) == 2 and _are_ints(*index):
                    found = x._value[*index, ...]
                elif kind is slice and _is_plain(index):
                    found = x._value[index]
                else:
                    plain = index if kind in INTS else _plain_index(index)
                    if plain is None:
                        return function(x, index)
                    found = x._value[plain]
            except (IndexError, ValueError):  # outside, or an error of ours
                return function(x, index)
            try:
                # In a trace there is no such key: nothing is outside it.
                types = known[x.aval, local.outside]
            except KeyError:
                if local.outside is None or not admits_plans(local.outside):
                    return function(x, index)
                if len(known) >= MOST:
                    known.clear()
                types = known[x.aval, local.outside] = _PartTypes(x.aval)
            made = _new(Array)
            # An element, a row, and rows one after another lie in one piece.
            if not (
                kind is int
                or (kind is slice and index.step is None)
                or (kind is tuple and len(index) == 2 and _are_ints(*index))
            ):
                found = _read_only(found)
            elif not types.shares:
                found = _view_or_copy(found)
            made._value = found
            made.aval = types[found.shape]
            return made
        except Exception as error:
            users_frames(error)
            raise

    return call


class _PartTypes(dict[tuple[int, ...], ShapedArray]):
    """The types of parts of an array, by their shapes; whether all share its memory.

    What an array keeps alive is twice as much as it at most, or a kilobyte.
    """

    __slots__ = ("of", "shares")

    def __init__(self, of: ShapedArray) -> None:
        self.of = of
        size = of.size * of.dtype.itemsize
        self.shares = 2 * size <= cost_model.SHARED_PART_BYTES

    def __missing__(self, shape: tuple[int, ...]) -> ShapedArray:
        if len(self) >= MOST:
            self.clear()
        found = self[shape] = ShapedArray(shape, self.of.dtype, self.of.weak_type)
        return found


def _plain_index(index: Any) -> Any:
    """An index as NumPy takes it; None where its meaning may be another there."""
    kind = type(index)
    if kind is not tuple:
        return (index,) if kind in EXPANDING else _plain_part(index)
    for part in index:
        kind = type(part)
        if kind is slice:
            if not _is_plain(part):
                return None
        elif kind not in BASIC:
            break
    else:
        return index
    parts = tuple(
        part if type(part) in EXPANDING else _plain_part(part) for part in index
    )
    several = any(
        part is None and given is not None
        for part, given in zip(parts, index, strict=True)
    )
    return None if several else parts


def _are_ints(first: Any, second: Any) -> bool:
    return type(first) is int and type(second) is int


def _is_plain(part: slice) -> bool:
    return (
        type(part.start) in BOUNDS
        and type(part.stop) in BOUNDS
        and type(part.step) in BOUNDS
    )


def _plain_part(part: Any) -> Any:
    """An entry of an index as NumPy takes it with the same meaning, or None."""
    kind = type(part)
    if kind in INTS:
        return part
    if kind is slice:
        return part if _is_plain(part) else None
    if kind is Array:
        part = part._value
    elif kind is not np.ndarray:
        return None
    return part if part.ndim and part.dtype.kind in "biu" else None


def _view_or_copy(view: np.ndarray) -> np.ndarray:
    """A contiguous view of read-only memory, or a copy where it would keep too much."""
    base = view.base
    assert base is not None
    held = base.nbytes
    shared = held <= cost_model.SHARED_PART_BYTES or held <= 2 * view.nbytes
    return view if shared else _read_only_copy(view)


def _read_only_copy(view: np.ndarray) -> np.ndarray:
    made = view.copy()
    made.setflags(False)  # type: ignore[call-arg]  # a keyword takes as long again
    return made


def _read_only(found: Any) -> np.ndarray:
    """The array that NumPy has read, contiguous and read-only."""
    if type(found) is not np.ndarray:
        found = np.asarray(found)
    elif not found.flags.c_contiguous:
        return _read_only_copy(found)
    elif found.base is not None:
        found = _view_or_copy(found)
    array: np.ndarray = found
    array.setflags(False)  # type: ignore[call-arg]  # as above
    return array
