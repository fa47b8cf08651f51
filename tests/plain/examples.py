"""The list of functions and their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Example:
    """A function, the arguments to call it with, and which of them are static.

    `large` makes the arguments of a call that takes NumPy some milliseconds, or a few
    hundred steps of a loop over elements: `make plain` measures it.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    static: tuple[str, ...] = ()
    tolerance: float = 1e-9
    large: Callable[[], tuple[Any, ...]] | None = None

    def __str__(self) -> str:
        module = self.function.__module__.rpartition(".")[2]
        return f"{module}.{self.function.__name__}"

    def copies(self) -> tuple[Any, ...]:
        """The arguments, for a call that may write to them."""
        return tuple(
            np.array(a) if isinstance(a, np.ndarray) else a for a in self.arguments
        )


EXAMPLES: list[Example] = []


def example(
    *arguments: Any,
    static: tuple[str, ...] = (),
    tolerance: float = 1e-9,
    large: Callable[[], tuple[Any, ...]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """List a function with the arguments of a call of it."""

    def listed(function: Callable[..., Any]) -> Callable[..., Any]:
        EXAMPLES.append(Example(function, arguments, static, tolerance, large))
        return function

    return listed


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    """Numbers that are the same in each run: normal ones, or small integers."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 10, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)
