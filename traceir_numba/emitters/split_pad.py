"""Splitting and padding, in terms of slices and concatenation."""

from __future__ import annotations

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn
from traceir_numba.emitters.decompositions import DecompositionBuilder
from traceir_numba.emitters.kinds import Decomposition, register

Shape = tuple[int, ...]


def cut(
    build: DecompositionBuilder,
    x: Atom,
    axis: int,
    start: int,
    stop: int,
    step: int = 1,
) -> Atom:
    """The part from start to stop along an axis."""
    shape = x.aval.shape
    starts = tuple(start if d == axis else 0 for d in range(len(shape)))
    stops = tuple(stop if d == axis else n for d, n in enumerate(shape))
    steps = tuple(step if d == axis else 1 for d in range(len(shape)))
    return build.sliced(x, starts, stops, steps)


def _with(shape: Shape, axis: int, extent: int) -> Shape:
    return (*shape[:axis], extent, *shape[axis + 1 :])


def split(eqn: Eqn) -> ClosedJaxpr:
    """A slice for each part."""
    build, axis = DecompositionBuilder(eqn), int(eqn.param("axis"))
    parts, start = [], 0
    for size in eqn.param("sizes"):
        parts.append(cut(build, build.operands[0], axis, start, start + size))
        start += size
    return build.finish(*parts)


def unstack(eqn: Eqn) -> ClosedJaxpr:
    """A slice for each place, without the axis."""
    build, axis = DecompositionBuilder(eqn), int(eqn.param("axis"))
    x = build.operands[0]
    shape = x.aval.shape
    rest = shape[:axis] + shape[axis + 1 :]
    parts = [cut(build, x, axis, k, k + 1) for k in range(shape[axis])]
    squeezed = (build.bind("squeeze", p, shape=rest, dimensions=(axis,)) for p in parts)
    return build.finish(*squeezed)


def pad(eqn: Eqn) -> ClosedJaxpr:
    """One dimension after another: apart, longer at both ends, shorter at both ends."""
    build = DecompositionBuilder(eqn)
    x: Atom = build.operands[0]
    for axis, (low, high, interior) in enumerate(eqn.param("padding_config")):
        if interior and x.aval.shape[axis] > 1:
            x = apart(build, x, axis, interior)
        ends = [max(0, low), max(0, high)]
        if any(ends):
            x = longer(build, x, axis, *ends)
        if low < 0 or high < 0:
            stop = x.aval.shape[axis] + min(0, high)
            x = cut(build, x, axis, -min(0, low), stop)
    return build.finish(x)


def filled(build: DecompositionBuilder, shape: Shape) -> Atom:
    """The padding value, everywhere."""
    return build.bind("broadcast_in_dim", build.operands[1], shape=shape)


def longer(
    build: DecompositionBuilder, x: Atom, axis: int, low: int, high: int
) -> Atom:
    """So many elements more before and behind."""
    shape = x.aval.shape
    parts = [x]
    if low:
        parts.insert(0, filled(build, _with(shape, axis, low)))
    if high:
        parts.append(filled(build, _with(shape, axis, high)))
    whole = _with(shape, axis, low + shape[axis] + high)
    return build.bind("concatenate", *parts, shape=whole, dimension=axis)


def apart(build: DecompositionBuilder, x: Atom, axis: int, interior: int) -> Atom:
    """So many elements between any two."""
    shape = x.aval.shape
    n = shape[axis]
    rows = (*shape[: axis + 1], 1, *shape[axis + 1 :])
    wide = _with(rows, axis + 1, interior + 1)
    between = filled(build, _with(rows, axis + 1, interior))
    pair = build.reshaped(x, rows), between
    x = build.bind("concatenate", *pair, shape=wide, dimension=axis + 1)
    flat = _with(shape, axis, n * (interior + 1))
    return cut(build, build.reshaped(x, flat), axis, 0, flat[axis] - interior)


register("split", Decomposition(split))
register("unstack", Decomposition(unstack))
register("pad", Decomposition(pad))
