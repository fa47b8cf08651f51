"""The order in which simulated devices do their work: drawn, and anew by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

_seed = 0


@contextmanager
def shuffled(seed: int) -> Iterator[None]:
    """Inside the `with`, devices take turns in another order.

    >>> with shuffled(7):
    ...     drawn().random() == random.Random(7).random()
    True
    """
    global _seed
    before, _seed = _seed, seed
    try:
        yield
    finally:
        _seed = before


def drawn() -> random.Random:
    """The generator that the turns of one program are drawn from."""
    return random.Random(_seed)
