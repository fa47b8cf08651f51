"""`take`, `put` and their like along an axis. Serves: index.along, index.inplace"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import is_key, is_narrow, kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    is_tracer,
    no_out,
    number_of,
    operand,
    operands,
    promoted,
    typed,
)
from traceir.lax.checks.shapes import axis_in
from traceir.lax.structural.gather_scatter import (
    GatherDimensionNumbers,
    GatherScatterMode,
    fill_of,
)
from traceir.lax.structural.index_dtypes import (
    from_end,
    in_wide_dtype,
    index_dtype,
    widened,
)
from traceir.numpy.arrays.creation import asarray, broadcast_to
from traceir.numpy.elementwise.arithmetic import maximum, minimum
from traceir.numpy.elementwise.composites import remainder, where
from traceir.numpy.indexing.at_updates import IndexUpdate
from traceir.numpy.manipulation.shapes import ravel
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import typeof

FILL = GatherScatterMode.FILL_OR_DROP


def take(
    a: Operand,
    indices: Operand,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """The elements at places along an axis; of all elements in a row without one.

    The result has the dimensions of `indices` in the place of the axis. By default,
    and with the mode "fill", negative places count from the end, and what is outside is
    `fill_value`: NaN, the least integer, the greatest unsigned one, True. With "clip"
    it is the nearest element, with "wrap" places go around. Raises ValueError
    (face.axis, index.mode), IndexError (index.empty), TypeError (index.type,
    face.argument).

    >>> import traceir.numpy as jnp
    >>> take(jnp.array([5, 6, 7]), jnp.array([0, -1])), take(jnp.array([5.0]), 3)
    (Array([5, 7], dtype=int32), Array(nan, dtype=float32))
    """
    no_out("take", out)
    x, places = operands("take", (a, indices))
    places = _want_integers(places)
    fill = None if fill_value is None else number_of(np.asarray(fill_value)[()])
    flags = bool(unique_indices), bool(indices_are_sorted)
    return _take(x, places, axis, mode, *flags, fill)


def _want_integers(places: Operand) -> Operand:
    """Places, which must be integers; narrow ones as wider ones."""
    dtype = typeof(places).dtype
    if kind_of(dtype) not in "iu":
        raise rules.error("index.type", got=f"an array of {dtype}")
    return in_wide_dtype(as_array(places)) if is_narrow(dtype) else places


def _outside(shape: tuple[int, ...], dtype: np.dtype, fill: Any) -> Array:
    """As many elements as where there are none to take."""
    value = fill_of(dtype) if fill is None else fill
    word = np.dtype("uint32") if is_key(dtype) else dtype
    return lax.full(shape, typed(value, word, False), dtype)


@composite(
    static_argnames=(
        "axis",
        "mode",
        "unique_indices",
        "indices_are_sorted",
        "fill_value",
    )
)
def _take(
    a: Operand,
    indices: Operand,
    axis: int | None,
    mode: str | None,
    unique_indices: bool,
    indices_are_sorted: bool,
    fill_value: Any,
) -> Array:
    x, places = as_array(a), as_array(indices)
    if axis is None:
        x, axis = ravel(x), 0
    at = axis_in(axis, x.ndim)
    extent = x.shape[at]
    shape = (*x.shape[:at], *places.shape, *x.shape[at + 1 :])
    if not extent:
        if 0 not in shape[at : at + places.ndim]:
            raise rules.error("index.empty", got=f"take from an axis of {x.shape}")
        return _outside(shape, x.dtype, fill_value)
    usual = GatherScatterMode.from_any(None, FILL) if mode is None else mode
    if mode == "wrap":
        places = as_array(widened(places, extent))
        places = remainder(places, typed(extent, places.dtype, False))
        usual = GatherScatterMode.PROMISE_IN_BOUNDS
    elif usual != "clip" and places.dtype.kind == "i":
        places = as_array(widened(places, extent))
        negative = lax.lt(places, typed(0, places.dtype, False))
        moved = lax.add(places, typed(extent, places.dtype, False))
        places = where(negative, moved, places)
    rank = places.ndim
    windows = (*range(at), *range(at + rank, at + rank + x.ndim - 1 - at))
    return lax.gather(
        x,
        lax.broadcast_in_dim(places, (*places.shape, 1), range(rank)),
        GatherDimensionNumbers(windows, (at,), (at,)),
        [1 if d == at else n for d, n in enumerate(x.shape)],
        unique_indices=unique_indices,
        indices_are_sorted=indices_are_sorted,
        mode=usual,
        fill_value=fill_value,
    )


@composite(static_argnames=("axis", "mode", "fill_value", "wrap_negative_indices"))
def take_along_axis(
    arr: Operand,
    indices: Operand,
    axis: int | None = -1,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Array:
    """The elements at each line's own places along an axis.

    The indices have the array's dimensions; extents other than the axis's are equal or
    1. Without an axis both are taken as one line. Places outside are as in `take`, but
    for the mode "wrap". Raises ValueError (index.along, face.axis, index.mode),
    TypeError (index.type).

    >>> import traceir.numpy as jnp
    >>> take_along_axis(jnp.array([[3, 1], [4, 5]]), jnp.array([[1], [0]]), axis=1)
    Array([[1],
           [4]], dtype=int32)
    """
    x, places = map(as_array, operands("take_along_axis", (arr, indices)))
    places = _want_integers(places)
    if axis is None:
        x, places, axis = ravel(x), ravel(places), 0
    at = axis_in(axis, x.ndim)
    _check_along(x.shape, places.shape, at)
    if wrap_negative_indices is None or wrap_negative_indices:
        places = as_array(from_end(places, x.shape[at]))
    shape = tuple(
        places.shape[d] if d == at else max(n, m) if n and m else 0
        for d, (n, m) in enumerate(zip(x.shape, places.shape))
    )
    if not x.shape[at] or 0 in shape:
        return _outside(shape, x.dtype, fill_value)
    kept = [d for d, n in enumerate(places.shape) if d == at or n != 1]
    lined = [d for d in kept if d != at and x.shape[d] != 1]
    whole = tuple(d for d in range(x.ndim) if d not in kept)
    numbers = GatherDimensionNumbers(
        whole,
        tuple(d for d in kept if d not in lined),
        (at,),
        tuple(lined),
        tuple(kept.index(d) for d in lined),
    )
    rows = lax.reshape(places, [*(places.shape[d] for d in kept), 1])
    sizes = [n if d in whole else 1 for d, n in enumerate(x.shape)]
    usual = GatherScatterMode.from_any(None, FILL) if mode is None else mode
    return lax.gather(x, rows, numbers, sizes, mode=usual, fill_value=fill_value)


def _check_along(shape: Sequence[int], places: Sequence[int], at: int) -> None:
    fits = len(shape) == len(places) and all(
        d == at or n == m or 1 in (n, m)
        for d, (n, m) in enumerate(zip(shape, places, strict=True))
    )
    if not fits:
        got = f"indices of shape {tuple(places)} for {tuple(shape)} along axis {at}"
        raise rules.error("index.along", got=got)


def put_along_axis(
    arr: Operand,
    indices: Operand,
    values: Operand,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """A copy in which each line along an axis has `values` at its own places.

    `inplace=False` must be said: arrays never change. Otherwise as `take_along_axis`;
    what is outside is left out, or with `mode="clip"` the nearest place. Raises
    ValueError (index.inplace).

    >>> import traceir.numpy as jnp
    >>> put_along_axis(jnp.zeros((2, 2)), jnp.array([[1], [0]]), 9, 1, inplace=False)
    Array([[0., 9.],
           [9., 0.]], dtype=float32)
    """
    _want_copy("put_along_axis", inplace)
    x, places = map(as_array, operands("put_along_axis", (arr, indices)))
    places = _want_integers(places)
    if axis is None:
        flat = put_along_axis(
            ravel(x), ravel(places), ravel(values), 0, False, mode=mode
        )
        return lax.reshape(flat, x.shape)
    at = axis_in(axis, x.ndim)
    _check_along(x.shape, places.shape, at)
    index: list[Any] = []
    for d, n in enumerate(x.shape):
        line = [n if k == d else 1 for k in range(x.ndim)]
        iota = lax.broadcasted_iota(index_dtype(x.shape), line, d)
        index.append(places if d == at else iota)
    if not places.size:
        broadcast_to(values, places.shape)
    return IndexUpdate(x, tuple(index)).set(values, mode=mode)


def _want_copy(name: str, inplace: bool) -> None:
    if inplace:
        raise rules.error("index.inplace", got=f"{name} with inplace=True")


def put(
    a: Operand,
    ind: Operand,
    v: Operand,
    mode: str | None = None,
    *,
    inplace: bool = True,
) -> Array:
    """A copy with `v`, repeated if need be, at places among all elements in a row.

    `inplace=False` must be said. Indices out of bounds go to the nearest place; with
    the mode "clip" negative places are outside, too, with "wrap" places go around.
    Raises ValueError (index.inplace, index.mode), TypeError (index.type).

    >>> import traceir.numpy as jnp
    >>> put(jnp.zeros(4), jnp.array([0, -1]), 5, inplace=False)
    Array([5., 0., 0., 5.], dtype=float32)
    """
    _want_copy("put", inplace)
    x = as_array(operand("put", a))
    places, values = ravel(asarray(ind)), ravel(asarray(v))
    places = _want_integers(places)
    if not (x.size and places.size and values.size):
        return x
    if mode in ("clip", "wrap"):
        places, mode = _numbered(places, x.size, mode), None
    at, values = IndexUpdate(ravel(x), places), _cycled(values, places.size)
    return lax.reshape(at.set(values, mode=mode or "clip"), x.shape)


def _cycled(values: Array, count: int) -> Array:
    """So many values: those given, again and again."""
    times = math.ceil(count / values.size)
    whole = broadcast_to(values, (times, values.size))
    return lax.slice(lax.reshape(whole, (times * values.size,)), (0,), (count,))


def place(arr: Operand, mask: Operand, vals: Operand, *, inplace: bool = True) -> Array:
    """A copy in which the elements that a mask selects are `vals`, one after another,
    and from the first on again.

    `inplace=False` must be said. The mask has as many elements as the array, and may be
    traced. Raises ValueError (index.inplace, index.choices), IndexError
    (index.mask-shape).

    >>> import traceir.numpy as jnp
    >>> x = jnp.arange(4)
    >>> place(x, x > 0, jnp.array([7, 8]), inplace=False)
    Array([0, 7, 8, 7], dtype=int32)
    """
    _want_copy("place", inplace)
    x, values = as_array(operand("place", arr)), ravel(asarray(vals))
    which = lax.ne(ravel(asarray(mask)), typed(0, asarray(mask).dtype, False))
    if which.size != x.size:
        raise rules.error("index.mask-shape", got=f"{which.size} of {x.size} elements")
    if not x.size:
        return x
    if not values.size:
        raise rules.error("index.choices", got="no values")
    count = lax.cumsum(convert(which, index_dtype((x.size,))))
    turn = remainder(lax.sub(count, typed(1, count.dtype, False)), values.size)
    chosen = take(convert(values, x.dtype, x.weak_type), turn, mode="clip")
    return lax.reshape(lax.select_n(which, ravel(x), chosen), x.shape)


def choose(a: Operand, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """The element of the choice that each element of `a` names; all broadcast together.

    A number of no choice is an error (index.choices), so with the mode "raise" `a` must
    not be traced; with "clip" it is the nearest, with "wrap" they go around. Raises
    ValueError (index.option, index.choices), TypeError (index.type, face.broadcast).

    >>> import traceir.numpy as jnp
    >>> choose(jnp.array([1, 0]), [jnp.array([1, 2]), jnp.array([3, 4])])
    Array([3, 2], dtype=int32)
    """
    no_out("choose", out)
    which = as_array(operand("choose", a))
    if which.dtype.kind not in "iu":
        got, hint = f"choose by {which.dtype}", "numbers of choices are integers"
        raise rules.error("index.option", got=got, hint=hint)
    if len(choices) == 0:
        raise rules.error("index.choices", got="no choices")
    # What is chosen is not weak, of numbers neither.
    cases = [convert(c, typeof(c).dtype) for c in promoted("choose", *choices)]
    which = _numbered(which, len(cases), mode)
    shape = np.broadcast_shapes(which.shape, *(typeof(c).shape for c in cases))
    spread = [broadcast_to(c, shape) for c in cases]
    return lax.select_n(broadcast_to(which, shape), *spread)


def _numbered(which: Array, count: int, mode: str) -> Array:
    which = as_array(widened(which, count))
    match mode:
        case "wrap":
            return remainder(which, typed(count, which.dtype, False))
        case "clip":
            return minimum(maximum(which, 0), count - 1)
        case "raise" if not is_tracer(which):
            known = np.asarray(which)
            if ((known < 0) | (known >= count)).any():
                raise rules.error("index.choices", got=f"{known} of {count} choices")
            return which
        case "raise":
            tracer: Any = which
            raise refusal(tracer, "level.concretize.number", "mode='raise'")
    raise rules.error("index.option", got=f"mode={mode!r}")


def fill_diagonal(
    a: Operand, val: Operand, wrap: bool = False, *, inplace: bool = True
) -> Array:
    """A copy with `val`, repeated as often as need be, on the diagonal.

    The array has two dimensions, or more of one extent. `inplace=False` must be said.
    With `wrap`, the diagonal of a tall matrix begins anew below a row left out. Raises
    ValueError (index.inplace, face.least-rank, index.option).

    >>> import traceir.numpy as jnp
    >>> fill_diagonal(jnp.zeros((2, 2)), 3, inplace=False)
    Array([[3., 0.],
           [0., 3.]], dtype=float32)
    """
    _want_copy("fill_diagonal", inplace)
    x, values = as_array(operand("fill_diagonal", a)), ravel(asarray(val))
    if x.ndim < 2:
        raise rules.error("face.least-rank", got=f"{x.shape} for 2 dimensions")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise rules.error("index.option", got=f"a diagonal of shape {x.shape}")
    columns = x.shape[1]
    strides = [math.prod(x.shape[d + 1 :]) for d in range(x.ndim)]
    step = sum(strides)
    end = x.size if wrap or x.ndim > 2 else min(x.size, columns * columns)
    places = range(0, end, step)
    if not places or not values.size:
        return x
    given = _cycled(values, len(places))
    flat = IndexUpdate(ravel(x), slice(0, end, step)).set(given)
    return lax.reshape(flat, x.shape)
