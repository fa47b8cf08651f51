"""A list that holds traced values: a module made again is one that nobody set aside."""

from __future__ import annotations

from typing import Any

HELD: list[Any] = []


def keep(x: Any) -> Any:
    """Keeps what it has computed."""
    HELD.append(x * 2.0)
    return x
