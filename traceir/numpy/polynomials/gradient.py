"""Derivatives, integrals and jumps of sampled functions.

Serves: face.axis, face.spacing
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    convert,
    inexact,
    like,
    operand,
    operands,
    promoted_inexact,
    shape_of,
    typed,
)
from traceir.lax.checks.shapes import axes_in, axis_in
from traceir.numpy.elementwise.arithmetic import (
    add,
    divide,
    multiply,
    negative,
    subtract,
)
from traceir.numpy.elementwise.composites import floor_divide, remainder
from traceir.numpy.elementwise.composites import where as _where
from traceir.numpy.elementwise.logic import equal, greater, less, logical_and
from traceir.numpy.manipulation.rearrange import diff
from traceir.numpy.manipulation.shapes import concatenate, moveaxis
from traceir.numpy.reductions.cumulative import cumsum
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.tracing.trace import typeof

Spacing = Any


def _cut(x: Operand, axis: int, start: int, stop: int) -> Array:
    """The part from start to stop along an axis."""
    ends = [(start, stop) if d == axis else (0, n) for d, n in enumerate(shape_of(x))]
    return lax.slice(x, [a for a, _ in ends], [b for _, b in ends])


@composite(static_argnames=["axis"])
def trapezoid(
    y: Operand, x: Operand | None = None, dx: Operand = 1.0, axis: int = -1
) -> Array:
    """The area under samples along an axis, joined by straight lines; floating.

    The samples are at the places `x`, or `dx` apart. Raises ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> trapezoid(jnp.array([1.0, 2.0, 3.0])), trapezoid(jnp.array([1.0, 3.0]), dx=0.5)
    (Array(4., dtype=float32), Array(1., dtype=float32))
    """
    last = len(shape_of(operand("trapezoid", y)))
    at = axis_in(axis, last)
    if x is None:
        (samples,), step = promoted_inexact("trapezoid", y), operand("trapezoid", dx, 2)
        samples = moveaxis(samples, at, -1)
        extent = shape_of(samples)[-1]
        inner = _sum(samples, -1)
        if not extent:
            return multiply(step, inner)
        first, final = (
            lax.squeeze(_cut(samples, last - 1, k, k + 1), (last - 1,))
            for k in (0, extent - 1)
        )
        half = lax.mul(like(0.5, first), lax.add(first, final))
        return multiply(step, subtract(inner, half))
    samples, places = promoted_inexact("trapezoid", y, x)
    samples = moveaxis(samples, at, -1)
    if len(shape_of(places)) == 1:
        steps = diff(places)
    else:
        steps = moveaxis(diff(places, axis=at), at, -1)
    extent = shape_of(samples)[-1]
    pairs = lax.add(
        _cut(samples, last - 1, min(1, extent), extent),
        _cut(samples, last - 1, 0, max(0, extent - 1)),
    )
    area = _sum(multiply(steps, pairs), -1)
    return lax.mul(like(0.5, area), area)


@composite
def ediff1d(
    ary: Operand, to_end: Operand | None = None, to_begin: Operand | None = None
) -> Array:
    """The differences of neighbours among all elements, with others before and behind.

    These have to be of the array's dtype, and are converted.

    >>> import traceir.numpy as jnp
    >>> ediff1d(jnp.array([1, 4, 9]), to_end=7)
    Array([3, 5, 7], dtype=int32)
    """
    value = operand("ediff1d", ary)
    line = lax.reshape(value, (math.prod(shape_of(value)),))
    extent = shape_of(line)[0]
    later = _cut(line, 0, min(1, extent), extent)
    parts = [lax.sub(later, _cut(line, 0, 0, max(0, extent - 1)))]
    for other, place in ((to_begin, 0), (to_end, 2)):
        if other is not None:
            given = convert(operand("ediff1d", other), typeof(line).dtype)
            flat = lax.reshape(given, (math.prod(shape_of(given)),))
            parts.insert(place, flat)
    return concatenate(parts) if len(parts) > 1 else parts[0]


@composite(static_argnames=["axis", "edge_order"])
def gradient(
    f: Operand,
    *varargs: Spacing,
    axis: int | Sequence[int] | None = None,
    edge_order: int | None = None,
) -> Array | list[Array]:
    """Slopes along each axis, or those given: between both neighbours, at ends to one.

    Samples are 1 apart, or so far as a number says, for all axes or one for each; or
    they are at the places that a vector has. One axis gives an array, more a list.
    Raises ValueError (face.axis, face.spacing, face.choice).

    >>> import traceir.numpy as jnp
    >>> gradient(jnp.array([0.0, 1.0, 4.0])), gradient(jnp.array([0.0, 1.0]), 0.5)
    (Array([1., 2., 3.], dtype=float32), Array([2., 2.], dtype=float32))
    """
    if edge_order not in (None, 1):
        raise rules.error("face.choice", got=f"{edge_order=}, not 1")
    values = promoted_inexact("gradient", f, *varargs)
    samples, given = values[0], values[1:]
    shape = shape_of(samples)
    axes = axes_in(axis, len(shape))
    if given and len(given) not in (1, len(axes)):
        got = f"{len(given)} spacings for {len(axes)} axes"
        raise rules.error("face.spacing", got=got)
    if len(given) == 1:
        given = given * len(axes)
    one = typed(1.0, typeof(samples).dtype, typeof(samples).weak_type)
    steps: list[Operand] = given or [one] * len(axes)
    found = []
    for d, step in zip(axes, steps):
        extents = shape_of(step)
        if shape[d] < 2 or extents not in ((), (shape[d],)):
            got = f"an axis of {shape[d]} samples, and a spacing of shape {extents}"
            raise rules.error("face.spacing", got=got)
        found.append(_slopes(samples, d, step))
    return found[0] if len(found) == 1 else found


def _slopes(f: Operand, axis: int, step: Operand) -> Array:
    """The slopes along one axis: of ends, between them of both neighbours."""
    n = shape_of(f)[axis]

    def part(x: Operand, start: int, stop: int) -> Array:
        ends = [(start, stop) if d == axis else (0, m) for d, m in enumerate(x.shape)]
        return lax.slice(x, [a for a, _ in ends], [b for _, b in ends], [1] * x.ndim)

    first = lax.sub(part(f, 1, 2), part(f, 0, 1))
    last = lax.sub(part(f, n - 1, n), part(f, n - 2, n - 1))
    if not shape_of(step):
        inner = lax.sub(part(f, 2, n), part(f, 0, n - 2))
        half = typed(0.5, inner.dtype, inner.weak_type)
        inner = divide(lax.mul(inner, half), step)
        last = divide(last, step)
        return concatenate([divide(first, step), inner, last], axis)
    rank = len(shape_of(f))
    x = lax.reshape(step, tuple(n if d == axis else 1 for d in range(rank)))
    first = divide(first, lax.sub(part(x, 1, 2), part(x, 0, 1)))
    last = divide(last, lax.sub(part(x, n - 1, n), part(x, n - 2, n - 1)))
    before = lax.sub(part(x, 1, n - 1), part(x, 0, n - 2))
    behind = lax.sub(part(x, 2, n), part(x, 1, n - 1))
    both = lax.add(before, behind)
    weights = (
        lax.div(lax.neg(behind), lax.mul(before, both)),
        lax.div(lax.sub(behind, before), lax.mul(before, behind)),
        lax.div(before, lax.mul(behind, both)),
    )
    terms = [multiply(w, part(f, k, n - 2 + k)) for k, w in enumerate(weights)]
    inner = lax.add(lax.add(terms[0], terms[1]), terms[2])
    return concatenate([first, inner, last], axis)


@composite(static_argnames=["axis"])
def unwrap(
    p: Operand,
    discont: Operand | None = None,
    axis: int = -1,
    period: Operand = 2 * math.pi,
) -> Array:
    """Jumps along an axis made smaller by whole periods, where they reach `discont`.

    By default, and at least, that is half a period. Raises ValueError (face.axis,
    face.complex).

    >>> import traceir.numpy as jnp
    >>> unwrap(jnp.array([0.0, 3.0, -3.0])) - 2 * jnp.pi
    Array([-6.2831855, -3.2831855, -3.       ], dtype=float32)
    """
    values = operands("unwrap", (p, period))
    dtype = typeof(add(*values)).dtype
    if kind_of(dtype) == "c":
        raise rules.error("face.complex", got=f"unwrap of {dtype}")
    at = axis_in(axis, len(shape_of(values[0])))
    if kind_of(dtype) == "b":
        dtype = inexact(dtype)
    phase, whole = (convert(v, dtype) for v in values)
    half = divide(whole, 2)
    high = half if kind_of(dtype) == "f" else floor_divide(whole, 2)
    least = half if discont is None else _larger(discont, half)
    jumps = diff(phase, axis=at)
    rest = subtract(remainder(add(jumps, high), whole), high)
    up = logical_and(equal(rest, negative(high)), greater(jumps, 0))
    if kind_of(dtype) != "f":
        # Half of an odd period is no integer: nothing lies just between.
        up = logical_and(up, equal(remainder(whole, 2), 0))
    rest = _where(up, high, rest)
    moved = _where(less(abs(jumps), least), 0, subtract(rest, jumps))
    extent = shape_of(phase)[at]
    first = lax.slice_in_dim(phase, 0, min(1, extent), axis=at)
    later = lax.slice_in_dim(phase, min(1, extent), extent, axis=at)
    return concatenate([first, add(later, cumsum(moved, at))], at)


def _larger(x: Operand, y: Operand) -> Array:
    return _where(less(x, y), y, x)
