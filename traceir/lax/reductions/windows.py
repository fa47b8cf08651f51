"""Reductions of windows under their `jax.lax` names. Serves: class.window"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import behind
from traceir.exact.numerics import limits
from traceir.ir.typecheck import infer
from traceir.lax.checks.operands import Operand, convert, operand, shape_of
from traceir.lax.elementwise.arithmetic import add, max, min
from traceir.lax.elementwise.selection import select_n
from traceir.lax.structural.shapes import broadcast_in_dim, pad, reshape, slice
from traceir.tracing.trace import Tracer, bind_one, typeof
from traceir.transforms.batching.vmap import vmap

Padding = str | Sequence[tuple[int, int]]
Pads = list[tuple[int, int]]
Shape = tuple[int, ...]


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> Pads:
    """The padding before and behind each dimension that a name means.

    `"VALID"` is none; with `"SAME"` there is a window for each stride, what is missing
    put half before and half behind, the odd one behind, or with `"SAME_LOWER"` before.
    Raises ValueError (face.padding).

    >>> padtype_to_pads((10,), (3,), (2,), "SAME")
    [(0, 1)]
    """
    name = padding.upper() if isinstance(padding, str) else padding
    if name == "VALID":
        return [(0, 0)] * len(window_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise rules.error("face.padding", got=repr(padding))
    found = []
    for n, extent, stride in zip(in_shape, window_shape, window_strides):
        places = -(-n // (stride or 1))  # a stride of 0 is refused by who takes it
        missing = (places - 1) * stride + extent - n
        missing = missing if missing > 0 else 0
        less, more = missing // 2, missing - missing // 2
        found.append((more, less) if name == "SAME_LOWER" else (less, more))
    return found


def explicit(
    padding: Padding,
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
) -> tuple[tuple[int, int], ...]:
    """A padding as pairs, a named one for windows of such extents and strides."""
    if isinstance(padding, str):
        padding = padtype_to_pads(in_shape, window_shape, window_strides, padding)
    return tuple((index(low), index(high)) for low, high in padding)


def spread(extents: Sequence[int], dilation: Sequence[int]) -> Shape:
    """Extents of elements that lie so far apart; of nothing, nothing."""
    return tuple((n - 1) * by + 1 if n else 0 for n, by in zip(extents, dilation))


def reduce_window(
    operand: Operand,
    init_value: Operand,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Array:
    """Each window of the operand folded by a function of two scalars.

    A window has `window_dimensions` elements, `window_dilation` apart, and starts
    `window_strides` after the one before; the operand lies `base_dilation` apart, and
    is padded with `init_value`, which each fold starts from. The result has the
    operand's dtype. Raises the clauses of window, ValueError (face.padding), TypeError
    (control.start).

    >>> import traceir.numpy as jnp
    >>> from traceir import lax
    >>> reduce_window(jnp.array([1, 5, 2, 4]), 0, lax.add, (2,))
    Array([6, 7, 6], dtype=int32)
    """
    x = _operand(operand)
    rank = len(shape_of(x))
    extents = tuple(map(index, window_dimensions))
    ones = (1,) * rank
    strides = tuple(map(index, ones if window_strides is None else window_strides))
    apart = tuple(map(index, ones if base_dilation is None else base_dilation))
    within = tuple(map(index, ones if window_dilation is None else window_dilation))
    pads = explicit(
        padding, spread(shape_of(x), apart), spread(extents, within), strides
    )
    window = {
        "base_dilation": apart,
        "padding": pads,
        "window_dilation": within,
        "window_dimensions": extents,
        "window_strides": strides,
    }
    primitive = _known(computation, _operand(init_value))
    if primitive is not None:
        return bind_one(primitive, x, **window)
    return _folded(x, init_value, computation, window)


def _operand(x: Operand) -> Operand:
    return operand("reduce_window", x)


def want_start(name: str, x: Operand, start: Operand) -> None:
    """Raise TypeError (control.start) unless both have one dtype."""
    own, other = typeof(x).dtype, typeof(start).dtype
    if own != other:
        raise rules.error("control.start", got=f"{name} of {own} from {other}")


def extremes(dtype: np.dtype) -> tuple[Any, Any]:
    """The least and the greatest number of a dtype, infinities where it has them.

    >>> extremes(np.dtype("int8")), extremes(np.dtype("float32"))
    ((-128, 127), (-inf, inf))
    """
    ends = limits(dtype)
    return ends if isinstance(ends[0], int) else (-np.inf, np.inf)


def _known(computation: Any, init: Operand) -> str | None:
    """The primitive for a fold from its neutral element; None for any other."""
    if isinstance(init, Tracer) or np.ndim(init):
        return None
    low, high = extremes(typeof(init).dtype)
    start = np.asarray(init).item()
    for function, neutral, name in (
        (add, 0, "reduce_window_sum"),
        (max, low, "reduce_window_max"),
        (min, high, "reduce_window_min"),
    ):
        if behind(computation) is behind(function) and start == neutral:
            return name
    return None


def _folded(
    x: Operand,
    init: Operand,
    computation: Callable[[Any, Any], Any],
    window: dict[str, Any],
) -> Array:
    """The fold as it is said: from `init`, an element of all windows at a time."""
    dtype = typeof(x).dtype
    start = operand("reduce_window", init, 1)
    want_start("reduce_window", x, start)
    config = [
        (low, high, by - 1)
        for (low, high), by in zip(window["padding"], window["base_dilation"])
    ]
    # The typing of a primitive says what windows there are, and that there are some.
    shape = infer("reduce_window_max", [typeof(x)], window)[0].shape
    inside = broadcast_in_dim(True, shape_of(x), ())
    x, inside = pad(x, start, config), pad(inside, False, config)
    size = int(np.prod(shape, dtype=int))
    # What is around the elements and between them takes no part.
    whole = not any(map(any, config))
    found: Any = broadcast_in_dim(start, (size,), ())
    if not size:
        return reshape(found, shape)
    together = vmap(computation)
    for place in itertools.product(*map(range, window["window_dimensions"])):
        starts = [k * by for k, by in zip(place, window["window_dilation"])]
        stops = [
            s + (n - 1) * by + 1 if n else s
            for s, n, by in zip(starts, shape, window["window_strides"])
        ]
        steps = window["window_strides"]
        own, other = (
            reshape(slice(a, starts, stops, steps), (size,)) for a in (x, inside)
        )
        following = convert(together(found, own), dtype)
        found = following if whole else select_n(other, found, following)
    return reshape(found, shape)
