"""Collectives: over all examples of a named axis.

Serves: axis.*, psum, psum_invariant, pmax, pmin, all_gather, reduce_scatter,
ppermute, all_to_all, axis_index, pvary
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from math import prod
from operator import index
from typing import Any

import numpy as np

from traceir import rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    BOOL,
    Operand,
    as_array,
    convert,
    is_scalar,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.checks.shapes import axis_in
from traceir.lax.elementwise.arithmetic import add, div, mul
from traceir.lax.structural.shapes import expand_dims, squeeze
from traceir.pytrees import flatten
from traceir.tracing.knowledge import CHECKED, DIVIDED
from traceir.tracing.manual_axes import told, varied
from traceir.tracing.trace import bind, bind_one, current_trace, typeof

# A name of an axis, or several; a number is a dimension of the operand.
AxisName = Any


def axis_size(axis_name: AxisName) -> int:
    """The number of examples of a named axis; of several names, the product.

    Raises NameError (axis.unbound).

    >>> import traceir
    >>> count = lambda x: x * axis_size("i")
    >>> traceir.vmap(count, axis_name="i")(traceir.numpy.ones(3))
    Array([3., 3., 3.], dtype=float32)
    """
    return prod(map(_size, _names(axis_name)))


def _names(axis_name: AxisName) -> tuple[Any, ...]:
    return tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)


def _size(name: Hashable) -> int:
    trace = current_trace()
    known = trace.axes if trace else {}
    if name not in known:
        names = [repr(axis) for axis in known if axis not in (CHECKED, DIVIDED)]
        listed = ", ".join(names) or "no axis is"
        raise rules.error("axis.unbound", got=f"{name!r}; {listed} bound here")
    size: int = known[name]
    return size


def axis_index(axis_name: AxisName) -> Array:
    """The number of the example, from 0; over several names, the last is fastest.

    Raises NameError (axis.unbound).

    >>> import traceir
    >>> number = lambda x: axis_index("i")
    >>> traceir.vmap(number, axis_name="i")(traceir.numpy.ones(3))
    Array([0, 1, 2], dtype=int32)
    """
    names = _names(axis_name)
    if len(names) == 1:
        return _axis_index(names[0])
    total: Any = 0
    step = 1
    for name in reversed(names):
        total = add(total, mul(_axis_index(name), np.int32(step)))
        step *= _size(name)
    return as_array(total)


def _axis_index(name: Hashable) -> Array:
    _size(name)
    return _varied(bind_one("axis_index", axis_name=name), (name,))


def _varied(value: Array, names: Iterable[Hashable]) -> Array:
    """A value whose type tells that it may vary along axes, where types tell that."""
    found: Array = varied(value, told(names))
    return found


def pcast(x: Any, axis_name: AxisName, *, to: str) -> Any:
    """The same value, of a type that tells that it may vary along axes of the mesh.

    Within a function that `shard_map` checks, a derivative by it is one for each
    device along these axes, and not their sum. Elsewhere types do not tell what varies,
    and it is the value itself. Of each leaf of a tree. Raises NameError (axis.unbound),
    ValueError (axis.cast: for a value that may vary already, and for another `to` than
    "varying").

    >>> import traceir, traceir.numpy as jnp
    >>> from traceir.sharding import P
    >>> def slopes(w, x):
    ...     own = pcast(w, "x", to="varying")
    ...     return traceir.grad(lambda w: (w * x).sum())(own)[None]
    >>> mesh = traceir.make_mesh((1,), ("x",))
    >>> specs = {"in_specs": (P(), P("x")), "out_specs": P("x")}
    >>> traceir.shard_map(slopes, mesh=mesh, **specs)(2.0, jnp.arange(3.0))
    Array([3.], dtype=float32, weak_type=True)
    """
    names = _checked(axis_name, None)
    if to != "varying":
        raise rules.error("axis.cast", got=f"{to=}")

    def cast(leaf: Operand) -> Any:
        value = as_array(operand("pcast", leaf))
        if known := [n for n in names if n in typeof(value).vma]:
            got = f"{typeof(value)!r}, which may vary along {known[0]!r}"
            raise rules.error("axis.cast", got=got)
        return _varied(value, names)

    return flatten.map_(cast, x)


def psum(x: Any, axis_name: AxisName, *, axis_index_groups: None = None) -> Any:
    """The sum over all examples, of each leaf of a tree; the same for every example.

    A number that is no array is multiplied by the size of the axis: `psum(1, "i")` is
    the size itself. Booleans are counted. Raises NameError (axis.unbound), ValueError
    (axis.groups).

    >>> import traceir, traceir.numpy as jnp
    >>> share = lambda x: x / psum(x, "i")
    >>> traceir.vmap(share, axis_name="i")(jnp.arange(4.0))
    Array([0.        , 0.16666667, 0.33333334, 0.5       ], dtype=float32)
    """
    axes = _checked(axis_name, axis_index_groups)
    return flatten.map_(lambda leaf: _psum(leaf, axes), x)


def _psum(leaf: Operand, axes: tuple[Any, ...]) -> Any:
    value = operand("psum", leaf)
    if typeof(value).dtype == BOOL:
        value = as_array(convert(value, np.dtype(np.int32)))
    known = is_scalar(value) or type(value) is np.ndarray
    if known and not any(isinstance(a, int) for a in axes):
        return value * prod(map(_size, axes))
    if axes and len(told(axes)) == len(axes):
        return bind_one("psum_invariant", _varied(as_array(value), axes), axes=axes)
    return bind("psum", value, axes=axes)


def pmean(x: Any, axis_name: AxisName, *, axis_index_groups: None = None) -> Any:
    """The mean over all examples, of each leaf of a tree.

    Raises NameError (axis.unbound), ValueError (axis.groups).

    >>> import traceir, traceir.numpy as jnp
    >>> centred = lambda x: x - pmean(x, "i")
    >>> traceir.vmap(centred, axis_name="i")(jnp.arange(4.0))
    Array([-1.5, -0.5,  0.5,  1.5], dtype=float32)
    """
    axes = _checked(axis_name, axis_index_groups)

    def mean(leaf: Operand) -> Any:
        total = _psum(leaf, axes)
        shape = shape_of(operand("pmean", leaf))
        count = prod(shape[a] if isinstance(a, int) else _size(a) for a in axes)
        if is_scalar(total) and not isinstance(total, np.generic):
            return total / count
        return div(*promoted_inexact("pmean", total, count))

    return flatten.map_(mean, x)


def pmax(x: Any, axis_name: AxisName, *, axis_index_groups: None = None) -> Any:
    """The greatest over all examples, element by element, of each leaf of a tree.

    Raises NameError (axis.unbound), ValueError (axis.groups).

    >>> import traceir, traceir.numpy as jnp
    >>> scaled = lambda x: x / pmax(x, "i")
    >>> traceir.vmap(scaled, axis_name="i")(jnp.arange(3.0))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _extreme("pmax", x, _checked(axis_name, axis_index_groups))


