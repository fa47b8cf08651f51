"""Convolutions under their `jax.lax` names. Serves: conv_general_dilated.*"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

from traceir import rules
from traceir.arrays.array import Array
from traceir.dtypes import bits_of, kind_of
from traceir.ir.params import NAMED_NUMBERS
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    as_array,
    convert,
    default_dtype,
    dtype_of,
    operands,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike, precision_of
from traceir.lax.reductions.windows import Padding, explicit, spread
from traceir.lax.structural.shapes import rev
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.tracing.trace import bind, typeof

Shape = tuple[int, ...]


class ConvDimensionNumbers(NamedTuple):
    """The roles of dimensions: batch, features, then space, of operands and result.

    Of the right operand: features of the result, features of the left operand, space.

    >>> ConvDimensionNumbers((0, 1, 2), (0, 1, 2), (0, 2, 1)).out_spec
    (0, 2, 1)
    """

    lhs_spec: Shape
    rhs_spec: Shape
    out_spec: Shape


NAMED_NUMBERS["window_strides"] = ConvDimensionNumbers
ConvNumbers = ConvDimensionNumbers | tuple[str, str, str] | None
ConvGeneralDilatedDimensionNumbers = ConvNumbers  # as hints of libraries name it


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: ConvNumbers
) -> ConvDimensionNumbers:
    """The numbers that letters such as `("NHWC", "HWIO", "NHWC")` stand for.

    N is the batch and C the features of the left operand and of the result, O and I are
    those of the right one; all others are space. None is `NC` and `OI` before space.
    Raises ValueError (conv_general_dilated.letters).

    >>> conv_dimension_numbers((1, 8, 3), (3, 3, 4), ("NWC", "WIO", "NWC"))
    ConvDimensionNumbers(lhs_spec=(0, 2, 1), rhs_spec=(2, 1, 0), out_spec=(0, 2, 1))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(rank))] * 3)
    words = tuple(map(str, dimension_numbers))
    first = ("NC", "OI", "NC")
    space = [sorted(set(w) - set(two)) for w, two in zip(words, first)]
    whole = all(
        len(set(w)) == len(w) == rank and set(two) <= set(w)
        for w, two in zip(words, first)
    )
    if len(words) != 3 or not whole or space[1:] != space[:-1]:
        raise rules.error("face.letters", got=f"{words} for {rank} dimensions")
    order = [letter for letter in words[1] if letter not in "OI"]
    specs = (tuple(map(w.index, (*two, *order))) for w, two in zip(words, first))
    return ConvDimensionNumbers(*specs)


