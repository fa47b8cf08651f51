"""Padded arrays. Serves: face.pad-width, face.pad-empty, face.choice"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    operand,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axis_in
from traceir.numpy.assembly.tiling import repeat
from traceir.numpy.elementwise.arithmetic import subtract
from traceir.numpy.elementwise.composites import round as _round
from traceir.numpy.functional.vectorize import apply_along_axis
from traceir.numpy.manipulation.rearrange import flip
from traceir.numpy.ranges.linspace import linspace
from traceir.numpy.reductions.mean_var import mean
from traceir.numpy.reductions.quantiles import median
from traceir.numpy.reductions.reductions import max as _max
from traceir.numpy.reductions.reductions import min as _min
from traceir.tracing.trace import typeof

Widths = tuple[tuple[int, int], ...]
Values = tuple[tuple[Any, Any], ...]

_STATISTICS: Mapping[str, Callable[..., Array]] = {
    "maximum": _max,
    "mean": mean,
    "median": median,
    "minimum": _min,
}
# What a mode may be told, and what it takes otherwise.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "constant": {"constant_values": 0},
    "linear_ramp": {"end_values": 0},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    **{name: {"stat_length": None} for name in _STATISTICS},
    **{name: {} for name in ("edge", "empty", "wrap")},
}


def pad(
    array: Operand,
    pad_width: Any,
    mode: str | Callable[..., Any] = "constant",
    **kwargs: Any,
) -> Array:
    """An array with `pad_width` more elements before and behind those of each axis.

    The width is a number, a pair, a pair for each axis, or a mapping from axes to one
    of the former. Modes are "constant" (with `constant_values`), "edge", "empty" (here
    zeros), "linear_ramp" (`end_values`), "maximum", "mean", "median", "minimum" (all
    with `stat_length`), "reflect", "symmetric" (`reflect_type`, "even" or "odd"),
    "wrap", or a function of a vector, a pair of widths, an axis and the other
    arguments that returns the vector with its ends filled.

    Raises ValueError (face.pad-width, face.pad-empty, face.choice), TypeError
    (face.shape).

    >>> import traceir.numpy as jnp
    >>> pad(jnp.array([1, 2]), (1, 2))
    Array([0, 1, 2, 0, 0], dtype=int32)
    >>> pad(jnp.array([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    value = as_array(operand("pad", array))
    widths = _pairs(pad_width, value.ndim)
    if callable(mode):
        return _filled(value, widths, mode, kwargs)
    options = _options(mode, kwargs)
    _check_extents(value.shape, widths, mode)
    for name, given in options.items():
        options[name] = _checked_option(name, given, value.ndim)
    constants = options.pop("constant_values", 0)
    named = tuple(options.items())
    return _pad(value, constants, widths=widths, mode=mode, options=named)


def _pairs(given: Any, rank: int) -> Widths:
    """The widths, a pair for each axis."""
    if isinstance(given, Mapping):
        pairs = [(0, 0)] * rank
        for axis, width in given.items():
            (pairs[axis_in(axis, rank)],) = _pairs(width, 1)
        return tuple(pairs)
    found = _broadcast(np.asarray(given), rank)
    if found.dtype.kind not in "iu" or (found < 0).any():
        raise rules.error("face.pad-width", got=f"pad_width={given!r}")
    return tuple((int(a), int(b)) for a, b in found)


def _broadcast(given: np.ndarray, rank: int) -> np.ndarray:
    try:
        return np.broadcast_to(given, (rank, 2))
    except ValueError:
        got = f"{given.tolist()} for {rank} dimensions"
        raise rules.error("face.pad-width", got=got) from None


def _options(mode: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if mode not in _OPTIONS:
        got, hint = f"mode={mode!r}", ", ".join(sorted(_OPTIONS))
        raise rules.error("face.choice", got=got, hint=hint)
    known = _OPTIONS[mode]
    for name in given:
        if name not in known:
            got = f"{name} in mode {mode!r}"
            hint = f"it has {', '.join(known) or 'no options'}"
            raise rules.error("face.choice", got=got, hint=hint)
    return {**known, **given}


def _check_extents(shape: tuple[int, ...], widths: Widths, mode: str) -> None:
    if mode in ("constant", "empty"):
        return
    for d, (extent, pair) in enumerate(zip(shape, widths, strict=True)):
        if not extent and any(pair):
            raise rules.error("face.pad-empty", got=f"axis {d} in mode {mode!r}")


def _checked_option(name: str, given: Any, rank: int) -> Any:
    """An option as `_pad` takes it."""
    match name:
        case "reflect_type" if given not in ("even", "odd"):
            got = f"reflect_type={given!r}"
            raise rules.error("face.choice", got=got, hint='"even" or "odd"')
        case "stat_length" if given is not None:
            lengths = _pairs(given, rank)
            if not all(map(all, lengths)):
                raise rules.error("face.pad-width", got=f"stat_length={given!r}")
            return lengths
        case "end_values":
            ends = _broadcast(np.asarray(given), rank)
            return tuple((a.item(), b.item()) for a, b in ends)
        case "constant_values" if isinstance(given, (tuple, list)):
            return np.asarray(given)
    return given


@composite(static_argnames=["widths", "mode", "options"])
def _pad(
    array: Array,
    constants: Operand,
    *,
    widths: Widths,
    mode: str,
    options: tuple[tuple[str, Any], ...],
) -> Array:
    if mode == "constant":
        return _constant(array, widths, operand("pad", constants, 1))
    border = partial(_BORDERS[mode], **dict(options))
    for axis, pair in enumerate(widths):
        array = border(array, axis, *pair)
    return array


def _constant(array: Array, widths: Widths, constants: Operand) -> Array:
    aval = typeof(array)
    values = convert(constants, aval.dtype, aval.weak_type)
    if not shape_of(values):
        return lax.pad(array, values, [(a, b, 0) for a, b in widths])
    pairs = lax.broadcast_in_dim(
        values, (array.ndim, 2), range(2 - len(shape_of(values)), 2)
    )
    for axis, pair in enumerate(widths):
        for side, width in enumerate(pair):
            config = [(0, 0, 0)] * array.ndim
            config[axis] = (0, width, 0) if side else (width, 0, 0)
            array = lax.pad(array, pairs[axis, side], config)
    return array


def _end(array: Array, axis: int, *, last: bool) -> Array:
    """The first or the last element along an axis, which stays."""
    extent = array.shape[axis]
    start = extent - 1 if last else 0
    return lax.slice_in_dim(array, start, start + 1, axis=axis)


def _edge(array: Array, axis: int, before: int, behind: int) -> Array:
    if not before and not behind:
        return array
    first = repeat(_end(array, axis, last=False), before, axis)
    last = repeat(_end(array, axis, last=True), behind, axis)
    return lax.concatenate([first, array, last], axis)


def _empty(array: Array, axis: int, before: int, behind: int) -> Array:
    zero = typed(0, array.dtype, array.weak_type)
    parts = []
    for width in (before, behind):
        shape = list(array.shape)
        shape[axis] = width
        parts.append(lax.broadcast_in_dim(zero, shape, ()))
    return lax.concatenate([parts[0], array, parts[1]], axis)


def _wrap(array: Array, axis: int, before: int, behind: int) -> Array:
    extent = array.shape[axis]
    if not extent:
        return array
    part = partial(lax.slice_in_dim, array, axis=axis)
    times, rest = divmod(before, extent)
    parts = [part(extent - rest, extent)] if rest else []
    parts += [array] * (times + 1)
    times, rest = divmod(behind, extent)
    parts += [array] * times + ([part(0, rest)] if rest else [])
    return lax.concatenate(parts, axis)


def _mirror(
    array: Array,
    axis: int,
    before: int,
    behind: int,
    reflect_type: str,
    skipped: int,
) -> Array:
    """The border mirrored, the edge itself left out where `skipped` is 1.

    A border longer than the array is mirrored at the new edge again.
    """
    period = array.shape[axis] - skipped
    if period < 1:
        return _edge(array, axis, before, behind)
    for last, width in enumerate((before, behind)):
        edge = _end(array, axis, last=bool(last))
        while width > 0:
            count = min(width, period)
            width -= count
            start = array.shape[axis] - skipped - count if last else skipped
            image = lax.slice_in_dim(array, start, start + count, axis=axis)
            image = flip(image, axis)
            if reflect_type == "odd":
                image = subtract(edge + edge, image)
                edge = _end(image, axis, last=bool(last))
            parts = [array, image] if last else [image, array]
            array = lax.concatenate(parts, axis)
    return array


def _linear_ramp(
    array: Array, axis: int, before: int, behind: int, end_values: Values
) -> Array:
    first, last = (_end(array, axis, last=end) for end in (False, True))
    ramp = partial(linspace, endpoint=False, dtype=array.dtype, axis=axis)
    near = ramp(end_values[axis][0], lax.squeeze(first, (axis,)), before)
    far = ramp(end_values[axis][1], lax.squeeze(last, (axis,)), behind)
    far = flip(far, axis)
    return lax.concatenate([near, array, far], axis)


def _statistic(
    array: Array,
    axis: int,
    before: int,
    behind: int,
    stat_length: Widths | None,
    function: Callable[..., Array],
) -> Array:
    if not before and not behind:
        return array
    extent = array.shape[axis]
    parts = [array]
    if stat_length is not None:
        near, far = stat_length[axis]
        ends = (0, min(near, extent)), (max(0, extent - far), extent)
        parts = [lax.slice_in_dim(array, a, b, axis=axis) for a, b in ends]
    found = [function(part, axis=axis, keepdims=True) for part in parts]
    if array.dtype.kind in "iu":
        found = [_round(one) for one in found]
    found = [as_array(convert(one, array.dtype, array.weak_type)) for one in found]
    first, last = repeat(found[0], before, axis), repeat(found[-1], behind, axis)
    return lax.concatenate([first, array, last], axis)


_BORDERS: Mapping[str, Callable[..., Array]] = {
    "edge": _edge,
    "empty": _empty,
    "linear_ramp": _linear_ramp,
    "reflect": partial(_mirror, skipped=1),
    "symmetric": partial(_mirror, skipped=0),
    "wrap": _wrap,
    **{name: partial(_statistic, function=f) for name, f in _STATISTICS.items()},
}


def _filled(
    array: Array, widths: Widths, function: Callable[..., Any], options: Any
) -> Array:
    """An array with a border of zeros, filled along each axis by a function."""
    for axis, pair in enumerate(widths):
        array = _empty(array, axis, *pair)
    for axis, pair in enumerate(widths):
        array = apply_along_axis(function, axis, array, pair, axis, options)
    return array
