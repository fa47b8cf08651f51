"""Products of vectors and matrices. Serves: face.matmul-rank, face.tensordot-axes

Operands are promoted first. Extents that do not pair are a dot_general.contract-size
or dot_general.batch-size error.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    BOOL,
    DTypeLike,
    Operand,
    dtype_of,
    no_out,
    operands,
    promoted,
    refuse_key,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike
from traceir.lax.checks.shapes import axis_in
from traceir.lax.checks.warnings import loses_part
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.elementwise.arithmetic import multiply
from traceir.numpy.manipulation.shapes import expand_dims, ravel
from traceir.tracing.trace import typeof


def contracted(
    x: Operand,
    y: Operand,
    contract: Any,
    batch: Any = ((), ()),
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """`dot_general` in the operands' dtype, or the one that is preferred; of booleans,
    whether any pair holds.

    >>> import traceir.numpy as jnp
    >>> contracted(jnp.array([True, False]), jnp.array([False, True]), ((0,), (0,)))
    Array(False, dtype=bool)
    """
    refuse_key(x)
    dtype = typeof(x).dtype
    wanted = None if dtype == BOOL else dtype
    if preferred_element_type is not None:
        wanted = dtype_of(preferred_element_type, "preferred_element_type")
        if any(loses_part(typeof(v).dtype, wanted) for v in (x, y)):
            raise rules.error("face.imaginary", got=f"a product in {wanted.name}")
    return lax.dot_general(x, y, (contract, batch), precision, wanted)


def _check_paired(name: str, x: Operand, y: Operand, contract: Any) -> None:
    """Raise TypeError (dot_general.contract-size) with the shapes of the operands."""
    left, right = shape_of(x), shape_of(y)
    if any(left[k] != right[n] for k, n in zip(*contract, strict=True)):
        got = f"{name}: {left} @ {right}"
        raise rules.error("dot_general.contract-size", got=got)


def _met(name: str, a: Operand, b: Operand, asked: DTypeLike) -> list[Operand]:
    """Operands in one dtype, or as they are where that of the result is asked for."""
    return promoted(name, a, b) if asked is None else list(operands(name, (a, b)))


@takes_out_sharding
def dot(
    a: Operand,
    b: Operand,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """The last axis of `a` by the last but one of `b`, or by a vector's only one.

    With a scalar, the product. It is of the preferred dtype, by default the operands';
    no product is less precise than that, whatever `precision` asks for.

    >>> import traceir.numpy as jnp
    >>> dot(jnp.ones((2, 3)), jnp.arange(3))
    Array([3., 3.], dtype=float32)
    """
    x, y = _met("dot", a, b, preferred_element_type)
    asked = precision, preferred_element_type
    left, right = len(shape_of(x)), len(shape_of(y))
    if not left or not right:
        return contracted(x, y, ((), ()), ((), ()), *asked)
    contract = ((left - 1,), (max(right - 2, 0),))
    _check_paired("dot", x, y, contract)
    return contracted(x, y, contract, ((), ()), *asked)


def vdot(
    a: Operand,
    b: Operand,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The sum of products of all elements, as vectors; those of `a` conjugated.

    >>> import traceir.numpy as jnp
    >>> vdot(jnp.ones((2, 2)), jnp.arange(4))
    Array(6., dtype=float32)
    """
    first, second = operands("vdot", (a, b))
    if typeof(first).dtype.kind == "c":
        first = lax.conj(first)
    x, y = _met("vdot", first, second, preferred_element_type)
    asked = precision, preferred_element_type
    x, y = ravel(x), ravel(y)
    _check_paired("vdot", x, y, ((0,), (0,)))
    return contracted(x, y, ((0,), (0,)), ((), ()), *asked)


def inner(
    a: Operand,
    b: Operand,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
) -> Array:
    """The last axis of `a` by the last of `b`; with a scalar, the product.

    >>> import traceir.numpy as jnp
    >>> inner(jnp.ones((2, 3)), jnp.arange(3))
    Array([3., 3.], dtype=float32)
    """
    x, y = _met("inner", a, b, preferred_element_type)
    left, right = len(shape_of(x)), len(shape_of(y))
    asked = precision, preferred_element_type
    if not left or not right:
        if preferred_element_type is not None:
            return contracted(x, y, ((), ()), ((), ()), *asked)
        return multiply(x, y)
    contract = ((left - 1,), (right - 1,))
    _check_paired("inner", x, y, contract)
    return contracted(x, y, contract, ((), ()), *asked)


def outer(a: Operand, b: Operand, out: None = None) -> Array:
    """Each element of `a` times each of `b`, as vectors.

    >>> import traceir.numpy as jnp
    >>> outer(jnp.arange(2), jnp.arange(3))
    Array([[0, 0, 0],
           [0, 1, 2]], dtype=int32)
    """
    no_out("outer", out)
    x, y = promoted("outer", a, b)
    column = expand_dims(ravel(x), 1)
    return multiply(column, expand_dims(ravel(y), 0))


