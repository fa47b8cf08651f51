"""The table of kernels, by the name of their primitive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Kernel = Callable[..., Any]
K = TypeVar("K", bound=Kernel)

KERNELS: dict[str, Kernel] = {}


def kernel(*primitives: str) -> Callable[[K], K]:
    """Enter a function as the kernel of these primitives."""

    def enter(function: K) -> K:
        for name in primitives:
            KERNELS[name] = function
        return function

    return enter
