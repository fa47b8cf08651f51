"""Writes to arrays: by index, by mask, through views. Serves: update.*, element.*"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.face.arrays.aliasing import lay, viewed
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.arrays.limits import check_length
from traceir.face.arrays.traced_index import TracedIndex
from traceir.face.arrays.unwrapping import unwrapped
from traceir.face.arrays.values import array_of, cast
from traceir.face.arrays.views import IndexView, indexing_shape
from traceir.face.functions.selection import Selection
from traceir.face.functions.ufuncs import stretches
from traceir.lax.checks.operands import operand
from traceir.numpy.indexing import getitem, index_plan
from traceir.tracing.trace import Tracer, typeof


def index_of(index: Any) -> Any:
    """An index with its known arrays and lists as NumPy's own."""
    if isinstance(index, tuple):
        return tuple(map(_part, index))
    return _part(index)


def _part(part: Any) -> Any:
    if isinstance(part, list):
        try:
            return np.array(unwrapped(part), None if part else int)
        except KeyError:
            return array_of(part)
    if isinstance(part, slice):
        bounds = (part.start, part.stop, part.step)
        return slice(*map(_part, bounds))
    if isinstance(part, Tracer):
        try:
            return unwrapped(part)
        except KeyError:
            return part
    return part


def is_basic(index: Any) -> bool:
    """True if an index takes a view: ints that are known, slices, None, Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None
        or part is Ellipsis
        or (
            isinstance(part, (slice, int, np.integer))
            and not isinstance(part, (bool, np.bool_))
        )
        for part in parts
    )


def is_known(index: Any) -> bool:
    """True if nothing in an index is traced."""
    parts = index if isinstance(index, tuple) else (index,)
    flat = [
        bound
        for part in parts
        for bound in (
            (part.start, part.stop, part.step) if isinstance(part, slice) else (part,)
        )
    ]
    return not any(isinstance(part, Tracer) for part in flat)


def taken(shape: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """The shape of `x[index]`. Raises IndexError (index.bounds), where NumPy does."""
    try:
        return indexing_shape(shape, index)
    except IndexError as error:
        got = f"{error}; the shape is {shape}"
        raise rules.error("index.bounds", got=got) from None


def read(array: NumpyTracer, index: Any) -> Any:
    """`array[index]`: a view where NumPy gives one."""
    check_length()
    place = index_of(index)
    if type(place) is tuple and begins_with_mask(place):
        return Selection(read(array, _beside(place)).now(), place[0])
    value = array.concrete
    if value is not None and is_known(place):
        if not is_basic(place) or not np.ndim(value[place]):
            return viewed(value[place], [array])
        return array.through(IndexView(place))
    if is_basic(place) and is_known(place):
        shape = taken(array.shape, place)
        if not shape and Ellipsis not in (place if type(place) is tuple else (place,)):
            return traced(_get(array.now(), place))
        return array.through(IndexView(place))
    if is_mask(place):
        return Selection(array.now(), place)
    if is_known(place):
        taken(array.shape, place)
    is_view = is_traced_view(array, place)
    if is_view and array.is_home:
        return array.placed(TracedIndex(place))
    found = _get(array.now(), place)
    made = lay(
        traced(found, number=not found.shape), operator.getitem, (array, place), {}
    )
    if is_view and isinstance(made, NumpyTracer):
        made.memory.flags.writeable = False  # of an array around an inner function
    return made


def is_traced_view(array: NumpyTracer, index: Any) -> bool:
    """True if an index with traced integers takes a view, as NumPy's basic ones do."""
    parts = index if isinstance(index, tuple) else (index,)
    numbers = [part for part in parts if _is_traced_int(part)]
    rest = tuple(part for part in parts if not _is_traced_int(part))
    if not numbers or not (is_known(rest) and is_basic(rest)):
        return False
    return bool(array.size) and not _is_element(index, array.ndim)


def _get(array: Any, index: Any) -> Any:
    return getitem.getitem(array, index)


def is_mask(index: Any) -> bool:
    """True if an index is a traced mask: an array of booleans."""
    return isinstance(index, Tracer) and index.dtype == bool


def begins_with_mask(index: Any) -> bool:
    """True if an index is a traced mask, or one and then integers and slices, as in
    `x[mask, 1]`: what the mask takes of a view."""
    if type(index) is not tuple or len(index) < 2 or not is_mask(index[0]):
        return is_mask(index)
    rest = tuple(part for part in index[1:] if not _is_traced_int(part))
    return is_known(rest) and is_basic(rest) and None not in rest


