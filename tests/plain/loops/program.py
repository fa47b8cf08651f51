"""A function with loops, and all that is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A function, the maker of its arguments, and sizes to call the maker with.

    `small` is for a test, `large` makes NumPy, or a loop compiled by Numba, take some
    milliseconds. `style` says for which of the two the function was written.
    """

    style: str
    function: Callable[..., Any]
    arguments: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    large: tuple[int, ...]

    def __str__(self) -> str:
        module = self.function.__module__.rpartition(".")[2]
        return f"{module}.{self.function.__name__}"


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers that are the same in each run."""
    return np.random.default_rng(seed).normal(size=shape)


def uniform(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers in [0, 1) that are the same in each run."""
    return np.random.default_rng(seed).random(shape)


def integers(*shape: int, below: int = 10, seed: int = 0) -> np.ndarray:
    """Integers from zero to below a bound, the same in each run."""
    return np.random.default_rng(seed).integers(0, below, shape)
