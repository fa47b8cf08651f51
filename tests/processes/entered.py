"""The programs that have been entered, and what they share.

Each is a function of `jax`, this library or JAX, and gives a tree of arrays over all
devices, of which there are 1, 2, 4 or 8. Meshes leave layouts to the compiler, as JAX
does not by itself: what is not laid out as asked is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}
DEVICES = 8


def program(function: Program) -> Program:
    """Enter a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers, the same in every process."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def ring(jax: Any) -> Any:
    """The devices in a row."""
    return _mesh(jax, (jax.device_count(),), ("x",))


def square(jax: Any) -> Any:
    """The devices in two rows, where there are four."""
    return _mesh(jax, sides(jax), ("x", "y"))


def sides(jax: Any) -> tuple[int, int]:
    """The sizes of the square's axes."""
    count = jax.device_count()
    rows = 2 if count >= 4 else 1
    return count // rows, rows


def _mesh(jax: Any, sizes: tuple[int, ...], names: tuple[str, ...]) -> Any:
    automatic = (jax.sharding.AxisType.Auto,) * len(sizes)
    return jax.make_mesh(sizes, names, axis_types=automatic)


def placed(jax: Any, mesh: Any, value: np.ndarray, *spec: Any) -> Any:
    """An array that is divided over a mesh."""
    P, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    return jax.device_put(value, sharding(mesh, P(*spec)))


def parts(jax: Any, function: Any, specs: Any, results: Any, **options: Any) -> Any:
    """A jitted function of parts, on the ring unless another mesh is named."""
    mesh = options.pop("mesh", None) or ring(jax)
    return jax.jit(
        jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=results, **options)
    )


def neighbours(jax: Any) -> list[tuple[int, int]]:
    """From each device of the ring to the next."""
    count = jax.device_count()
    return [(k, (k + 1) % count) for k in range(count)]
