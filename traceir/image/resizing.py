"""Images resized, scaled and moved. Serves: linalg.shapes, face.axis, face.choice"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import finfo, is_half
from traceir.image.methods import MEANS, WEIGHTS, ResizeMethod
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike, precisely
from traceir.lax.checks.shapes import ShapeLike, axes_in, shape_tuple
from traceir.numpy.elementwise.arithmetic import abs, divide, floor, maximum
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import not_equal
from traceir.numpy.indexing.take_put import take
from traceir.numpy.manipulation.shapes import expand_dims, moveaxis
from traceir.numpy.products.dot import tensordot
from traceir.numpy.reductions.reductions import sum as _sum

# A pixel of which less than this counts, in units of precision, is outside.
_LITTLE = 1000


def resize(
    image: Operand,
    shape: ShapeLike,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = None,
) -> Array:
    """The image in another shape, every dimension of which may differ.

    `method` is "nearest", "linear", "cubic", "lanczos3", "lanczos5" or
    "cubic-pytorch", which without `antialias` has another slope. With `antialias`,
    pixels that get smaller are means. The result is floating, except that "nearest"
    keeps the dtype. Raises ValueError (linalg.shapes, face.choice).

    >>> import traceir.numpy as jnp
    >>> resize(jnp.array([1, 2]), (4,), "nearest")
    Array([1, 1, 2, 2], dtype=int32)
    """
    value = as_array(operand("resize", image))
    extents = shape_tuple(shape)
    _check(value, extents)
    kind = _method(method)
    with precisely(precision):
        return _resize(value, shape=extents, method=kind, antialias=bool(antialias))


def _method(method: str | ResizeMethod) -> ResizeMethod:
    if isinstance(method, ResizeMethod):
        return method
    return ResizeMethod.from_string(method)


def _check(image: Array, extents: tuple[int, ...]) -> None:
    """Raise ValueError (linalg.shapes) unless the ranks are equal."""
    if len(extents) != image.ndim:
        got = f"an image of {shape_of(image)} in the shape {extents}"
        hint = "the new shape has as many dimensions as the image"
        raise rules.error("linalg.shapes", got=got, hint=hint)


@composite(static_argnames=["shape", "method", "antialias"])
def _resize(
    image: Array, shape: tuple[int, ...], method: ResizeMethod, antialias: bool
) -> Array:
    pairs = enumerate(zip(image.shape, shape, strict=True))
    changed = [d for d, (old, new) in pairs if old != new]
    if method is ResizeMethod.NEAREST:
        for d in changed:
            image = take(image, _nearest(image.shape[d], shape[d]), d, mode="clip")
        return image
    [image] = promoted_inexact("resize", image)
    scales = [shape[d] / shape_of(image)[d] for d in changed]
    return _moved(image, shape, changed, scales, [0.0] * len(scales), method, antialias)


def _nearest(old: int, new: int) -> Array:
    """The pixel in which the middle of each new one is."""
    middle = lax.iota(np.float32, new) + 0.5
    place = floor(middle * old / new)
    return convert(place, np.dtype(np.int32))


def scale_and_translate(
    image: Operand,
    shape: ShapeLike,
    spatial_dims: Sequence[int],
    scale: Operand,
    translation: Operand,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = None,
) -> Array:
    """The image scaled about its corner and then moved, both along some dimensions.

    The place x of the image comes to `x * scale + translation`; what lies outside of it
    is 0. `scale` and `translation` have an element for each of `spatial_dims`, and have
    derivatives. The method is as for `resize`, but not "nearest". Raises ValueError
    (linalg.shapes, face.axis, face.axis-repeated, face.choice).

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([1.0, 2.0])
    >>> scale_and_translate(x, (3,), (0,), jnp.ones(1), jnp.ones(1), "linear")
    Array([0., 1., 2.], dtype=float32)
    """
    kind = _method(method)
    if kind is ResizeMethod.NEAREST:
        hint = "use `resize`, or 'linear'"
        raise rules.error("face.choice", got=f"method={method!r}", hint=hint)
    [value] = promoted_inexact("scale_and_translate", image)
    extents = shape_tuple(shape)
    _check(as_array(value), extents)
    dims = axes_in(tuple(spatial_dims), len(extents))
    pair = [as_array(v) for v in promoted_inexact("resize", scale, translation)]
    if any(shape_of(v) != (len(dims),) for v in pair):
        got = f"scale of {pair[0].shape} and translation of {pair[1].shape}"
        hint = f"both have {len(dims)} elements, one for each of `spatial_dims`"
        raise rules.error("linalg.shapes", got=got, hint=hint)
    scales, moves = (
        [lax.index_in_dim(v, k, 0, False) for k in range(len(dims))] for v in pair
    )
    with precisely(precision):
        given = as_array(value), extents, dims, scales, moves, kind
        return _moved(*given, bool(antialias))


def _moved(
    image: Array,
    shape: tuple[int, ...],
    dims: Sequence[int],
    scales: Sequence[Operand],
    moves: Sequence[Operand],
    method: ResizeMethod,
    antialias: bool,
) -> Array:
    """The image, contracted with the weights of each dimension."""
    dtype = image.dtype
    wide = np.dtype(np.float32) if is_half(dtype) else dtype
    found = convert(image, wide)
    for d, scale, move in zip(dims, scales, moves, strict=True):
        size = image.shape[d], shape[d]
        weights = _weights(size, scale, move, method, antialias, wide)
        found = moveaxis(tensordot(found, weights, ((d,), (0,))), -1, d)
    return convert(found, dtype)


def _weights(
    size: tuple[int, int],
    scale: Operand,
    move: Operand,
    method: ResizeMethod,
    antialias: bool,
    dtype: np.dtype,
) -> Array:
    """The weight of each old pixel in each new one: (old, new)."""
    old, new = size
    inverse = convert(divide(1.0, scale), dtype)
    middle = (lax.iota(dtype, new) + 0.5) * inverse
    move = convert(operand("scale_and_translate", move), dtype)
    place = middle - move * inverse - 0.5
    away = abs(expand_dims(place, 0) - expand_dims(lax.iota(dtype, old), 1))
    if antialias:
        away = away / maximum(inverse, 1.0)
    counts = (MEANS if antialias else WEIGHTS)[method](away)
    total = _sum(counts, 0, keepdims=True)
    enough = abs(total) > _LITTLE * float(finfo(dtype).eps)
    shares = counts / where(not_equal(total, 0), total, 1)
    there = (place >= -0.5) & (place <= old - 0.5)
    return where(enough & expand_dims(there, 0), shares, 0)
