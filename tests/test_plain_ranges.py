"""Ranges of traced bounds: what they do besides in loops is what Python's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import traceir_numba
from traceir.face.control_flow.iteration import TracedRange

# A range's operations besides its loop: each is the range's own.
OF_RANGES: list[Callable[[Any, int], Any]] = [
    lambda r, n: r == range(3),
    lambda r, n: range(3) == r,
    lambda r, n: r != range(0, n, 2),
    lambda r, n: r == range(n),
    lambda r, n: r in [range(2), range(3)],
    lambda r, n: r == [0, 1, 2],
    lambda r, n: {range(3): 4}.get(r, 5),
    lambda r, n: hash(r) == hash(range(3)),
    lambda r, n: (2 in r) + 2 * (7 in r),
    lambda r, n: r.count(2) + r.index(1),
    lambda r, n: next(reversed(r)) + r[-1] + len(r),
    lambda r, n: r.start + r.stop + r.step,
    lambda r, n: 1 if r else 2,
]


@pytest.mark.parametrize("number", range(len(OF_RANGES)))
def test_a_range_of_a_traced_bound_is_a_range(number: int) -> None:
    def told(n: int) -> Any:
        return OF_RANGES[number](range(n), n)

    for n in (3, 4):
        assert traceir_numba.jit(told)(n) == told(n)


def test_a_traced_range_has_what_ranges_have() -> None:
    own = {*TracedRange.__dict__, *vars(TracedRange(1, 2, 3))}
    more = (
        {*range.__dict__} - {*object.__dict__} - {"__bool__"}
    )  # which is its length's
    assert {*more, "__eq__", "__hash__"} <= own
