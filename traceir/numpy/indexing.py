"""Reading elements by index. Serves: index.*

Ints, slices, None and Ellipsis become `slice`, `rev`, `squeeze` and
`broadcast_in_dim`.
Concrete masks and index arrays select from concrete arrays, by NumPy. A read outside
the array gives its nearest element.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.array import Array
from traceir.concretize import origin
from traceir.dtypes import kind_of
from traceir.lax.operands import is_tracer, number_of, own
from traceir.records import dataclass

_NOT_INDICES = (str, bytes, list, float, complex)


@dataclass(frozen=True, slots=True)
class Cut:
    """What an index takes of one dimension: from `start` by `step`, `size` elements.

    `whole` is a slice, which keeps the dimension; an int drops it.
    """

    start: int
    size: int
    step: int
    whole: bool
    extent: int

    @property
    def full(self) -> bool:
        """Whether every element is taken in order."""
        return self.size == self.extent and self.step == 1 and self.start == 0

    @property
    def forward(self) -> Cut:
        """The same elements in the order that they have in the array."""
        if self.step > 0:
            return self
        start = self.start + (self.size - 1) * self.step if self.size else 0
        return Cut(start, self.size, -self.step, self.whole, self.extent)


def entries(index: Any, rank: int) -> list[Any]:
    """The entries of an index, one for each dimension and each None.

    Raises IndexError (index.count, index.ellipsis), TypeError (index.type).
    """
    given = index if isinstance(index, tuple) else (index,)
    parts = [_literal(part) for part in given]
    for part in parts:
        if isinstance(part, _NOT_INDICES):
            raise rules.error("index.type", got=f"{part!r} of type {_name(part)}")
    used = sum(map(_consumed, parts))
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise rules.error("index.ellipsis", got=f"{len(dots)} of them")
    if used > rank:
        raise rules.error("index.count", got=f"{used} for {rank} dimensions")
    at = dots[0] if dots else len(parts)
    filler = [builtins.slice(None)] * (rank - used)
    return parts[:at] + filler + parts[at + len(dots) :]


def _literal(part: Any) -> Any:
    """An entry, or the number that a traced one is known to be."""
    if not is_tracer(part):
        return part
    number = number_of(part)
    return part if number is None else number


def _name(value: Any) -> str:
    return type(value).__name__


def _consumed(part: Any) -> int:
    """How many dimensions an entry is about."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, (bool, np.bool_)):
        return 0
    if isinstance(part, (Array, np.ndarray)) and part.dtype == bool:
        return part.ndim
    return 1


def getitem(x: Array, index: Any) -> Array:
    """`x[index]`: ints, slices, None, Ellipsis; concrete masks and index arrays.

    Raises IndexError (index.count, index.ellipsis, index.mask-shape, index.slice,
    index.empty, index.traced, index.gather), TypeError (index.type),
    NonConcreteBooleanIndexError (index.mask).

    >>> import traceir.numpy as jnp
    >>> jnp.arange(5)[1:4:2], jnp.arange(5)[-1]
    (Array([1, 3], dtype=int32), Array(4, dtype=int32))
    """
    parts = entries(index, x.ndim)
    for part in parts:
        _refuse_traced(part)
    if any(_is_advanced(part) for part in parts):
        return _select(x, parts)
    cuts = list(cuts_of(parts, x.shape))
    return _cut(x, cuts, [part is None for part in parts])


def _refuse_traced(part: Any) -> None:
    if not is_tracer(part):
        return
    row = "index.mask" if part.dtype == bool else "index.traced"
    raise rules.error(row, got=f"{part.aval.str_short()}, {origin(part)}")


def _is_advanced(part: Any) -> bool:
    if isinstance(part, (bool, np.bool_)):
        return True
    return isinstance(part, (Array, np.ndarray)) and (
        part.ndim > 0 or part.dtype == bool
    )


