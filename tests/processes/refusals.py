"""Refusals in several processes: `mpirun -n 2 python -m processes.refusals`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import traceir as jax
import traceir.numpy as jnp
from traceir.errors import TraceirError
from traceir.experimental import multihost_utils
from traceir.sharding import Mesh, NamedSharding, P


def refused(rule: str, call: Callable[[], Any]) -> None:
    """Raise an error unless a call is refused by a rule."""
    try:
        call()
    except TraceirError as error:
        assert error.rule == rule, error
        print(error)
    else:
        raise AssertionError(f"{rule} does not refuse it")


def compiled_elsewhere(x: Any) -> None:
    """Call functions that were compiled for arrays which lie otherwise."""
    mesh, value = x.sharding.mesh, np.arange(8.0)
    whole = NamedSharding(mesh, P())
    double = jax.jit(lambda v: v * 2)
    there = double.lower(x).compile()
    assert there.input_shardings == ((x.sharding,), {})
    assert there.output_shardings == x.sharding
    assert there.in_avals[0][0].shape == there.jaxpr.in_avals[0].shape == (8,)
    for given in x, value, jax.device_put(value, whole):
        found = there(given)
        assert found.sharding == x.sharding and found.shape == (8,)
        everything = multihost_utils.process_allgather(found)
        assert (everything == 2 * value).all()
    here = double.lower(value).compile()
    assert (np.asarray(here(value)) == np.asarray(here(x))).all()
    refused("jit.compiled", lambda: there(value[:4]))
    refused("array.addressable", lambda: jax.jit(lambda v: v + x).lower(value))


def main() -> None:
    """Ask for what there is not."""
    jax.config.update("num_cpu_devices", 3)
    jax.distributed.initialize(local_device_ids=[0, 2])
    here, count = jax.process_index(), jax.process_count()
    devices = jax.devices()
    assert jax.distributed.is_initialized() and len(devices) == 2 * count
    assert [d.process_index for d in devices] == [0, 0, 1, 1]
    assert jax.local_devices() == jax.local_devices(process_index=here)
    assert jnp.ones(2).device == jax.local_devices()[0]
    refused("process.start", jax.distributed.initialize)
    refused("device.process", lambda: jax.local_devices(process_index=2))
    there = jax.local_devices(process_index=1 - here)[0]
    refused("device.process", lambda: jax.device_put(1.0, there))
    for order in ([0, 2, 1, 3], [0, 1, 2]):
        mesh = Mesh(np.array([devices[k] for k in order]), "x")
        askew = NamedSharding(mesh, P("x"))
        refused("process.mesh", partial(jax.device_put, np.ones(len(order)), askew))
    mesh = jax.make_mesh((4,), ("x",))
    rows = NamedSharding(mesh, P("x"))
    x = jax.make_array_from_callback((8,), rows, np.arange(8.0).__getitem__)
    shards = x.addressable_shards
    assert [s.device for s in shards] == jax.local_devices()
    assert [int(s.data[0]) for s in shards] == [4 * here, 4 * here + 2]
    assert [s.data is None for s in x.global_shards].count(True) == 2
    assert not x.is_fully_addressable and x.shape == (8,)
    for read in (np.asarray, jax.device_get, lambda v: v.tolist(), lambda v: v.item()):
        refused("array.addressable", partial(read, x))
    assert repr(x) == str(x) == "Array(shape=(8,), dtype=float32)"
    parts = [shard.data for shard in shards]
    make = jax.make_array_from_single_device_arrays
    assert (
        multihost_utils.process_allgather(make((8,), rows, parts)) == range(8)
    ).all()
    refused("sharding.shards", lambda: make((8,), rows, parts[:1]))
    local = jax.make_array_from_process_local_data
    for data in np.arange(8.0), np.arange(4.0) + 4 * here:
        whole = local(rows, data, (8,))
        assert (multihost_utils.process_allgather(whole) == range(8)).all()
    refused("sharding.shards", lambda: local(rows, np.arange(3.0), (8,)))
    total = jax.jit(lambda v: v.sum())(x)
    assert float(total) == 28 and total.is_fully_replicated
    assert not total.is_fully_addressable
    compiled_elsewhere(x)
    x.delete()
    assert x.is_deleted()
    refused("process.programs", lambda: multihost_utils.sync_global_devices(f"{here}"))
    try:
        multihost_utils.assert_equal(np.float32(here), "not the same")
    except AssertionError as error:
        assert str(error).startswith("not the same. Expected: ")
    else:
        raise AssertionError("other values are the same")
    every = multihost_utils.broadcast_one_to_all({"a": np.arange(2) + here}, here == 1)
    assert every["a"].tolist() == [1, 2]
    back = multihost_utils.global_array_to_host_local_array(whole, mesh, P("x"))
    again = multihost_utils.host_local_array_to_global_array(back, mesh, P("x"))
    assert back.shape == (4,) and again.sharding == whole.sharding
    jax.distributed.shutdown()
    assert jax.process_count() == 1 and not jax.distributed.is_initialized()
    print("\nall refused")


if __name__ == "__main__":
    main()
