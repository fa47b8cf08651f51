"""Arrays split along an axis. Serves: face.axis, face.sections, face.least-rank"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base import config
from traceir.lax.checks.operands import Operand, is_tracer, operand, shape_of
from traceir.lax.checks.shapes import axis_in, shape_tuple
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import bind

Sections = int | Sequence[int] | Array | np.ndarray


def split(ary: Operand, indices_or_sections: Sections, axis: int = 0) -> list[Array]:
    """Consecutive parts along an axis: so many equal ones, or those between indices.

    Indices ascend, from 0 up to the extent; in a plain function any are as in slices.
    Raises ValueError (face.sections) where they do not, or where equal parts leave a
    rest, (face.axis), ConcretizationTypeError (level.concretize.number) for traced
    indices.

    >>> import traceir.numpy as jnp
    >>> split(jnp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    >>> [len(part) for part in split(jnp.arange(9), [2, 5])]
    [2, 3, 4]
    """
    return _split("split", ary, indices_or_sections, axis, even=True)


def array_split(
    ary: Operand, indices_or_sections: Sections, axis: int = 0
) -> list[Array]:
    """As `split`, but of parts of a number the first may have one element more.

    >>> import traceir.numpy as jnp
    >>> [len(part) for part in array_split(jnp.arange(8), 3)]
    [3, 3, 2]
    """
    return _split("array_split", ary, indices_or_sections, axis, even=False)


def vsplit(ary: Operand, indices_or_sections: Sections) -> list[Array]:
    """`split` along the first axis of at least two (face.least-rank).

    >>> import traceir.numpy as jnp
    >>> [part.shape for part in vsplit(jnp.ones((4, 3)), 2)]
    [(2, 3), (2, 3)]
    """
    value = of_rank("vsplit", ary, 2)
    return _split("vsplit", value, indices_or_sections, 0, even=True)


def hsplit(ary: Operand, indices_or_sections: Sections) -> list[Array]:
    """`split` along the second axis, of a vector along its only one.

    Raises ValueError (face.least-rank, face.sections).

    >>> import traceir.numpy as jnp
    >>> [part.shape for part in hsplit(jnp.ones((4, 3)), [1])]
    [(4, 1), (4, 2)]
    """
    value = of_rank("hsplit", ary, 1)
    axis = 1 if len(shape_of(value)) > 1 else 0
    return _split("hsplit", value, indices_or_sections, axis, even=True)


def dsplit(ary: Operand, indices_or_sections: Sections) -> list[Array]:
    """`split` along the third axis of at least three (face.least-rank).

    >>> import traceir.numpy as jnp
    >>> [part.shape for part in dsplit(jnp.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    value = of_rank("dsplit", ary, 3)
    return _split("dsplit", value, indices_or_sections, 2, even=True)


def of_rank(name: str, value: Operand, least: int) -> Operand:
    """A checked operand with so many dimensions; raises ValueError (face.least-rank).

    >>> import traceir.numpy as jnp
    >>> of_rank("tril", jnp.ones((2, 3)), 2).ndim
    2
    """
    checked = operand(name, value)
    rank = len(shape_of(checked))
    if rank < least:
        got = f"{name} of {rank} dimensions, not {least} or more"
        raise rules.error("face.least-rank", got=got)
    return checked


def _split(
    name: str, ary: Operand, sections: Sections, axis: int, *, even: bool
) -> list[Array]:
    value = operand(name, ary)
    at = axis_in(axis, len(shape_of(value)))
    extent = shape_of(value)[at]
    ends = _ends(name, sections, extent, even)
    if config.local.context.face == "numpy":
        return [_slice(value, a, b, at) for a, b in pairwise([0, *ends, None])]
    bounds = [0, *ends, extent]
    if sorted(bounds) != bounds:
        got = f"{name} at {ends} of {extent} elements"
        raise rules.error("face.sections", got=got)
    return lax.split(value, [b - a for a, b in pairwise(bounds)], at)


def _slice(value: Operand, start: int | None, end: int | None, axis: int) -> Array:
    """A part as NumPy takes it: ends count as in a slice, and may descend."""
    low, high, _ = slice(start, end).indices(shape_of(value)[axis])
    return lax.slice_in_dim(value, low, max(low, high), axis=axis)


def _ends(name: str, sections: Any, extent: int, even: bool) -> list[int]:
    """The ends of the parts, but for the last one."""
    if is_tracer(sections):
        what = f"the indices or sections of jnp.{name}"
        raise refusal(sections, "level.concretize.number", what)
    given = shape_tuple(sections)
    if np.ndim(sections):
        return list(given)
    (count,) = given
    if count < 1 or (even and extent % count):
        raise rules.error("face.sections", got=f"{extent} elements in {count} parts")
    size, longer = divmod(extent, count)
    return [k * size + min(k, longer) for k in range(1, count)]


def unstack(x: Operand, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of an array along an axis, without that axis.

    Raises ValueError (face.least-rank, face.axis).

    >>> import traceir.numpy as jnp
    >>> unstack(jnp.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    value = of_rank("unstack", x, 1)
    rank = len(shape_of(value))
    return tuple(bind("unstack", value, axis=axis_in(axis, rank)))
