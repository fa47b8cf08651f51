"""The programs that have been entered, and what they share.

Each is a function of `jax`, this library, and gives a tree of arrays over four devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}
DEVICES = 4


def program(function: Program) -> Program:
    """Enter a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers, the same in every process."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def ring(jax: Any) -> Any:
    """The devices in a row."""
    return jax.make_mesh((DEVICES,), ("x",))


def square(jax: Any) -> Any:
    """The devices two by two."""
    return jax.make_mesh((2, 2), ("x", "y"))


def placed(jax: Any, mesh: Any, value: np.ndarray, *spec: Any) -> Any:
    """An array that is divided over a mesh."""
    P, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    return jax.device_put(value, sharding(mesh, P(*spec)))
