"""Convolution and correlation of vectors.

Serves: face.vector, face.empty, face.choice
"""

from __future__ import annotations

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    operands,
    promoted_inexact,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike
from traceir.numpy.manipulation.rearrange import flip
from traceir.tracing.trace import typeof

MODES = ("full", "same", "valid")


@composite(static_argnames=["mode", "precision", "preferred_element_type"])
def convolve(
    a: Operand,
    v: Operand,
    mode: str = "full",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """Sums of products of `a` with `v` turned around, for each of its places; floating.

    `"full"` has every place at which the two meet, `"same"` as many as the longer
    vector, around the middle, `"valid"` those at which the shorter one lies within the
    other. Raises ValueError (face.vector, face.empty, face.choice).

    >>> import traceir.numpy as jnp
    >>> convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0]))
    Array([0., 1., 2., 3.], dtype=float32)
    """
    x, y = operands("convolve", (a, v))
    return _conv(x, y, mode, True, precision, preferred_element_type)


@composite(static_argnames=["mode", "precision", "preferred_element_type"])
def correlate(
    a: Operand,
    v: Operand,
    mode: str = "valid",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """Sums of products of `a` with `v`, for each place; otherwise as `convolve`.

    >>> import traceir.numpy as jnp
    >>> correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0]))
    Array([2., 3.], dtype=float32)
    """
    x, y = operands("correlate", (a, v))
    return _conv(x, y, mode, False, precision, preferred_element_type)


@composite(static_argnames=["mode", "turned", "precision", "preferred_element_type"])
def _conv(
    x: Operand,
    y: Operand,
    mode: str,
    turned: bool,
    precision: PrecisionLike,
    preferred_element_type: DTypeLike,
) -> Array:
    name = "convolve" if turned else "correlate"
    shapes = shape_of(x), shape_of(y)
    if any(len(shape) != 1 for shape in shapes):
        raise rules.error("face.vector", got=f"{shapes[0]} and {shapes[1]} in {name}")
    if (0,) in shapes:
        raise rules.error("face.empty", got=f"{shapes[0]} and {shapes[1]} in {name}")
    if mode not in MODES:
        raise rules.error("face.choice", got=f"{mode!r}, not one of {MODES}")
    x, y = promoted_inexact(name, x, y)
    if not turned and typeof(y).dtype.kind == "c":
        y = lax.conj(y)
    swapped = shape_of(x)[0] < shape_of(y)[0]
    if swapped:
        x, y = y, x
    if turned:
        y = flip(y)
    taps = shape_of(y)[0]
    pads = {"full": (taps - 1, taps - 1), "valid": (0, 0)}
    pads["same"] = (taps // 2, taps - taps // 2 - 1)
    row, taken = (lax.broadcast_in_dim(v, (1, 1, *shape_of(v)), (2,)) for v in (x, y))
    found = lax.conv_general_dilated(
        row,
        taken,
        (1,),
        [pads[mode]],
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    if swapped and not turned:
        found = lax.rev(found, (2,))
    return lax.squeeze(found, (0, 1))
