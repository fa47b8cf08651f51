"""Devices and arrays of shards. Cites: device.count, device.known, sharding.parts,
sharding.shards, sharding.explicit"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from hypothesis import given
from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
from traceir.errors import TraceirError
from traceir.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    P,
    SingleDeviceSharding,
)

X = np.arange(16, dtype="float32").reshape(8, 2)


def _mesh() -> Mesh:
    return Mesh(np.array(traceir.devices()).reshape(4, 2), ("x", "y"))


def _refused(rule: str, call: Any) -> None:
    with pytest.raises(TraceirError) as caught:
        call()
    assert caught.value.rule == rule


def test_there_are_as_many_devices_as_are_asked_for() -> None:
    assert traceir.device_count() == traceir.local_device_count() == 8
    assert [d.id for d in traceir.devices()] == list(range(8))
    there = traceir.device_put(X, traceir.devices()[3])
    assert there.device == traceir.devices()[3]
    mesh = _mesh()
    traceir.config.update("num_cpu_devices", 2)
    assert there.devices() == {there.device} and (there + 1).shape == (8, 2)
    _refused("device.known", lambda: traceir.device_put(X, there.device))
    _refused("device.known", lambda: traceir.device_put(X, NamedSharding(mesh, P("x"))))


ASK = """
import traceir
print(traceir.device_count())
traceir.config.update("num_cpu_devices", 1)
print(traceir.device_count())
"""


@pytest.mark.parametrize("flags, first", [("--xla_a=1", 1), ("{}=4 --xla_a=1", 4)])
def test_the_flags_of_xla_count_and_are_told(flags: str, first: int) -> None:
    name = "--xla_force_host_platform_device_count"
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={"XLA_FLAGS": flags.format(name), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(first), "1"]
    assert ("device.count" in done.stderr) is (first == 4)


def test_shards_are_the_parts_of_the_array() -> None:
    array = traceir.device_put(X, NamedSharding(_mesh(), P("x", "y")))
    assert not array.is_fully_replicated and array.is_fully_addressable
    assert len(array.addressable_shards) == len(array.global_shards) == 8
    for shard in array.addressable_shards:
        assert np.array_equal(shard.data, X[shard.index])
        assert shard.data.sharding == SingleDeviceSharding(shard.device)
        assert shard.data.device == shard.device and shard.replica_id == 0
    second = array.addressable_shards[1]
    assert repr(second) == (
        "Shard(device=CpuDevice(id=1), index=(slice(0, 2, None), slice(1, 2, None)), "
        "replica_id=0, data=[[1.]\n [3.]])"
    )
    assert array.addressable_data(1).tolist() == [[1], [3]]
    rows = traceir.device_put(array, NamedSharding(_mesh(), P("x")))
    assert [s.replica_id for s in rows.addressable_shards] == [0, 1] * 4
    whole = traceir.device_put(array, NamedSharding(_mesh(), P()))
    assert whole.is_fully_replicated and whole.device == whole.sharding
    assert [s.replica_id for s in whole.addressable_shards] == [*range(8)]


def test_a_shard_outlives_its_array() -> None:
    array = traceir.device_put(X, NamedSharding(_mesh(), P("x")))
    part = array.addressable_shards[2].data
    array.delete()
    assert part.tolist() == X[2:4].tolist()


@st.composite
def layouts(draw: Any) -> tuple[NamedSharding, tuple[int, ...]]:
    """A sharding of at most eight devices and a shape that it divides."""
    sizes = draw(st.sampled_from([(8,), (4, 2), (2, 4), (2, 2, 2), (1, 3), (5,), (1,)]))
    names = ("x", "y", "z")[: len(sizes)]
    devices = traceir.devices()[: math.prod(sizes)]
    mesh = Mesh(np.array(devices).reshape(sizes), names)
    order, rank = draw(st.permutations(names)), draw(st.integers(0, 3))
    parts: list[list[str]] = [[] for _ in range(rank)]
    for name in order:
        at = draw(st.integers(-1, rank - 1))
        if at >= 0:
            parts[at].append(name)
    sharding = NamedSharding(mesh, P(*[tuple(p) or None for p in parts]))
    factors = draw(st.tuples(*[st.integers(0, 2)] * rank))
    shape = tuple(f * sharding.parts(d) for d, f in enumerate(factors))
    return sharding, shape


def test_an_array_is_the_sum_of_its_shards() -> None:
    @given(layouts())
    def check(layout: tuple[NamedSharding, tuple[int, ...]]) -> None:
        sharding, shape = layout
        x = np.arange(math.prod(shape), dtype="int32").reshape(shape)
        put = traceir.device_put(x, sharding)
        assert put.sharding == sharding
        parts = [shard.data for shard in put.addressable_shards]
        assert {p.shape for p in parts} == {sharding.shard_shape(shape)}
        from_parts = traceir.make_array_from_single_device_arrays(
            shape, sharding, parts[::-1]
        )
        called = traceir.make_array_from_callback(shape, sharding, x.__getitem__)
        for made in (from_parts, called):
            assert made.sharding == sharding and np.array_equal(made, x)
        first = [s.index for s in put.addressable_shards if s.replica_id == 0]
        assert sum(x[index].size for index in first) == x.size

    check()


def test_a_callback_is_called_once_for_equal_parts() -> None:
    asked = []

    def part(index: Any) -> Any:
        asked.append(index)
        return X[index]

    sharding = NamedSharding(_mesh(), P(None, "y"))
    made = traceir.make_array_from_callback((8, 2), sharding, part, dtype="float32")
    assert np.array_equal(made, X) and len(asked) == 2


def test_values_are_those_without_devices() -> None:
    there = traceir.device_put(X, NamedSharding(_mesh(), P("x")))
    for f in (jnp.sin, jnp.sum, jnp.transpose):
        assert np.array_equal(f(there), f(X))
        assert np.array_equal(traceir.jit(f)(there), traceir.jit(f)(X))


def test_shardings_are_values() -> None:
    mesh, device = _mesh(), traceir.devices()[2]
    sharding = NamedSharding(mesh, P("x"))
    assert pickle.loads(pickle.dumps(sharding)) == sharding
    assert sharding.update(spec=P("y")) == NamedSharding(mesh, P("y"))
    assert sharding.addressable_devices == sharding.device_set == {*traceir.devices()}
    assert sharding.is_fully_addressable and sharding.num_devices == 8
    single = SingleDeviceSharding(device)
    assert single.shard_shape((3,)) == (3,) and single.memory_kind == "device"
    assert single.devices_indices_map((3,)) == {device: (slice(None),)}
    assert single.is_fully_replicated and single.num_devices == 1
    assert not single.is_equivalent_to(sharding, 1)
    alone = NamedSharding(Mesh([device], "x"), P("x"))
    assert single.is_equivalent_to(alone, 1) and alone.is_equivalent_to(single, 1)
    assert mesh.abstract_mesh == AbstractMesh((4, 2), ("x", "y"))
    assert str(mesh.abstract_mesh) == (
        "AbstractMesh('x': 4, 'y': 2, axis_types=(Auto, Auto))"
    )
    assert hash(mesh.abstract_mesh) == hash(mesh.abstract_mesh.abstract_mesh)
    resharded = traceir.reshard(X, NamedSharding(traceir.make_mesh((8,), "x"), P("x")))
    assert resharded.sharding.spec == P("x")


def test_refused() -> None:
    sharding = NamedSharding(_mesh(), P("x", "y"))
    parts = [s.data for s in traceir.device_put(X, sharding).addressable_shards]
    assemble = traceir.make_array_from_single_device_arrays
    call = traceir.make_array_from_callback
    for others in (parts[:3], parts + parts[:1], [X[:2, :1]] * 8, [parts[0]] * 8):
        _refused("sharding.shards", partial(assemble, (8, 2), sharding, others))
    _refused("sharding.shards", lambda: assemble((16, 2), sharding, parts))
    _refused("sharding.shards", lambda: call((8, 2), sharding, lambda i: np.zeros(3)))
    _refused("sharding.shards", lambda: call((8, 2), sharding, X.__getitem__, "int32"))
    whole = NamedSharding(_mesh(), P())
    other = [traceir.device_put(np.float32(d.id), d) for d in traceir.devices()]
    _refused("sharding.shards", lambda: assemble((), whole, other))
    _refused("sharding.rank", lambda: call((8,), sharding, X.__getitem__))
    _refused("sharding.explicit", lambda: traceir.reshard(X, sharding))
    _refused("level.attribute", lambda: traceir.jit(lambda x: x.addressable_shards)(X))


def test_a_spec_is_looked_through_as_a_tuple() -> None:
    spec = P("a", None, "b")
    assert (spec.index("b"), spec.count(None)) == (2, 1)
    assert spec + P("c") == spec.__add__(("c",)) == P("a", None, "b", "c")


def test_axes_of_a_mesh_by_who_decides() -> None:
    kinds = AxisType.Auto, AxisType.Explicit, AxisType.Manual
    mixed = AbstractMesh((1, 1, 1), ("a", "b", "c"), kinds)
    assert (mixed.auto_axes, mixed.explicit_axes, mixed.manual_axes) == (
        ("a",),
        ("b",),
        ("c",),
    )
    for kind, found in zip(kinds, ("auto", "explicit", "manual"), strict=True):
        assert not getattr(mixed, f"are_all_axes_{found}")
        assert getattr(AbstractMesh((1,), ("a",), kind), f"are_all_axes_{found}")
        assert not getattr(AbstractMesh((), ()), f"are_all_axes_{found}")


def test_an_abstract_mesh_stands_for_the_one_that_is_set() -> None:
    mesh = traceir.make_mesh((4, 2), ("x", "y"))
    with pytest.raises(TypeError, match="got: AbstractMesh and PartitionSpec"):
        NamedSharding(mesh.abstract_mesh, P("x"))
    with traceir.set_mesh(mesh):
        found = NamedSharding(traceir.sharding.get_abstract_mesh(), P("x"))
        assert found == NamedSharding(mesh, P("x"))
        with pytest.raises(TypeError, match=r"sharding\.type"):
            NamedSharding(AbstractMesh((2,), ("x",)), P("x"))