@takes_out_sharding
def tensordot(
    a: Operand,
    b: Operand,
    axes: int | Sequence[Any] = 2,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """The last `axes` of `a` by the first of `b`, or two lists of axes by each other.

    Raises ValueError (face.axis), TypeError (face.tensordot-axes).

    >>> import traceir.numpy as jnp
    >>> tensordot(jnp.ones((2, 3)), jnp.ones((3, 2)), 1)
    Array([[3., 3.],
           [3., 3.]], dtype=float32)
    """
    x, y = _met("tensordot", a, b, preferred_element_type)
    asked = precision, preferred_element_type
    left, right = len(shape_of(x)), len(shape_of(y))
    if not isinstance(axes, Sequence):
        count = index(axes)
        if not 0 <= count <= min(left, right):
            raise rules.error("face.tensordot-axes", got=f"axes={count}")
        sides = tuple(range(left - count, left)), tuple(range(count))
        _check_paired("tensordot", x, y, sides)
        return contracted(x, y, sides, ((), ()), *asked)
    pairs = [d if isinstance(d, Sequence) else (d,) for d in axes]
    if len(pairs) != 2 or len(pairs[0]) != len(pairs[1]):
        raise rules.error("face.tensordot-axes", got=f"axes={axes}")
    contract = tuple(
        tuple(axis_in(d, rank) for d in side)
        for side, rank in zip(pairs, (left, right), strict=True)
    )
    _check_paired("tensordot", x, y, contract)
    return contracted(x, y, contract, ((), ()), *asked)


@takes_out_sharding
def matmul(
    a: Operand,
    b: Operand,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """Matrix product of the last two axes, broadcast over those before.

    A vector is a row on the left and a column on the right. Raises ValueError
    (face.matmul-rank) for a scalar, TypeError (face.broadcast).

    >>> import traceir.numpy as jnp
    >>> matmul(jnp.ones((2, 3)), jnp.ones((3, 2)))
    Array([[3., 3.],
           [3., 3.]], dtype=float32)
    """
    x, y = _met("matmul", a, b, preferred_element_type)
    left, right = shape_of(x), shape_of(y)
    if not left or not right:
        got = f"{typeof(x).str_short()} and {typeof(y).str_short()}"
        raise rules.error("face.matmul-rank", got=got)
    asked = precision, preferred_element_type
    places = _places(left[:-2], right[:-2])
    _check_paired("matmul", x, y, ((len(left) - 1,), (max(len(right) - 2, 0),)))
    return _matmul(x, y, places, *asked)


# The leading axes of a matrix product, by their place in the result: those that the
# left operand has, and those that the right one has. Places of both are batch axes.
Places = tuple[list[int], list[int]]


def _places(left: tuple[int, ...], right: tuple[int, ...]) -> Places:
    """The leading axes of each operand; an extent of 1 that meets another does not
    count.
    """
    rank = max(len(left), len(right))
    had: Places = [], []
    for place in range(rank):
        m, n = (
            own[place - rank + len(own)] if place >= rank - len(own) else None
            for own in (left, right)
        )
        if m is not None and n is not None and m != n and 1 not in (m, n):
            raise rules.error("face.broadcast", got=f"matmul of {left} and {right}")
        if n is None or m not in (None, 1) or m == n:
            had[0].append(place)
        if m is None or n not in (None, 1) or m == n:
            had[1].append(place)
    return had


def _matmul(x: Operand, y: Operand, places: Places, *asked: Any) -> Array:
    rank = max(len(shape_of(v)) - 2 for v in (x, y))
    x, y = (_having(v, had, rank) for v, had in zip((x, y), places, strict=True))
    left, right = places
    batch = [place for place in left if place in right]
    contract = ((len(shape_of(x)) - 1,), (max(len(shape_of(y)) - 2, 0),))
    pairs = tuple(tuple(had.index(place) for place in batch) for had in places)
    result = contracted(x, y, contract, pairs, *asked)
    # The row comes before every place that only the right operand has.
    rows = [rank] if len(shape_of(x)) > 1 else []
    columns = [rank + 1] if len(shape_of(y)) > 1 else []
    free = [p for p in left if p not in batch] + rows
    found = batch + free + [p for p in right if p not in batch] + columns
    return lax.transpose(result, sorted(range(len(found)), key=found.__getitem__))


def _having(x: Operand, had: list[int], rank: int) -> Operand:
    """The operand without the leading axes that it does not count as had."""
    lead = len(shape_of(x)) - 2
    return lax.squeeze(x, [d for d in range(lead) if d + rank - lead not in had])
