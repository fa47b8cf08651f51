"""The list of the functions, and what they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

A = np.arange(12.0).reshape(4, 3)
V = np.array([3.0, -1, 4, 1, -5, 9, 2, 6])
I = np.array([3, 1, 4, 1, 5, 9, 2, 6])  # noqa: E741  # as matrices and indices are called

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def case(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """List a function with the arguments of a call; `A`, `V` and `I` are copied."""

    def listed(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return listed
