"""How much tests repeat of what one of several like cases shows: `make soak`."""

from __future__ import annotations

import os

from hypothesis import settings

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"


def examples(few: int) -> int:
    """How many examples are drawn: so few in profile `ci`, in others all."""
    most = settings().max_examples
    return most if most > 20 else min(few, most)
