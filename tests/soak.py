"""Repetition of what one of several like cases shows: `make soak`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"


def examples(few: int) -> int:
    """The number of examples: so few in profile `ci`, in others in proportion."""
    return few * settings().max_examples // 20


def sample(rows: Iterable[T], every: int) -> list[T]:
    """One of so many rows in profile `ci`, in others all.

    For rows whose mechanism is one, of which each takes a tenth of a second or more.
    """
    found = list(rows)
    return found if settings().max_examples > 20 else found[::every]
