"""Functions applied along axes and over grids. Serves: face.axis, face.signature"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import entry_point, wraps
from traceir.lax.checks.operands import DTypeLike, Operand, as_array, operand, operands
from traceir.lax.checks.operands import broadcast_shapes as _meet
from traceir.lax.checks.shapes import axis_in, shape_tuple
from traceir.numpy.manipulation.shapes import expand_dims
from traceir.numpy.ranges.linspace import arange
from traceir.pytrees.flatten import map_ as tree_map
from traceir.transforms.batching.vmap import vmap

Names = tuple[str, ...]


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Operand, *args: Any, **kwargs: Any
) -> Any:
    """A function of vectors applied to those along an axis.

    The dimensions of what it returns take the place of the axis. Further arguments
    are passed on. It is mapped, so it is traced with one vector that stands for all.
    Raises ValueError (face.axis).

    >>> import traceir.numpy as jnp
    >>> apply_along_axis(lambda v: v[0] + v[-1], 0, jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    value = as_array(operand("apply_along_axis", arr, 2))
    at = axis_in(axis, value.ndim)

    def one(vector: Array) -> Any:
        return func1d(vector, *args, **kwargs)

    function: Callable[[Array], Any] = one
    for d in range(1, value.ndim - at):
        function = vmap(function, in_axes=d, out_axes=-1)
    for _ in range(at):
        function = vmap(function, in_axes=0, out_axes=0)
    return function(value)


def apply_over_axes(
    func: Callable[[Array, int], Array], a: Operand, axes: int | Sequence[int]
) -> Array:
    """A function of an array and an axis, applied for one axis after the other.

    It returns an array of the same rank, or of one less: the axis comes back then,
    with extent 1. Raises ValueError (face.axis, face.least-rank).

    >>> import traceir.numpy as jnp
    >>> apply_over_axes(jnp.sum, jnp.ones((2, 3, 4)), (0, 2)).shape
    (1, 3, 1)
    """
    value = as_array(operand("apply_over_axes", a, 1))
    rank = value.ndim
    for axis in shape_tuple(axes):
        at = axis_in(axis, rank)
        found = func(value, at)
        value = expand_dims(found, at) if found.ndim == rank - 1 else found
        if value.ndim != rank:
            got = f"apply_over_axes: a result of {found.ndim} dimensions, not {rank}"
            raise rules.error("face.least-rank", got=got)
    return value


def fromfunction(
    function: Callable[..., Any],
    shape: Any,
    *,
    dtype: DTypeLike = float,
    **kwargs: Any,
) -> Any:
    """The array of a function's values at each index.

    It takes a scalar of `dtype` for each dimension, and is mapped over the places, so
    what it gives for all of them at once may be a number. Raises TypeError
    (face.shape, face.dtype).

    >>> fromfunction(lambda i, j: i - j, (2, 3), dtype=int)
    Array([[ 0, -1, -2],
           [ 1,  0, -1]], dtype=int32)
    """
    extents = shape_tuple(shape)

    def one(*places: Array) -> Any:
        return function(*places, **kwargs)

    mapped: Callable[..., Any] = one
    for d in reversed(range(len(extents))):
        axes = tuple(0 if k == d else None for k in range(len(extents)))
        mapped = vmap(mapped, in_axes=axes)
    return mapped(*(arange(n, dtype=dtype) for n in extents))


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function of arrays of a function of scalars, or of small arrays.

    The arguments broadcast together. With a signature such as "(m,n),(n)->(m)" the
    function takes arrays of these last dimensions, and only those before them
    broadcast; names are extents that have to agree. Arguments in `excluded`, by place
    or name, and those that are passed by name, are not mapped.

    Raises ValueError (face.signature), TypeError (face.broadcast, face.argument).

    >>> import traceir.numpy as jnp
    >>> larger = vectorize(lambda x, y: jnp.where(x > y, x, y))
    >>> larger(jnp.array([1, 5]), 3)
    Array([3, 5], dtype=int32)
    >>> vectorize(jnp.dot, signature="(n),(n)->()")(jnp.ones((2, 3)), jnp.ones(3))
    Array([3., 3.], dtype=float32)
    """
    if any(type(one) not in (int, str) for one in excluded):
        raise rules.error("face.signature", got=f"excluded={excluded!r}")
    given = None if signature is None else _parsed(signature)

    @entry_point
    @wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        kept = {k: a for k, a in enumerate(args) if k in excluded}
        mapped = [a for k, a in enumerate(args) if k not in excluded]

        def call(*values: Any) -> Any:
            left = iter(values)
            places = range(len(args))
            whole = [kept[k] if k in kept else next(left) for k in places]
            return pyfunc(*whole, **kwargs)

        values = [as_array(v) for v in operands("vectorize", mapped)]
        core = given or ([()] * len(values), None)
        return _spread(call, values, *core)

    return vectorized


_NAMES = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIDE = rf"{_NAMES}(?:\s*,\s*{_NAMES})*"


def _parsed(signature: str) -> tuple[list[Names], list[Names]]:
    """The names of a signature's dimensions, by arguments and by results."""
    text = signature.strip()
    if not re.fullmatch(rf"(?:{_SIDE})?\s*->\s*{_SIDE}", text):
        raise rules.error("face.signature", got=repr(signature))
    sides = [re.findall(_NAMES, side) for side in text.split("->")]
    inputs, outputs = ([tuple(re.findall(r"\w+", n)) for n in side] for side in sides)
    return inputs, outputs


def _spread(
    call: Callable[..., Any],
    values: list[Array],
    inputs: list[Names],
    outputs: list[Names] | None,
) -> Any:
    """A function mapped over the dimensions before those that it takes."""
    if len(values) != len(inputs):
        got = f"{len(values)} arguments for {len(inputs)} of the signature"
        raise rules.error("face.signature", got=got)
    sizes: dict[str, int] = {}
    leads = [_lead(v, names, sizes) for v, names in zip(values, inputs, strict=True)]
    shape = _meet("vectorize", leads)
    leads = [(1,) * (len(shape) - len(lead)) + lead for lead in leads]

    def checked(*parts: Array) -> Any:
        return _checked(call(*parts), outputs, sizes)

    function: Callable[..., Any] = checked
    wide = [d for d in range(len(shape)) if any(lead[d] != 1 for lead in leads)]
    for d in reversed(wide):
        axes = tuple(None if lead[d] == 1 else 0 for lead in leads)
        function = vmap(function, in_axes=axes)
    small = [
        lax.reshape(v, [n for n in lead if n != 1] + _core(v, names))
        for v, lead, names in zip(values, leads, inputs, strict=True)
    ]
    narrow = [d for d in range(len(shape)) if d not in wide]
    found = function(*small)
    return tree_map(lambda x: expand_dims(x, narrow), found) if narrow else found


def _core(value: Array, names: Names) -> list[int]:
    return list(value.shape[value.ndim - len(names) :])


def _lead(value: Array, names: Names, sizes: dict[str, int]) -> tuple[int, ...]:
    """The dimensions before those of the signature, whose extents are noted."""
    if value.ndim < len(names):
        got = f"{value.ndim} dimensions for ({','.join(names)})"
        raise rules.error("face.signature", got=got)
    _note(_core(value, names), names, sizes)
    return value.shape[: value.ndim - len(names)]


def _note(extents: Sequence[int], names: Names, sizes: dict[str, int]) -> None:
    for extent, name in zip(extents, names, strict=True):
        wanted = int(name) if name.isdigit() else sizes.setdefault(name, extent)
        if extent != wanted:
            got = f"{name}: extents {wanted} and {extent}"
            raise rules.error("face.signature", got=got)


def _checked(found: Any, outputs: list[Names] | None, sizes: dict[str, int]) -> Any:
    """The results of one call, if they have the dimensions of the signature."""
    if outputs is None:
        return found
    results = found if isinstance(found, (tuple, list)) else (found,)
    if len(results) != len(outputs):
        got = f"{len(results)} results for {len(outputs)} of the signature"
        raise rules.error("face.signature", got=got)
    arrays = [as_array(r) for r in operands("vectorize", results)]
    for array, names in zip(arrays, outputs, strict=True):
        if array.ndim != len(names):
            got = f"a result of {array.ndim} dimensions for ({','.join(names)})"
            raise rules.error("face.signature", got=got)
        _note(array.shape, names, sizes)
    return found
