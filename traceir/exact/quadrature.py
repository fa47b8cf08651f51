"""Integrals in many digits, by Gauss' rule. Serves: accuracy.conditioned"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from traceir.exact.digits import mpmath

NODES = 48


def area(height: Callable[[Any], Any], ends: list[Any]) -> Any:
    """The integral from the first to the last, by Gauss' rule between each two."""
    total = mpmath().mpf(0)
    for low, high in pairwise(ends):
        part = sum(w * height(low + (high - low) * x) for x, w in _nodes())
        total += part * (high - low)
    return total


@cache
def _nodes() -> list[tuple[Any, Any]]:
    """Points from 0 to 1 and weights of Gauss' rule, to 300 bits."""
    mp = mpmath()
    found = []
    with mp.workprec(300):
        for k in range(NODES):
            x = mp.cos(mp.pi * (4 * k + 3) / (4 * NODES + 2))
            slope = mp.mpf(1)
            for _ in range(8):  # Newton's steps
                before, value = mp.mpf(1), x
                for n in range(1, NODES):
                    following = ((2 * n + 1) * x * value - n * before) / (n + 1)
                    before, value = value, following
                slope = NODES * (before - x * value) / (1 - x * x)
                x -= value / slope
            found.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return found