@takes_out_sharding
def conv_general_dilated(
    lhs: Operand,
    rhs: Operand,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Sums of products of windows of `lhs` with `rhs`, over features and space.

    Nothing is turned around: it is what others call a correlation. Elements of an
    operand lie apart by its dilation; `padding` is pairs, or a name for windows
    as wide as `rhs` with its dilation. Products are always as exact as the dtype. Of
    booleans it tells whether any pair holds.
    Raises the clauses of conv_general_dilated, ValueError (face.padding, face.letters).

    >>> import traceir.numpy as jnp
    >>> x, y = jnp.array([[[1.0, 2.0, 4.0]]]), jnp.array([[[1.0, 10.0]]])
    >>> conv_general_dilated(x, y, (1,), "VALID")
    Array([[[21., 42.]]], dtype=float32)
    """
    x, y = operands("conv_general_dilated", (lhs, rhs))
    same_rank(x, y)
    numbers = conv_dimension_numbers(shape_of(x), shape_of(y), dimension_numbers)
    ones = (1,) * (len(shape_of(x)) - 2)
    apart = tuple(map(index, ones if lhs_dilation is None else lhs_dilation))
    within = tuple(map(index, ones if rhs_dilation is None else rhs_dilation))
    strides = tuple(map(index, window_strides))
    if isinstance(padding, str):
        if any(by != 1 for by in apart):
            raise rules.error("face.padding", got=f"{padding!r} with {lhs_dilation=}")
        space = [shape_of(x)[d] for d in numbers.lhs_spec[2:]]
        taps = [shape_of(y)[d] for d in numbers.rhs_spec[2:]]
        padding = explicit(padding, space, spread(taps, within), strides)
    wanted = preferred_element_type
    asked = None if wanted is None else dtype_of(wanted, "conv")
    kinds = {kind_of(typeof(v).dtype) for v in (x, y)}
    truths = kinds == {"b"}
    if truths:
        x, y = (convert(v, default_dtype(int)) for v in (x, y))
    elif asked is not None and kind_of(asked) == "f" and kinds <= {"i", "u"}:
        wide = bits_of(asked) >= bits_of(typeof(x).dtype)
        x, y = (convert(v, asked) if wide else v for v in (x, y))
    result: Array = bind(
        "conv_general_dilated",
        x,
        y,
        batch_group_count=index(batch_group_count),
        dimension_numbers=tuple(tuple(map(index, spec)) for spec in numbers),
        feature_group_count=index(feature_group_count),
        lhs_dilation=apart,
        padding=explicit(padding, (), (), ()),
        precision=None if precision is None else precision_of(precision),
        preferred_element_type=None if truths else asked,
        rhs_dilation=within,
        window_strides=strides,
    )
    return as_array(convert(result, asked or BOOL)) if truths else result


def same_rank(x: Operand, y: Operand) -> None:
    """Raise TypeError (conv_general_dilated.rank) unless ranks are one, at least 2."""
    if len(shape_of(x)) != len(shape_of(y)) or len(shape_of(x)) < 2:
        got = f"{typeof(x).str_short()} and {typeof(y).str_short()}"
        raise rules.error("conv_general_dilated.rank", got=got)


def conv(
    lhs: Operand,
    rhs: Operand,
    window_strides: Sequence[int],
    padding: Padding,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """`conv_general_dilated` without dilations: batch and features come before space.

    >>> import traceir.numpy as jnp
    >>> conv(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2)), (1,), "SAME")
    Array([[[2., 2., 2., 1.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Operand,
    rhs: Operand,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """`conv_general_dilated` with batch and features before space.

    >>> import traceir.numpy as jnp
    >>> x, y = jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2))
    >>> conv_with_general_padding(x, y, (1,), [(0, 0)], None, (3,))
    Array([[[2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_transpose(
    lhs: Operand,
    rhs: Operand,
    strides: Sequence[int],
    padding: Padding,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvNumbers = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    use_consistent_padding: bool = False,
) -> Array:
    """A convolution with `strides` backwards: the result has more places than `lhs`.

    Elements of `lhs` lie apart by the strides. `"SAME"` gives as many places as a
    convolution with these strides would take, `"VALID"` all that it could touch; pairs
    pad `lhs` with its elements apart or, with `use_consistent_padding`, are the padding
    of that convolution.
    Without numbers of dimensions the batch comes first and features last, and of `rhs`
    its two features last. With `transpose_kernel` `rhs` is turned around and its
    features change places: so this is the derivative of such a convolution.

    >>> import traceir.numpy as jnp
    >>> conv_transpose(jnp.ones((1, 2, 1)), jnp.ones((2, 1, 1)), (2,), "SAME")[0, :, 0]
    Array([1., 1., 1., 1.], dtype=float32)
    """
    x, y = operands("conv_transpose", (lhs, rhs))
    same_rank(x, y)
    rank = len(shape_of(x))
    numbers: Any = dimension_numbers
    if numbers is None:
        image = (0, rank - 1, *range(1, rank - 1))
        kernel = (rank - 1, rank - 2, *range(rank - 2))
        numbers = ConvDimensionNumbers(image, kernel, image)
    numbers = conv_dimension_numbers(shape_of(x), shape_of(y), numbers)
    spec = numbers.rhs_spec
    within = (1,) * (rank - 2) if rhs_dilation is None else tuple(rhs_dilation)
    taps = spread([shape_of(y)[d] for d in spec[2:]], within)
    pads = padding
    if isinstance(padding, str):
        explicit(padding, (), (), ())  # a name that is none is an error
        pads = [_backwards(n, s, padding) for n, s in zip(taps, strides)]
    elif use_consistent_padding:
        pads = [(n - 1 - a, n - 1 - b) for n, (a, b) in zip(taps, padding)]
    if transpose_kernel:
        y = rev(y, spec[2:])
        numbers = numbers._replace(rhs_spec=(spec[1], spec[0], *spec[2:]))
    ones = (1,) * (rank - 2)
    return conv_general_dilated(
        x,
        y,
        ones,
        pads,
        strides,
        within,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _backwards(extent: int, stride: int, padding: str) -> tuple[int, int]:
    """The padding that is missing around elements that lie a stride apart."""
    if padding.upper() == "VALID":
        return extent - 1, extent + max(stride - extent, 0) - 1
    total = extent + stride - 2
    before = extent - 1 if stride > extent - 1 else -(-total // 2)
    return before, total - before
