"""Functions of as many steps as one likes, in one straight line."""

from __future__ import annotations

from typing import Any

import traceir.numpy as jnp
from traceir import lax


def cheap(x: Any, steps: int) -> Any:
    """Arithmetic alone, whose bits the reference gives, too."""
    y = x
    for _ in range(steps):
        x = x * 0.5 + y
    return x


def expensive(x: Any, steps: int) -> Any:
    """Sines, each of which reads tables."""
    y = x
    for _ in range(steps):
        x = jnp.sin(x) * y
    return x


def wide(x: Any, steps: int) -> Any:
    """Many values beside one another, and their sum at the end."""
    rows = [jnp.exp(x * k) for k in range(steps)]
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total


def turned(x: Any, steps: int) -> Any:
    """Reversed at each step, so that parts begin with reads of other places."""
    y = x
    for _ in range(steps):
        x = jnp.sin(lax.rev(x, (0,))) + y
    return x


def deep(x: Any, steps: int) -> Any:
    """Real functions of real functions."""
    for _ in range(steps):
        x = jnp.sin(jnp.exp(-abs(x)))
    return x
