"""Writes in C order to an array of any layout: `flat`, `sort`, `partition`.

Serves: face.view, update.shape
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.unwrapping import unwrapped
from traceir.face.arrays.values import cast, operand_of
from traceir.face.checks.bounds import check_index
from traceir.face.functions import functions, writing
from traceir.face.functions.copies import flatten
from traceir.face.functions.functions import direct
from traceir.face.functions.ufuncs import check_cast, stretches
from traceir.tracing.trace import typeof


class FlatIterator(np.lib.mixins.NDArrayOperatorsMixin):
    """`x.flat`: reads are copies, and writes are in `x`."""

    __slots__ = ("base",)

    def __init__(self, base: NumpyTracer) -> None:
        self.base = base

    def copy(self) -> Any:
        """The elements in one dimension."""
        return flatten(self.base)

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def __getitem__(self, index: Any) -> Any:
        return self.copy()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        array = self.base
        memory = array.concrete
        place = writing.index_of(index)
        try:
            plain = unwrapped((place, value))
        except KeyError:
            plain = None
        if memory is not None and plain is not None:
            array.check_home()
            memory.flat[plain[0]] = plain[1]
            array.touch()
            return
        flat = traced(jnp.reshape(array.now(), (-1,)), number=False)
        if not writing.is_known(place) and not writing.is_mask(place):
            check_index(flat.shape, place)
        shape = writing.taken(flat.shape, place)
        writing.write(flat, place, cycled(value, shape))
        array.store(jnp.reshape(flat.now(), array.shape))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        return getattr(ufunc, method)(*map(_copied, inputs), **options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*map(_copied, args), **kwargs)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, FlatIterator) else value


def flat_set(array: NumpyTracer, value: Any) -> None:
    """`x.flat = value`."""
    FlatIterator(array)[:] = value


def cycled(value: Any, shape: tuple[int, ...]) -> Any:
    """New elements for a shape: those that there are, again and again."""
    given = operand_of("an update", value)
    have = typeof(given).shape
    count = int(np.prod(shape, dtype=int))
    size = int(np.prod(have, dtype=int))
    if size == 1 or not count:
        return jnp.reshape(given, ()) if size == 1 else jnp.zeros(shape, given.dtype)
    if not size:
        raise rules.error("update.shape", got=f"no elements for {shape}")
    places = np.arange(count) % size
    return jnp.reshape(jnp.reshape(given, (-1,))[places], shape)


def _target(name: str, array: Any) -> NumpyTracer:
    if not isinstance(array, NumpyTracer):
        got = f"an array of shape {np.shape(array)} in {name}"
        raise rules.error("face.out", got=got)
    return array


@direct(np.place)
def _place(arr: Any, mask: Any, vals: Any) -> None:
    """Write to where a mask is, one new element after the other."""
    array, which = _target("place", arr), writing.index_of(mask)
    if isinstance(which, NumpyTracer):
        if np.size(vals) != 1:
            raise rules.error("update.mask", got=f"{np.size(vals)} elements")
        writing.write(
            array, which.astype(bool), vals if np.ndim(vals) == 0 else vals[0]
        )
        return
    chosen = np.flatnonzero(which)
    FlatIterator(array)[chosen] = cycled(vals, chosen.shape)


@direct(np.putmask)
def _putmask(a: Any, mask: Any, values: Any) -> None:
    """Write to where a mask is the element of its place."""
    array = _target("putmask", a)
    new = cast(cycled(values, array.shape), array.dtype)
    array.store(jnp.where(operand_of("putmask", mask), new, array.now()))


@direct(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write to the elements whose places are alike in all dimensions."""
    array = _target("fill_diagonal", a)
    shape = array.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise rules.error("update.shape", got=f"no diagonal in {shape}")
    step = 1 + int(np.cumprod(shape[:0:-1]).sum())
    end = None if wrap or len(shape) > 2 else shape[1] * shape[1]
    FlatIterator(array)[:end:step] = val


@direct(np.copyto)
def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write one array's elements to another."""
    array, value = _target("copyto", dst), operand_of("copyto", src)
    have = typeof(value)
    if not have.weak_type:
        check_cast("copyto", have.dtype, array.dtype, casting)
    value = writing.trimmed(value, array.ndim)
    if not stretches(typeof(value).shape, array.shape):
        got = f"elements of shape {have.shape} for an array of shape {array.shape}"
        raise rules.error("update.shape", got=got)
    new = cast(jnp.broadcast_to(value, array.shape), array.dtype)
    array.store(new if where is True else jnp.where(where, new, array.now()))


@direct(np.nan_to_num)
def _nan_to_num(x: Any, copy: bool = True, **options: Any) -> Any:
    """Numbers in place of NaN and infinity; without a copy they are written."""
    if copy or not isinstance(x, NumpyTracer):
        return functions.new(np.nan_to_num, (x,), options)
    if x.dtype.kind in "fc":
        writing.write(x, Ellipsis, functions.new(np.nan_to_num, (x,), options))
    return x if x.ndim else x[()]


def sort(
    self: NumpyTracer,
    axis: int = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: Any = None,
) -> None:
    """Sort the elements along an axis, in place."""
    writing.write(self, Ellipsis, functions.apply(np.sort, (self,), {"axis": axis}))


def partition(
    self: NumpyTracer,
    kth: Any,
    axis: int = -1,
    kind: Any = "introselect",
    order: None = None,
) -> None:
    """Sort the elements along an axis, in place: so they are around any place."""
    writing.write(self, Ellipsis, functions.apply(np.sort, (self,), {"axis": axis}))
