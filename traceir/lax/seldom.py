"""Functions of `jax.lax` that few programs ask for.

Serves: face.choice, face.shape
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.arrays.devices import default_backend
from traceir.base.tracebacks import publish as _publish
from traceir.ir.structs import ShapeDtypeStruct
from traceir.jit.api import jit
from traceir.lax.checks.operands import DTypeLike, Operand, as_array, dtype_of, shape_of
from traceir.lax.checks.operands import operand as checked
from traceir.lax.checks.precision import PrecisionLike
from traceir.lax.checks.shapes import ShapeLike
from traceir.lax.composites import conv_general_dilated_patches, ragged_dot
from traceir.lax.reductions.collectives import axis_size, ppermute, psum
from traceir.lax.reductions.convolution import ConvNumbers, conv_dimension_numbers
from traceir.lax.reductions.reductions import dot_general
from traceir.lax.reductions.windows import Padding
from traceir.lax.structural.shapes import broadcast_in_dim, full, reshape, transpose
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.tracing.trace import typeof

__all__ = [
    "RaggedDotDimensionNumbers",
    "broadcast_like",
    "composite",
    "conv_general_dilated_local",
    "dtype",
    "empty",
    "pbroadcast",
    "platform_dependent",
    "pshuffle",
    "ragged_dot_general",
    "stage",
]


def dtype(x: Any) -> np.dtype:
    """The dtype of a value, or that which a name or a class stands for.

    A dtype of 64 bits is the narrower one where these are off. Raises TypeError
    (jit.argument, face.dtype) for what has none.

    >>> import traceir.numpy as jnp
    >>> dtype(1.5), dtype(jnp.int8), dtype(int)
    (dtype('float32'), dtype('int8'), dtype('int32'))
    """
    if isinstance(x, type | str | np.dtype):
        return dtype_of(x, "dtype")
    if isinstance(x, ShapeDtypeStruct):
        return x.aval.dtype
    return typeof(x).dtype


def composite(
    decomposition: Callable[..., Any], name: str, version: int = 0
) -> Callable[..., Any]:
    """A function that is one equation of a name in programs.

    The equation is a `jit` of `decomposition`, which says what it computes, so it has
    every derivative and batch that the function has. Keyword arguments are its
    attributes, Python values. `version` is for those who know the name. Raises
    ValueError (face.choice) for a name that is no text.

    >>> import traceir
    >>> scaled = composite(lambda x, *, by: x * by, "my.scaled")
    >>> scaled(3.0, by=2)
    Array(6., dtype=float32, weak_type=True)
    >>> traceir.make_jaxpr(lambda x: scaled(x, by=2))(3.0).eqns[0].param("name")
    'my.scaled'
    """
    if not isinstance(name, str) or not name:
        raise rules.error("face.choice", got=f"{name=}", hint="a text")

    def call(*args: Any, **attributes: Any) -> Any:
        """The function as an equation."""

        def named(*args: Any) -> Any:
            """The decomposition, with its attributes."""
            return decomposition(*args, **attributes)

        named.__name__ = name
        return jit(named)(*args)

    return call


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Any
) -> Any:
    """The result of the function that is for this platform, or of `default`.

    A program is for one platform, `traceir.default_backend()`, so the others are not
    traced. Raises NotImplementedError (face.choice) where there is none for it.

    >>> platform_dependent(2.0, cpu=lambda x: x + 1, tpu=lambda x: x)
    3.0
    """
    chosen = per_platform.get(default_backend(), default)
    if chosen is None:
        hint = f"a function for {default_backend()!r}, or `default`"
        got = f"functions for {', '.join(per_platform)}"
        raise rules.error("face.choice", got=got, hint=hint)
    return chosen(*args)


def broadcast_like(arr: Operand, like_arr: Operand) -> Array:
    """The array stretched to the shape of another, new dimensions in front.

    >>> broadcast_like(2.0, full((1, 2), 0))
    Array([[2., 2.]], dtype=float32, weak_type=True)
    """
    value, shape = checked("broadcast_like", arr), shape_of(like_arr)
    own = shape_of(value)
    return broadcast_in_dim(value, shape, range(len(shape) - len(own), len(shape)))


@takes_out_sharding
def empty(
    shape: ShapeLike, dtype: DTypeLike, *, out_sharding: OutSharding = None
) -> Array:
    """An array of zeros: none has undefined elements.

    >>> empty((2,), "int32")
    Array([0, 0], dtype=int32)
    """
    return full(shape, 0, dtype_of(dtype, "empty"))


def stage(x: Operand, /) -> Array:
    """The value as an array, or as a value of the trace that it is in.

    >>> stage(2)
    Array(2, dtype=int32, weak_type=True)
    """
    return as_array(checked("stage", x))


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """The values of other examples: the k-th gets that of the `perm[k]`-th.

    Raises ValueError (axis.permutation) unless `perm` has each place once.

    >>> import traceir, traceir.numpy as jnp
    >>> turned = lambda x: pshuffle(x, "i", [2, 0, 1])
    >>> traceir.vmap(turned, axis_name="i")(jnp.arange(3))
    Array([2, 0, 1], dtype=int32)
    """
    if set(perm) != set(range(len(perm))):
        raise rules.error("axis.permutation", got=f"perm={list(perm)}")
    pairs = [(source, place) for place, source in enumerate(perm)]
    return ppermute(x, axis_name, pairs)


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The value of one example, `source`, for all examples of an axis.

    >>> import traceir, traceir.numpy as jnp
    >>> traceir.vmap(lambda x: pbroadcast(x, "i", 1), axis_name="i")(jnp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    from traceir.lax.elementwise.arithmetic import eq
    from traceir.lax.elementwise.selection import select
    from traceir.lax.reductions.collectives import axis_index
    from traceir.pytrees import flatten

    if not -1 < source < axis_size(axis_name):
        raise rules.error("face.choice", got=f"{source=}", hint="the number of one")

    def sent(leaf: Any) -> Any:
        """A leaf of the source, and zeros of all others, summed."""
        value = as_array(checked("pbroadcast", leaf))
        mine = broadcast_in_dim(eq(axis_index(axis_name), source), value.shape, ())
        none = full(value.shape, 0, value.dtype)
        return psum(select(mine, value, none), axis_name)

    return flatten.map_(sent, x)


def conv_general_dilated_local(
    lhs: Operand,
    rhs: Operand,
    window_strides: Sequence[int],
    padding: Padding,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvNumbers = None,
    precision: PrecisionLike = None,
) -> Array:
    """A convolution whose kernel is another at each place.

    `rhs` has, in place of the features of `lhs`, these times the elements of a window,
    and in place of space that of the result: of each place it is multiplied by the
    window there. Arguments and errors are those of `conv_general_dilated`.

    >>> import traceir.numpy as jnp
    >>> x = jnp.array([[[1.0, 2.0, 4.0]]])
    >>> kernels = jnp.array([[[1.0, 0.0], [0.0, 1.0]]])
    >>> conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
    Array([[[1., 4.]]], dtype=float32)
    """
    x, kernel = as_array(checked("conv", lhs)), as_array(checked("conv", rhs))
    numbers = conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        x,
        filter_shape,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        precision,
    )
    batch, features, *space = numbers.out_spec
    into, places = numbers.rhs_spec[1], numbers.rhs_spec[2:]
    paired = (((features,), (into,)), (tuple(space), tuple(places)))
    found = dot_general(patches, kernel, paired, precision=precision)
    # Space comes first, then the batch, then features.
    order = [0] * found.ndim
    for k, d in enumerate(space):
        order[d] = k
    order[batch], order[features] = found.ndim - 2, found.ndim - 1
    return transpose(found, order)


class RaggedDotDimensionNumbers(NamedTuple):
    """The dimensions of `ragged_dot_general` that are paired, divided, and of groups.

    >>> RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))[1]
    (0,)
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


