"""Greatest common divisors and least common multiples.

Serves: face.integers, promote.*
"""

from __future__ import annotations

from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.dtypes import kind_of
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    broadcast_shapes,
    convert,
    like,
    promoted,
    shape_of,
)
from traceir.numpy.elementwise.composites import floor_divide
from traceir.numpy.elementwise.composites import where as _where
from traceir.tracing.trace import typeof


def _integers(name: str, x: Operand, y: Operand) -> list[Array]:
    """Two operands of one integer dtype and one shape."""
    pair = promoted(name, x, y)
    dtype = typeof(pair[0]).dtype
    if kind_of(dtype) not in "iu":
        raise rules.error("face.integers", got=f"{dtype.name} in {name}")
    shape = broadcast_shapes(name, [shape_of(v) for v in pair])
    found = []
    for v in pair:
        lead = len(shape) - len(shape_of(v))
        found.append(lax.broadcast_in_dim(v, shape, range(lead, len(shape))))
    return found


@composite
def gcd(x1: Operand, x2: Operand) -> Array:
    """The greatest integer that divides both elements; of 0 and 0, which is 0.

    Euclid's algorithm, for all elements until the last one is done. Raises TypeError
    (face.integers).

    >>> gcd(12, -18)
    Array(6, dtype=int32, weak_type=True)
    """
    pair = tuple(_integers("gcd", x1, x2))
    found = _size(lax.while_loop(_some_left, _divided, pair)[0])
    return convert(found, found.dtype) if found.shape else found


def _size(x: Array) -> Array:
    return x if kind_of(typeof(x).dtype) == "u" else lax.abs(x)


def _some_left(pair: tuple[Array, Array]) -> Array:
    left = lax.ne(pair[1], like(0, pair[1]))
    return lax.reduce_or(left, range(len(shape_of(left))))


def _divided(pair: tuple[Array, Array]) -> tuple[Any, Any]:
    """The divisor and the remainder, which is nearer to 0; a pair that is done stays.

    Signs are kept: the least integer has no positive of its size to compare with.
    """
    x, y = pair
    more = lax.ne(y, like(0, y))
    return _where(more, y, x), _where(more, lax.rem(x, y), 0)


@composite
def lcm(x1: Operand, x2: Operand) -> Array:
    """The least positive integer that both elements divide; 0 beside a 0.

    Raises TypeError (face.integers).

    >>> lcm(4, -6)
    Array(12, dtype=int32, weak_type=True)
    """
    x, y = (_size(v) for v in _integers("lcm", x1, x2))
    common = gcd(x, y)
    none = lax.eq(common, like(0, common))
    return _where(none, 0, lax.mul(x, floor_divide(y, common)))