def pmin(x: Any, axis_name: AxisName, *, axis_index_groups: None = None) -> Any:
    """The least over all examples, element by element, of each leaf of a tree.

    Raises NameError (axis.unbound), ValueError (axis.groups).

    >>> import traceir, traceir.numpy as jnp
    >>> above = lambda x: x - pmin(x, "i")
    >>> traceir.vmap(above, axis_name="i")(jnp.arange(3.0) + 5)
    Array([0., 1., 2.], dtype=float32)
    """
    return _extreme("pmin", x, _checked(axis_name, axis_index_groups))


def _extreme(primitive: str, x: Any, axes: tuple[Any, ...]) -> Any:
    return flatten.map_(
        lambda leaf: bind(primitive, as_array(operand(primitive, leaf)), axes=axes), x
    )


def _checked(axis_name: AxisName, groups: Any) -> tuple[Any, ...]:
    """The axes, each a name that is bound or a dimension."""
    if groups is not None:
        raise rules.error("axis.groups", got=repr(groups))
    axes = _names(axis_name)
    for name in axes:
        if not isinstance(name, int):
            _size(name)
    return axes


def all_gather(
    x: Any,
    axis_name: AxisName,
    *,
    axis_index_groups: None = None,
    axis: int = 0,
    tiled: bool = False,
) -> Any:
    """The values of all examples, along a new axis or, `tiled`, joined along one.

    Of several names the last is fastest. Of each leaf of a tree. Raises NameError
    (axis.unbound), ValueError (axis.groups, face.axis).

    >>> import traceir, traceir.numpy as jnp
    >>> ranks = lambda x: jnp.sum(all_gather(x, "i") < x)
    >>> traceir.vmap(ranks, axis_name="i")(jnp.array([3.0, 1.0, 2.0]))
    Array([2, 0, 1], dtype=int32)
    """
    names = _checked(axis_name, axis_index_groups)

    def gather(leaf: Operand) -> Array:
        value = _varied(as_array(operand("all_gather", leaf)), names)
        at = axis_in(axis, value.ndim + (not tiled))
        for name in reversed(names):
            value = bind(
                "all_gather",
                value,
                all_gather_dimension=at,
                axis_name=(name,),
                axis_size=_size(name),
                tiled=tiled or name is not names[-1],
            )
        return value

    return flatten.map_(gather, x)