@takes_out_sharding
def ragged_dot_general(
    lhs: Operand,
    rhs: Operand,
    group_sizes: Operand,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    group_offset: None = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Products whose rows are divided into groups, with a matrix for each group.

    One dimension of `lhs`, which no other is paired with, is divided, and one of `rhs`
    counts the groups; all others are as for `dot_general`. Raises ValueError
    (face.choice) for other numbers: a divided dimension that is paired, or of a batch.

    >>> import traceir.numpy as jnp
    >>> x, y = jnp.ones((3, 1)), jnp.array([[[2.0]], [[5.0]]])
    >>> numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    >>> ragged_dot_general(x, y, jnp.array([1, 2]), numbers)[:, 0]
    Array([2., 5., 5.], dtype=float32)
    """
    x, y = as_array(checked("ragged", lhs)), as_array(checked("ragged", rhs))
    pairs, ragged, groups = ragged_dot_dimension_numbers
    (left, right), batches = pairs
    own = set(range(x.ndim)) - set(left)
    if len(ragged) != 1 or len(groups) != 1 or ragged[0] not in own or any(batches):
        got = f"{ragged_dot_dimension_numbers}"
        hint = "one divided dimension that is not paired, one of groups, and no batch"
        raise rules.error("face.choice", got=got, hint=hint)
    rest = [d for d in range(x.ndim) if d not in left and d != ragged[0]]
    free = [d for d in range(y.ndim) if d not in right and d != groups[0]]
    inner = prod(x.shape[d] for d in left)
    # Rows are those of the divided dimension, once for each of the others.
    rows = transpose(x, [ragged[0], *rest, *left])
    many = prod(x.shape[d] for d in rest)
    rows = reshape(rows, (x.shape[ragged[0]] * many, inner))
    matrices = transpose(y, [groups[0], *right, *free])
    columns = prod(y.shape[d] for d in free)
    matrices = reshape(matrices, (y.shape[groups[0]], inner, columns))
    sizes = as_array(checked("ragged", group_sizes)) * many
    found = ragged_dot(
        rows, matrices, sizes, precision, preferred_element_type, group_offset
    )
    shape = [x.shape[ragged[0]], *(x.shape[d] for d in rest)]
    found = reshape(found, [*shape, *(y.shape[d] for d in free)])
    # The dimensions of the left operand keep their order.
    order = sorted([ragged[0], *rest])
    places = [[ragged[0], *rest].index(d) for d in order]
    return transpose(found, [*places, *range(len(places), found.ndim)])


_publish(globals())