def _beside(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index of the view that a mask is for: the mask's dimensions are whole."""
    whole: tuple[Any, ...] = (slice(None),) * index[0].ndim
    return whole + index[1:]


def write(array: NumpyTracer, index: Any, value: Any) -> None:
    """`array[index] = value`, with the meaning that NumPy gives.

    The value is converted to the array's dtype. Raises IndexError (index.bounds),
    ValueError (update.shape), TypeError (update.scalar), UnexpectedTracerError
    (update.outer).
    """
    check_length()
    if array.number:
        raise rules.error("update.scalar", got=array.aval.str_short())
    place = index_of(index)
    if _is_there(array, place, value):
        return
    if type(place) is tuple and begins_with_mask(place):
        write(read(array, _beside(place)), place[0], value)
        return
    array.check_home()
    memory = array.concrete
    if memory is not None and is_known(place):
        try:
            plain = unwrapped(value)
        except KeyError:
            pass
        else:
            memory[place] = plain
            array.touch()
            return
    if is_known(place) and is_basic(place) and array.is_shared:
        array.through(IndexView(place)).store(_spread(value, array, place))
        return
    if isinstance(value, Selection):
        value.write_to(array, place)
        return
    new = _new(value, array.dtype)
    if typeof(new).shape and _is_element(place, array.ndim):
        got = f"an array of shape {typeof(new).shape} for one element"
        raise rules.error("update.shape", got=got)
    if is_mask(place):
        _write_masked(array, place, new)
        return
    if is_known(place):
        check_fits(new, taken(array.shape, place))
        if is_basic(place) and _everything(place):
            array.replace(
                traced(jnp.broadcast_to(trimmed(new, array.ndim), array.shape))
            )
            return
        if is_basic(place):
            fitting = trimmed(new, len(taken(array.shape, place)))
            array.replace(traced(IndexView(place).write(array.now(), fitting)))
            return
    check_empty(new, array, place)
    array.replace(traced(array.now().at[place].set(new)))


def _is_element(place: Any, rank: int) -> bool:
    """True if an index takes one element, as a number."""
    parts = place if isinstance(place, tuple) else (place,)
    is_number = [isinstance(p, (int, np.integer)) or _is_traced_int(p) for p in parts]
    return len(parts) == rank and all(is_number)


def _is_traced_int(part: Any) -> bool:
    return isinstance(part, NumpyTracer) and part.number and part.dtype != bool


def _spread(value: Any, array: NumpyTracer, place: Any) -> Any:
    """New elements for a part of an array, in its shape and dtype."""
    new, shape = _new(value, array.dtype), taken(array.shape, place)
    check_fits(new, shape)
    return jnp.broadcast_to(trimmed(new, len(shape)), shape)


def _is_there(array: NumpyTracer, place: Any, value: Any) -> bool:
    """True if a value is the view that it is written to, as `x[1:] += 1` does it."""
    if not isinstance(value, NumpyTracer) or value._base is not array:
        return False
    if is_known(place):
        return is_basic(place) and value._step == IndexView(place)
    return value._step == TracedIndex(place)


def _everything(place: Any) -> bool:
    parts = place if isinstance(place, tuple) else (place,)
    return all(
        part is Ellipsis or (isinstance(part, slice) and part == slice(None))
        for part in parts
    )


def _new(value: Any, dtype: np.dtype) -> Any:
    """The value to write, in the dtype of the array."""
    if isinstance(value, (list, tuple)):
        value = array_of(value)
    checked = operand("an update", value)
    return cast(checked, dtype)


def trimmed(new: Any, rank: int) -> Any:
    """An array without the leading dimensions of extent 1 that are too many."""
    shape = typeof(new).shape
    extra = len(shape) - rank
    is_more = extra > 0 and set(shape[:extra]) == {1}
    return jnp.reshape(new, shape[extra:]) if is_more else new


def check_fits(new: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError (update.shape) unless an update stretches to a shape."""
    own = typeof(new).shape
    extra = max(len(own) - len(shape), 0)
    if set(own[:extra]) <= {1} and stretches(own[extra:], shape):
        return
    got = f"an update of shape {typeof(new).shape} for {shape}"
    raise rules.error("update.shape", got=got)


def check_empty(new: Any, array: NumpyTracer, place: Any) -> None:
    """Raise ValueError (update.shape) for what does not fit where nothing is written,
    which `x.at` does not ask."""
    now: Any = array.now()
    plain, parts = index_plan.unmasked(now, index_plan.entries(place, array.ndim))
    shape = index_plan.plan_of(plain.shape, parts).shape
    if 0 in shape:
        check_fits(new, shape)


def _write_masked(array: NumpyTracer, mask: Any, new: Any) -> None:
    if mask.shape != array.shape[: mask.ndim]:
        raise rules.error("index.mask-shape", got=f"{mask.shape} on {array.shape}")
    shape = typeof(new).shape
    if shape and shape != (1,) and len(shape) > array.ndim - mask.ndim:
        raise rules.error("update.mask", got=typeof(new).str_short())
    which = jnp.reshape(mask, mask.shape + (1,) * (array.ndim - mask.ndim))
    array.replace(traced(jnp.where(which, new, array.now())))