def cuts_of(parts: list[Any], shape: tuple[int, ...]) -> Iterator[Cut]:
    """What basic entries take of each dimension; a read of an int is clamped.

    Raises IndexError (index.slice, index.empty), TypeError (index.type).
    """
    for extent, part in zip(shape, (p for p in parts if p is not None), strict=True):
        if isinstance(part, builtins.slice):
            yield _slice_cut(part, extent)
        else:
            place = _place(part)
            if not extent:
                raise rules.error("index.empty", got=f"{place} of 0 elements")
            start = place + extent if place < 0 else place
            yield Cut(min(max(start, 0), extent - 1), 1, 1, False, extent)


def _place(part: Any) -> int:
    try:
        return index(part)
    except TypeError:
        raise rules.error("index.type", got=f"{part!r} of type {_name(part)}") from None


def _slice_cut(part: builtins.slice, extent: int) -> Cut:
    for entry in (part.start, part.stop, part.step):
        if is_tracer(entry):
            got = f"{entry.aval.str_short()}, {origin(entry)}"
            raise rules.error("index.slice", got=got)
    try:
        places = range(*part.indices(extent))
    except (TypeError, ValueError) as error:
        raise rules.error("index.slice", got=f"{part}: {error}") from None
    return Cut(places.start, len(places), places.step, True, extent)


def _cut(x: Array, cuts: list[Cut], new: list[bool]) -> Array:
    """The elements that cuts take; `new` tells which dimensions of the result are."""
    turned = [d for d, cut in enumerate(cuts) if cut.step < 0]
    limits = list(map(_limit, cuts))
    cuts = [cut.forward for cut in cuts]
    if not all(cut.full for cut in cuts):
        steps = [cut.step for cut in cuts]
        x = lax.slice(
            x,
            [cut.start for cut in cuts],
            limits,
            None if all(step == 1 for step in steps) else steps,
        )
    if turned:
        x = lax.rev(x, turned)
    x = lax.squeeze(x, [d for d, cut in enumerate(cuts) if not cut.whole])
    if not any(new):
        return x
    dropped = iter([not cut.whole for cut in cuts])
    kept = [is_new for is_new in new if is_new or not next(dropped)]
    return lax.expand_dims(x, [d for d, is_new in enumerate(kept) if is_new])


def _limit(cut: Cut) -> int:
    """Where `slice` stops: where the last step would end, but inside the array.

    Of elements in the other order the first is the last one that it takes.
    """
    if cut.step < 0:
        return cut.start + 1 if cut.size else 0
    return min(cut.extent, cut.start + cut.size * cut.step)


def _concrete(x: Any, row: str) -> np.ndarray:
    if is_tracer(x):
        raise rules.error(row, got=f"{x.aval.str_short()}, {origin(x)}")
    return np.asarray(x)


def _host(part: Any) -> Any:
    return np.asarray(part) if isinstance(part, Array) else part


def _select(x: Array, parts: list[Any]) -> Array:
    """Selection by masks and index arrays; ints are clamped, masks must fit."""
    value = _concrete(x, "index.gather")
    clamped, dim = [], 0
    for part in map(_host, parts):
        clamped.append(_clamped(part, value.shape[dim:]))
        dim += _consumed(part)
    try:
        taken = value[tuple(clamped)]
    except IndexError as error:
        raise rules.error("index.arrays", got=str(error)) from None
    return own(np.array(taken, order="C"), x.weak_type)


def _clamped(part: Any, shape: tuple[int, ...]) -> Any:
    """An entry with its places inside the dimensions that it is about."""
    if part is None or isinstance(part, (builtins.slice, bool, np.bool_)):
        return part
    array = np.asarray(part)
    if array.dtype == bool:
        if array.shape != shape[: array.ndim]:
            raise rules.error("index.mask-shape", got=f"{array.shape} on {shape}")
        return array
    if kind_of(array.dtype) not in "iu":
        raise rules.error("index.type", got=f"an array of {array.dtype}")
    extent = shape[0]
    return np.clip(np.where(array < 0, array + extent, array), 0, max(extent - 1, 0))
