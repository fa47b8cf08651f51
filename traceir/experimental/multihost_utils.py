"""Agreement of processes that work together. Serves: process.*, sharding.shards"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.arrays.array import Spread, local_part
from traceir.arrays.process_mesh import is_spanning
from traceir.arrays.sharding import NamedSharding, PartitionSpec, spread_specs
from traceir.binding.sharded_arrays import make_array_from_process_local_data
from traceir.numpy.arrays.creation import asarray
from traceir.pytrees import flatten
from traceir.ranks.topology import STATE

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "sync_global_devices",
]


def sync_global_devices(name: str) -> None:
    """Wait until all processes have come here, with the same name.

    Raises RuntimeError (process.programs) on all of them where names differ.

    >>> sync_global_devices("saved")
    """
    if STATE.several:
        from traceir.ranks import agreement  # which few programs need

        agreement.agree(STATE.transport, name, f"sync_global_devices({name!r})")


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of one process, by default of the first, as NumPy arrays.

    The process that calls it with a true `is_source` is the one.

    >>> broadcast_one_to_all({"a": 1})
    {'a': array(1)}
    """
    if not STATE.several:
        return flatten.map_(np.asarray, in_tree)
    source = STATE.topology.index == 0 if is_source is None else is_source
    who = int(np.argmax(_of_all(np.array(bool(source)))))
    return flatten.map_(lambda x: _of_all(_elements(x))[who].copy(), in_tree)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes, as NumPy arrays.

    They lie along a new first dimension or, `tiled`, are joined along their own first
    one. An array over several processes is given whole, for which JAX asks for `tiled`.

    >>> process_allgather([1.5])
    [array([1.5])]
    """

    def gathered(leaf: Any) -> np.ndarray:
        if type(leaf) is Spread:
            sharding: Any = leaf.sharding
            return np.asarray(leaf._at(sharding.update(spec=PartitionSpec())))
        value = _elements(leaf)
        found = _of_all(value)
        if not tiled or not value.ndim:
            return found
        return found.reshape(-1, *value.shape[1:])

    return flatten.map_(gathered, in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError on all processes unless they have the same values.

    >>> assert_equal([1.5])
    """
    every = process_allgather(in_tree)
    pairs = zip(flatten.leaves(in_tree), flatten.leaves(every), strict=True)
    parted = [every for leaf, every in pairs if type(leaf) is not Spread]
    if any(not np.array_equal(row, rows[0]) for rows in parted for row in rows):
        raise AssertionError(f"{fail_message}. Expected: {every}; got: {in_tree}.")


def host_local_array_to_global_array(
    local_inputs: Any, global_mesh: Any, pspecs: Any
) -> Any:
    """A tree of arrays over a mesh, of the parts that each process has.

    `pspecs` is a tree of specs that is a prefix of the other. Raises as
    `make_array_from_process_local_data` does.

    >>> from traceir.sharding import P, make_mesh
    >>> mesh = make_mesh((1,), ("x",))
    >>> host_local_array_to_global_array(np.arange(2), mesh, P("x"))
    Array([0, 1], dtype=int32)
    """
    leaves, tree = flatten.flatten(local_inputs)
    specs = spread_specs("pspecs", pspecs, tree)
    rows = [
        make_array_from_process_local_data(NamedSharding(global_mesh, spec), leaf)
        for leaf, spec in zip(leaves, specs, strict=True)
    ]
    return tree.unflatten(rows)


def global_array_to_host_local_array(
    global_inputs: Any, global_mesh: Any, pspecs: Any
) -> Any:
    """A tree of the parts that this process has of arrays over a mesh.

    >>> from traceir.sharding import P, make_mesh
    >>> mesh = make_mesh((1,), ("x",))
    >>> global_array_to_host_local_array(asarray([0, 1]), mesh, P("x"))
    Array([0, 1], dtype=int32)
    """
    leaves, tree = flatten.flatten(global_inputs)
    specs = spread_specs("pspecs", pspecs, tree)
    places = [NamedSharding(global_mesh, spec) for spec in specs]
    return tree.unflatten([_own(*row) for row in zip(leaves, places, strict=True)])


def _own(leaf: Any, sharding: NamedSharding) -> Any:
    laid = asarray(leaf)._at(sharding)
    return asarray(local_part(laid).copy()) if is_spanning(sharding) else laid


def _elements(leaf: Any) -> np.ndarray:
    return np.asarray(asarray(leaf)) if STATE.several else np.asarray(leaf)


def _of_all(value: np.ndarray) -> np.ndarray:
    """The arrays of all processes, along a new first dimension."""
    if not STATE.several:
        return value[None]
    from traceir.ranks import exchanges, groups  # which few programs need

    every = tuple(range(STATE.topology.processes))
    axis = groups.RankAxis("processes", (every,))
    return exchanges.gathered(value, axis, "process_allgather")
