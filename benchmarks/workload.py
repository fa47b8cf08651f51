"""A function to measure, written once for every array module that can run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

Function = Callable[..., Any]
# A namespace with `numpy`, `lax` and the transforms, and what it makes a function of.
Make = Callable[[Any], Function]

_rng = np.random.default_rng(0)


@dataclass(frozen=True)
class Workload:
    """A function, its NumPy arguments, and who can run it besides JAX and us.

    `by_hand` takes the arguments and gives the result as the function does; `numexpr`
    is an expression over `a`, `b`, … for the arguments in order.
    """

    name: str
    make: Make
    args: tuple[Any, ...]
    in_numpy: bool = True
    by_hand: Callable[[], Function] | None = None
    numexpr: str | None = None
    # Where results hang on the last bit, as orbits at the edge of a set do, the share
    # of elements that must be near JAX's.
    near: float = 1.0
    # What NumPy's generator does of the same kind; its numbers are others.
    other_numbers: Function | None = None


NUMPY = SimpleNamespace(numpy=np)


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Random numbers of moderate size."""
    return _rng.normal(size=shape).astype(dtype)


def small(*shape: int) -> np.ndarray:
    """Random float32 about zero, as weights of a network are."""
    return normal(*shape) / np.float32(8)


def whole(*shape: int, dtype: str = "int32", most: int = 1000) -> np.ndarray:
    """Random integers from 1."""
    return _rng.integers(1, most, size=shape).astype(dtype)


def numpy_only(f: Callable[[Any], Function]) -> Make:
    """The maker of a function that needs nothing but the array module.

    >>> numpy_only(lambda np: lambda x: np.sqrt(x))(NUMPY)(4.0)
    np.float64(2.0)
    """
    return lambda world: f(world.numpy)


def each(function: Function) -> Make:
    """The maker of a function that uses operators and methods only."""
    return lambda world: function