def psum_scatter(
    x: Any,
    axis_name: AxisName,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: None = None,
    tiled: bool = False,
) -> Any:
    """The sum over all examples, of which each gets its part along a dimension.

    The dimension goes away or, `tiled`, is divided by the size of the axis. Of each
    leaf of a tree. Raises NameError (axis.unbound), ValueError (axis.groups) and the
    clauses of reduce_scatter.

    >>> import traceir, traceir.numpy as jnp
    >>> column = lambda row: psum_scatter(row, "i")
    >>> traceir.vmap(column, axis_name="i")(jnp.array([[1.0, 2.0], [10.0, 20.0]]))
    Array([11., 22.], dtype=float32)
    """
    names = _checked(axis_name, axis_index_groups)

    def scatter(leaf: Operand) -> Array:
        value = _varied(as_array(operand("psum_scatter", leaf)), names)
        for k, name in enumerate(names):
            value = bind(
                "reduce_scatter",
                value,
                scatter_dimension=axis_in(scatter_dimension, value.ndim),
                axis_name=(name,),
                axis_size=_size(name),
                tiled=tiled or k + 1 < len(names),
            )
        return value

    return flatten.map_(scatter, x)


def ppermute(x: Any, axis_name: AxisName, perm: Iterable[tuple[int, int]]) -> Any:
    """The values of other examples: `(a, b)` in `perm` sends that of `a` to `b`.

    An example that gets nothing has zeros. Of each leaf of a tree. Raises NameError
    (axis.unbound), ValueError (axis.permutation).

    >>> import traceir, traceir.numpy as jnp
    >>> shifted = lambda x: ppermute(x, "i", [(0, 1), (1, 2)])
    >>> traceir.vmap(shifted, axis_name="i")(jnp.array([5, 6, 7]))
    Array([0, 5, 6], dtype=int32)
    """
    [name] = _checked(axis_name, None)
    pairs = tuple((index(source), index(target)) for source, target in perm)
    size = _size(name)
    ends = list(zip(*pairs, strict=True))
    inside = all(0 <= k < size for pair in pairs for k in pair)
    if not inside or any(len(set(end)) < len(end) for end in ends):
        raise rules.error("axis.permutation", got=f"{pairs} over {size} examples")

    def permuted(leaf: Operand) -> Array:
        value = _varied(as_array(operand("ppermute", leaf)), (name,))
        return bind_one("ppermute", value, axis_name=(name,), perm=pairs)

    return flatten.map_(permuted, x)


def pswapaxes(
    x: Any, axis_name: AxisName, axis: int, *, axis_index_groups: None = None
) -> Any:
    """The named axis and a dimension of the same extent, changed for one another.

    Of each leaf of a tree. Raises as `all_to_all` does.

    >>> import traceir, traceir.numpy as jnp
    >>> swap = lambda row: pswapaxes(row, "i", 0)
    >>> traceir.vmap(swap, axis_name="i")(jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    groups = axis_index_groups
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=groups)


def all_to_all(
    x: Any,
    axis_name: AxisName,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: None = None,
    tiled: bool = False,
) -> Any:
    """Each example's parts along `split_axis`, one to each example, put together there.

    The parts have extent 1, and are stacked along a new axis at `concat_axis` of the
    result; `tiled`, they are as large as the axis divides the dimension, and are joined
    along `concat_axis`. Of each leaf of a tree. Raises NameError (axis.unbound),
    ValueError (axis.groups, axis.split, face.axis).

    >>> import traceir, traceir.numpy as jnp
    >>> column = lambda row: all_to_all(row, "i", 0, 0)
    >>> traceir.vmap(column, axis_name="i")(jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    [name] = _checked(axis_name, axis_index_groups)
    exchange = _exchange(name, tiled)

    def exchanged(leaf: Operand) -> Array:
        value = _varied(as_array(operand("all_to_all", leaf)), (name,))
        split = axis_in(split_axis, value.ndim)
        joined = axis_in(concat_axis, value.ndim)
        extent, size = value.shape[split], _size(name)
        if extent % size if tiled else extent != size:
            got = f"an axis of {size}, an extent of {extent} at {split}"
            raise rules.error("axis.split", got=got)
        if tiled or split == joined:
            return exchange(value, split, joined)
        # The dimension that is split goes, a new one comes at `concat_axis`.
        at = joined if joined < split else joined + 1
        split += joined < split
        return squeeze(exchange(expand_dims(value, (at,)), split, at), (split,))

    return flatten.map_(exchanged, x)


def _exchange(name: Hashable, tiled: bool) -> Callable[[Array, int, int], Array]:
    def exchange(value: Array, split: int, joined: int) -> Array:
        return bind_one(
            "all_to_all",
            value,
            axis_name=name,
            axis_size=_size(name),
            split_axis=split,
            concat_axis=joined,
            tiled=tiled,
        )

    return exchange
