"""Interval arithmetic: the range of a result by the ranges of its operands.

Serves: index.bounds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Range = tuple[int, int]
Ranges = Sequence[Range]
# Of what is no integer nothing is known.
ANY: Range = (-(2**70), 2**70)


def of_dtype(dtype: np.dtype) -> Range:
    """The range of a dtype."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind not in "iu":
        return ANY
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def of_elements(array: np.ndarray) -> Range:
    """The range of an array's elements."""
    value = np.asarray(array)
    if not value.size or value.dtype.kind not in "biu":
        return ANY
    return int(value.min()), int(value.max())


def union(*ranges: Range) -> Range:
    """The range that has all of some."""
    return min(r[0] for r in ranges), max(r[1] for r in ranges)


def intersection(a: Range, b: Range) -> Range:
    """The range that two share; its ends are out of order if there is none."""
    return max(a[0], b[0]), min(a[1], b[1])


def corners(combine: Callable[[int, int], int], a: Range, b: Range) -> Range:
    """The range of a function that is monotonic in each operand."""
    found = [combine(x, y) for x in a for y in b]
    return min(found), max(found)


def _rem(a: Range, b: Range) -> Range | None:
    if b[0] <= 0:
        return None
    least, most = max(a[0], 1 - b[1]), min(a[1], b[1] - 1)
    return min(least, 0), max(most, 0)


def _and(a: Range, b: Range) -> Range | None:
    masks = [r[1] for r in (a, b) if r[0] >= 0]
    if a == b == (1, 1):
        return a
    return (0, min(masks)) if masks else None


def _div(a: Range, b: Range) -> Range | None:
    """Integers divided towards zero."""
    if b[0] <= 0:
        return None
    return corners(lambda x, y: abs(x) // y * (1 if x >= 0 else -1), a, b)


def _shifted(a: Range, b: Range) -> Range | None:
    return corners(lambda x, y: x >> y, a, b) if 0 <= b[0] <= b[1] < 64 else None


def _eq(a: Range, b: Range) -> Range:
    if a[1] < b[0] or b[1] < a[0]:
        return 0, 0
    same = a == b and a[0] == a[1]
    return int(same), 1


def _select(which: Range, *cases: Range) -> Range:
    return union(*cases[max(which[0], 0) : which[1] + 1])


def _or(a: Range, b: Range) -> Range | None:
    """Bits of numbers without a sign, and truth values."""
    if a[0] < 0 or b[0] < 0:
        return None
    most = max(a[1], b[1])
    return max(a[0], b[0]), (1 << most.bit_length()) - 1


def _lt(a: Range, b: Range) -> Range:
    return int(a[1] < b[0]), int(a[0] < b[1])


def _le(a: Range, b: Range) -> Range:
    return int(a[1] <= b[0]), int(a[0] <= b[1])


def _not_equal(a: Range, b: Range) -> Range:
    found = _eq(a, b)
    return 1 - found[1], 1 - found[0]


def _sign(a: Range) -> Range:
    return (a[0] > 0) - (a[0] < 0), (a[1] > 0) - (a[1] < 0)


RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": lambda a, b: corners(lambda x, y: x * y, a, b),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": lambda a: (max(a[0], -a[1], 0), max(-a[0], a[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "clamp": lambda low, x, high: (
        min(max(x[0], low[0]), high[0]),
        min(max(x[1], low[1]), high[1]),
    ),
    "rem": _rem,
    "div": _div,
    "and": _and,
    "shift_right_arithmetic": _shifted,
    "or": _or,
    "eq": _eq,
    "ne": _not_equal,
    "lt": _lt,
    "le": _le,
    "gt": lambda a, b: _lt(b, a),
    "ge": lambda a, b: _le(b, a),
    "sign": _sign,
    "select_n": _select,
    "concatenate": union,
    "stack": union,
}
